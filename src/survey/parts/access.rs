use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{self, Notify, watch};

use super::ceiling::Ceiling;
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

/// Access to servers: the client, the pacing, and whether a request is allowed now.
pub(in crate::survey) struct Access {
    pub clock: Clock,
    pub fetcher: Fetcher,
    load: Mutex<Load>,
    own_link: Mutex<OwnLink>,
    /// The country domains: a working name server has a response for them.
    pub country_domains: Vec<Host>,
    pub hours: LocalHours,
    /// The site trees that are being visited or wait for a visit.
    roster: Mutex<Roster<Lease>>,
    /// Notified whenever an exchange has ended: the turn of another may have come.
    pub settled: Notify,
    /// The queue of tasks that wait for the survey's rate, one at a time and in order: to send a request …
    pub rate_queue: sync::Mutex<()>,
    /// … and to continue reading.
    pub read_queue: sync::Mutex<()>,
    /// Notified when a visit has left its slot at a server for another server.
    pub moved: Notify,
    /// The result of the last check of the opt-out list.
    opt_out_check: watch::Sender<Option<OptOutCheck>>,
    /// The most requests that the survey may send.
    pub ceiling: Ceiling,
    /// Becomes true when the survey has to stop.
    pub stop: watch::Receiver<bool>,
    /// Shows when our own link is broken.
    pub progress: Arc<Progress>,
}

impl Access {
    /// Opens the access to real servers, or to the Web of a simulation. `earlier` is the progress of the
    /// earlier runs.
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
            rate_queue: sync::Mutex::default(),
            read_queue: sync::Mutex::default(),
            moved: Notify::new(),
            opt_out_check: watch::Sender::new(None),
            ceiling: Ceiling::default(),
            progress: Arc::new(Progress::resume(earlier, clock.system_time(), is_simulated)),
            clock,
            fetcher,
            stop,
        })
    }

    pub(in crate::survey) fn load(&self) -> MutexGuard<'_, Load> {
        self.load.lock()
    }

    pub(in crate::survey) fn own_link(&self) -> MutexGuard<'_, OwnLink> {
        self.own_link.lock()
    }

    pub(in crate::survey) fn roster(&self) -> MutexGuard<'_, Roster<Lease>> {
        self.roster.lock()
    }

    /// Notes that the visit of a tree sends its requests to this server from now on.
    pub(in crate::survey) fn move_to(&self, tree: u64, address: IpAddr) {
        if self.roster().move_to(tree, address) {
            self.moved.notify_one();
        }
    }

    pub(in crate::survey) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// When a request may next be sent to a server, if an exchange that begins now would be in its quiet
    /// hours. Quiet hours follow the system's clock.
    pub(in crate::survey) fn wake_time(&self, address: IpAddr, site: &Site) -> Option<SystemTime> {
        let wake_time = self.hours.wake_time(self.clock.system_time(), address, site)?;
        Some(self.clock.from_system_time(wake_time))
    }

    /// The time until which an exchange avoids quiet hours, if it begins after `now` and not after `latest`,
    /// some seconds later.
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

    /// Waits for work that costs servers nothing. Returns none if the survey is stopping.
    pub(in crate::survey) async fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        tokio::select! {
            biased;
            () = stop_requested(&mut stop) => None,
            done = work => Some(done),
        }
    }

    /// Notes that the opt-out list was checked and is obeyed.
    pub(in crate::survey) fn note_opt_out_check(&self, opt_out_check: OptOutCheck) {
        self.opt_out_check.send_replace(Some(opt_out_check));
    }

    /// The result of the last check of the opt-out list.
    pub(in crate::survey) fn opt_out_checks(&self) -> watch::Receiver<Option<OptOutCheck>> {
        self.opt_out_check.subscribe()
    }

    /// Waits until the opt-out list was checked just now. After the process stood still, entries written
    /// meanwhile are thus obeyed before anything is sent. Returns none if the survey is stopping.
    pub(in crate::survey) async fn wait_for_opt_outs(&self) -> Option<()> {
        if self.clock.is_virtual() {
            return Some(());
        }
        self.clock.slept();
        let mut opt_out_checks = self.opt_out_checks();
        let is_fresh = |opt_out_check: &Option<OptOutCheck>| {
            opt_out_check.is_some_and(|opt_out_check| opt_out_check.time + LONGEST_STOP > self.now())
        };
        self.until_stopped(async { opt_out_checks.wait_for(is_fresh).await.map(drop).ok() }).await.flatten()
    }

    /// Runs work that waits for a server. Returns none if the process stood still or the machine slept
    /// meanwhile, because time-outs then say nothing about the server.
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

    /// Looks up a host, and repeats the lookup if the process stood still meanwhile. Addresses in `dead` are
    /// passed over.
    pub(in crate::survey) async fn locate(&self, host: &Host, dead: &[IpAddr]) -> Located {
        loop {
            if let Some(located) = self.awake(self.fetcher.locate_excluding(host, dead)).await {
                return located;
            }
            self.fetcher.forget(host);
        }
    }

    /// Restores a server's state into memory. A server without a stored state gets an empty one.
    ///
    /// The writer forgets servers whose pauses are over, so the state may be gone again before the load is
    /// locked the next time.
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

/// Waits until the survey has to stop.
pub(in crate::survey) async fn stop_requested(stop: &mut watch::Receiver<bool>) {
    // On an error, nothing is left that could stop us.
    if stop.wait_for(|stopping| *stopping).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The largest possible size and duration of one exchange.
#[must_use]
pub fn largest_exchange(settings: &Settings) -> LargestExchange {
    let fetch = fetch::Settings::from(settings);
    let (bytes, ahead) = (fetch::max_exchange_bytes(&fetch), fetch::max_bytes_over_limit(&fetch));
    LargestExchange { bytes, ahead, time: settings.exchange_timeout.0 }
}

/// The smallest budgets of bytes and of busy time with which a request can be sent.
#[must_use]
pub fn smallest_budgets(settings: &Settings) -> SmallestBudgets {
    SmallestBudgets {
        bytes: Size(load::least_bytes(fetch::max_bytes_over_limit(&settings.into()))),
        busy: Span(load::least_busy(settings.exchange_timeout.0)),
    }
}

fn open_load(settings: &Settings, geo: &Arc<Geo>) -> Result<Load, SurveyError> {
    let rate = settings.rate.map(|size| size.0);
    let load =
        Load::new(Pace::from(settings), rate, (&settings.budgets.server).into(), largest_exchange(settings));
    Ok(load.with_networks(networks(settings, geo)?))
}

/// The networks with their budgets. Autonomous systems can have budgets if a database knows them.
fn networks(settings: &Settings, geo: &Arc<Geo>) -> Result<Networks, SurveyError> {
    if let Some(flag) = settings.system_budget_key().filter(|_| !geo.knows_systems()) {
        return Err(SurveyError::SystemsUnknown { flag });
    }
    let Budgets { network, system, .. } = &settings.budgets;
    Ok(Networks::new(network.into(), system.into(), system_of(geo)))
}

/// A function that returns the autonomous system of an address.
pub(in crate::survey) fn system_of(geo: &Arc<Geo>) -> SystemOf {
    let geo = geo.clone();
    Box::new(move |address| geo.lookup(address).asn)
}
