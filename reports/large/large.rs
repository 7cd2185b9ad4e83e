//! Writes a large survey that nobody made, and draws its curves: how long that takes and in how much memory.
//!
//!     large write DIR SITES     a survey with about 100 links and 10 exchanges for each of SITES site trees
//!     large curves DIR          wall time and peak memory as CSV on standard output
//!     large grouping DIR        only reads and groups what the curves are computed from
//!     large counters DIR        only reads and counts what the report tells

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use ccsurvey::analysis::overview::Overview;
use ccsurvey::analysis::{Censoring, Curves, Deepest, Kind, Recorded, Sampling, Unseen};
use ccsurvey::fetch::Clock;
use ccsurvey::records::{
    ExchangeRow, LevelRow, LinkRow, Manifest, SegmentRows, ServerRow, SiteRow, SurveyState, Tables,
    Timestamp, row_counts, write_table,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["write", dir, sites] => write(Path::new(dir), sites.parse()?),
        ["curves", dir] => curves(Path::new(dir)),
        ["grouping", dir] => grouping(Path::new(dir)),
        ["counters", dir] => counters(Path::new(dir)),
        _ => Err("usage: large write DIR SITES | large curves|grouping|counters DIR".into()),
    }
}

fn curves(dir: &Path) -> Result<(), Box<dyn Error>> {
    let started = Clock::system().now();
    let seconds = || Clock::system().now().duration_since(started).unwrap_or_default().as_secs_f64();
    let recorded = Recorded::load(dir)?;
    let loaded = seconds();
    let sampling = Sampling::default();
    let curves = Curves::measure(&recorded, &sampling);
    let drawn = seconds() - loaded;
    let deepest = Deepest::measure(&recorded, &sampling);
    let (unseen, censoring) = (Unseen::estimate(&recorded, &sampling), Censoring::measure(&recorded));
    let rows = row_counts(dir)?;
    let of = |table: &str| rows.get(table).map_or(0, |count| count.rows);
    let urls = curves.levels.last().map_or(0, |level| level.known[0]);
    println!(
        "links,exchanges,sites,levels,distinct_urls,trees,depths,kinds_unseen,cut_trees,load_s,curves_s,all_s,peak_mib"
    );
    println!(
        "{},{},{},{},{urls},{},{},{},{},{loaded:.1},{drawn:.1},{:.1},{}",
        of("links"),
        of("exchanges"),
        of("sites"),
        of("levels"),
        deepest.trees,
        curves.levels.len(),
        unseen.kinds.len(),
        censoring.cut_trees,
        seconds(),
        peak_mib()?,
    );
    Ok(())
}

fn grouping(dir: &Path) -> Result<(), Box<dyn Error>> {
    let recorded = Recorded::load(dir)?;
    let [urls, hosts, sites] =
        [Kind::Urls, Kind::Hosts, Kind::Sites].map(|kind| recorded.known.counts(kind).total());
    println!("{{\"url\": {urls}, \"host\": {hosts}, \"target_site\": {sites}}}");
    Ok(())
}

fn counters(dir: &Path) -> Result<(), Box<dyn Error>> {
    let overview = Overview::load(dir)?;
    println!(
        "{{\"requests\": {}, \"hosts\": {}}}",
        overview.card.totals.requests, overview.card.totals.hosts_asked
    );
    Ok(())
}

/// The greatest resident memory of this process, as Linux tells it.
fn peak_mib() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? / 1024)
}

