use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use foldhash::{HashMap, HashSet};

use super::bucket::{Bucket, Claim};
use super::server::SlotPause;
use super::server_link::{Flow, IN_FLIGHT};
use super::share::Headroom;
use super::slots::Slots;
use super::{LargestExchange, Networks, ServerState};
use crate::address::{Neighbourhood, Site, server_at};
use crate::exchange::{Failure, Purpose, Response};
use crate::settings::{Pace, SharedBudget};

/// Grants the permit for every exchange of a survey.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use ccsurvey_address::{Host, Site};
/// use ccsurvey_core::load::{LargestExchange, Load, PermitDecision};
/// use ccsurvey_core::settings::{Pace, SharedBudget};
/// let most = LargestExchange { bytes: 1 << 20, ahead: 0, time: Duration::from_secs(60) };
/// let mut load = Load::new(Pace::default(), None, SharedBudget::default(), most);
/// let (now, server) = (UNIX_EPOCH, "41.90.0.1".parse().unwrap());
/// let site = |name| Site::new(Host::parse(name).unwrap());
/// let PermitDecision::Granted(_permit) = load.permit(now, server, &site("a.ke"), None) else { panic!() };
/// // Another site on the same server has to wait.
/// assert!(matches!(load.permit(now, server, &site("b.ke"), None), PermitDecision::Busy));
/// ```
#[derive(Debug)]
pub struct Load {
    pace: Pace,
    bucket: Option<Bucket>,
    budget: SharedBudget,
    largest: LargestExchange,
    servers: HashMap<IpAddr, ServerState>,
    /// Empty unless the pace is kept per neighbourhood.
    neighbourhoods: HashMap<Neighbourhood, Slots>,
    networks: Networks,
    sites: HashMap<Site, u32>,
    changed: HashSet<IpAddr>,
}

/// Whether an exchange may begin.
#[derive(Debug)]
pub enum PermitDecision {
    /// It may begin now.
    Granted(Permit),
    /// The server pauses until this time after its last exchange: no request may reach it sooner.
    PauseUntil(SystemTime),
    /// The server cools down until this time: it sent Retry-After, was in trouble again and again, or has no
    /// budget left for the day, or its network has none; or the site had trouble of its own at this server.
    CoolDownUntil(SystemTime),
    /// The survey's rate is used up until this time, or until an exchange gives back bytes that it did not
    /// need.
    RateUsedUpUntil(SystemTime),
    /// An exchange in flight must end first; ask again when one has.
    Busy,
    /// The server, or the site at this server, was in trouble too often: it gets no more requests in this
    /// survey.
    GivenUp,
    /// The budget of the server, or of its network, is used up.
    BudgetUsedUp,
}

/// The right to one exchange, to be given back with [`Load::settle`] or [`Load::abandon`].
#[must_use = "a permit that is not given back keeps its address and site busy"]
#[derive(Debug)]
pub struct Permit {
    address: IpAddr,
    site: Site,
    begun: SystemTime,
    byte_limit: u64,
    /// The claim on the survey's rate; none without a rate.
    claim: Option<Claim>,
}

impl Permit {
    /// The most bytes that the exchange may move by the budgets of the server and its networks.
    #[must_use]
    pub fn byte_limit(&self) -> u64 {
        self.byte_limit
    }

    /// The bytes reserved from the survey's rate; none without a rate.
    #[must_use]
    pub fn reserved(&self) -> Option<u64> {
        self.claim.as_ref().map(Claim::reserved)
    }
}

impl Load {
    /// `rate` is the survey's ceiling in bytes per second; `largest` is the largest possible exchange.
    #[must_use]
    pub fn new(pace: Pace, rate: Option<u64>, budget: SharedBudget, largest: LargestExchange) -> Self {
        Self {
            pace,
            bucket: rate.map(|rate| Bucket::new(rate, largest)),
            budget,
            largest,
            servers: HashMap::default(),
            neighbourhoods: HashMap::default(),
            networks: Networks::default(),
            sites: HashMap::default(),
            changed: HashSet::default(),
        }
    }

    /// Adds budgets for networks of servers.
    #[must_use]
    pub fn with_networks(self, networks: Networks) -> Self {
        Self { networks, ..self }
    }

