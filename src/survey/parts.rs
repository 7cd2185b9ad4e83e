use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, watch};

use super::clock::Clock;
use super::crew::asked_to_stop;
use super::earlier::EarlierPages;
use super::error::{READ, SurveyError};
use super::folder::Folder;
use super::opt_outs;
use super::places::Places;
use super::progress::{Progress, Snapshot};
use super::settings::{FeedBackRule, Settings};
use super::shares;
use super::simulation::Simulation;
use super::stored;
use super::values::{Size, Span};
use crate::address::{
    CountryDomains, Host, OptOuts, Priorities, Scope, ScopeRule, Site, Suffixes, WebUrl, server_at,
};
use crate::exchange::Depth;
use crate::fetch::{self, Fetcher};
use crate::frontier::{FeedBack, Frontier, Rules};
use crate::load::{self, Budget, Load, Most, OwnLink, Pace};
use crate::promises::{Judge, Limits, Seen};
use crate::records::Geo;
use crate::starts::{Area, Sample};
use crate::walk;

/// The Public Suffix List that is built in; `data/README.md` tells its origin, date and licence.
pub const BUILT_IN_SUFFIX_LIST: &str = include_str!("../../data/public_suffix_list.dat");

/// What all who work on a survey share.
pub(super) struct Parts {
    pub folder: Folder,
    pub clock: Clock,
    /// When this run of the survey began.
    pub opened: SystemTime,
    /// The Web is in this process and time is virtual.
    pub is_simulated: bool,
    pub settings: Settings,
    pub reach: Reach,
    pub walk: Arc<walk::Settings>,
    pub budget: Budget,
    pub opt_out: Arc<OptOuts>,
    pub geo: Arc<Geo>,
    pub fetcher: Fetcher,
    pub load: Mutex<Load>,
    pub own_link: Mutex<OwnLink>,
    /// Judges what is done, apart from what was permitted, by what the survey began with: it may have been made gentler
    /// since.
    pub judge: Mutex<Judge>,
    /// Told whenever an exchange has ended: somebody's turn may have come.
    pub settled: Notify,
    /// How many visits are at a server, and in a neighbourhood that is to be kept.
    visits: Mutex<Places>,
    pub frontier: Mutex<Frontier>,
    /// What an earlier survey knows of pages, with `--since`.
    pub earlier_pages: Option<EarlierPages>,
    /// Reads answers at which a process died.
    pub reader: OnceLock<PathBuf>,
    pub progress: Arc<Progress>,
    /// Becomes true when the survey is to stop.
    pub stop: watch::Receiver<bool>,
}

/// What is surveyed: whose URLs are whose, and which are fed back.
#[derive(Clone)]
pub(super) struct Reach {
    pub suffixes: Arc<Suffixes>,
    pub countries: CountryDomains,
    pub scope: ScopeRule,
    pub feed_back: FeedBackRule,
    pub priorities: Priorities,
    pub sample: Sample,
}

impl Reach {
    pub(super) fn of(settings: &Settings) -> Result<Self, SurveyError> {
        let suffixes = match &settings.suffix_list {
            None => Suffixes::parse(BUILT_IN_SUFFIX_LIST, settings.suffixes).map_err(|source| {
                SurveyError::SuffixList { path: "public_suffix_list.dat".into(), source }
            })?,
            Some(path) => Suffixes::parse(&read_text(path)?, settings.suffixes)
                .map_err(|source| SurveyError::SuffixList { path: path.clone(), source })?,
        };
        let names = settings.cctld.iter().flat_map(|names| names.split(','));
        let countries = CountryDomains::parse(names, &suffixes)?;
        Ok(Self {
            suffixes: Arc::new(suffixes),
            countries,
            scope: settings.scope,
            feed_back: settings.feed_back,
            priorities: priorities(settings)?,
            sample: Sample { share: settings.sample, seed: settings.seed },
        })
    }

    /// Whether the site of a start URL belongs to the sample.
    pub(super) fn draws(&self, url: &WebUrl) -> bool {
        self.sample.draws(&self.suffixes.site_of(url.host()))
    }

    /// A start URL with the sites it may belong to, the nearest first.
    pub(super) fn start(&self, url: WebUrl) -> FeedBack {
        let site = self.suffixes.site_of(url.host());
        let homes = match self.scope {
            ScopeRule::Site => vec![site],
            ScopeRule::Host => {
                let at_or_above = std::iter::successors(Some(url.host().clone()), Host::parent);
                at_or_above.take_while(|host| host.is_at_or_below(site.root())).map(Site::new).collect()
            }
        };
        FeedBack { priority: self.priorities.of(url.host()), url, homes }
    }

