use std::collections::HashSet;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use super::forbidden::Forbidden;
use super::kept_pages::KeptPages;
use crate::address::{Host, Scope, Site, server_at};
use crate::exchange::{Depth, Purpose, RobotsState, SiteSoftware};
use crate::fetch::Clock;
use crate::frontier::{KeptRobots, Lease};
use crate::load::Spent;
use crate::page::Page;
use crate::promises::{OrderBreaches, TreeRequest, TreeRequests};
use crate::records::{ExchangeRow, LevelRow, LinkRow, SegmentRows, SiteRow, milliseconds};
use crate::robots::{Availability, sitemaps};
use crate::survey::boundaries::Boundaries;
use crate::survey::boundaries::scope::SurveyScope;
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::journal::JournalReader;
use crate::survey::journal::entry::{Entry, ExchangeRecord};
use crate::survey::journal::history::JournalHistory;
use crate::survey::parts::shared_robots::SharedRobots;
use crate::survey::storage::carry_over::CarryOver;
use crate::survey::storage::tally::{Tally, TreeTally};
use crate::survey::visit::ConcludedTree;
use crate::walk::{Content, FailedWalk, LevelCount, Probe, SkippedBy, Tree, availability};

/// The results of a finished site tree, read from its journal.
pub(in crate::survey) struct TreeRows {
    pub rows: SegmentRows,
    /// The number of its requests without a response on record.
    pub unrecorded: u64,
    /// Its responses for robots.txt, for later trees.
    pub robots: Vec<KeptRobots>,
    /// From its first request to its last, without the time between the runs of the survey.
    pub request_span: Duration,
    pub tally: Tally,
}

/// Reads the results of trees from their journals.
pub(in crate::survey) struct TreeReader<'a> {
    pub boundaries: &'a Boundaries,
    pub folder: &'a Folder,
    pub shared_robots: &'a SharedRobots,
    pub product_token: &'a str,
    /// Whether links of pages, and robots.txt, are recorded.
    pub keeps_pages: bool,
    /// The most URLs that a tree holds.
    pub max_urls: usize,
    /// The clock of the survey. Times in tables are those of the system's clock.
    pub clock: Clock,
}

