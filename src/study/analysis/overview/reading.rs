use std::path::Path;

use super::super::AnalysisError;
use super::super::tables::for_each_frame;
use super::Overview;
use super::exchange::{ExchangeColumns, ExchangeReader, ExchangeView};
use super::graph;
use super::judged::ledger::{self, Addresses, FoundFiles, Ledger};
use super::judged::link_shares::LinkShares;
use super::judged::opt_outs::OptOutWatch;
use super::judged::promises::PromiseEvidence;
use super::judged::recorded_limits::RecordedLimits;
use super::judged::request_order::{self, TreeRequestChecks};
use super::judged::timeline::Timeline;
use super::links::{Links, LinksMaker, NameColumns, WantedNames};
use super::listed::{ListedSiteColumns, ListedTrees};
use super::method::Method;
use super::servers::doors::DoorsMaker;
use super::servers::infrastructure::{self, InfrastructureMaker};
use super::servers::technology::{self, TechnologyMaker};
use super::servers::times::TimesMaker;
use super::sites::SitesMaker;
use super::sites::card::CardMaker;
use super::sites::funnel::FunnelMaker;
use super::sites::outcomes::OutcomesMaker;
use super::skipped::{SkippedUrlsMaker, level_columns};
use crate::records::{ExchangeRow, LevelRow, LinkRow, Manifest, ServerRow, SiteRow, read_frames};
use crate::settings::{Entrances, Settings};

pub(super) fn read(dir: &Path) -> Result<Overview, AnalysisError> {
    let manifest = Manifest::load(dir)?;
    let mut makers = Makers::new(&manifest, OptOutWatch::open(dir)?);
    makers.read_servers(dir)?;
    makers.read_sites(dir)?;
    if makers.listed.trees.is_empty() {
        return Err(AnalysisError::Empty(dir.to_owned()));
    }
    makers.read_levels(dir)?;
    makers.read_exchanges(dir)?;
    let (mut overview, listed, funnel) = makers.finish(&manifest);
    // The memory for the exchanges is free now; the links need as much again.
    let mut links = LinksMaker::new(&overview.card.country_domains);
    links.read(dir, &listed)?;
    let (links, wanted, known_only_by_links) = links.finish(&listed);
    overview.funnel = funnel.finish(known_only_by_links);
    overview.links = named(dir, links, wanted)?;
    overview.graph = graph::read(dir, &listed)?;
    Ok(overview)
}

fn named(dir: &Path, mut links: Links, mut wanted: WantedNames) -> Result<Links, AnalysisError> {
    for frame in read_frames::<LinkRow>(dir, NameColumns::NAMES)? {
        if wanted.is_satisfied() {
            break;
        }
        wanted.find_names(&frame?).map_err(|error| AnalysisError::from_polars(dir, "links", &error))?;
    }
    wanted.name(&mut links);
    Ok(links)
}

/// The makers of all chapters.
struct Makers {
    limits: RecordedLimits,
    listed: ListedTrees,
    addresses: Addresses,
    card: CardMaker,
    funnel: FunnelMaker,
    sites: SitesMaker,
    technology: TechnologyMaker,
    infrastructure: InfrastructureMaker,
    times: TimesMaker,
    outcomes: OutcomesMaker,
    kept_back: SkippedUrlsMaker,
    doors: Option<DoorsMaker>,
    timeline: Timeline,
    request_order: TreeRequestChecks,
    link_shares: LinkShares,
    opt_outs: OptOutWatch,
    found: FoundFiles,
}

/// The funnel before the links are read.
struct FunnelInput {
    funnel: FunnelMaker,
    pages: Vec<u32>,
}

impl FunnelInput {
    fn finish(self, known_only_by_links: u64) -> super::Funnel {
        self.funnel.finish(&self.pages, known_only_by_links)
    }
}

impl Makers {
    fn new(manifest: &Manifest, opt_outs: OptOutWatch) -> Self {
        let exchanges = manifest.tables.get("exchanges").map_or(0, |count| count.rows);
        let settings = Settings::recorded(&manifest.settings);
        Self {
            doors: (settings.entrances == Entrances::All).then(DoorsMaker::default),
            limits: RecordedLimits::new(
                &manifest.settings,
                manifest.budget.as_ref().map(|budget| budget.requests),
            ),
            listed: ListedTrees::default(),
            addresses: Addresses::default(),
            card: CardMaker::default(),
            funnel: FunnelMaker::default(),
            sites: SitesMaker::default(),
            technology: TechnologyMaker::default(),
            infrastructure: InfrastructureMaker::default(),
            times: TimesMaker::default(),
            outcomes: OutcomesMaker::default(),
            kept_back: SkippedUrlsMaker::default(),
            timeline: Timeline::with_capacity(exchanges),
            request_order: TreeRequestChecks::default(),
            link_shares: LinkShares::default(),
            opt_outs,
            found: FoundFiles::default(),
        }
    }