    /// Asks for a permit for an exchange at `address` for `site`, whose robots.txt sets `crawl_delay`.
    pub fn permit(
        &mut self,
        now: SystemTime,
        address: IpAddr,
        site: &Site,
        crawl_delay: Option<Duration>,
    ) -> PermitDecision {
        let address = server_at(address);
        if self.sites.get(site).is_some_and(|taken| *taken >= self.pace.per_site) {
            return PermitDecision::Busy;
        }
        let server = self.servers.entry(address).or_default();
        if server.is_given_up() {
            return PermitDecision::GivenUp;
        }
        match server.cool_down_of(site).map(|cool_down| cool_down.until) {
            Some(None) => return PermitDecision::GivenUp,
            Some(Some(at)) if at > now => return PermitDecision::CoolDownUntil(at),
            _ => {}
        }
        match server.earliest(&self.pace, crawl_delay) {
            None => return PermitDecision::Busy,
            Some(at) if at > now && server.is_cooling_down_until(at) => {
                return PermitDecision::CoolDownUntil(at);
            }
            Some(at) if at > now => return PermitDecision::PauseUntil(at),
            Some(_) => {}
        }
        if let Some(slot_count) = self.pace.per_neighbourhood
            && let Some(slots) = self.neighbourhoods.get(&Neighbourhood::from_address(address))
        {
            match slots.earliest(slot_count, None) {
                None => return PermitDecision::Busy,
                Some(at) if at > now => return PermitDecision::PauseUntil(at),
                Some(_) => {}
            }
        }
        let headroom = server.headroom(&self.budget, now, self.largest);
        let byte_limit = match headroom.and(self.networks.headroom(address, now, self.largest)) {
            Headroom::For(bytes) => bytes,
            Headroom::AfterInFlight => return PermitDecision::Busy,
            Headroom::Tomorrow(time) => return PermitDecision::CoolDownUntil(time),
            Headroom::Never => return PermitDecision::BudgetUsedUp,
        };
        let claim = match self.bucket.as_mut().map(|bucket| bucket.begin(now)).transpose() {
            Ok(claim) => claim,
            Err(at) => return PermitDecision::RateUsedUpUntil(at),
        };
        self.begin(address, crawl_delay);
        *self.sites.entry(site.clone()).or_default() += 1;
        PermitDecision::Granted(Permit { address, site: site.clone(), begun: now, byte_limit, claim })
    }

    /// Takes the bytes from the survey's rate for an exchange that is about to have moved `moved` bytes in
    /// total, in both directions.
    ///
    /// # Errors
    /// The time to ask again, unless another exchange ends before. Until then no exchange begins
    /// ([`Self::cancel_wait`]).
    pub fn reserve_up_to(
        &mut self,
        now: SystemTime,
        permit: &mut Permit,
        moved: u64,
    ) -> Result<(), SystemTime> {
        match (&mut self.bucket, &mut permit.claim) {
            (Some(bucket), Some(claim)) => bucket.reserve_up_to(now, claim, moved),
            _ => Ok(()),
        }
    }

    /// The reader no longer waits for the rate.
    pub fn cancel_wait(&mut self) {
        if let Some(bucket) = &mut self.bucket {
            bucket.cancel_wait();
        }
    }

    /// The exchange, sent for this purpose, ended with a response.
    pub fn settle(&mut self, permit: Permit, purpose: Purpose, response: &Response) {
        self.release(&permit, response.ended(), Some(moved_bytes(purpose, response)));
        self.book(permit.address, &permit.site, purpose, response);
    }

    /// The permit was not used, or the result of its exchange is unknown; the server may have worked on it
    /// until `now`.
    pub fn abandon(&mut self, permit: Permit, now: SystemTime) {
        self.release(&permit, now, None);
        self.changed.insert(permit.address);
        let elapsed = now.duration_since(permit.begun).unwrap_or_default();
        let slot_pause = self.servers.entry(permit.address).or_default().abandon(&self.pace, elapsed, now);
        self.start_pause(permit.address, slot_pause);
    }

    /// The request was sent at `requested_at`, and no response will be on record. As after a crash of the
    /// process, the time at which the server finishes is unknown, except that it is at most `expected_end`.
    /// So the longest pause follows `expected_end`.
    pub fn settle_lost(
        &mut self,
        permit: Permit,
        requested_at: SystemTime,
        expected_end: SystemTime,
        now: SystemTime,
    ) {
        let address = permit.address;
        self.release(&permit, now, None);
        self.book_lost(address, requested_at);
        let slot_pause =
            self.servers.entry(address).or_default().abandon_unseen(&self.pace, expected_end.max(now));
        self.start_pause(address, slot_pause);
        self.changed.insert(address);
    }

    fn book(&mut self, address: IpAddr, site: &Site, purpose: Purpose, response: &Response) {
        self.networks.book(address, response);
        let slot_pause = self.servers.entry(address).or_default().settle(&self.pace, site, purpose, response);
        self.start_pause(address, slot_pause);
        self.changed.insert(address);
    }

    fn book_lost(&mut self, address: IpAddr, requested_at: SystemTime) {
        self.networks.book_lost(address, requested_at);
        self.servers.entry(address).or_default().book_lost(requested_at);
    }

    fn begin(&mut self, address: IpAddr, crawl_delay: Option<Duration>) {
        self.servers.entry(address).or_default().begin(&self.pace, crawl_delay);
        self.networks.begin(address);
        if let Some(slot_count) = self.pace.per_neighbourhood {
            self.neighbourhoods
                .entry(Neighbourhood::from_address(address))
                .or_default()
                .begin(slot_count, None);
        }
    }