impl TreeReader<'_> {
    /// The rows of a finished tree. Recorded pages that would fill a segment alone are passed to `write` on
    /// the way.
    pub(in crate::survey) fn rows(
        &self,
        done: &ConcludedTree,
        write: impl FnMut(&SegmentRows) -> Result<(), SurveyError>,
    ) -> Result<TreeRows, SurveyError> {
        let scope = self.boundaries.scope.tree_scope(&done.lease.site);
        let mut exchanges = Vec::new();
        let mut pages = self.keeps_pages.then(|| KeptPages::new(&done.lease, &scope, write));
        let mut journal = JournalReader::open(&self.folder.journal(done.lease.order))?;
        let (mut history, mut forbidden) = (JournalHistory::default(), Forbidden::new(self.product_token));
        let mut tally = TreeTally::new(&done.lease.site);
        let (mut robots, mut shared) = (Vec::new(), Vec::new());
        let mut agent = None;
        while let Some(entry) = journal.next()? {
            history.note(&entry);
            tally.note(&entry);
            if let Entry::WalkedBy { agent: name } = entry {
                agent = Some(name);
            } else if let Entry::Shared(record) = entry {
                forbidden.note(&record);
                shared.push(self.exchange_row(done, &scope, &record));
            } else if let Some(record) = entry.into_record() {
                forbidden.note(&record);
                robots.extend(self.shared_robots.to_store(done.lease.order, &record)?);
                exchanges
                    .push(ExchangeRow { agent: agent.clone(), ..self.exchange_row(done, &scope, &record) });
                if let Some(pages) = &mut pages {
                    pages.keep(&record)?;
                }
            }
        }
        if exchanges.is_empty() && done.tree.sum(|level| level.requests) > 0 {
            let what = "this journal no longer has the exchanges of its site";
            return Err(SurveyError::Journal { path: self.folder.journal(done.lease.order), what });
        }
        exchanges.sort_by_key(|row| row.number);
        count_attempts(&mut exchanges);
        let mut tally = tally.tally;
        tally.seen.order = order_breaches(&exchanges, &shared, &forbidden);
        let request_span = request_span(&exchanges).saturating_sub(history.stopped_before_last);
        let rows = SegmentRows {
            exchanges,
            links: link_rows(&self.boundaries.scope, &done.lease, &scope, &done.tree),
            levels: level_rows(&done.lease, &done.tree),
            sites: vec![self.site_row(done)],
            ..pages.map(KeptPages::remaining_rows).unwrap_or_default()
        };
        Ok(TreeRows { rows, unrecorded: history.unanswered.count(), robots, request_span, tally })
    }

    /// What is on record at `now` of a tree whose walk has failed. `earlier` is what earlier trees of the
    /// site spent from the same account.
    pub(in crate::survey) fn salvage(
        &self,
        lease: Lease,
        earlier: Spent,
        now: SystemTime,
    ) -> Result<ConcludedTree, SurveyError> {
        let mut salvage = FailedWalk::new(self.boundaries.scope.tree_scope(&lease.site), self.max_urls);
        let mut journal = JournalReader::open(&self.folder.journal(lease.order))?;
        let (mut began, mut ended) = (None, None);
        while let Some(entry) = journal.next()? {
            if let Entry::Shared(record) = entry {
                salvage.take_shared(&record.response);
            } else if let Some(record) = entry.into_record() {
                began.get_or_insert(record.response.started);
                ended = ended.max(Some(record.response.ended()));
                salvage.take(&record.request, &record.response, &record.content);
            }
        }
        let (tree, known) = salvage.conclude();
        // No tree continues with the account of a failed one: its site counts as open.
        let carried_over = CarryOver { known, spent: Spent::default() };
        let (began, ended) = (began.unwrap_or(now), ended.unwrap_or(now));
        Ok(ConcludedTree { lease, tree, earlier, carried_over, part: None, began, ended })
    }
}

impl TreeReader<'_> {
    fn exchange_row(&self, done: &ConcludedTree, scope: &Scope, record: &ExchangeRecord) -> ExchangeRow {
        let started = self.clock.system_time_at(record.response.started).into();
        let row = ExchangeRow { started, ..exchange_row(done, scope, record) };
        if record.request.purpose == Purpose::Robots {
            with_robots(row, record, self.product_token)
        } else {
            row
        }
    }

    fn site_row(&self, done: &ConcludedTree) -> SiteRow {
        let [started, finished] = [done.began, done.ended].map(|time| self.clock.system_time_at(time).into());
        SiteRow { started, finished, ..site_row(self.boundaries, done) }
    }
}

/// The breaches of order in the requests of a tree. Some of them were satisfied by responses that it
/// `shared`.
fn order_breaches(exchanges: &[ExchangeRow], shared: &[ExchangeRow], forbidden: &Forbidden) -> OrderBreaches {
    let mut tree_requests = TreeRequests::default();
    let mut rows: Vec<&ExchangeRow> = exchanges.iter().chain(shared).collect();
    rows.sort_by_key(|row| row.number);
    for row in rows {
        let parsed = TreeRequest::from_columns(&row.url, &row.purpose, row.status, row.failure.as_deref());
        if let Some(tree_request) = parsed {
            tree_requests.note(&TreeRequest { is_forbidden: forbidden.has(row.number), ..tree_request });
        }
    }
    tree_requests.order().clone()
}

