use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::{Duration, SystemTime};

use super::exchanges::{Exchanges, NO_SERVER, ScheduledExchange};
use super::{Conditions, EndedExchange, Pacing};
use crate::roster::{Requeue, Roster, VisitLimits, VisitStep};

/// The duration of a survey and the load on its servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// The time from the first request to the end of the last exchange.
    pub duration: Duration,
    /// Site trees that were walked.
    pub trees: u64,
    /// Requests sent, robots.txt included.
    pub requests: u64,
    /// Bytes in both directions.
    pub bytes: u64,
    /// The bytes moved in the busiest hour of the survey.
    pub busiest_hour: u64,
    /// The load on each server, by the number of the server.
    pub servers: Vec<ServerLoad>,
}

/// The load on one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerLoad {
    /// Requests sent to the server.
    pub requests: u32,
    /// Bytes in both directions.
    pub bytes: u64,
    /// The start of its first exchange.
    pub first_start: Duration,
    /// The end of the pause after its last exchange.
    pub pause_end: Duration,
}

/// The seconds over which bytes are summed.
const HOUR: u64 = 3600;

impl Schedule {
    /// Plays a survey of the trees for which `keep` is true, down to `depth`.
    #[must_use]
    pub fn play(
        exchanges: &Exchanges,
        depth: u16,
        keep: impl Fn(usize) -> bool,
        conditions: &Conditions,
        pacing: &mut impl Pacing,
    ) -> Self {
        let ends = exchanges
            .trees
            .iter()
            .map(|span| if keep(span.tree as usize) { Some(exchanges.up_to(span, depth)) } else { None });
        let mut play = ScheduleRun::new(exchanges, conditions, pacing, ends.collect());
        play.run();
        play.schedule
    }
}

/// A survey that is being played: the clock jumps from event to event.
struct ScheduleRun<'a, P> {
    exchanges: &'a Exchanges,
    conditions: &'a Conditions,
    pacing: &'a mut P,
    now: Duration,
    events: BinaryHeap<Reverse<(Duration, u64, Event)>>,
    /// The number of events so far: events at the same time happen in the order in which they were scheduled.
    event_count: u64,
    /// The number of exchanges of each tree, in the order of the survey; none if the tree is left out.
    ends: Vec<Option<u32>>,
    next_tree: usize,
    /// Which trees are finished. `merged` is the number of finished trees before the first unfinished one.
    finished: Vec<bool>,
    merged: usize,
    /// The trees that are being walked, by their index in the order of the survey.
    roster: Roster<u32>,
    /// The walks, by tree.
    walks: Vec<ScheduledWalk>,
    servers: Vec<PlayedServer>,
    /// Walks that wait for the survey's rate. `refill` is the time of the next attempt.
    rate_queue: VecDeque<u32>,
    refill: Option<Duration>,
    hours: Vec<u64>,
    schedule: Schedule,
}

/// An event, in most cases of the walk of a tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The exchange of a walk has ended.
    End(u32),
    /// The pause of the server of a walk is over.
    Turn(u32),
    /// A walk has no more requests.
    Done(u32),
    /// A tree that was put off is due, or has freed a slot for another.
    Room,
    /// The survey's rate may allow another exchange.
    Refill,
}

/// The walk of one tree.
#[derive(Clone, Copy, Default)]
struct ScheduledWalk {
    /// The number of its exchanges that have ended.
    exchanges_done: u32,
    /// The start of the walk; none before it.
    began: Option<Duration>,
}

/// One server as the schedule sees it.
#[derive(Default)]
struct PlayedServer {
    /// A walk has a request at the server, or will send one when the pause is over.
    is_assigned: bool,
    /// The end of the normal pause after its last exchange.
    pause_end: Duration,
    /// The end of its pause or cool-down.
    ready: Duration,
    ended: Duration,
    /// Walks that wait for their turn.
    waiting: VecDeque<u32>,
}

impl<'a, P: Pacing> ScheduleRun<'a, P> {
    fn new(
        exchanges: &'a Exchanges,
        conditions: &'a Conditions,
        pacing: &'a mut P,
        ends: Vec<Option<u32>>,
    ) -> Self {
        let servers = exchanges.servers.len();
        let schedule = Schedule { servers: vec![ServerLoad::default(); servers], ..Schedule::default() };
        Self {
            exchanges,
            conditions,
            pacing,
            now: Duration::ZERO,
            events: BinaryHeap::new(),
            event_count: 0,
            finished: vec![false; ends.len()],
            walks: vec![ScheduledWalk::default(); ends.len()],
            ends,
            next_tree: 0,
            merged: 0,
            // The schedule sends one request at a time to a server, whatever the survey allows.
            roster: Roster::new(VisitLimits::new(conditions.sites.max(1), 1, None)),
            servers: std::iter::repeat_with(PlayedServer::default).take(servers).collect(),
            rate_queue: VecDeque::new(),
            refill: None,
            hours: Vec::new(),
            schedule,
        }
    }

