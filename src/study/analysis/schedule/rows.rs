use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use polars::prelude::{DataFrame, PolarsResult};

use super::exchanges::{
    Exchanges, MeasuredServer, NO_SERVER, ScheduledExchange, TIMED_OUT, TROUBLE, TreeSpan, UNCLEAR, UNREAD,
};
use super::requested_pauses::{Pause, Pauses};
use super::{EndedExchange, Pacing};
use crate::address::server_named;
use crate::analysis::tables::{TreeNumbers, columns, for_each_frame, key};
use crate::analysis::{AnalysisError, Recorded};
use crate::exchange::{Failure, Purpose};
use crate::records::{ExchangeRow, SiteRow};

columns! {
    ScheduleSiteColumns { site: str, seed: u32, started: time, parent_site: str, number: u64 }
}

columns! {
    /// The values of a row that a schedule depends on.
    ScheduleExchangeColumns => ScheduleFields {
        site: str, seed: u32, depth: u32, host: str, address: str, purpose: str = "", started: time = 0, status: u32,
        failure: str, content_type: str, sent_bytes: u64 = 0, received_bytes: u64 = 0, dns_ms: f64, connect_ms: f64,
        tls_ms: f64, first_byte_ms: f64, total_ms: f64,
    }
}

/// In bytes. Smaller responses arrive in one flight of packets (ten segments, RFC 6928), so their transfer
/// time says nothing about the link.
const MIN_MEASURED_BYTES: u64 = 14_600;

impl Exchanges {
    /// Reads the exchanges of the survey in `dir`. `pacing` is the rule of pauses of that survey.
    ///
    /// # Errors
    /// A table cannot be read.
    pub fn load(
        dir: &Path,
        recorded: &Recorded,
        pacing: &mut (impl Pacing + Send),
    ) -> Result<Self, AnalysisError> {
        let mut numbers = TreeNumbers::default();
        for tree in recorded.trees.iter() {
            numbers.add(&tree.site, tree.seed.into());
        }
        let mut order = TreeOrder { numbers: &numbers, entries: vec![None; recorded.trees.len()] };
        for_each_frame::<SiteRow>(dir, ScheduleSiteColumns::NAMES, |frame| order.add(frame))?;
        let mut loading = ExchangeLoader {
            numbers: &numbers,
            pacing,
            loaded: Self::default(),
            addresses: HashMap::new(),
            current: None,
            pauses: Pauses::default(),
            previous: None,
        };
        for_each_frame::<ExchangeRow>(dir, ScheduleExchangeColumns::NAMES, |frame| loading.add(frame))?;
        loading.end_tree();
        let mut loaded = loading.loaded;
        order.apply(&mut loaded.trees);
        loaded.list.shrink_to_fit();
        Ok(loaded)
    }
}

/// The order of the trees, and the site that led to each.
struct TreeOrder<'a> {
    numbers: &'a TreeNumbers,
    entries: Vec<Option<QueuedTree>>,
}

#[derive(Clone, Copy, Default)]
struct QueuedTree {
    /// The position in the queue, and the start of the tree. Older tables do not record the position; the
    /// start gives nearly the same order.
    position: (u64, i64),
    parent: Option<u32>,
}

impl TreeOrder<'_> {
    fn add(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let columns = ScheduleSiteColumns::from_frame(frame)?;
        for row in 0..frame.height() {
            let Some(tree) = self.numbers.find(columns.site.get(row), columns.seed.get(row)) else {
                continue;
            };
            let parent = self.numbers.find(columns.parent_site.get(row), Some(0));
            let begun = columns.started.get(row).unwrap_or_default();
            let position = (columns.number.get(row).unwrap_or_default(), begun);
            self.entries[tree as usize] = Some(QueuedTree { position, parent });
        }
        Ok(())
    }

    /// Sorts the trees and sets the parent of each.
    fn apply(&self, trees: &mut [TreeSpan]) {
        let entry = |tree: u32| self.entries.get(tree as usize).copied().flatten().unwrap_or_default();
        trees.sort_by_key(|span| (entry(span.tree).position, span.tree));
        let positions: HashMap<u32, u32> =
            (0..).zip(trees.iter()).map(|(position, span)| (span.tree, position)).collect();
        for span in trees {
            span.parent = entry(span.tree).parent.and_then(|parent| positions.get(&parent).copied());
        }
    }
}

