//! A small Web that never changes, even if the virtual Web space does: an earlier version surveyed a part of
//! it, and the rest must still be there.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ccsurvey::space::{
    Access, Handshake, Lookup, Reaction, Records, Response, ServeSettings, Served, Server, Web, serve,
};
use tokio::runtime::Runtime;

/// Sound sites, each on its own server; each links to the next.
const WORKING_HOSTS: [&str; 8] =
    ["ants.ke", "bees.ke", "crows.ke", "doves.ke", "eagles.ke", "found.ke", "goats.ke", "hens.ke"];
/// Number of sound sites in the start list; the others are found.
const STARTED_HOSTS: usize = 5;
/// Sites that share a server, which is sent one request at a time.
const SHARED: [&str; 3] = ["blog.ke", "news.ke", "shop.ke"];
/// Number of sites on a server that closes every connection.
const DOWN_HOSTS: usize = 14;
/// A site whose front page leads nowhere, so that each of its start URLs makes a tree.
pub(crate) const ISLANDS: &str = "islands.ke";

pub(crate) const SHARED_SERVER: Ipv4Addr = Ipv4Addr::new(41, 90, 1, 1);
pub(crate) const DOWN_SERVER: Ipv4Addr = Ipv4Addr::new(41, 90, 2, 1);

/// The Web, and how long its servers work on a response.
pub(crate) struct FixedWeb {
    pub service: Duration,
}

/// The Web while it is being served.
pub(crate) struct FixedSpace {
    served: Served,
    _runtime: Runtime,
}

impl FixedSpace {
    pub(crate) fn serve(service: Duration) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let web = Arc::new(FixedWeb { service });
        let served = runtime.block_on(serve(web, ServeSettings::default())).unwrap();
        Self { served, _runtime: runtime }
    }

    pub(crate) fn dns(&self) -> String {
        self.served.dns_addr.to_string()
    }

    pub(crate) fn gateway(&self) -> String {
        self.served.gateway_addr.to_string()
    }

    pub(crate) fn accesses(&self) -> Vec<Access> {
        self.served.access_log()
    }

    /// Starts a survey of it with a program.
    pub(crate) fn survey(&self, program: &Path, dir: &Path, start: &Path, flags: &[&str]) -> Child {
        self.command(Command::new(program), dir, start, flags).spawn().unwrap()
    }

    /// The command that starts a survey of it with a program.
    pub(crate) fn command(&self, program: Command, dir: &Path, start: &Path, flags: &[&str]) -> Command {
        let mut survey = program;
        survey.arg("survey").arg(dir).args(["--cctld", "ke", "--contact", "https://survey.example/contact"]);
        survey.args(["--harm", "none", "--rate", "none", "--delay-factor", "0"]).args(flags);
        survey.arg("--start").arg(start).args(["--dns", &self.dns(), "--gateway", &self.gateway()]);
        survey.stdout(Stdio::null()).stderr(Stdio::null());
        survey
    }
}

pub(crate) fn start_list() -> String {
    let down = (1..=DOWN_HOSTS).map(|number| format!("down{number}.ke"));
    let islands = ["/", "/reef", "/atoll"].map(|path| format!("{ISLANDS}{path}"));
    let hosts = WORKING_HOSTS[..STARTED_HOSTS].iter().chain(&SHARED).map(|host| (*host).to_owned());
    let urls = down.chain(hosts).chain(islands).map(|rest| {
        let slash = if rest.contains('/') { "" } else { "/" };
        format!("http://{rest}{slash}\n")
    });
    urls.collect()
}

/// Sites that share no server and link to no others: a survey of them to depth two takes 13 requests for
/// each.
pub(crate) fn few_starts() -> String {
    WORKING_HOSTS[..STARTED_HOSTS].iter().map(|host| format!("http://{host}/\n")).collect()
}

pub(crate) const FEW_FLAGS: [&str; 4] = ["--depth", "2", "--feed-back", "off"];

fn address_of(host: &str) -> Option<Ipv4Addr> {
    if let Some(number) = WORKING_HOSTS.iter().position(|working| *working == host) {
        return Some(Ipv4Addr::new(41, 90, 0, number as u8 + 1));
    }
    match host {
        ISLANDS => Some(Ipv4Addr::new(41, 90, 3, 1)),
        _ if SHARED.contains(&host) => Some(SHARED_SERVER),
        _ => {
            let number: usize = host.strip_prefix("down")?.strip_suffix(".ke")?.parse().ok()?;
            (1..=DOWN_HOSTS).contains(&number).then_some(DOWN_SERVER)
        }
    }
}

/// The links of a page; `None` if there is no such page.
fn links(host: &str, path: &str) -> Option<Vec<String>> {
    let internal = match (host, path) {
        (ISLANDS, "/") => vec![],
        (ISLANDS, "/reef" | "/atoll") => vec![format!("{path}/1"), format!("{path}/2")],
        (ISLANDS, "/reef/1" | "/reef/2" | "/atoll/1" | "/atoll/2") => vec![],
        (ISLANDS, _) => return None,
        (_, "/") => ["/1", "/2", "/3", "/busy", "/gone"].map(str::to_owned).to_vec(),
        (_, "/1" | "/2" | "/3") => vec![format!("{path}/1"), format!("{path}/2"), "/".to_owned()],
        (_, "/1/1" | "/1/2" | "/2/1" | "/2/2" | "/3/1" | "/3/2") => vec!["/1".to_owned()],
        _ => return None,
    };
    let next = WORKING_HOSTS
        .iter()
        .position(|working| *working == host)
        .and_then(|index| WORKING_HOSTS.get(index + 1));
    let external = next.filter(|_| path == "/2").map(|next| format!("http://{next}/"));
    Some(internal.into_iter().chain(external).chain([format!("http://away.example{path}")]).collect())
}

impl Web for FixedWeb {
    fn lookup(&self, host: &str) -> Lookup {
        match (address_of(host), host) {
            (Some(address), _) => Lookup::Found(Records { v4: Some(address), ..Records::default() }),
            (None, "ke") => Lookup::Found(Records::default()),
            (None, _) => Lookup::NoSuchName,
        }
    }

    fn handshake(&self, _host: &str) -> Handshake {
        Handshake::Closed
    }

    fn server(&self, host: &str) -> Option<Server> {
        address_of(host).map(|address| Server::alone_at(address.into()))
    }

    fn respond(&self, _is_https: bool, host: &str, target: &str) -> Reaction {
        match address_of(host) {
            None => return Reaction::NoSuchHost,
            Some(DOWN_SERVER) => return Reaction::Reset,
            Some(_) => {}
        }
        let (status, links) = match links(host, target) {
            Some(links) => (200, links),
            None if target == "/busy" => (503, Vec::new()),
            None => (404, Vec::new()),
        };
        let anchors: String =
            links.iter().map(|link| format!("<p><a href=\"{link}\">{link}</a></p>\n")).collect();
        Reaction::Response(Response {
            status,
            content_type: Some(Cow::Borrowed("text/html; charset=utf-8")),
            location: None,
            retry_after: None,
            server: "Apache/2.2.3 (CentOS)",
            last_modified: None,
            etag: None,
            content_encoding: None,
            body: format!("<html><body><h1>{host}{target}</h1>\n{anchors}</body></html>\n").into_bytes(),
            identity: None,
            is_chunked: false,
            cut_after: None,
            service: self.service,
            more_fields: Box::default(),
        })
    }
}
