use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use ccsurvey::records::ExchangeRow;

use super::running::Running;
use super::{CONTACT, DELAY_MS, start_name_server};
use crate::common::ports::free_port;
use crate::common::rows;

/// Two sites at one address, each with its own server behind a balancer.
const SITES: [&str; 2] = ["first.ke", "second.ke"];

/// sniproxy reads only the first request of a connection: all later ones go to the same server.
#[test]
fn sites_behind_sniproxy_are_not_mixed_up() {
    let sniproxy =
        Balancer { name: "sniproxy", config: include_str!("sniproxy.conf"), arguments: &["-f", "-c"] };
    sniproxy.keeps_sites_apart();
}

#[test]
fn sites_behind_haproxy_in_its_mode_tcp_are_not_mixed_up() {
    let haproxy =
        Balancer { name: "haproxy", config: include_str!("haproxy.cfg"), arguments: &["-db", "-f"] };
    haproxy.keeps_sites_apart();
}

/// Chooses the server by the `Host` of the first request of a connection, whatever its later requests
/// contain.
struct Balancer {
    name: &'static str,
    config: &'static str,
    arguments: &'static [&'static str],
}

impl Balancer {
    fn keeps_sites_apart(&self) {
        let temporary = tempfile::tempdir().unwrap();
        let dir = temporary.path();
        // The servers drop root privileges and write their logs here.
        fs::set_permissions(dir, fs::Permissions::from_mode(0o1777)).unwrap();
        write_sites(dir);
        let sockets =
            [(); 3].map(|()| SocketAddr::from((Ipv4Addr::LOCALHOST, free_port(Ipv4Addr::LOCALHOST))));
        let servers = self.start(dir, sockets);
        survey(dir, sockets[2]);
        // The log is complete when its server has ended.
        drop(servers);
        let exchanges = rows::<ExchangeRow>(&dir.join("survey"));
        for site in SITES {
            let read = exchanges.iter().filter(|row| row.host == site && row.status == Some(200));
            let read: BTreeSet<&str> = read.map(|row| row.url.as_str()).collect();
            let own =
                [String::new(), format!("{}-one.html", label(site)), format!("{}-two.html", label(site))];
            let own = own.map(|page| format!("http://{site}/{page}"));
            assert_eq!(read, own.iter().map(String::as_str).collect(), "what was read of {site}");
        }
        let log = fs::read_to_string(dir.join("access.log")).unwrap();
        let logged: BTreeSet<(&str, &str)> = log.lines().filter_map(|line| line.split_once(' ')).collect();
        let own = SITES.into_iter().zip(sockets.map(|socket| socket.port().to_string()));
        let own: Vec<(String, &str)> = own.map(|(site, port)| (port, site)).collect();
        assert_eq!(
            logged,
            own.iter().map(|(port, site)| (port.as_str(), *site)).collect(),
            "who was asked for what"
        );
    }

    /// Two servers, and the balancer in front of them.
    fn start(&self, dir: &Path, sockets: [SocketAddr; 3]) -> [Running; 2] {
        let write_config = |name: &str, text: &str| {
            let ports = ["@FIRST@", "@SECOND@", "@SHARED@"].into_iter().zip(sockets);
            let text = text.replace("@DIR@", &dir.to_string_lossy());
            let text =
                ports.fold(text, |text, (port, listen_at)| text.replace(port, &listen_at.port().to_string()));
            fs::write(dir.join(name), text).unwrap();
            dir.join(name)
        };
        let (errors, config) =
            (dir.join("error.log"), write_config("nginx.conf", include_str!("nginx-two.conf")));
        let mut nginx = Command::new("nginx");
        let mut servers =
            Running::start(nginx.arg("-e").arg(&errors).arg("-p").arg(dir).arg("-c").arg(config));
        servers.await_listening(&sockets[..2], &errors);
        let config = write_config("balancer.conf", self.config);
        let mut balancer = Running::start(Command::new(self.name).args(self.arguments).arg(config));
        balancer.await_listening(&sockets[2..], &dir.join("balancer.log"));
        [balancer, servers]
    }
}

fn label(site: &str) -> &str {
    site.split('.').next().unwrap()
}

/// A front page and two pages below it, whose names identify their site.
fn write_sites(dir: &Path) {
    for site in SITES {
        let (own, name) = (dir.join(site), label(site));
        fs::create_dir(&own).unwrap();
        let links =
            ["one", "two"].map(|page| format!("<a href={name}-{page}.html>Page {page} of {name}</a>"));
        fs::write(own.join("index.html"), format!("<title>Front page of {name}</title>{}", links.concat()))
            .unwrap();
        for page in ["one", "two"] {
            fs::write(own.join(format!("{name}-{page}.html")), format!("<p>Page {page} of {name}")).unwrap();
        }
    }
}

fn survey(dir: &Path, gateway: SocketAddr) {
    let list: String =
        SITES.map(|site| format!("[[site]]\nhost = \"{site}\"\naddress = \"41.90.0.1\"\n")).concat();
    fs::write(dir.join("sites.toml"), list).unwrap();
    let (_names, name_server) = start_name_server(&dir.join("sites.toml"));
    fs::write(
        dir.join("start.csv"),
        format!("url\n{}", SITES.map(|site| format!("http://{site}/\n")).concat()),
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    command.current_dir(dir).args(["survey", "survey", "--cctld", "ke", "--start", "start.csv"]);
    command.args(["--contact", CONTACT, "--dns", &name_server, "--gateway", &gateway.to_string()]);
    // So short a pause that no connection ends during it.
    command.args([
        "--min-delay",
        &format!("{DELAY_MS}ms"),
        "--delay-factor",
        "0",
        "--impolite",
        "--harm",
        "none",
    ]);
    let run = command.output().unwrap();
    let (printed, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "the survey ended with {}:\n{printed}{errors}", run.status);
}
