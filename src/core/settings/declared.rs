use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::budgets::{BUSY, BYTES, Budgets, REQUESTS};
use super::table::{SWITCH, SettingRules, settings, value};
use super::values::quantities::MIB;
use super::values::value::{Amount, NewPath, ValueSyntax};
use super::values::written::{Refusal, Written};
use super::{DepthRule, Entrances, Extension, FeedBackRule, NonHtml, QuietHours, RequestBudget, Size, Span};
use crate::address::{ScopeRule, SuffixSection, UrlPattern};

/// One setting, as the table declares it.
#[derive(Debug)]
pub struct Setting {
    /// The key in a file, and the name of the flag.
    pub key: &'static str,
    /// The heading in the help.
    pub group: &'static str,
    /// Its bounds, and when it may change.
    pub rules: SettingRules,
    /// How its value is typed.
    pub shape: ValueSyntax,
    /// Whether its flag may be given more than once.
    pub is_list: bool,
    pub(super) help: &'static str,
    pub(super) written: fn(&Settings) -> Written,
    pub(super) read: fn(&mut Settings, &Written) -> Result<(), Refusal>,
    pub(super) amount: fn(&Settings) -> Amount,
    pub(super) describe: fn(&Settings) -> String,
    pub(super) move_paths: fn(&mut Settings, &NewPath<'_>),
}

const DAY: u64 = 24 * 3600;

const TIMEOUT: SettingRules = value("TIME").above_zero().free();

settings! {
    /// All settings of a survey, as given by its `survey.toml`, the user's configuration file and the flags.
    ///
    /// Every default is the polite one.
    "What is surveyed" {
        /// Country domains to survey, e.g. ke or ke,tz,ug. External URLs inside them become start URLs.
        /// Required, here or in the configuration file
        cctld: Vec<String> = Vec::new() => value("DOMAINS").unset("").commas();
        /// How site owners reach you: a URL or a mail address. It is part of the User-Agent of every request.
        /// Required unless --dns and --gateway keep the survey on this machine
        contact: Option<String> = None => value("URL").unset("").free();
        /// How to use external URLs inside the country domains: `link` makes each URL a start URL, `door`
        /// makes the front page of its host a start URL, `off` surveys the start list only
        feed_back: FeedBackRule = FeedBackRule::Link => value("RULE");
        /// Start URLs per site; further ones are skipped. For each start URL, the site is walked as a tree of
        /// its own, with its own budgets
        seeds_per_site: u32 = 1 => value("N").above_zero();
        /// Share of the start list's sites to survey, drawn by a hash of their names: 0.02 is a pilot of 2 %.
        /// Every larger sample with the same --seed contains this one, whatever the order of the list. Sites
        /// found through links are not part of the sample: --feed-back off leaves them out
        sample: f64 = 1.0 => value("SHARE").within(is_share, "a share above 0 and up to 1, such as 0.02");
        /// Seed of --sample: another seed draws other sites
        seed: u64 = 0 => value("N");
        /// How far a site reaches: `site` is the registrable domain with all its subdomains, `host` the start
        /// URL's host with its subdomains
        scope: ScopeRule = ScopeRule::Site => value("RULE");
        /// Part of the Public Suffix List that divides sites: `icann` uses the suffixes of registries, `all`
        /// also uses the private ones, so that each x.github.io is a site
        suffixes: SuffixSection = SuffixSection::Icann => value("SECTION");
        /// Keep every link of every page, and every robots.txt, in two more tables, so that the survey can be
        /// replayed as a virtual Web. Adds no load on servers; costs a few bytes of disk per link
        record_links: bool = false => SWITCH;
    }
    "How far" {
        /// Deepest level to fetch; the start URL is level 0. Each further level costs every site more
        /// requests: on the African Web of 2008, 8 levels cost 80 % of the requests of 20 levels. `auto`
        /// continues in each site while its pages promise to be worth a request, and skips the rest
        depth: DepthRule = DepthRule::Levels(8) => value("LEVELS|auto").within(is_depth, "0 to 1000 levels, or auto");
        /// Most requests of the whole survey, in place of --depth: they go where most new external hosts are
        /// expected, site after site in rounds, and each site is fetched best first over all its levels. Every
        /// request counts, robots.txt included; the survey never sends more. A share such as `5%` is of the
        /// requests of the survey that --since names
        budget: Option<RequestBudget> = None => value("N|P%").unset("no limit").excludes("depth");
        /// With --depth auto or --budget: the deepest level to fetch
        max_depth: Option<u16> = None => value("LEVELS").unset("20 with --depth auto or --budget")
            .within(|it| it == Amount::NoLimit || is_depth(it), "0 to 1000 levels");
        /// With --depth auto: the share to find of the external hosts that all levels together have. A larger
        /// share costs more requests, and the last few percent cost the most. The share holds on Webs like
        /// those on which the rates were trained; on others, --probe-depth shows what the skipped pages would
        /// have brought
        coverage: Option<f64> = None => value("SHARE").unset("0.95 with --depth auto")
            .within(|it| it == Amount::NoLimit || is_share(it), "a share above 0 and up to 1, such as 0.95");
        /// With --depth auto, --budget or --focus: the file of rates that `ccsurvey learn` wrote. Rates say how many
        /// external hosts a page is expected to bring, by its depth, its URL and the yield of the pages around
        /// it
        rates: Option<PathBuf> = None => value("FILE").unset("the built-in rates, of real pages; in simulations, of virtual ones");
        /// With --depth auto or --focus: the share of sites in which up to twenty of the skipped pages are
        /// fetched after all, at the end of the walk. The report then shows what the skipped pages would have
        /// brought. Each such site gets up to twenty more requests, which do not count in its levels and
        /// links. With --focus the share is at least 0.02
        probe_depth: f64 = 0.0 => value("SHARE").within(is_share_or_none, "a share from 0 to 1");
        /// Entrances to try at a site until one returns a page: the start URL, the front page of its host,
        /// then the other scheme (http or https) and the other name (with or without www). Each entrance
        /// costs a request, and one more for robots.txt if its scheme or host is new. If no entrance returns
        /// a page, later links may start further trees of the site, up to three in total, which share its
        /// budgets. 1 tries the start URL only. `all` requests all four front pages of every site, up to
        /// eight more requests per site, and the report shows which of them work
        entrances: Entrances = Entrances::default() => value("1..4|all");
        /// Last generation of sites to walk: 0 is the start list, 1 the sites it links to, and so on
        generations: Option<u32> = None => value("N").unset("no limit");
        /// Query URLs to fetch per script (the URL without its query) in a site tree. A script can produce
        /// endless URLs, and each response costs its server more than a file does
        queries_per_script: u32 = 1 => value("N").above_zero();
        /// Share of sites in which up to three more query URLs are fetched per script, of at most twenty
        /// scripts, at the end of the walk. The report then shows what --queries-per-script hid. Each such
        /// site gets up to 60 more requests, which do not count in its levels and links
        probe_scripts: f64 = 0.0 => value("SHARE")
            .within(is_share_or_none, "a share from 0 to 1");
        /// How to treat internal URLs that do not look like HTML: `skip` does not fetch them, `head` sends
        /// HEAD first (two requests if the URL is HTML after all), `get` fetches them and stops reading the
        /// body if its header says that it is not HTML
        non_html: NonHtml = NonHtml::Skip => value("RULE");
        /// File name extensions that do not look like HTML, e.g. pdf,jpg
        non_html_extensions: Vec<Extension> = Extension::usual() => value("LIST")
            .unset("99 for pictures, sound, films, archives, programs, documents and more; DIR/survey.toml lists them")
            .commas();
        /// Internal URLs to exclude: a path pattern as in robots.txt (`*` matches anything, `$` the end), on
        /// all hosts or on one host and its subdomains, e.g. '/shop/', '*/print$', 'blog.example.ke/2009/'.
        /// Repeatable
        exclude: Vec<UrlPattern> = Vec::new() => value("PATTERN");
        /// The only internal URLs to fetch besides the start URL; --exclude takes precedence. Repeatable
        include: Vec<UrlPattern> = Vec::new() => value("PATTERN").unset("all");
        /// Words that exclude a page: its links are neither followed nor recorded, and its row in the
        /// exchanges table names the words. Matched in text and markup, ignoring case, e.g. 'this domain is
        /// for sale'. Repeatable
        exclude_text: Vec<String> = Vec::new() => value("WORDS");
        /// Requests per site and start URL (see --seeds-per-site). At the limit the site ends with outcome
        /// `request_budget`
        // At 2 s between requests this takes at most about six hours of one server's time.
        max_requests: Option<u64> as OrNone = Some(10_000) => value("N|none")
            .above_zero().lower_is_more_polite().breaks_if_lifted("the limit on requests to a site");
        /// Bytes per site and start URL, in both directions, e.g. 500MB. Half a megabyte of them is reserved
        /// for what a request may transfer besides the body of a page, and may stay unspent
        // 10,000 pages of the median size on the Web of 2024, 32 kB.
        max_bytes: Option<Size> as OrNone = Some(Size(320 * MIB)) => value("BYTES|none")
            .least_bytes().lower_is_more_polite().breaks_if_lifted("the limit on bytes per site");
        /// Time for the walk of a site, per start URL, e.g. 12h. Time in which the survey is stopped does not
        /// count, nor does waiting for the next round of --budget
        // 10,000 requests, each with the pause after a page on a thin link, two minutes.
        max_time: Option<Span> as OrNone = Some(Span(Duration::from_secs(14 * DAY))) => value("TIME|none")
            .above_zero().lower_is_more_polite();
        /// Number of URLs at which a site tree counts as a trap: an endless site that a program generates
        max_urls: usize = 100_000 => value("N").above_zero();
        /// Levels in a row on which the pages of one URL pattern lead only to more URLs of that pattern. The
        /// pattern then counts as a trap (a calendar, session identifiers, endless near duplicates) and is no
        /// longer fetched. Fewer levels save requests but may cut off pages that are not traps; `none`
        /// follows everything except paths that repeat themselves, down to the deepest level of the survey
        trap_levels: Option<u16> as OrNone = Some(3) => value("LEVELS|none").above_zero();
        /// Also fetch the pages of a host that shows the same pages as another host of its site (a.ke and
        /// www.a.ke). Each page is then fetched twice
        fetch_mirrors: bool = false => SWITCH;
        /// End a site after this many levels in a row without a new external link. This saves load where
        /// sites have many pages and few links
        stable_levels: Option<u16> = None => value("LEVELS").unset("never").above_zero();
    }
    "How politely" {
        /// Sites to walk at once. A higher number makes the survey faster and puts more load on your own link
        /// and name server; the load on each surveyed server stays the same
        sites: usize = 64 => value("N").above_zero().free();
        /// Parallel requests per site. More than 1 breaks the promise of one request at a time, and the load
        /// falls on the site's owner. Use it only on your own sites
        per_site: u32 = 1 => value("N")
            .above_zero().lower_is_more_polite().breaks_if_less_polite("one request at a time per site");
        /// Parallel requests per server address, for all its sites together. With more than 1, a shared
        /// hoster gets the load of several of its sites at once
        per_address: u32 = 1 => value("N")
            .above_zero().lower_is_more_polite().breaks_if_less_polite("one request at a time per server");
        /// Parallel requests per network (/24 in IPv4, /48 in IPv6), whose servers then also share their
        /// pauses. Use it for servers in one place behind one thin link. With 1, a network of ten servers can
        /// take ten times as long to survey
        per_neighbourhood: Option<u32> as OrNone = None => value("N|none").above_zero().lower_is_more_polite();
        /// Shortest pause between two exchanges at a server address, e.g. 500ms. A pause below the default
        /// puts noticeable load on small servers, and their owners complain
        min_delay: Span = Span(Duration::from_secs(2)) => value("TIME")
            .higher_is_more_polite().breaks_if_less_polite("the minimum pause at each server");
        /// Pause as a multiple of the time from the last request to the last byte of its response, so that a
        /// slow server gets longer pauses. 5 takes at most a sixth of a server's time; 0 sends a struggling
        /// server as many requests as a fast one
        delay_factor: f64 = 5.0 => value("FACTOR")
            .within(is_factor, "a number of 0 or more")
            .higher_is_more_polite().breaks_if_less_polite("longer pauses for slow servers");
        /// Longest pause for a slow exchange or a back-off. A lower value puts more load on servers in
        /// trouble; a site's Crawl-delay and Retry-After are obeyed in any case
        max_delay: Span = Span(Duration::from_secs(60)) => value("TIME")
            .higher_is_more_polite().breaks_if_less_polite("long pauses for servers in trouble");
        /// Allow settings that are less polite to other people's servers than the defaults promise: shorter
        /// pauses, several requests at once, no limits. Without this flag, such settings are refused. Status
        /// and report show that it was given. Surveys of this machine do not need it
        impolite: bool = false => SWITCH.free();
        /// How much longer other users of a server may wait for its responses because of the survey, as a
        /// share. The pause after a response is a multiple of the time that the response kept the server's
        /// link busy, estimated from the best transfer rate of the last hours. With 0.02 it is fifty times
        /// that time, but at most sixty times --max-delay. A larger share makes a survey of thin links faster
        /// and adds delay for their users
        // A client that takes the share s of the free part of a link lengthens other transfers by s
        // (processor sharing).
        harm: Option<f64> as OrNone = Some(0.02) => value("SHARE|none").within(
            |it| is_share(it) || it == Amount::NoLimit,
            "a share above 0 and up to 1, such as 0.02, or none",
        ).lower_is_more_polite().breaks_if_less_polite("the limit on the added delay for other users of a server").formerly("link-share");
        /// Hours in which a server gets no requests, by its local clock, e.g. 08:00-18:00 or 22:00-06:00. The
        /// time zone is that of the server's place or country according to --geo, or else of the site's
        /// country domain; summer time counts. In a country with several zones, an hour is quiet if it is
        /// quiet in any of them. Quiet hours count towards --max-time of a site
        quiet_hours: Option<QuietHours> as OrNone = None => value("HOURS|none").lower_is_more_polite();
        /// Bytes per second of the whole survey, in both directions, e.g. 500kB. It protects your own link
        /// and thin links on the way. Bodies are read no faster than this. Unused rate is saved up for one
        /// second, or until it is enough for the largest exchange
        // 8 Mbit/s: a quarter of a modest office link.
        rate: Option<Size> as OrNone = Some(Size(MIB)) => value("BYTES|none")
            .above_zero().lower_is_more_polite().breaks_if_lifted("the limit on the rate of the whole survey");
        /// Decoded body bytes to read of one page; the rest is not read, and links in it are not found
        max_body: Size = Size(MIB) => value("BYTES").above_zero();
    }
    in budgets: Budgets {
        /// Requests per server address in this survey, for all its sites together. At the limit its sites end
        /// with failure `server_budget` and outcome `request_budget`
        max_server_requests = server.in_all.requests: Option<u64> => REQUESTS;
        /// Bytes per server address in this survey, in both directions, e.g. 2GB. At the limit its sites end
        /// with failure `server_budget` and outcome `request_budget`
        max_server_bytes = server.in_all.bytes: Option<Size> => BYTES;
        /// Busy time per server address in this survey, e.g. 6h. A server is busy from the start of an
        /// exchange to its last byte. At the limit its sites end with failure `server_budget` and outcome
        /// `request_budget`
        max_server_busy = server.in_all.busy: Option<Span> => BUSY;
        /// Requests per server address and day (UTC); its sites continue on the next day
        max_server_requests_per_day = server.per_day.requests: Option<u64> => REQUESTS;
        /// Bytes per server address and day (UTC); its sites continue on the next day
        max_server_bytes_per_day = server.per_day.bytes: Option<Size> => BYTES;
        /// Busy time per server address and day (UTC); its sites continue on the next day
        max_server_busy_per_day = server.per_day.busy: Option<Span> => BUSY;
        /// Requests per network (/24 in IPv4, /48 in IPv6) in this survey, for all its servers together. Use
        /// it for servers in one place behind one link, whose owner sees the sum. At the limit its sites end
        /// as with --max-server-requests
        max_network_requests = network.in_all.requests: Option<u64> => REQUESTS;
        /// Bytes per network (/24, /48) in this survey, in both directions, e.g. 5GB. Use it for links that
        /// are paid by volume
        max_network_bytes = network.in_all.bytes: Option<Size> => BYTES;
        /// Busy time per network (/24, /48) in this survey, for all its servers together, e.g. 12h
        max_network_busy = network.in_all.busy: Option<Span> => BUSY;
        /// Requests per network (/24, /48) and day (UTC); its sites continue on the next day. Days of waiting
        /// count towards --max-time of a site: raise it if many sites share a network
        max_network_requests_per_day = network.per_day.requests: Option<u64> => REQUESTS;
        /// Bytes per network (/24, /48) and day (UTC); its sites continue on the next day
        max_network_bytes_per_day = network.per_day.bytes: Option<Size> => BYTES;
        /// Busy time per network (/24, /48) and day (UTC), for all its servers together; its sites continue
        /// on the next day
        max_network_busy_per_day = network.per_day.busy: Option<Span> => BUSY;
        /// Requests per autonomous system in this survey. Use it for operators that run many networks and
        /// monitor them all. Needs a --geo database with autonomous systems; an address that is not in it has
        /// no limit. At the limit its sites end as with --max-server-requests
        max_as_requests = system.in_all.requests: Option<u64> => REQUESTS;
        /// Bytes per autonomous system in this survey, in both directions, e.g. 50GB; needs --geo
        max_as_bytes = system.in_all.bytes: Option<Size> => BYTES;
        /// Busy time per autonomous system in this survey, for all its servers together; needs --geo
        max_as_busy = system.in_all.busy: Option<Span> => BUSY;
        /// Requests per autonomous system and day (UTC); its sites continue on the next day; needs --geo
        max_as_requests_per_day = system.per_day.requests: Option<u64> => REQUESTS;
        /// Bytes per autonomous system and day (UTC); its sites continue on the next day; needs --geo
        max_as_bytes_per_day = system.per_day.bytes: Option<Size> => BYTES;
        /// Busy time per autonomous system and day (UTC), for all its servers together; its sites continue on
        /// the next day; needs --geo
        max_as_busy_per_day = system.per_day.busy: Option<Span> => BUSY;
    }
    "Network" {
        /// Name server to use, e.g. 127.0.0.1:53. A survey looks up many names: use a resolver of your own
        /// rather than a public one
        dns: Option<SocketAddr> = None => value("ADDR:PORT").unset("the name servers of the system").free();
        /// Open every connection to this address instead of the server's own, for a virtual Web
        gateway: Option<SocketAddr> = None => value("ADDR:PORT").unset("each server's own address").free();
        /// Contact loopback, private and other special addresses too. On the real Web, any link or DNS record
        /// could then lead the survey into your own network
        permit_special_addresses: bool = false => SWITCH.lower_is_more_polite();
        /// Reject pages from a server whose certificate is not valid for its name. Without this flag, the
        /// defect is recorded and the page is used
        refuse_bad_certificates: bool = false => SWITCH;
        /// Let agents (`ccsurvey agent`) on this and other machines walk the sites, over the NATS server at
        /// this URL: nats://HOST:PORT or tls://HOST:PORT. Separate the servers of a cluster with commas. The
        /// server needs JetStream. --sites also counts sites that wait for an agent
        nats: Option<String> = None => value("URL").unset("this process walks the sites").free();
        /// TOML file with the credentials for the NATS server: `user` and `password`, `token`, `nkey`, or
        /// `client_cert` and `client_key`; also `ca`, the root certificate for tls://. Environment variables
        /// work too: CCSURVEY_NATS_USER, CCSURVEY_NATS_PASSWORD, CCSURVEY_NATS_TOKEN, CCSURVEY_NATS_NKEY
        nats_login: Option<PathBuf> = None => value("FILE").unset("environment variables").free();
        /// Time limit for looking up a name's addresses
        dns_timeout: Span = Span(Duration::from_secs(10)) => TIMEOUT;
        /// Time limit for opening a connection
        connect_timeout: Span = Span(Duration::from_secs(10)) => TIMEOUT;
        /// Time limit for the TLS handshake
        tls_timeout: Span = Span(Duration::from_secs(10)) => TIMEOUT;
        /// Time limit for the first byte of a response
        first_byte_timeout: Span = Span(Duration::from_secs(30)) => TIMEOUT;
        /// Time limit for each further byte
        idle_timeout: Span = Span(Duration::from_secs(20)) => TIMEOUT;
        /// Time limit for a whole exchange, not counting the time in which --rate stops reading. A server
        /// that sends slowly is busy for the whole time
        exchange_timeout: Span = Span(Duration::from_secs(60)) => TIMEOUT;
    }
    "Files" {
        /// List of host names, addresses, networks and autonomous systems (`AS64500`) that are never
        /// contacted, one per line, each with an optional date after it. A name includes its subdomains. A
        /// changed file is read again within a second or two. List everyone who ever complained
        opt_out: Option<PathBuf> = None => value("FILE").free();
        /// Priorities of sites: a name and a whole number per line, e.g. `go.ke 10` or `*-shop.* -10`. Sites
        /// with a greater number are walked sooner; unlisted sites have 0. A name includes its subdomains;
        /// `*` matches anything
        priority: Option<PathBuf> = None => value("FILE");
        /// Database of addresses (.mmdb, e.g. from MaxMind, DB-IP, IPinfo, IPLocate or iptoasn) with the
        /// countries or networks of servers. Repeatable
        geo: Vec<PathBuf> = Vec::new() => value("FILE").free();
        /// Public Suffix List to use instead of the built-in one. If the list has no section markers, all its
        /// rules count as rules of registries
        suffix_list: Option<PathBuf> = None => value("FILE").unset("the built-in list");
        /// Additional root certificates (PEM) to trust. Repeatable
        ca: Vec<PathBuf> = Vec::new() => value("FILE").free();
        /// Folder of an earlier survey with --record-links. URLs for which it recorded an `ETag` or a
        /// `Last-Modified` are fetched only if they have changed since then; unchanged pages keep their
        /// recorded links. This saves servers the bytes. The folder is read only at the start. Implies
        /// --record-links
        since: Option<PathBuf> = None => value("DIR");
        /// With --since: spend about this share of the earlier survey's requests on pages that led to other
        /// sites then, on the paths to them, and on new pages that promise as much. Skipped pages are
        /// counted, and a sample of them is fetched in a share of the sites (--probe-depth), so that the
        /// report can show what was missed. `none` overrides a configuration file and fetches everything
        focus: Option<f64> as OrNone = None => value("SHARE|none")
            .within(|it| it == Amount::NoLimit || is_share(it), "a share above 0 and up to 1, such as 0.1, or none");
    }
}

fn is_share(amount: Amount) -> bool {
    matches!(amount, Amount::Fraction(share) if share > 0.0 && share <= 1.0)
}

fn is_share_or_none(amount: Amount) -> bool {
    is_share(amount) || amount == Amount::Fraction(0.0)
}

fn is_depth(amount: Amount) -> bool {
    amount <= Amount::Whole(1000)
}

fn is_factor(amount: Amount) -> bool {
    matches!(amount, Amount::Fraction(factor) if factor.is_finite() && factor >= 0.0)
}
