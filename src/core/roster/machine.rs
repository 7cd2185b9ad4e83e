use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;
use std::time::SystemTime;

use super::limits::VisitLimits;
use super::visit_slots::{VisitScope, VisitSlots};
use crate::address::server_at;

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisitStep<T> {
    /// Visit this tree, which was visited before. The roster already counts it as visited.
    Begin(T),
    /// Take the next tree from the queue, report it ([`Roster::begin`]) and visit it. If the queue has none,
    /// wait as below, or until it has one.
    Take,
    /// Wait until a visit ends, or until this time.
    Wait(Option<SystemTime>),
}

/// The reason why a tree is visited again after its visit has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue<T> {
    /// No slot was left in this scope.
    Parked(T, VisitScope),
    /// Its server, or its site, gets no requests until this time.
    PutOff(T, SystemTime),
    /// It continues as soon as possible.
    Again(T),
}

/// The site trees that are visited or wait for a visit. `T` is the owner's handle for a tree; the tree's
/// number in the queue orders trees that come back at the same time.
#[derive(Debug)]
pub struct Roster<T> {
    limits: VisitLimits,
    slots: VisitSlots,
    /// The trees that are visited, each with the server at which it has a slot.
    visits: HashMap<u64, Option<IpAddr>>,
    put_off: BTreeMap<(SystemTime, u64), T>,
    parked: HashMap<VisitScope, VecDeque<(u64, T)>>,
    parked_count: usize,
    /// Trees that may be visited at once.
    ready: VecDeque<(u64, T)>,
    /// Trees that were woken, each with the scope in which a slot had become free for it.
    woken: HashMap<u64, VisitScope>,
}

impl<T> Roster<T> {
    /// A roster without trees.
    #[must_use]
    pub fn new(limits: VisitLimits) -> Self {
        Self {
            limits,
            slots: VisitSlots::new(&limits),
            visits: HashMap::new(),
            put_off: BTreeMap::new(),
            parked: HashMap::new(),
            parked_count: 0,
            ready: VecDeque::new(),
            woken: HashMap::new(),
        }
    }

    /// Returns the step to take at this time.
    pub fn poll(&mut self, now: SystemTime) -> VisitStep<T> {
        if self.visits.len() >= self.limits.visits {
            // A tree that falls due could not be visited either.
            return VisitStep::Wait(None);
        }
        if let Some((number, tree)) = self.pop_ready(now) {
            self.begin(number);
            return VisitStep::Begin(tree);
        }
        if self.waiting() < self.limits.waiting { VisitStep::Take } else { VisitStep::Wait(self.next_due()) }
    }

    /// Reports that a tree was taken from the queue and is visited. Trees that come back are not reported
    /// here.
    pub fn begin(&mut self, number: u64) {
        self.visits.insert(number, None);
    }

    /// Takes a slot at its server for a visit.
    ///
    /// # Errors
    /// The scope in which no slot is left.
    pub fn enter(&mut self, number: u64, address: IpAddr) -> Result<(), VisitScope> {
        self.slots.take(address)?;
        self.visits.insert(number, Some(address));
        Ok(())
    }

    /// Reports that a visit sends its requests to another server from now on, or to the same one. It takes a
    /// slot at the new server if one is left. If none is left, it continues as a guest, which keeps no other
    /// tree from visiting. So a tree that begins at a crowded server and continues elsewhere does not keep
    /// the slot idle. Returns whether a slot has become free.
    pub fn move_to(&mut self, number: u64, address: IpAddr) -> bool {
        let previous = self.visits.get(&number).copied().flatten();
        if previous.is_some_and(|previous| server_at(previous) == server_at(address)) {
            return false;
        }
        if let Some(previous) = previous {
            self.free(number, previous);
        }
        let taken = self.slots.take(address).is_ok().then_some(address);
        self.visits.insert(number, taken);
        previous.is_some()
    }

    /// Reports that a visit has ended, and frees its slot.
    pub fn leave(&mut self, number: u64, requeue: Option<Requeue<T>>) {
        if let Some(address) = self.visits.remove(&number).flatten() {
            self.free(number, address);
        }
        let full_scope = if let Some(Requeue::Parked(_, scope)) = &requeue { Some(*scope) } else { None };
        // The tree may have been woken for a slot and gone elsewhere: its name leads to another server by
        // now, or to none, or another scope was full. Then the next tree that waits for that slot is woken.
        if let Some(scope) = self.woken.remove(&number).filter(|scope| full_scope != Some(*scope)) {
            self.wake(scope);
        }
        match requeue {
            None => {}
            // The visit in its way may have left in the meantime, and then nothing would wake it.
            Some(Requeue::Parked(tree, scope)) if !self.slots.has_room(scope) => {
                self.parked.entry(scope).or_default().push_back((number, tree));
                self.parked_count += 1;
            }
            Some(Requeue::Parked(tree, _) | Requeue::Again(tree)) => self.ready.push_back((number, tree)),
            Some(Requeue::PutOff(tree, until)) => {
                self.put_off.insert((until, number), tree);
            }
        }
    }

    /// The time at which the next tree that was put off is due.
    #[must_use]
    pub fn next_due(&self) -> Option<SystemTime> {
        self.put_off.keys().next().map(|(until, _)| *until)
    }

    /// Whether no tree is visited or waits to be.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty() && self.waiting() == 0 && self.ready.is_empty()
    }

    /// The number of trees that are parked or put off.
    fn waiting(&self) -> usize {
        self.parked_count + self.put_off.len()
    }

    /// The next tree that was visited before and may be visited again.
    fn pop_ready(&mut self, now: SystemTime) -> Option<(u64, T)> {
        if let Some(due) = self.put_off.first_entry()
            && due.key().0 <= now
        {
            let ((_, number), tree) = due.remove_entry();
            return Some((number, tree));
        }
        self.ready.pop_front()
    }

    /// Frees the slot of a visit: another tree that waits there may be visited.
    fn free(&mut self, number: u64, address: IpAddr) {
        self.slots.leave(address);
        let scopes = VisitScope::scopes_at(address);
        if self.woken.get(&number).is_some_and(|scope| scopes.contains(scope)) {
            self.woken.remove(&number);
        }
        scopes.into_iter().for_each(|scope| self.wake(scope));
    }

    fn wake(&mut self, scope: VisitScope) {
        let Some(waiting) = self.parked.get_mut(&scope) else { return };
        if let Some((number, tree)) = waiting.pop_front() {
            self.parked_count -= 1;
            self.woken.insert(number, scope);
            self.ready.push_back((number, tree));
        }
        if waiting.is_empty() {
            self.parked.remove(&scope);
        }
    }
}