    /// What an external URL feeds back to the survey.
    pub(super) fn feed_back(&self, url: &WebUrl) -> Option<FeedBack> {
        self.countries.of(url.host())?;
        match self.feed_back {
            FeedBackRule::Link => Some(self.start(url.clone())),
            FeedBackRule::Door => Some(self.start(url.door())),
            FeedBackRule::Off => None,
        }
    }

    /// The scope of a tree. Where a site is a host, it is the site's host and not the start URL's,
    /// which may stand below it.
    pub(super) fn scope_of(&self, site: &Site) -> Scope {
        Scope::of(site.root(), self.scope, self.suffixes.clone())
    }
}

/// What a start list of a survey with these settings is for.
///
/// # Errors
/// When a file that they name cannot be read, or a country domain is none.
pub fn area(settings: &Settings) -> Result<Area, SurveyError> {
    let Reach { suffixes, countries, sample, .. } = Reach::of(settings)?;
    Ok(Area { suffixes, countries, sample })
}

fn priorities(settings: &Settings) -> Result<Priorities, SurveyError> {
    let Some(path) = &settings.priority else { return Ok(Priorities::default()) };
    Priorities::parse(&read_text(path)?)
        .map_err(|source| SurveyError::Priority { path: path.clone(), source })
}

impl Parts {
    pub(super) fn open(
        folder: Folder,
        settings: Settings,
        stop: watch::Receiver<bool>,
        earlier: Option<Snapshot>,
        simulation: Option<Simulation>,
    ) -> Result<Self, SurveyError> {
        let is_simulated = simulation.is_some();
        let reach = Reach::of(&settings)?;
        let geo = Arc::new(Geo::open(&settings.geo)?);
        let opt_out = opt_outs::open(settings.opt_out.as_deref(), &geo)?;
        let (clock, fetcher) = match simulation {
            None => {
                let clock = Clock::system();
                let tell = Arc::new(move || clock.now());
                (clock, Fetcher::new(fetch_settings(&settings), opt_out.clone(), tell)?)
            }
            Some(Simulation { web, begins, .. }) => {
                let clock = Clock::beginning_at(begins);
                let tell = Arc::new(move || clock.now());
                let fetch = fetch_settings(&settings);
                (clock, Fetcher::in_process(fetch, opt_out.clone(), tell, web)?)
            }
        };
        let (bytes, ahead) = (fetcher.most_bytes(), fetcher.beyond_limit());
        let most = Most { bytes, ahead, time: settings.exchange_timeout.0 };
        let rate = settings.rate.map(|size| size.0);
        let load = Load::new(pace(&settings), rate, shares::of_server(&settings), most)
            .with_networks(shares::networks(&settings, &geo)?);
        let frontier = Frontier::open(&folder.state(), rules(&settings))?;
        let since = folder.since();
        let earlier_pages = since.is_file().then(|| EarlierPages::open(&since)).transpose()?;
        Ok(Self {
            walk: Arc::new(walk_settings(&settings)),
            budget: budget(&settings),
            folder,
            opened: clock.now(),
            clock,
            is_simulated,
            reach,
            opt_out,
            geo,
            fetcher,
            load: Mutex::new(load),
            judge: Mutex::new(Judge::new(limits(&settings, bytes), Seen::default())),
            own_link: Mutex::new(OwnLink::new(settings.max_delay.0)),
            settled: Notify::new(),
            visits: Mutex::new(Places::of(&pace(&settings))),
            frontier: Mutex::new(frontier),
            earlier_pages,
            reader: OnceLock::new(),
            progress: Arc::new(Progress::resume(earlier, clock.now(), is_simulated)),
            stop,
            settings,
        })
    }