/// The time from the first request of a tree to its last.
fn request_span(exchanges: &[ExchangeRow]) -> Duration {
    let start_times = || exchanges.iter().filter(|row| row.was_sent()).map(|row| row.started.0);
    let micros = start_times().max().unwrap_or_default() - start_times().min().unwrap_or_default();
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// The hosts that a tree sent requests to, each with its server.
pub(in crate::survey) fn hosts_of(exchanges: &[ExchangeRow], site: &Site) -> Vec<(IpAddr, Host, Site)> {
    let mut seen = HashSet::new();
    exchanges
        .iter()
        .filter(|row| row.was_sent())
        .filter(|row| seen.insert((row.address.as_deref(), row.host.as_str())))
        .filter_map(|row| {
            let address = row.address.as_deref()?.parse().ok()?;
            Some((server_at(address), Host::parse(&row.host).ok()?, site.clone()))
        })
        .collect()
}

fn exchange_row(done: &ConcludedTree, scope: &Scope, record: &ExchangeRecord) -> ExchangeRow {
    let lease = &done.lease;
    let mut row = ExchangeRow::from_exchange(&lease.site, lease.seed, &record.request, &record.response);
    row.unchanged_bytes = record.unchanged_bytes;
    if let Content::Page(page) = &record.content {
        let by_fields = record.response.facts.software.as_ref();
        add_page(&mut row, scope, record.request.url.host(), page, by_fields);
    }
    let is_probe = |probe: &&Probe| probe.number == record.request.number && record.response.status.is_some();
    if let Some(probe) = done.tree.probes.iter().find(is_probe) {
        add_probe(&mut row, probe);
    }
    row
}

/// Adds what a robots.txt says.
fn with_robots(row: ExchangeRow, record: &ExchangeRecord, product_token: &str) -> ExchangeRow {
    let response = &record.response;
    if !response.was_sent() {
        return row;
    }
    let availability = availability(response, &record.content);
    let state = match availability {
        _ if response.is_redirect() => RobotsState::Redirected,
        Availability::Unavailable | Availability::TooManyRedirects => RobotsState::NoFile,
        Availability::Unreachable | Availability::Busy => RobotsState::Unreachable,
        Availability::Found(_) => {
            let rules = availability.rules(product_token);
            match () {
                () if !rules.allows(&record.request.url.front_page_url()) => RobotsState::ForbidsFrontPage,
                () if rules.forbids_some() => RobotsState::ForbidsSome,
                () => RobotsState::ForbidsNothing,
            }
        }
    };
    let sitemaps = if let Availability::Found(body) = availability { sitemaps(body) } else { Vec::new() };
    ExchangeRow {
        robots: Some(state.as_str().to_owned()),
        sitemaps: (!sitemaps.is_empty()).then(|| sitemaps.join(" ")),
        ..row
    }
}

/// Numbers the attempts of each request. Rows of one request are adjacent, in the order in which they were
/// sent.
fn count_attempts(rows: &mut [ExchangeRow]) {
    for attempts in rows.chunk_by_mut(|previous, next| previous.number == next.number) {
        (0..).zip(attempts).for_each(|(attempt, row)| row.attempt = Some(attempt));
    }
}

fn add_page(
    row: &mut ExchangeRow,
    scope: &Scope,
    host: &Host,
    page: &Page,
    by_fields: Option<&SiteSoftware>,
) {
    let internal = page.links.iter().filter(|link| scope.contains_from(host, link.url.host())).count();
    let count = |links: usize| Some(u32::try_from(links).unwrap_or(u32::MAX));
    row.internal_links = count(internal);
    row.external_links = count(page.links.len() - internal);
    row.dropped_links = Some(page.defects.links_dropped);
    row.charset = Some(page.charset.clone());
    row.language.clone_from(&page.language);
    row.title.clone_from(&page.title);
    row.excluded_by.clone_from(&page.excluded_by);
    row.body_hash = Some(format!("{:032x}", page.body_hash));
    let facts = &page.facts;
    row.generator.clone_from(&facts.generator);
    if let Some(software) = SiteSoftware::preferred(facts.software.clone(), by_fields.cloned()) {
        (row.cms, row.cms_evidence) = (Some(software.name), Some(software.evidence));
    }
    row.content = facts.content.map(|content| content.as_str().to_owned());
    row.content_evidence.clone_from(&facts.content_evidence);
    row.text_language.clone_from(&facts.text_language);
    row.words = facts.content.map(|_| facts.words);
    row.text_simhash = page.text_simhash.map(|hash| format!("{hash:016x}"));
}

fn add_probe(row: &mut ExchangeRow, probe: &Probe) {
    match probe.skipped_by {
        SkippedBy::Script(urls) => row.withheld_urls = Some(urls),
        SkippedBy::Yield(urls) => row.left_out_urls = Some(urls),
    }
    row.new_external_urls = Some(probe.external_urls);
    row.new_external_hosts = Some(probe.external_hosts);
    row.new_internal_urls = Some(probe.internal_urls);
}

fn link_rows(surveyed: &SurveyScope, lease: &Lease, scope: &Scope, tree: &Tree) -> Vec<LinkRow> {
    tree.externals
        .iter()
        .map(|external| LinkRow {
            site: lease.site.to_string(),
            seed: lease.seed,
            depth: external.depth.0,
            page: external.page.as_str().to_owned(),
            url: external.url.canonical(),
            host: external.url.host().to_string(),
            target_site: scope.site_of(external.url.host()).to_string(),
            element: external.element.as_str().to_owned(),
            nofollow: external.nofollow,
            in_survey: surveyed.country_of(external.url.host()).is_some(),
        })
        .collect()
}

fn level_rows(lease: &Lease, tree: &Tree) -> Vec<LevelRow> {
    let depths = 0..;
    depths.zip(&tree.levels).map(|(depth, level)| level_row(lease, Depth(depth), level)).collect()
}

fn level_row(lease: &Lease, depth: Depth, level: &LevelCount) -> LevelRow {
    LevelRow {
        site: lease.site.to_string(),
        seed: lease.seed,
        depth: depth.0,
        requests: level.requests,
        shared_robots: Some(level.shared_robots),
        pages: level.pages,
        sent_bytes: level.sent_bytes,
        received_bytes: level.received_bytes,
        connections: level.connections,
        busy_ms: milliseconds(level.busy),
        internal_urls: level.internal_urls(),
        external_urls: level.external_urls,
        external_hosts: level.external_hosts,
        external_sites: level.external_sites,
        classes: level.classes,
        expected_external_hosts: Some(level.expected_hosts),
    }
}

fn site_row(boundaries: &Boundaries, done: &ConcludedTree) -> SiteRow {
    let ConcludedTree { lease, tree, began, ended, .. } = done;
    let location = tree.address.map(|address| boundaries.geo.lookup(address)).unwrap_or_default();
    let (robots, probes) = (&tree.robots, &tree.probe_load);
    let busy = tree.levels.iter().map(|level| level.busy).sum::<Duration>() + robots.busy + probes.busy;
    SiteRow {
        site: lease.site.to_string(),
        cctld: boundaries.scope.country_of(lease.start.host()).map(ToString::to_string),
        start_url: lease.start.as_str().to_owned(),
        parent_site: lease.parent.as_ref().map(ToString::to_string),
        generation: lease.generation,
        outcome: tree.outcome.as_str().to_owned(),
        deepest: tree.deepest().map(|depth| depth.0),
        requests: tree.sum(|level| level.requests) + robots.requests + probes.requests,
        pages: tree.sum(|level| level.pages),
        received_bytes: tree.sum(|level| level.received_bytes)
            + robots.received_bytes
            + probes.received_bytes,
        busy_ms: milliseconds(busy),
        external_urls: tree.sum(|level| level.external_urls),
        external_hosts: tree.sum(|level| level.external_hosts),
        external_sites: tree.sum(|level| level.external_sites),
        address: tree.address.map(|address| address.to_string()),
        country: location.country,
        asn: location.asn,
        as_org: location.as_org,
        server: tree.server.clone(),
        started: (*began).into(),
        finished: (*ended).into(),
        seed: lease.seed,
        sent_bytes: tree.sum(|level| level.sent_bytes) + robots.sent_bytes + probes.sent_bytes,
        probe_requests: probes.requests,
        robots_requests: robots.requests,
        internal_urls: tree.sum(LevelCount::internal_urls),
        number: Some(lease.order),
        entrance: tree.entrance.map(|entrance| entrance.as_str().to_owned()),
        entrances: Some(tree.entrances),
        trap_pattern: (!tree.trap_patterns.is_empty()).then(|| tree.trap_patterns.join(" ")),
    }
}
