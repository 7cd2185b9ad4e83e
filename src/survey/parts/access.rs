use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::{self, Notify, watch};

use super::local_hours::LocalHours;
use super::opt_outs::OptOutCheck;
use super::stalled::{LONGEST_STOP, process_stalled};
use crate::address::{Host, Site, server_at};
use crate::fetch::{self, Clock, Fetcher, Located};
use crate::frontier::Lease;
use crate::load::{self, LargestExchange, Load, Networks, OwnLink};
use crate::promises::SystemOf;
use crate::records::Geo;
use crate::roster::{Roster, VisitLimits};
use crate::settings::{Budgets, Pace, Settings, Size, SmallestBudgets, Span};
use crate::survey::agents::simulation::Simulation;
use crate::survey::boundaries::Boundaries;
use crate::survey::error::SurveyError;
use crate::survey::storage::Storage;
use crate::survey::storage::progress::{Progress, Snapshot};

/// How servers are asked: with what client, when, and whether at all just now.
pub(in crate::survey) struct Access {
    pub clock: Clock,
    pub fetcher: Fetcher,
    load: Mutex<Load>,
    own_link: Mutex<OwnLink>,
    /// The country domains: a name server that works has something to say of them.
    pub country_domains: Vec<Host>,
    pub hours: LocalHours,
    /// Which site trees are visited and which wait to be.
    roster: Mutex<Roster<Lease>>,
    /// Notified whenever an exchange has ended: the turn of another may have come.
    pub settled: Notify,
    /// Whoever waits for the rate of the survey stands here, one at a time and in order: to send a request …
    pub to_begin: sync::Mutex<()>,
    /// … and to read on.
    pub to_read_on: sync::Mutex<()>,
    /// Notified when a visit has left its place at a server for one elsewhere.
    pub moved: Notify,
    /// The opt-out list when it was looked at last.
    look: watch::Sender<Option<OptOutCheck>>,
    /// Becomes true when the survey is to stop.
    pub stop: watch::Receiver<bool>,
    /// Shows when our own link is broken.
    pub progress: Arc<Progress>,
}