    fn run(&mut self) {
        self.begin_walks();
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            self.now = at;
            match event {
                Event::End(walk) => self.end(walk),
                Event::Turn(walk) => self.turn(walk),
                Event::Done(walk) => self.finish(walk),
                Event::Room => self.begin_walks(),
                Event::Refill => {
                    self.refill = None;
                    self.begin_queued();
                }
            }
        }
        self.schedule.busiest_hour = self.hours.iter().copied().max().unwrap_or(0);
    }

    fn schedule_event(&mut self, at: Duration, event: Event) {
        self.event_count += 1;
        self.events.push(Reverse((at, self.event_count, event)));
    }

    fn begin_walks(&mut self) {
        loop {
            let tree = match self.roster.poll(system_time(self.now)) {
                VisitStep::Begin(tree) => tree,
                VisitStep::Take => match self.next_tree() {
                    Some(tree) => {
                        self.roster.begin(u64::from(tree));
                        tree
                    }
                    None => return,
                },
                VisitStep::Wait(_) => return,
            };
            self.visit(tree);
        }
    }

    /// The next tree in order; none while the next one waits for the tree that found it.
    fn next_tree(&mut self) -> Option<u32> {
        while let Some(end) = self.ends.get(self.next_tree) {
            let tree = self.next_tree;
            if end.is_none() {
                self.next_tree += 1;
                self.note_finished(tree);
                continue;
            }
            let parent = self.exchanges.trees[tree].parent;
            if parent.is_some_and(|parent| self.merged <= parent as usize && (parent as usize) < tree) {
                return None;
            }
            self.next_tree += 1;
            return u32::try_from(tree).ok();
        }
        None
    }

    fn note_finished(&mut self, tree: usize) {
        self.finished[tree] = true;
        while self.finished.get(self.merged).is_some_and(|finished| *finished) {
            self.merged += 1;
        }
    }

    /// Begins or continues the walk of a tree, if there is a free slot at its first server.
    fn visit(&mut self, tree: u32) {
        let first_server = self.exchange_of(tree, 0);
        if let Some(first_server) =
            first_server.and_then(|first| self.exchanges.servers.get(first.server as usize))
            && let Err(full) = self.roster.enter(u64::from(tree), first_server.address)
        {
            return self.roster.leave(u64::from(tree), Some(Requeue::Parked(tree, full)));
        }
        let walk = &mut self.walks[tree as usize];
        if walk.began.is_none() {
            walk.began = Some(self.now);
            self.schedule.trees += 1;
        }
        self.request_next(tree);
    }

    /// An exchange of a tree by its index in the tree; none after the last.
    fn exchange_of(&self, tree: u32, index: u32) -> Option<&'a ScheduledExchange> {
        let last = self.ends[tree as usize].unwrap_or(0);
        let at = self.exchanges.trees[tree as usize].first + index as usize;
        if index < last { self.exchanges.list.get(at) } else { None }
    }

    /// The next exchange of the walk of a tree; none if the walk is at its end or too old.
    fn next_exchange(&self, tree: u32) -> Option<&'a ScheduledExchange> {
        let ScheduledWalk { exchanges_done, began } = self.walks[tree as usize];
        let age = self.now - began.unwrap_or(self.now);
        let is_too_old = self.conditions.longest_walk.is_some_and(|longest| age >= longest);
        if is_too_old { None } else { self.exchange_of(tree, exchanges_done) }
    }

    /// Sends the next request of the walk, queues it, or ends the walk.
    fn request_next(&mut self, tree: u32) {
        let Some(exchange) = self.next_exchange(tree) else {
            return self.schedule_event(self.now, Event::Done(tree));
        };
        if exchange.server == NO_SERVER {
            let duration = self.conditions.times(exchange, None).total;
            return self.schedule_event(self.now + duration, Event::End(tree));
        }
        let address = self.exchanges.servers.get(exchange.server as usize).map(|server| server.address);
        if address.is_some_and(|address| self.roster.move_to(u64::from(tree), address)) {
            self.schedule_event(self.now, Event::Room);
        }
        let server = &mut self.servers[exchange.server as usize];
        if server.is_assigned {
            server.waiting.push_back(tree);
        } else {
            self.take(tree);
        }
    }

    /// The current exchange of the walk of a tree.
    fn exchange(&self, tree: u32) -> &'a ScheduledExchange {
        let exchanges_done = self.walks[tree as usize].exchanges_done;
        &self.exchanges.list[self.exchanges.trees[tree as usize].first + exchanges_done as usize]
    }

    /// The time at which the server of a walk's current exchange may receive its request.
    fn ready_time(&self, tree: u32) -> Duration {
        let exchange = self.exchange(tree);
        let server = &self.servers[exchange.server as usize];
        match exchange.requested_pause {
            0 => server.ready,
            hundredths => server.ready.max(server.ended + Duration::from_millis(u64::from(hundredths) * 10)),
        }
    }

    /// Assigns the server to the walk once its pause is over, or puts the walk off.
    fn take(&mut self, tree: u32) {
        let at = self.ready_time(tree);
        let server = self.exchange(tree).server as usize;
        if at > self.servers[server].pause_end.max(self.now + self.conditions.longest_wait) {
            return self.postpone(tree, at);
        }
        self.servers[server].is_assigned = true;
        if at > self.now {
            self.schedule_event(at, Event::Turn(tree));
        } else {
            self.turn(tree);
        }
    }

    fn postpone(&mut self, tree: u32, until: Duration) {
        self.roster.leave(u64::from(tree), Some(Requeue::PutOff(tree, system_time(until))));
        self.schedule_event(until, Event::Room);
        self.schedule_event(self.now, Event::Room);
    }

    fn turn(&mut self, tree: u32) {
        match self.pacing.reserve(self.now) {
            Ok(()) => self.begin(tree),
            Err(at) => {
                self.rate_queue.push_back(tree);
                self.schedule_refill(at);
            }
        }
    }

    fn schedule_refill(&mut self, at: Duration) {
        if self.refill.is_none_or(|refill| at < refill) {
            // Time must advance, or the same event would repeat without end.
            let at = at.max(self.now + Duration::from_micros(1));
            self.refill = Some(at);
            self.schedule_event(at, Event::Refill);
        }
    }

    /// Begins the exchanges that wait for the rate, as long as it is sufficient.
    fn begin_queued(&mut self) {
        while let Some(tree) = self.rate_queue.front().copied() {
            match self.pacing.reserve(self.now) {
                Ok(()) => {
                    self.rate_queue.pop_front();
                    self.begin(tree);
                }
                Err(at) => return self.schedule_refill(at),
            }
        }
    }

    fn begin(&mut self, tree: u32) {
        let exchange = self.exchange(tree);
        let server = self.exchanges.servers.get(exchange.server as usize);
        let server_load = &mut self.schedule.servers[exchange.server as usize];
        if server_load.requests == 0 {
            server_load.first_start = self.now;
        }
        server_load.requests += 1;
        server_load.bytes += u64::from(exchange.bytes);
        let duration = self.conditions.times(exchange, server).total;
        self.schedule_event(self.now + duration, Event::End(tree));
    }

    fn end(&mut self, tree: u32) {
        let exchange = self.exchange(tree);
        self.schedule.duration = self.now;
        self.walks[tree as usize].exchanges_done += 1;
        if exchange.server == NO_SERVER {
            return self.request_next(tree);
        }
        self.note_exchange_end(tree, exchange);
        // A walk that has just received a response and continues at the same server goes to the head of the
        // queue before the server is passed on.
        if self.next_exchange(tree).is_some_and(|next| next.server == exchange.server) {
            self.servers[exchange.server as usize].waiting.push_front(tree);
        } else {
            self.request_next(tree);
        }
        self.assign_next(exchange.server as usize);
        self.begin_queued();
    }

    /// Gives a free server to the waiting walk whose turn comes soonest; ties go to the walk at the head of
    /// the queue.
    fn assign_next(&mut self, number: usize) {
        while !self.servers[number].is_assigned {
            let server = &self.servers[number];
            let soonest =
                (0..server.waiting.len()).min_by_key(|index| self.ready_time(server.waiting[*index]));
            let next = soonest.and_then(|index| self.servers[number].waiting.remove(index));
            // A walk that is put off does not take the server.
            match next {
                Some(next) => self.take(next),
                None => return,
            }
        }
    }

    fn note_exchange_end(&mut self, tree: u32, exchange: &ScheduledExchange) {
        let number = exchange.server as usize;
        let times = self.conditions.times(exchange, self.exchanges.servers.get(number));
        let ended_exchange = EndedExchange {
            tree,
            ended: self.now,
            duration: times.total,
            first_byte: times.first_byte,
            transfer: times.transfer,
            bytes: u64::from(exchange.bytes),
            is_trouble: exchange.is_trouble(),
            is_unclear: exchange.is_unclear(),
            is_unread: exchange.is_unread(),
        };
        let pause = self.pacing.pause_after(number, &ended_exchange);
        let (pause_end, ready) = (self.now + pause.normal, self.now + pause.total());
        self.servers[number] = PlayedServer {
            is_assigned: false,
            pause_end,
            ready,
            ended: self.now,
            waiting: std::mem::take(&mut self.servers[number].waiting),
        };
        self.schedule.servers[number].pause_end = ready;
        self.add_bytes(u64::from(exchange.bytes));
        self.pacing.release(self.now, u64::from(exchange.bytes));
    }

    fn add_bytes(&mut self, bytes: u64) {
        self.schedule.requests += 1;
        self.schedule.bytes += bytes;
        let hour = usize::try_from(self.now.as_secs() / HOUR).unwrap_or(usize::MAX);
        // After a hundred years, all further hours count as one.
        let hour = hour.min(MAX_HOURS);
        if self.hours.len() <= hour {
            self.hours.resize(hour + 1, 0);
        }
        self.hours[hour] += bytes;
    }

    fn finish(&mut self, tree: u32) {
        self.note_finished(tree as usize);
        self.roster.leave(u64::from(tree), None);
        self.begin_walks();
    }
}

/// Converts a time of the schedule for the roster.
fn system_time(elapsed: Duration) -> SystemTime {
    SystemTime::UNIX_EPOCH + elapsed
}

/// The number of hours in a hundred years.
const MAX_HOURS: usize = 100 * 366 * 24;