/// Collects the exchanges from their table. The rows of a tree are adjacent, in request order.
struct ExchangeLoader<'a, P> {
    numbers: &'a TreeNumbers,
    pacing: &'a mut P,
    loaded: Exchanges,
    addresses: HashMap<u64, u32>,
    /// The tree whose rows are being read, and the index of its first exchange.
    current: Option<(u32, usize)>,
    pauses: Pauses,
    previous: Option<PreviousExchange>,
}

/// The previous exchange with a server.
struct PreviousExchange {
    server: u32,
    /// In seconds since 1970.
    ended: f64,
    pause: Duration,
    was_refused: bool,
}

/// The depth of a robots.txt request until the page that it was fetched for is known.
const UNKNOWN: u8 = u8::MAX;

impl<P: Pacing> ExchangeLoader<'_, P> {
    fn add(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        let columns = ScheduleExchangeColumns::from_frame(frame)?;
        let mut last: Option<(&str, u32, Option<u32>)> = None;
        for row in 0..frame.height() {
            let fields = columns.fields(row);
            let (Some(site), Some(seed)) = (fields.site, fields.seed) else { continue };
            let tree = match last {
                Some((known, same, tree)) if known == site && same == seed => tree,
                _ => self.numbers.find(Some(site), Some(seed)),
            };
            last = Some((site, seed, tree));
            let Some(tree) = tree else { continue };
            if self.current.is_none_or(|(current, _)| current != tree) {
                self.end_tree();
                self.current = Some((tree, self.loaded.list.len()));
            }
            self.take(&fields);
        }
        Ok(())
    }

    fn take(&mut self, fields: &ScheduleFields<'_>) {
        let server =
            fields.address.filter(|_| fields.total_ms.is_some()).and_then(|address| self.server(address));
        let exchange = fields.exchange(server, self.marks(fields));
        if let Some(server) = server {
            self.measure(server, fields);
            self.note_pause(server, fields, &exchange);
        }
        self.loaded.list.push(exchange);
    }

    fn marks(&self, fields: &ScheduleFields<'_>) -> u8 {
        let (status, failure) = (fields.status(), fields.failure());
        let timed_out = failure.is_some_and(Failure::is_timeout);
        u8::from(timed_out) * TIMED_OUT
            + u8::from(self.pacing.is_trouble(status, failure)) * TROUBLE
            + u8::from(self.pacing.is_unclear(status, failure)) * UNCLEAR
            + u8::from(self.pacing.is_unread(fields.purpose, status, fields.content_type)) * UNREAD
    }

    fn server(&mut self, address: &str) -> Option<u32> {
        let address = &server_named(address);
        let key = key(address);
        if let Some(number) = self.addresses.get(&key) {
            return Some(*number);
        }
        let number = u32::try_from(self.loaded.servers.len()).ok().filter(|number| *number != NO_SERVER)?;
        self.loaded.servers.push(MeasuredServer::new(address.parse::<IpAddr>().ok()?));
        self.addresses.insert(key, number);
        Some(number)
    }

    fn measure(&mut self, server: u32, fields: &ScheduleFields<'_>) {
        let server = &mut self.loaded.servers[server as usize];
        for time in [fields.connect_ms, fields.first_byte_ms].into_iter().flatten().filter(|time| *time > 0.0)
        {
            server.rtt = server.rtt.min(seconds(time));
        }
        if let (Some(total), Some(first), true) =
            (fields.total_ms, fields.first_byte_ms, fields.received_bytes >= MIN_MEASURED_BYTES)
        {
            server.bytes += fields.received_bytes as f64;
            server.transfer += ((total - first - fields.handshake_ms()) / 1000.0).max(0.0);
        }
    }

    /// Records the pause before this exchange, with the length by our own rule.
    fn note_pause(&mut self, server: u32, fields: &ScheduleFields<'_>, exchange: &ScheduledExchange) {
        if let Some(previous) = self.previous.take().filter(|previous| previous.server == server) {
            self.pauses.add(Pause {
                index: self.loaded.list.len(),
                host: fields.host.map_or(0, key),
                measured: fields.started_seconds() - previous.ended,
                explained: previous.pause.as_secs_f64(),
                is_robots: fields.purpose == Purpose::Robots.as_str(),
                after_refusal: previous.was_refused,
            });
        }
        let first_byte =
            fields.first_byte_ms.and_then(|time| Duration::try_from_secs_f64(time / 1000.0).ok());
        let ended = fields.started_seconds() + f64::from(exchange.total);
        let ended_exchange = EndedExchange {
            tree: self.current.map_or(0, |(tree, _)| tree),
            ended: Duration::try_from_secs_f64(ended).unwrap_or_default(),
            duration: Duration::try_from_secs_f64(f64::from(exchange.total)).unwrap_or_default(),
            first_byte,
            transfer: Duration::try_from_secs_f64(exchange.transfer()).unwrap_or_default(),
            bytes: u64::from(exchange.bytes),
            is_trouble: exchange.is_trouble(),
            is_unclear: exchange.is_unclear(),
            is_unread: exchange.is_unread(),
        };
        let next_pause = self.pacing.pause_after(server as usize, &ended_exchange);
        self.previous = Some(PreviousExchange {
            server,
            ended,
            pause: next_pause.total().max(next_pause.site_cool_down),
            was_refused: self.pacing.requests_pause(fields.status()),
        });
    }

    fn end_tree(&mut self) {
        self.previous = None;
        let Some((tree, first)) = self.current.take() else { return };
        self.pauses.note(&mut self.loaded.list);
        let exchanges = &mut self.loaded.list[first..];
        place_robots(exchanges);
        let first_end = self.loaded.level_ends.len();
        let mut deepest = 0;
        for (position, exchange) in (0_u32..).zip(exchanges.iter()) {
            deepest = deepest.max(usize::from(exchange.depth));
            self.loaded
                .level_ends
                .resize((first_end + deepest + 1).max(self.loaded.level_ends.len()), position);
            self.loaded.level_ends[first_end + deepest] = position + 1;
        }
        let levels = u16::try_from(self.loaded.level_ends.len() - first_end).unwrap_or(u16::MAX);
        self.loaded.trees.push(TreeSpan { tree, first, first_end, levels, parent: None });
    }
}