    fn start_pause(&mut self, address: IpAddr, slot_pause: SlotPause) {
        self.networks.end(address);
        if self.pace.per_neighbourhood.is_some() {
            self.neighbourhoods
                .entry(Neighbourhood::from_address(address))
                .or_default()
                .end(slot_pause.ended, slot_pause.pause);
        }
    }

    fn release(&mut self, permit: &Permit, now: SystemTime, moved: Option<u64>) {
        if let (Some(bucket), Some(claim)) = (&mut self.bucket, &permit.claim) {
            bucket.end(now, claim, moved);
        }
        if let Some(taken) = self.sites.get_mut(&permit.site) {
            *taken -= 1;
            if *taken == 0 {
                self.sites.remove(&permit.site);
            }
        }
    }

    /// The earliest time of the next request to the address, if the address is known and not busy.
    #[must_use]
    pub fn free_at(&self, address: IpAddr) -> Option<SystemTime> {
        self.servers.get(&server_at(address))?.earliest(&self.pace, None)
    }

    /// Books an exchange of an earlier run that is missing in the server's stored state. Call it in the order
    /// in which the exchanges ended.
    pub fn recall(&mut self, address: IpAddr, site: &Site, purpose: Purpose, response: &Response) {
        let address = server_at(address);
        self.begin(address, None);
        self.book(address, site, purpose, response);
    }

    /// An exchange was begun at `requested_at` by a process that died before it recorded the response.
    ///
    /// The server may still be working on it at `now`: it notices the crash only when it sends, and how long
    /// it needs is unknown. So the longest pause follows. It follows only once, because the stored state
    /// remembers the exchange from then on.
    pub fn recall_in_flight(&mut self, address: IpAddr, requested_at: SystemTime, now: SystemTime) {
        let address = server_at(address);
        if self.state_of(address).is_some_and(|state| state.has_lost(requested_at)) {
            return;
        }
        self.book_lost(address, requested_at);
        let SlotPause { ended, pause } =
            self.servers.entry(address).or_default().recall_unseen(&self.pace, now);
        if let Some(slot_count) = self.pace.per_neighbourhood {
            self.neighbourhoods
                .entry(Neighbourhood::from_address(address))
                .or_default()
                .pause(slot_count, ended, pause);
        }
        self.changed.insert(address);
    }

    /// Whether any state is kept for an address.
    #[must_use]
    pub fn knows(&self, address: IpAddr) -> bool {
        self.servers.contains_key(&server_at(address))
    }

    /// The state of an address.
    #[must_use]
    pub fn state_of(&self, address: IpAddr) -> Option<&ServerState> {
        self.servers.get(&server_at(address))
    }

    /// The budgets of networks and the load on them.
    #[cfg(test)]
    pub(super) fn networks(&self) -> &Networks {
        &self.networks
    }

    /// Restores the stored state of an address.
    pub fn restore(&mut self, address: IpAddr, mut state: ServerState) {
        state.trim_slots(&self.pace);
        self.servers.insert(server_at(address), state);
    }

    /// Restores the pauses of an address's neighbourhood from its stored state, and books its load for its
    /// networks. Call it once for every server of an earlier run, before any recall and any permit.
    pub fn recall_neighbour(&mut self, address: IpAddr, state: &ServerState) {
        let address = server_at(address);
        self.networks.join(address, state.account());
        if let Some(slot_count) = self.pace.per_neighbourhood {
            self.neighbourhoods
                .entry(Neighbourhood::from_address(address))
                .or_default()
                .join(state.slots(), slot_count);
        }
    }

    /// The servers whose state has changed since the last call, with their states.
    pub fn take_changed(&mut self) -> Vec<(IpAddr, ServerState)> {
        let mut changed: Vec<_> = self
            .changed
            .drain()
            .filter_map(|address| Some((address, self.servers.get(&address)?.clone())))
            .collect();
        changed.sort_by_key(|(address, _)| *address);
        changed
    }

    /// Forgets servers whose delays are over and whose state was taken: it is stored elsewhere.
    pub fn forget_idle(&mut self, now: SystemTime) {
        let changed = &self.changed;
        self.servers.retain(|address, state| changed.contains(address) || !state.is_idle(now));
        self.neighbourhoods.retain(|_, slots| !slots.is_idle(now));
    }
}

/// The bytes that an exchange moved, with the bytes on their way when the reader hung up.
fn moved_bytes(purpose: Purpose, response: &Response) -> u64 {
    let counted = response.wire.sent + response.wire.received;
    let is_cut =
        response.failure == Some(Failure::BodyTooLarge) || Flow::from_response(purpose, response).is_unread;
    if is_cut { counted + IN_FLIGHT as u64 } else { counted }
}