    fn read_servers(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        for_each_frame::<ServerRow>(dir, ledger::LedgerServerColumns::NAMES, |frame| {
            self.opt_outs.add_servers(frame)?;
            self.addresses.add_servers(frame)
        })?;
        for_each_frame::<ServerRow>(dir, infrastructure::PlaceColumns::NAMES, |frame| {
            self.infrastructure.add_servers(frame)
        })?;
        for_each_frame::<ServerRow>(dir, technology::SERVERS, |frame| self.technology.add_servers(frame))
    }

    fn read_sites(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        for_each_frame::<SiteRow>(dir, ListedSiteColumns::NAMES, |frame| {
            self.listed.add(frame, |site, cctld| {
                self.card.add_site(site);
                self.funnel.add_site(site);
                self.sites.add_site(site, cctld);
                self.technology.add_site(site);
                self.infrastructure.add_site(site);
                self.outcomes.add_site(site);
            })
        })
    }

    fn read_levels(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        for_each_frame::<LevelRow>(dir, &level_columns(), |frame| {
            self.kept_back.add_levels(frame, &self.listed)
        })?;
        for_each_frame::<LevelRow>(dir, request_order::LEVELS, |frame| {
            self.request_order.add_levels(frame, &self.listed)
        })
    }

    fn read_exchanges(&mut self, dir: &Path) -> Result<(), AnalysisError> {
        let mut reader = ExchangeReader::default();
        let columns = [&["site"], ExchangeColumns::NAMES].concat();
        for_each_frame::<ExchangeRow>(dir, &columns, |frame| {
            let mut names = std::mem::take(&mut self.addresses.names);
            let listed = std::mem::take(&mut self.listed);
            let read = reader.read(frame, &listed, &mut names, |exchange| {
                self.add(exchange);
                if let Some(doors) = &mut self.doors {
                    doors.add(exchange, listed.sites.name(exchange.site));
                }
            });
            (self.addresses.names, self.listed) = (names, listed);
            read
        })
    }

    fn add(&mut self, exchange: &ExchangeView<'_>) {
        self.card.add(exchange);
        self.funnel.add(exchange);
        self.sites.add(exchange);
        self.technology.add(exchange);
        self.times.add(exchange, self.addresses.country(exchange.address_number));
        self.outcomes.add(exchange);
        self.kept_back.add(exchange);
        self.link_shares.add(exchange);
        self.request_order.add(exchange);
        let had_opted_out = self.opt_outs.add(exchange);
        self.timeline.add(exchange, had_opted_out);
        self.found.add(exchange);
    }

    fn ledger(&mut self, manifest: &Manifest) -> Ledger {
        let evidence = PromiseEvidence {
            recorded: &self.limits,
            manifest,
            addresses: &self.addresses,
            links: &self.link_shares,
            sites: &self.listed.sites,
        };
        let ledger = Ledger::from_timeline(&mut self.timeline, &self.addresses);
        Ledger {
            promises: evidence.judge(&mut self.timeline, &mut self.request_order),
            opted_out: self.opt_outs.entries(),
            found: self.found,
            ..ledger
        }
    }

    fn finish(mut self, manifest: &Manifest) -> (Overview, ListedTrees, FunnelInput) {
        let ledger = self.ledger(manifest);
        let surveyed = FunnelInput { funnel: self.funnel, pages: self.sites.pages().to_vec() };
        let overview = Overview {
            card: self.card.finish(manifest),
            sites: self.sites.finish(&self.listed),
            technology: self.technology.finish(),
            infrastructure: self.infrastructure.finish(),
            times: self.times.finish(&self.addresses.labels),
            outcomes: self.outcomes.finish(),
            kept_back: self.kept_back.finish(),
            doors: self.doors.map(DoorsMaker::finish),
            ledger,
            method: Method::from_manifest(manifest),
            ..Overview::default()
        };
        (overview, self.listed, surveyed)
    }
}