impl Access {
    /// Of real servers, or of the Web of a simulation; `earlier` is the progress of the runs before.
    pub(in crate::survey) fn open(
        settings: &Settings,
        boundaries: &Boundaries,
        (clock, simulation): (Clock, Option<Simulation>),
        earlier: Option<Snapshot>,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, SurveyError> {
        let is_simulated = simulation.is_some();
        let (opt_outs, fetch) = (boundaries.opt_outs.clone(), settings.into());
        #[cfg(feature = "hazards")]
        let opt_outs = crate::survey::reading::hazards::opt_outs(opt_outs);
        let fetcher = match simulation {
            None => Fetcher::new(fetch, opt_outs, clock)?,
            Some(Simulation { web, .. }) => Fetcher::in_process(fetch, opt_outs, clock, web)?,
        };
        let handshakes = settings.connect_timeout.0 + settings.tls_timeout.0;
        let visits = VisitLimits::new(settings.sites, settings.per_address, settings.per_neighbourhood);
        Ok(Self {
            load: Mutex::new(open_load(settings, &boundaries.geo)?),
            own_link: Mutex::new(OwnLink::new(settings.max_delay.0)),
            country_domains: boundaries.scope.area.countries.iter().cloned().collect(),
            hours: LocalHours::new(settings.quiet_hours, boundaries.geo.clone(), handshakes),
            roster: Mutex::new(Roster::new(visits)),
            settled: Notify::new(),
            to_begin: sync::Mutex::default(),
            to_read_on: sync::Mutex::default(),
            moved: Notify::new(),
            look: watch::Sender::new(None),
            progress: Arc::new(Progress::resume(earlier, clock.system_time(), is_simulated)),
            clock,
            fetcher,
            stop,
        })
    }

    pub(in crate::survey) fn load(&self) -> MutexGuard<'_, Load> {
        self.load.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::survey) fn own_link(&self) -> MutexGuard<'_, OwnLink> {
        self.own_link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::survey) fn roster(&self) -> MutexGuard<'_, Roster<Lease>> {
        self.roster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The visit of a tree asks this server from now on.
    pub(in crate::survey) fn go_to(&self, tree: u64, address: IpAddr) {
        if self.roster().go_to(tree, address) {
            self.moved.notify_one();
        }
    }

    pub(in crate::survey) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// When a server may be asked again if an exchange that is begun now would be in its quiet hours: those are by the
    /// system's clock.
    pub(in crate::survey) fn waking(&self, address: IpAddr, site: &Site) -> Option<SystemTime> {
        let waking = self.hours.waking(self.clock.system_time(), address, site)?;
        Some(self.clock.from_system_time(waking))
    }

    /// Until when an exchange that is begun after `now` and not after `latest`, some seconds later, is in no quiet hours.
    pub(in crate::survey) fn awake_until(
        &self,
        now: SystemTime,
        latest: SystemTime,
        address: IpAddr,
        site: &Site,
    ) -> SystemTime {
        let [from, to] = [now, latest].map(|time| self.clock.system_time_at(time));
        self.clock.from_system_time(self.hours.awake_until(from, to, address, site))
    }

    /// Does something that costs servers nothing, unless the survey is being stopped.
    pub(in crate::survey) async fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        tokio::select! {
            biased;
            () = asked_to_stop(&mut stop) => None,
            done = work => Some(done),
        }
    }

    /// The opt-out list was looked at, and is obeyed.
    pub(in crate::survey) fn note_look(&self, look: OptOutCheck) {
        self.look.send_replace(Some(look));
    }

    /// How the opt-out list was when it was looked at last.
    pub(in crate::survey) fn looks(&self) -> watch::Receiver<Option<OptOutCheck>> {
        self.look.subscribe()
    }

    /// Waits until the opt-out list was looked at just now: after a stop, what was written meanwhile is obeyed before
    /// anything is sent. None when the survey is being stopped.
    pub(in crate::survey) async fn wait_for_opt_outs(&self) -> Option<()> {
        if self.clock.is_virtual() {
            return Some(());
        }
        self.clock.slept();
        let mut looks = self.looks();
        let is_fresh =
            |look: &Option<OptOutCheck>| look.is_some_and(|look| look.time + LONGEST_STOP > self.now());
        self.until_stopped(async { looks.wait_for(is_fresh).await.map(drop).ok() }).await.flatten()
    }

    /// What came of something that waits for others; none where the process stood still or the machine slept meanwhile, so
    /// that time-outs tell nothing of them.
    pub(in crate::survey) async fn awake<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        if self.clock.is_virtual() {
            return Some(work.await);
        }
        let slept = self.clock.slept();
        let done = tokio::select! {
            biased;
            () = process_stalled(LONGEST_STOP) => None,
            done = work => Some(done),
        };
        done.filter(|_| self.clock.slept() == slept)
    }

    /// Looks a host up, once more if the process stood still meanwhile; of its addresses that are `dead` the next is taken.
    pub(in crate::survey) async fn locate(&self, host: &Host, dead: &[IpAddr]) -> Located {
        loop {
            if let Some(located) = self.awake(self.fetcher.locate_beyond(host, dead)).await {
                return located;
            }
            self.fetcher.forget(host);
        }
    }

    /// Brings a server's state back into memory, if it was stored; one that was never asked has none.
    ///
    /// The writer forgets servers whose pauses are over, so that it may be gone again before the load is locked once
    /// more.
    pub(in crate::survey) fn recall(&self, storage: &Storage, address: IpAddr) -> Result<(), SurveyError> {
        if self.load().knows(address) {
            return Ok(());
        }
        let state = storage.server(server_at(address))?;
        let mut load = self.load();
        if !load.knows(address) {
            load.restore(address, state.unwrap_or_default());
        }
        Ok(())
    }
}

/// Waits until the survey is to be stopped.
pub(in crate::survey) async fn asked_to_stop(stop: &mut watch::Receiver<bool>) {
    // An error means that nothing is left that could stop us.
    if stop.wait_for(|stopping| *stopping).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The most that one exchange can come to.
#[must_use]
pub fn largest_exchange(settings: &Settings) -> LargestExchange {
    let fetch = fetch::Settings::from(settings);
    let (bytes, ahead) = (fetch::most_bytes(&fetch), fetch::beyond_limit(&fetch));
    LargestExchange { bytes, ahead, time: settings.exchange_timeout.0 }
}

/// The smallest budget of bytes, and of busy time, with which anything is asked.
#[must_use]
pub fn least(settings: &Settings) -> SmallestBudgets {
    SmallestBudgets {
        bytes: Size(load::least_bytes(fetch::beyond_limit(&settings.into()))),
        busy: Span(load::least_busy(settings.exchange_timeout.0)),
    }
}

fn open_load(settings: &Settings, geo: &Arc<Geo>) -> Result<Load, SurveyError> {
    let rate = settings.rate.map(|size| size.0);
    let load =
        Load::new(Pace::from(settings), rate, (&settings.budgets.server).into(), largest_exchange(settings));
    Ok(load.with_networks(networks(settings, geo)?))
}

/// The networks with what they may bear; autonomous systems can be bounded if a database knows them.
fn networks(settings: &Settings, geo: &Arc<Geo>) -> Result<Networks, SurveyError> {
    if let Some(flag) = settings.bound_of_systems().filter(|_| !geo.knows_systems()) {
        return Err(SurveyError::SystemsUnknown { flag });
    }
    let Budgets { network, system, .. } = &settings.budgets;
    Ok(Networks::new(network.into(), system.into(), system_of(geo)))
}

/// Tells the autonomous systems of addresses apart.
pub(in crate::survey) fn system_of(geo: &Arc<Geo>) -> SystemOf {
    let geo = geo.clone();
    Box::new(move |address| geo.lookup(address).asn)
}