/// A robots.txt belongs to the level of the page that it was fetched for, which is the next exchange.
fn place_robots(exchanges: &mut [ScheduledExchange]) {
    let last = exchanges.iter().rev().map(|exchange| exchange.depth).find(|depth| *depth != UNKNOWN);
    let mut next = last.unwrap_or(0);
    for exchange in exchanges.iter_mut().rev() {
        if exchange.depth == UNKNOWN {
            exchange.depth = next;
        }
        next = exchange.depth;
    }
}

impl ScheduleFields<'_> {
    fn status(&self) -> Option<u16> {
        self.status.and_then(|status| u16::try_from(status).ok())
    }

    fn failure(&self) -> Option<Failure> {
        self.failure.and_then(Failure::named)
    }

    /// In seconds since 1970.
    fn started_seconds(&self) -> f64 {
        self.started as f64 / 1e6
    }

    fn handshake_ms(&self) -> f64 {
        self.connect_ms.unwrap_or_default() + self.tls_ms.unwrap_or_default()
    }

    fn exchange(&self, server: Option<u32>, marks: u8) -> ScheduledExchange {
        ScheduledExchange {
            server: server.unwrap_or(NO_SERVER),
            bytes: u32::try_from(self.sent_bytes + self.received_bytes).unwrap_or(u32::MAX),
            handshake: seconds(self.handshake_ms()),
            first_byte: self.first_byte_ms.map_or(-1.0, seconds),
            total: seconds(if server.is_some() { self.total_ms } else { self.dns_ms }.unwrap_or_default()),
            requested_pause: 0,
            depth: self.depth.map_or(UNKNOWN, |depth| u8::try_from(depth).unwrap_or(UNKNOWN - 1)),
            marks,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "seven digits of a time are enough")]
fn seconds(milliseconds: f64) -> f32 {
    (milliseconds / 1000.0) as f32
}
