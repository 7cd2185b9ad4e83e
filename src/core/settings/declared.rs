use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::budgets::{BUSY, BYTES, Budgets, REQUESTS};
use super::table::{SWITCH, SettingRules, settings, value};
use super::values::quantities::MIB;
use super::values::value::{Amount, NewPath, ValueSyntax};
use super::values::written::{Refusal, Written};
use super::{DepthRule, Entrances, Extension, FeedBackRule, NonHtml, QuietHours, Size, Span};
use crate::address::{ScopeRule, SuffixSection, UrlPattern};

/// One setting, as the table declares it.
#[derive(Debug)]
pub struct Setting {
    /// The name of the key in a file, and of the flag.
    pub key: &'static str,
    /// The heading of the help under which it stands.
    pub group: &'static str,
    /// Its bounds, and what may change it.
    pub rules: SettingRules,
    /// How its value is typed.
    pub shape: ValueSyntax,
    /// Whether its flag may be given more than once.
    pub is_list: bool,
    pub(super) help: &'static str,
    pub(super) written: fn(&Settings) -> Written,
    pub(super) read: fn(&mut Settings, &Written) -> Result<(), Refusal>,
    pub(super) amount: fn(&Settings) -> Amount,
    pub(super) in_words: fn(&Settings) -> String,
    pub(super) move_paths: fn(&mut Settings, &NewPath<'_>),
}

const DAY: u64 = 24 * 3600;

const TIMEOUT: SettingRules = value("TIME").above_zero().free();

settings! {
    /// Everything a survey is told, as its `survey.toml`, the user's configuration file and the flags say it.
    ///
    /// Every default is the polite one.
    "What is surveyed" {
        /// The surveyed country domains, e.g. ke or ke,tz,ug. External URLs inside them become start URLs. Required,
        /// here or in the configuration file
        cctld: Vec<String> = Vec::new() => value("DOMAINS").unset("").commas();
        /// How site owners reach you: a URL or a mail address. It stands in the User-Agent of every request. Required
        /// unless --dns and --gateway keep the survey on this machine
        contact: Option<String> = None => value("URL").unset("").free();
        /// What becomes of external URLs inside the country domains: `link` makes the URL a start URL, `door` the
        /// front page of its host, `off` surveys the start list only
        feed_back: FeedBackRule = FeedBackRule::Link => value("RULE");
        /// Start URLs that one site may be given; further ones are passed over. Each costs the site a tree of its
        /// own, with its own budgets
        seeds_per_site: u32 = 1 => value("N").above_zero();
        /// The share of the start list's sites that is surveyed, drawn by a hash of their names: 0.02 is a pilot of 2
        /// %, and part of any greater sample with the same --seed, whatever the order of the list. Sites that are
        /// found by links are no part of it: --feed-back off leaves them out
        sample: f64 = 1.0 => value("SHARE").within(is_share, "a share above 0 and up to 1, such as 0.02");
        /// The number by which --sample draws: another one, other sites
        seed: u64 = 0 => value("N");
        /// How far a site reaches: `site` is the registrable domain with all its subdomains, `host` the start URL's
        /// host with its subdomains
        scope: ScopeRule = ScopeRule::Site => value("RULE");
        /// Which part of the Public Suffix List divides sites: `icann` the registries' suffixes, `all` the private
        /// ones too, so that each x.github.io is a site
        suffixes: SuffixSection = SuffixSection::Icann => value("SECTION");
        /// Keep every link of every page, and every robots.txt, in two more tables, so that the survey can be walked
        /// again as a virtual Web space. Costs no server anything, and disk a few bytes a link
        record_links: bool = false => SWITCH;
    }
    "How far" {
        /// The deepest level that is fetched; the start URL is level 0. Each level more costs every site requests: on
        /// the African Web of 2008, 8 levels cost 80 % of 20. `auto` goes on in each site while what is found promises
        /// to be worth a request, and leaves the rest
        depth: DepthRule = DepthRule::Levels(8) => value("LEVELS|auto").within(is_depth, "0 to 1000 levels, or auto");
        /// With --depth auto: the deepest level that is fetched all the same
        max_depth: Option<u16> = None => value("LEVELS").unset("20 with --depth auto")
            .within(|it| it == Amount::NoLimit || is_depth(it), "0 to 1000 levels");
        /// With --depth auto: the share that is to be found of the external hosts that all levels would bring. More
        /// costs more requests, and the last percents the most. It holds on Webs like those that the rates were learned
        /// from; on others, --probe-depth shows what the pages left out would have brought
        coverage: Option<f64> = None => value("SHARE").unset("0.95 with --depth auto")
            .within(|it| it == Amount::NoLimit || is_share(it), "a share above 0 and up to 1, such as 0.95");
        /// With --depth auto or --focus: what pages bring by their depth and the words of their URLs, from `ccsurvey learn`
        rates: Option<PathBuf> = None => value("FILE").unset("those that are built in");
        /// With --depth auto or --focus: the share of sites in which up to twenty of the pages left out are fetched after
        /// all, once the site is walked: the report then says what such pages hide. They cost such a site up to twenty
        /// requests more and are no part of its levels and links. With --focus it is 0.02 at least
        probe_depth: f64 = 0.0 => value("SHARE").within(is_share_or_none, "a share from 0 to 1");
        /// Entrances of a site that are tried until one brings a page: the URL offered, the front page of its host,
        /// then the other of http and https and of the names with and without www. Each costs a request, and one for
        /// robots.txt where scheme or host are new; a site without a page is entered again by later links, with three
        /// trees at most, which share its budgets. 1 asks the URL offered only. `all` asks all four front pages of every site, up to eight
        /// requests more a site, and the report says which of them work
        entrances: Entrances = Entrances::default() => value("1..4|all");
        /// The last generation of sites that is walked: 0 the start list, 1 what it links to, and so on
        generations: Option<u32> = None => value("N").unset("no bound");
        /// Query URLs fetched of one script (the URL without its query) in a site tree. Scripts can answer without
        /// end, and each answer costs their server more than a file
        queries_per_script: u32 = 1 => value("N").above_zero();
        /// The share of sites in which up to three query URLs more are fetched of each script, twenty scripts at
        /// most, once the site is walked: the report then says what the rule of --queries-per-script hid. They cost
        /// such a site up to 60 requests more and are no part of its levels and links
        probe_scripts: f64 = 0.0 => value("SHARE")
            .within(is_share_or_none, "a share from 0 to 1");
        /// What becomes of internal URLs that look as if they were no HTML: `skip` does not ask for them, `head` asks
        /// with HEAD what they are (two requests where it is HTML after all), `get` asks for them and breaks the body
        /// off when its header says that it is no HTML
        non_html: NonHtml = NonHtml::Skip => value("RULE");
        /// The endings of file names that look so, e.g. pdf,jpg
        non_html_extensions: Vec<Extension> = Extension::usual() => value("LIST")
            .unset("a hundred for pictures, sound, films, archives, programs and documents, which DIR/survey.toml tells")
            .commas();
        /// Internal URLs that are not asked for, as a path like those in robots.txt (`*` is anything, `$` the end),
        /// on all hosts or on one and those below it: '/shop/', '*/print$', 'blog.example.ke/2009/'. Repeatable
        exclude: Vec<UrlPattern> = Vec::new() => value("PATTERN");
        /// The only internal URLs that are asked for beside the start URL; --exclude wins. Repeatable
        include: Vec<UrlPattern> = Vec::new() => value("PATTERN").unset("all");
        /// Words that exclude a page: its links are neither followed nor recorded, and the exchange says which words
        /// it was. Looked for in the text and markup whatever the case, e.g. 'this domain is for sale'. Repeatable
        exclude_text: Vec<String> = Vec::new() => value("WORDS");
        /// Requests that one site may cost for each start URL that it may have; its outcome is then `request_budget`
        // At 2 s between requests about six hours of one server's attention at most.
        max_requests: Option<u64> as OrNone = Some(10_000) => value("N|none")
            .above_zero().lower_is_more_polite().breaks_if_lifted("the bound on requests to a site");
        /// Bytes on the wire, both ways, that one site may cost, counted in the same way, e.g. 500MB. What a single request may move
        /// beyond the pages' bodies, half a megabyte, is kept in reserve, and may stay unspent
        // 10,000 pages of the median size on the Web of 2024, 32 kB.
        max_bytes: Option<Size> as OrNone = Some(Size(320 * MIB)) => value("BYTES|none")
            .least_bytes().lower_is_more_polite().breaks_if_lifted("the bound on bytes from a site");
        /// Time that the walk of one site may take, counted in the same way, e.g. 12h
        // 10,000 requests with the pause that a page takes on a thin link, two minutes.
        max_time: Option<Span> as OrNone = Some(Span(Duration::from_secs(14 * DAY))) => value("TIME|none")
            .above_zero().lower_is_more_polite();
        /// URLs found in a site tree at which it counts as a trap, made by a machine without end
        max_urls: usize = 100_000 => value("N").above_zero();
        /// Levels in a row on which the pages of one URL pattern must have led only to more of that pattern, before
        /// it is taken for a trap (a calendar, session identifiers, near duplicates without end) and asked for no
        /// further. Fewer save requests and may cut what is no trap; `none` follows all but paths that repeat
        /// themselves, as deep as the survey goes
        trap_levels: Option<u16> as OrNone = Some(3) => value("LEVELS|none").above_zero();
        /// Ask for the pages of a host that shows the same pages as another host of its site (a.ke and www.a.ke),
        /// too. Each page is then asked for twice
        fetch_mirrors: bool = false => SWITCH;
        /// End a site after so many levels in a row that brought no new external link; saves load where sites have
        /// many pages and few links
        stable_levels: Option<u16> = None => value("LEVELS").unset("never").above_zero();
    }
    "How gently" {
        /// Sites walked at once. More makes the survey faster and loads your own link and name server; no server is
        /// asked more often for it
        sites: usize = 64 => value("N").above_zero().free();
        /// Parallel requests in one site. Above 1 you break the promise of one request at a time: the site's owner
        /// bears the load. Use it on sites of your own
        per_site: u32 = 1 => value("N")
            .above_zero().lower_is_more_polite().breaks_if_less_polite("one request at a time in a site");
        /// Parallel requests at one server address, whatever sites stand there. Above 1, shared hosters bear the load
        /// of all their sites at once
        per_address: u32 = 1 => value("N")
            .above_zero().lower_is_more_polite().breaks_if_less_polite("one request at a time at a server");
        /// Parallel requests in one neighbourhood of addresses (/24 in IPv4, /48 in IPv6), which then share the
        /// pauses too: for servers that stand in one room on one thin link. With 1 a survey of crowded networks takes
        /// as many times longer as servers stand there side by side
        per_neighbourhood: Option<u32> as OrNone = None => value("N|none").above_zero().lower_is_more_polite();
        /// Least pause between two exchanges at a server address, e.g. 500ms. Below the default small servers feel
        /// the survey, and their owners complain
        min_delay: Span = Span(Duration::from_secs(2)) => value("TIME")
            .higher_is_more_polite().breaks_if_less_polite("the least pause at a server");
        /// The pause as a multiple of the time from the last request to the last byte of its answer, so that a slow server
        /// is left alone for longer. 5 takes a sixth of a server's time at most; 0 asks a struggling server as often as
        /// a fast one
        delay_factor: f64 = 5.0 => value("FACTOR")
            .within(is_factor, "a number of 0 or more")
            .higher_is_more_polite().breaks_if_less_polite("longer pauses where a server is slow");
        /// Most that a slow exchange or a back-off makes us pause. Lower hurries servers that are in trouble; a
        /// site's Crawl-delay or Retry-After is obeyed all the same
        max_delay: Span = Span(Duration::from_secs(60)) => value("TIME")
            .higher_is_more_polite().breaks_if_less_polite("long pauses where a server is in trouble");
        /// Ask servers of others more harshly than the defaults promise their owners: shorter pauses, several
        /// requests at once, ceilings lifted. Without it such flags are refused; status and report say that it was
        /// given. Surveys of this machine need it not
        impolite: bool = false => SWITCH.free();
        /// How much longer the other users of a server may wait for its answers because of the survey, as a share. The
        /// pause after an answer is as many times as long as the answer kept the link busy, at the best rate of the
        /// last hours: with 0.02 fifty times, sixty times --max-delay at most. With more a survey of thin links is
        /// faster, and their users pay for it
        // Who takes the share s of what a link leaves to it lengthens the transfers of the others by s (processor sharing).
        harm: Option<f64> as OrNone = Some(0.02) => value("SHARE|none").within(
            |it| is_share(it) || it == Amount::NoLimit,
            "a share above 0 and up to 1, such as 0.02, or none",
        ).lower_is_more_polite().breaks_if_less_polite("the bound on what other users of a server feel").formerly("link-share");
        /// Hours in which no server is asked, by its own clock, e.g. 08:00-18:00 or 22:00-06:00. The clock is that of
        /// the time zone or country that --geo tells, or of the site's domain, with summer time. In a country of
        /// several zones an hour is quiet if it is quiet in any of them. The quiet hours count into --max-time of a
        /// site
        quiet_hours: Option<QuietHours> as OrNone = None => value("HOURS|none").lower_is_more_polite();
        /// Bytes per second, both ways, that the whole survey may take of your link and of thin links on the way,
        /// e.g. 500kB. Bodies are read no faster than that; a second's worth, or one largest exchange, may be saved up
        // 8 Mbit/s: a quarter of a modest office link.
        rate: Option<Size> as OrNone = Some(Size(MIB)) => value("BYTES|none")
            .above_zero().lower_is_more_polite().breaks_if_lifted("the ceiling of the whole survey");
        /// Body bytes read of one page, decoded; the rest is left with the server. A link list longer than this is
        /// cut
        max_body: Size = Size(MIB) => value("BYTES").above_zero();
    }
    in budgets: Budgets {
        /// Requests that one server address may bear for this survey, whatever sites stand there. Its sites then end:
        /// failure `server_budget`, outcome `request_budget`
        max_server_requests = server.in_all.requests: Option<u64> => REQUESTS;
        /// Bytes on the wire, both ways, that one server address may bear for this survey, e.g. 2GB. Its sites then
        /// end: failure `server_budget`, outcome `request_budget`
        max_server_bytes = server.in_all.bytes: Option<Size> => BYTES;
        /// Busy time that one server address may bear for this survey, e.g. 6h. Its sites then end: failure
        /// `server_budget`, outcome `request_budget`
        max_server_busy = server.in_all.busy: Option<Span> => BUSY;
        /// Requests that one server address may bear on a day (UTC); its sites go on the next day
        max_server_requests_per_day = server.per_day.requests: Option<u64> => REQUESTS;
        /// Bytes that one server address may bear on a day (UTC); its sites go on the next day
        max_server_bytes_per_day = server.per_day.bytes: Option<Size> => BYTES;
        /// Busy time that one server address may bear on a day (UTC); its sites go on the next day
        max_server_busy_per_day = server.per_day.busy: Option<Span> => BUSY;
        /// Requests that one network (/24 in IPv4, /48 in IPv6) may bear for this survey, whatever servers stand
        /// there: for servers that share one room and one link, whose owner sees the sum. The sites there then end as
        /// with --max-server-requests
        max_network_requests = network.in_all.requests: Option<u64> => REQUESTS;
        /// Bytes on the wire, both ways, that one network (/24, /48) may bear for this survey, e.g. 5GB, for links
        /// that are paid by volume
        max_network_bytes = network.in_all.bytes: Option<Size> => BYTES;
        /// Busy time that the servers of one network (/24, /48) may bear together for this survey, e.g. 12h
        max_network_busy = network.in_all.busy: Option<Span> => BUSY;
        /// Requests that one network (/24, /48) may bear on a day (UTC); its sites go on the next day. The days of
        /// waiting count into --max-time of a site: give more of it where many sites share a network
        max_network_requests_per_day = network.per_day.requests: Option<u64> => REQUESTS;
        /// Bytes that one network (/24, /48) may bear on a day (UTC); its sites go on the next day
        max_network_bytes_per_day = network.per_day.bytes: Option<Size> => BYTES;
        /// Busy time that the servers of one network (/24, /48) may bear together on a day (UTC); its sites go on the
        /// next day
        max_network_busy_per_day = network.per_day.busy: Option<Span> => BUSY;
        /// Requests that one autonomous system may bear for this survey: for operators who carry many networks and
        /// watch over them all. Needs a database with --geo that tells systems; an address that it does not know is
        /// not bounded. The sites there then end as with --max-server-requests
        max_as_requests = system.in_all.requests: Option<u64> => REQUESTS;
        /// Bytes on the wire, both ways, that one autonomous system may bear for this survey, e.g. 50GB; needs --geo
        max_as_bytes = system.in_all.bytes: Option<Size> => BYTES;
        /// Busy time that the servers of one autonomous system may bear together for this survey; needs --geo
        max_as_busy = system.in_all.busy: Option<Span> => BUSY;
        /// Requests that one autonomous system may bear on a day (UTC); its sites go on the next day; needs --geo
        max_as_requests_per_day = system.per_day.requests: Option<u64> => REQUESTS;
        /// Bytes that one autonomous system may bear on a day (UTC); its sites go on the next day; needs --geo
        max_as_bytes_per_day = system.per_day.bytes: Option<Size> => BYTES;
        /// Busy time that the servers of one autonomous system may bear together on a day (UTC); its sites go on the
        /// next day; needs --geo
        max_as_busy_per_day = system.per_day.busy: Option<Span> => BUSY;
    }
    "Network" {
        /// The name server to ask, e.g. 127.0.0.1:53. A survey asks for many names: use a resolver of your own rather
        /// than a public one
        dns: Option<SocketAddr> = None => value("ADDR:PORT").unset("those of the system").free();
        /// Where every connection goes, whatever the address of the server: a virtual Web space
        gateway: Option<SocketAddr> = None => value("ADDR:PORT").unset("to the servers").free();
        /// Go to loopback, private and other special addresses too. On the real Web any page or name could then point
        /// the survey into your own network
        permit_special_addresses: bool = false => SWITCH.lower_is_more_polite();
        /// Take no page from a server whose certificate is not valid for its name; otherwise it is noted and used
        refuse_bad_certificates: bool = false => SWITCH;
        /// Have agents walk the sites (`ccsurvey agent`), on this and other machines, over the NATS server there:
        /// nats://HOST:PORT, or tls://HOST:PORT; several of a cluster between commas. It needs JetStream. --sites counts
        /// sites that wait for an agent too
        nats: Option<String> = None => value("URL").unset("this process walks them").free();
        /// The file with our credentials for the NATS server: user and password, token, nkey or client_cert and
        /// client_key, and ca, as TOML. The environment can tell them too: CCSURVEY_NATS_USER, CCSURVEY_NATS_PASSWORD,
        /// CCSURVEY_NATS_TOKEN, CCSURVEY_NATS_NKEY
        nats_login: Option<PathBuf> = None => value("FILE").unset("the environment").free();
        /// How long to wait for a name's addresses
        dns_timeout: Span = Span(Duration::from_secs(10)) => TIMEOUT;
        /// How long to wait for a connection
        connect_timeout: Span = Span(Duration::from_secs(10)) => TIMEOUT;
        /// How long to wait for the end of the TLS handshake
        tls_timeout: Span = Span(Duration::from_secs(10)) => TIMEOUT;
        /// How long to wait for the first byte of an answer
        first_byte_timeout: Span = Span(Duration::from_secs(30)) => TIMEOUT;
        /// How long to wait for each further byte
        idle_timeout: Span = Span(Duration::from_secs(20)) => TIMEOUT;
        /// How long a whole exchange may take, beside the time in which --rate does not let it read on; a server that
        /// sends slowly is busy all that time
        exchange_timeout: Span = Span(Duration::from_secs(60)) => TIMEOUT;
    }
    "Files" {
        /// Host names, addresses, networks and autonomous systems (`AS64500`) that are never contacted, one a line,
        /// with or without a date after it; a name covers what is below it. Read again within a second when it
        /// changes. Put everybody there who ever complained
        opt_out: Option<PathBuf> = None => value("FILE").free();
        /// Which sites are walked sooner and which last: a name and a whole number a line, greater is sooner, 0 for
        /// all others: `go.ke 10`, `*-shop.* -10`. A name covers what is below it; `*` is anything
        priority: Option<PathBuf> = None => value("FILE");
        /// A database of addresses (.mmdb; as of MaxMind, DB-IP, IPinfo, IPLocate or iptoasn) that tells countries or
        /// networks of servers; may be given more than once
        geo: Vec<PathBuf> = Vec::new() => value("FILE").free();
        /// A Public Suffix List to use in place of the one built in. Where it has no marks of sections, all of its rules
        /// count as those of registries
        suffix_list: Option<PathBuf> = None => value("FILE").unset("the one built in");
        /// Further root certificates (PEM) to trust; may be given more than once
        ca: Vec<PathBuf> = Vec::new() => value("FILE").free();
        /// The folder of an earlier survey with --record-links: what it has a tag (`ETag`) or date (`Last-Modified`)
        /// of is asked for only if it has changed since, and pages that have not keep their recorded links. Saves
        /// servers the bytes; read at the start only; implies --record-links
        since: Option<PathBuf> = None => value("DIR");
        /// With --since: spend about this share of the earlier survey's requests, on pages that led to other sites then,
        /// on the ways to them, and on new pages that promise as much. What is left out is counted, and a sample of it
        /// is fetched in a share of the sites (--probe-depth), for the report to say what was missed. `none`
        /// overrides a configuration file and asks for everything
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