/// The links of a tree follow Pareto's law, a hundred on average: few trees hold a large part of them.
const FEWEST_LINKS: f64 = 23.0;
const MOST_LINKS: f64 = 100_000.0;
const PARETO: f64 = 1.25;
const LINKS_OF_A_PAGE: u64 = 10;
/// A tree leads to so many URLs of each host that it leads to: the 92 sites of real documentation that
/// `reports/benchmark/crawlers` surveys have 6,573 links to 1,356 hosts, each counted in every tree, and to 6,179 URLs.
const URLS_AT_A_HOST: u64 = 5;
/// The 22nd of November 2026.
const BEGUN: Duration = Duration::from_secs(1_795_305_600);
/// Sites on one server.
const SITES_OF_A_SERVER: u64 = 30;
/// Servers that are asked at once; one after another takes the place of each, and all sites of a server have the same.
const AT_ONCE: usize = 512;
/// From one question to a server to the next: an answer takes a second at most, and then the server rests.
const BETWEEN: Duration = Duration::from_secs(7);
/// Site trees in a segment: half a million rows, as many as a survey writes at once.
const SEGMENT: u64 = 4000;

fn write(dir: &Path, sites: u64) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(dir)?;
    let tables = Tables::open(dir)?;
    let mut rows = SegmentRows::default();
    let mut segment = 0;
    let mut asked = vec![0; AT_ONCE];
    for site in 0..sites {
        grow(site, sites, &mut asked, &mut rows);
        if (site + 1) % SEGMENT == 0 || site + 1 == sites {
            tables.write(segment, &std::mem::take(&mut rows))?;
            segment += 1;
        }
    }
    write_table::<ServerRow>(dir, &[])?;
    let mut manifest = Manifest::new(serde_json::json!({}), Timestamp::default());
    manifest.state = SurveyState::Finished;
    manifest.tables = row_counts(dir)?;
    manifest.save(dir)?;
    Ok(())
}

const DOMAINS: [&str; 8] = ["ke", "tz", "ug", "gh", "ng", "sn", "zm", "mw"];

const HOSTERS: [&str; 8] = ["US", "DE", "FR", "ZA", "GB", "NL", "IE", "CA"];
const SERVERS: [&str; 8] = [
    "nginx/1.24",
    "Apache/2.4.58 (Unix)",
    "cloudflare",
    "LiteSpeed",
    "Microsoft-IIS/10.0",
    "openresty",
    "Caddy",
    "lighttpd/1.4",
];