    pub(super) fn load(&self) -> MutexGuard<'_, Load> {
        self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn judge(&self) -> MutexGuard<'_, Judge> {
        self.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn own_link(&self) -> MutexGuard<'_, OwnLink> {
        self.own_link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn frontier(&self) -> MutexGuard<'_, Frontier> {
        self.frontier.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// Does something that costs servers nothing, unless the survey is being stopped.
    pub(super) async fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        tokio::select! {
            biased;
            () = asked_to_stop(&mut stop) => None,
            done = work => Some(done),
        }
    }

    /// The visits at servers, with the places that there are for them.
    pub(super) fn places(&self) -> MutexGuard<'_, Places> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings a server's state back into memory, if it was stored; one that was never asked has none.
    ///
    /// The writer forgets servers whose pauses are over, so that it may be gone again before the load is locked once
    /// more.
    pub(super) fn remember(&self, address: IpAddr) -> Result<(), SurveyError> {
        if self.load().knows(address) {
            return Ok(());
        }
        let state = stored::server(self, server_at(address))?;
        let mut load = self.load();
        if !load.knows(address) {
            load.restore(address, state.unwrap_or_default());
        }
        Ok(())
    }
}

pub(super) fn read_text(path: &Path) -> Result<String, SurveyError> {
    let bytes = std::fs::read(path).map_err(SurveyError::file(READ, path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The most bytes one exchange can cost: what it takes from the survey's rate before it begins.
#[must_use]
pub fn most_bytes(settings: &Settings) -> u64 {
    fetch::most_bytes(&fetch_settings(settings))
}

/// The smallest budget of bytes, and of busy time, with which anything is asked.
#[must_use]
pub fn least_budgets(settings: &Settings) -> (Size, Span) {
    let bytes = load::least_bytes(fetch::beyond_limit(&fetch_settings(settings)));
    (Size(bytes), Span(load::least_busy(settings.exchange_timeout.0)))
}

/// How far a survey with these settings spreads.
pub(super) fn rules(settings: &Settings) -> Rules {
    Rules {
        seeds_per_site: settings.seeds_per_site,
        generations: settings.generations,
        later_trees: !settings.entrances.is_one(),
    }
}

/// How gently servers are asked with these settings.
#[must_use]
pub fn pace(settings: &Settings) -> Pace {
    Pace {
        min_delay: settings.min_delay.0,
        factor: settings.delay_factor,
        max_delay: settings.max_delay.0,
        link_share: settings.link_share,
        per_address: settings.per_address,
        per_neighbourhood: settings.per_neighbourhood,
        per_site: settings.per_site,
    }
}

/// What the owners of servers are promised by these settings; one exchange moves so many bytes at most.
pub(super) fn limits(settings: &Settings, largest: u64) -> Limits {
    Limits {
        pace: pace(settings),
        tree: budget(settings),
        rate: settings.rate.map(|size| size.0),
        largest,
        server: shares::of_server(settings),
        network: shares::of_network(settings),
        system: shares::of_system(settings),
        quiet_hours: settings.quiet_hours,
        permits_special_addresses: settings.permit_special_addresses,
        rounding: Duration::ZERO,
    }
}

fn budget(settings: &Settings) -> Budget {
    Budget {
        requests: settings.max_requests,
        bytes: settings.max_bytes.map(|size| size.0),
        time: settings.max_time.map(|span| span.0),
    }
}

fn walk_settings(settings: &Settings) -> walk::Settings {
    walk::Settings {
        depth: Depth(settings.depth),
        entrances: settings.entrances,
        filter: walk::Filter {
            non_html: settings.non_html,
            non_html_extensions: settings.non_html_extensions.clone(),
            exclude: settings.exclude.clone(),
            include: settings.include.clone(),
        },
        queries_per_script: settings.queries_per_script,
        probing: walk::Probing { share: settings.probe_scripts, ..walk::Probing::default() },
        max_urls: settings.max_urls,
        trap_levels: settings.trap_levels,
        fetch_mirrors: settings.fetch_mirrors,
        stable_levels: settings.stable_levels,
        ..walk::Settings::default()
    }
}

fn fetch_settings(settings: &Settings) -> fetch::Settings {
    fetch::Settings {
        user_agent: settings.user_agent(),
        dns: settings.dns,
        gateway: settings.gateway,
        permit_special_addresses: settings.permit_special_addresses,
        refuse_bad_certificates: settings.refuse_bad_certificates,
        max_body: settings.max_body.0,
        timeouts: fetch::Timeouts {
            dns: settings.dns_timeout.0,
            connect: settings.connect_timeout.0,
            tls: settings.tls_timeout.0,
            first_byte: settings.first_byte_timeout.0,
            idle: settings.idle_timeout.0,
            whole: settings.exchange_timeout.0,
        },
        extra_roots: settings.ca.clone(),
        connections_per_address: settings.per_address as usize,
    }
}
