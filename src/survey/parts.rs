use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use tokio::sync::{Notify, watch};

use super::clock::Clock;
use super::crew::asked_to_stop;
use super::earlier::EarlierPages;
use super::error::{READ, SurveyError};
use super::folder::Folder;
use super::opt_outs;
use super::progress::{Progress, Snapshot};
use super::simulation::Simulation;
use super::stored;
use crate::address::{
    CountryDomains, Host, OptOuts, Priorities, Scope, ScopeRule, Site, Suffixes, WebUrl, server_at,
};
use crate::fetch::{self, Fetcher};
use crate::frontier::{Frontier, Lease, Rules, StartCandidate};
use crate::load::{self, Budget, Load, Most, Networks, OwnLink, Pace};
use crate::promises::{self, Judge, Seen};
use crate::records::Geo;
use crate::roster::{Limits, Roster};
use crate::settings::{Budgets, FeedBackRule, Least, Settings, Size, Span};
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
    /// Which site trees are visited and which wait to be.
    roster: Mutex<Roster<Lease>>,
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
    pub(super) fn start(&self, url: WebUrl) -> StartCandidate {
        let site = self.suffixes.site_of(url.host());
        let homes = match self.scope {
            ScopeRule::Site => vec![site],
            ScopeRule::Host => {
                let at_or_above = std::iter::successors(Some(url.host().clone()), Host::parent);
                at_or_above.take_while(|host| host.is_at_or_below(site.root())).map(Site::new).collect()
            }
        };
        StartCandidate { priority: self.priorities.of_host(url.host()), url, homes }
    }

    /// What an external URL feeds back to the survey.
    pub(super) fn feed_back(&self, url: &WebUrl) -> Option<StartCandidate> {
        self.countries.domain_of(url.host())?;
        match self.feed_back {
            FeedBackRule::Link => Some(self.start(url.clone())),
            FeedBackRule::Door => Some(self.start(url.door())),
            FeedBackRule::Off => None,
        }
    }

    /// The scope of a tree. Where a site is a host, it is the site's host and not the start URL's,
    /// which may stand below it.
    pub(super) fn scope_of(&self, site: &Site) -> Scope {
        Scope::new(site.root(), self.scope, self.suffixes.clone())
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
                (clock, Fetcher::new((&settings).into(), opt_out.clone(), tell)?)
            }
            Some(Simulation { web, begins, .. }) => {
                let clock = Clock::beginning_at(begins);
                let tell = Arc::new(move || clock.now());
                let fetch = (&settings).into();
                (clock, Fetcher::in_process(fetch, opt_out.clone(), tell, web)?)
            }
        };
        let (bytes, ahead) = (fetcher.most_bytes(), fetcher.beyond_limit());
        let most = Most { bytes, ahead, time: settings.exchange_timeout.0 };
        let rate = settings.rate.map(|size| size.0);
        let load = Load::new(Pace::from(&settings), rate, (&settings.budgets.server).into(), most)
            .with_networks(networks(&settings, &geo)?);
        let visits = Limits::new(settings.sites, settings.per_address, settings.per_neighbourhood);
        let frontier = Frontier::open(&folder.state(), rules(&settings))?;
        let since = folder.since();
        let earlier_pages = since.is_file().then(|| EarlierPages::open(&since)).transpose()?;
        Ok(Self {
            walk: Arc::new(walk::Settings::from(&settings)),
            budget: Budget::from(&settings),
            folder,
            opened: clock.now(),
            clock,
            is_simulated,
            reach,
            opt_out,
            geo,
            fetcher,
            load: Mutex::new(load),
            judge: Mutex::new(Judge::new(promises::Limits::new(&settings, bytes), Seen::default())),
            own_link: Mutex::new(OwnLink::new(settings.max_delay.0)),
            settled: Notify::new(),
            roster: Mutex::new(Roster::new(visits)),
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

    pub(super) fn roster(&self) -> MutexGuard<'_, Roster<Lease>> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
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
    fetch::most_bytes(&settings.into())
}

/// The smallest budget of bytes, and of busy time, with which anything is asked.
#[must_use]
pub fn least(settings: &Settings) -> Least {
    Least {
        bytes: Size(load::least_bytes(fetch::beyond_limit(&settings.into()))),
        busy: Span(load::least_busy(settings.exchange_timeout.0)),
    }
}

/// How far a survey with these settings spreads.
pub(super) fn rules(settings: &Settings) -> Rules {
    Rules {
        seeds_per_site: settings.seeds_per_site,
        generations: settings.generations,
        later_trees: !settings.entrances.is_one(),
    }
}

/// The networks with what they may bear; autonomous systems can be bounded if a database knows them.
fn networks(settings: &Settings, geo: &Arc<Geo>) -> Result<Networks, SurveyError> {
    if let Some(flag) = settings.bound_of_systems().filter(|_| !geo.knows_systems()) {
        return Err(SurveyError::SystemsUnknown { flag });
    }
    let system_of = {
        let geo = geo.clone();
        Box::new(move |address| geo.lookup(address).asn)
    };
    let Budgets { network, system, .. } = &settings.budgets;
    Ok(Networks::new(network.into(), system.into(), system_of))
}