/// A tree of one to nine levels; `asked` says how often the servers of each place were. What it links to is drawn from a
/// pool of hosts, few of them popular and most of them rare, several URLs of each.
fn grow(number: u64, sites: u64, asked: &mut [u32], rows: &mut SegmentRows) {
    let mut chance = Chance(number);
    let cctld = DOMAINS[chance.below(8) as usize];
    let site = format!("site{number}.co.{cctld}");
    let host = format!("www.{site}");
    let servers = sites / SITES_OF_A_SERVER + 1;
    let address = number % servers;
    let asked = &mut asked[address as usize % AT_ONCE];
    let address = format!("10.{}.{}.{}", address >> 16 & 255, address >> 8 & 255, address & 255);
    let link_count = (FEWEST_LINKS / chance.share().powf(1.0 / PARETO)).min(MOST_LINKS) as u64;
    let exchanges = link_count / LINKS_OF_A_PAGE;
    let depths = 1 + chance.below(3) + chance.below(4) + chance.below(4);
    let mut levels: Vec<LevelRow> = (0..depths)
        .map(|depth| LevelRow { site: site.clone(), depth: depth as u16, ..LevelRow::default() })
        .collect();
    for request in 0..exchanges {
        let level = &mut levels[(request * depths / exchanges) as usize];
        let (received_bytes, total_ms) = (2000 + chance.below(40_000), 100.0 + chance.below(900) as f64);
        level.requests += 1;
        level.pages += 1;
        level.sent_bytes += 300;
        level.received_bytes += received_bytes;
        level.busy_ms += total_ms;
        rows.exchanges.push(ExchangeRow {
            site: site.clone(),
            url: format!("http://{host}/{request}"),
            host: host.clone(),
            address: Some(address.clone()),
            depth: Some(level.depth),
            purpose: "page".into(),
            method: "GET".into(),
            status: Some(200),
            sent_bytes: 300,
            received_bytes,
            started: (UNIX_EPOCH + BEGUN + BETWEEN * *asked).into(),
            total_ms: Some(total_ms),
            number: request as u32,
            ..ExchangeRow::default()
        });
        *asked += 1;
    }
    let mut targets: Vec<Target> = Vec::new();
    for link in 0..link_count {
        let depth = chance.below(depths).min(chance.below(depths)) as u16;
        levels[usize::from(depth)].external_urls += 1;
        let known = targets.len() as u64;
        let is_new = known == 0 || chance.below(URLS_AT_A_HOST) == 0;
        if is_new {
            targets.push(Target::drawn(sites, depth, &mut chance));
        }
        // Hosts that come first are on every page, and are led to most.
        let place = if is_new { known } else { chance.below(known).min(chance.below(known)) };
        let target = &mut targets[place as usize];
        target.depth = depth.min(target.depth);
        let path = if is_new { chance.below(2) } else { 2 + link };
        let page = format!("http://{host}/{}", link % exchanges);
        rows.links.push(target.linked(&site, page, depth, path));
    }
    for target in targets {
        let level = &mut levels[usize::from(target.depth)];
        level.external_hosts += 1;
        level.external_sites += 1;
    }
    let deepest = Some(depths as u16 - 1);
    let (requests, pages, external_urls) = (exchanges, exchanges, link_count);
    let outcome = if depths == 9 { "depth" } else { "complete" }.to_owned();
    rows.levels.append(&mut levels);
    // Half stand in their country, the others with some large hosters; a few networks and programs have most sites.
    let home = chance.below(2) == 0;
    let country = if home { cctld.to_uppercase() } else { HOSTERS[chance.below(8) as usize].to_owned() };
    let network = chance.below(20).min(chance.below(20)).min(chance.below(20));
    let server = SERVERS[chance.below(8).min(chance.below(8)) as usize];
    rows.sites.push(SiteRow {
        cctld: Some(cctld.into()),
        generation: chance.below(4).min(chance.below(6)) as u32,
        asn: Some(64_512 + u32::from(home) * 100 + network as u32),
        as_org: Some(format!("{country} {network}")),
        country: Some(country),
        server: Some(server.into()),
        start_url: format!("http://{host}/"),
        address: Some(address),
        site,
        outcome,
        deepest,
        requests,
        pages,
        external_urls,
        ..SiteRow::default()
    });
}

/// A site that a tree leads to, and how deep the tree first does.
struct Target {
    site: String,
    is_in_survey: bool,
    depth: u16,
}

impl Target {
    /// A quarter are sites of the survey, popular ones first; the others are of a pool forty times as large.
    fn drawn(sites: u64, depth: u16, chance: &mut Chance) -> Self {
        let share = 1.0 - chance.share();
        let is_in_survey = chance.below(4) == 0;
        let site = if is_in_survey {
            let target = (share.powi(3) * sites as f64) as u64;
            format!("site{target}.co.{}", DOMAINS[Chance(target).below(8) as usize])
        } else {
            format!("other{}.com", (share.powi(2) * sites as f64 * 40.0) as u64 + chance.below(40))
        };
        Self { site, is_in_survey, depth }
    }

    fn linked(&self, site: &str, page: String, depth: u16, path: u64) -> LinkRow {
        let host = format!("www.{}", self.site);
        LinkRow {
            site: site.to_owned(),
            depth,
            page,
            url: format!("http://{host}/{path}"),
            host,
            target_site: self.site.clone(),
            element: "a".into(),
            nofollow: false,
            in_survey: self.is_in_survey,
            ..LinkRow::default()
        }
    }
}

/// SplitMix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    /// From 0 to 1, the 0 left out.
    fn share(&mut self) -> f64 {
        (self.below(1 << 20) + 1) as f64 / f64::from(1 << 20)
    }
}
