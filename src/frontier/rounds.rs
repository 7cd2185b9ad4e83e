use redb::{Durability, ReadTransaction, ReadableTable};
use serde::{Deserialize, Serialize};

use super::entry::{Lease, StartCandidate};
use super::error::FrontierError;
use super::layout::{ROUNDS, WAITING, decode, encode};
use super::queue::{NEXT, Queue};
use super::store::{Frontier, counter};

/// The number of the round.
const ROUND: &str = "round";
/// The number of trees when the round began.
const TREES: &str = "round_trees";
/// The bits of the price of the round.
const PRICE: &str = "round_price";

/// The store frees pages only with durable changes, so that it would grow without them.
const PARTS_PER_FLUSH: u64 = 256;

/// A round of a survey with a budget of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Rounds are numbered from 1.
    pub number: u32,
    /// The number of new external hosts that a request must be expected to bring; none in the last round, in
    /// which no request is sent and each tree ends with what it has.
    pub price: Option<f64>,
}

/// A tree that takes part in a round, and the number of its requests at which its part ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundMember {
    /// The tree's number in the order of the survey.
    pub order: u64,
    /// How many requests its walk may have counted when its part ends.
    pub until: u64,
}

/// The state of a tree at the end of its part in a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndedPart {
    /// The number of requests that its walk has counted so far.
    pub counted: u64,
    /// What waits, in an encoding that only the caller reads; none if the tree is finished.
    pub waiting: Option<Vec<u8>>,
    /// Start URLs found since the round before, in the order found.
    pub found: Vec<StartCandidate>,
}

/// The price of the next round, and the number of requests that each tree may send in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowances {
    /// See [`Round::price`].
    pub price: f64,
    /// Trees, by their numbers in the order of the survey, with the number of further requests.
    pub requests: Vec<(u64, u32)>,
}

/// An unfinished tree, by its number in the order of the survey, with what waits in it; none if it had no part
/// in a round.
pub type UnfinishedTree = (u64, Option<Vec<u8>>);

/// The unfinished trees, while the next round is planned.
pub struct UnfinishedTrees<'a>(&'a ReadTransaction);

#[derive(Debug, Default, Serialize, Deserialize)]
struct TreeRow {
    /// The last round in which the tree has a part, and the number of its requests at which that ends.
    round: u32,
    until: u64,
    /// The last round whose part has ended.
    ended: u32,
    /// It sent requests in that round, something else waits since, or it is finished.
    has_moved: bool,
    is_finished: bool,
    counted: u64,
    waiting: Option<Vec<u8>>,
    found: Vec<StartCandidate>,
}

impl TreeRow {
    fn from_bytes(bytes: &[u8]) -> Result<Self, redb::Error> {
        decode(bytes, "the round of a site tree")
    }

    fn read(txn: &ReadTransaction, order: u64) -> Result<Option<Self>, redb::Error> {
        Self::of(&txn.open_table(ROUNDS)?, order)
    }

    fn of(rows: &impl ReadableTable<u64, &'static [u8]>, order: u64) -> Result<Option<Self>, redb::Error> {
        rows.get(order)?.map(|bytes| Self::from_bytes(bytes.value())).transpose()
    }

    /// The tree after its part in a round.
    fn after(self, round: u32, part: EndedPart) -> Self {
        let EndedPart { counted, waiting, found } = part;
        Self {
            ended: round,
            has_moved: counted > self.counted || waiting != self.waiting || waiting.is_none(),
            is_finished: waiting.is_none(),
            counted,
            waiting,
            // A tree that ends a second time, after a crash, has found what it had found.
            found: if self.is_finished { self.found } else { [self.found, found].concat() },
            ..self
        }
    }
}

impl UnfinishedTrees<'_> {
    /// The trees in the order of the queue.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(&self) -> Result<impl Iterator<Item = Result<UnfinishedTree, redb::Error>>, redb::Error> {
        let waiting: Vec<u64> = waiting(self.0)?;
        Ok(waiting.into_iter().filter_map(|order| match TreeRow::read(self.0, order) {
            Ok(Some(row)) if row.is_finished => None,
            Ok(row) => Some(Ok((order, row.and_then(|row| row.waiting)))),
            Err(error) => Some(Err(error)),
        }))
    }
}

/// Rounds.
impl Frontier {
    /// The round that was begun last; none if there was none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn round(&self) -> Result<Option<Round>, FrontierError> {
        self.store.read("read", round)
    }

    /// The trees whose part in the round has not ended, in the order of the queue.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn members(&self, round: Round) -> Result<Vec<RoundMember>, FrontierError> {
        self.store.read("read", |txn| {
            let mut members = Vec::new();
            for order in waiting(txn)? {
                let row = TreeRow::read(txn, order)?;
                let is_last = round.price.is_none();
                let is_open = row.as_ref().map_or(is_last, |row| {
                    // A finished tree whose rows were not written ends again.
                    row.is_finished || is_last || row.round == round.number && row.ended < round.number
                });
                if is_open {
                    members.push(RoundMember { order, until: row.map_or(0, |row| row.until) });
                }
            }
            Ok(members)
        })
    }

    /// Hands out a tree that waits; none if it does not wait any more.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn lease_member(&mut self, order: u64) -> Result<Option<Lease>, FrontierError> {
        let lease = self.open_tree(order)?;
        if lease.is_some() {
            self.lease_order(order);
        }
        Ok(lease)
    }

    /// Records the state of a tree whose part in a round has ended. It becomes durable with a later change of
    /// the store: after a crash the tree is visited again, and ends at the same place.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn end_part(&mut self, order: u64, round: u32, part: EndedPart) -> Result<(), FrontierError> {
        let is_finished = part.waiting.is_none();
        self.ended_parts += 1;
        let is_durable = self.ended_parts.is_multiple_of(PARTS_PER_FLUSH);
        let durability = if is_durable { Durability::Immediate } else { Durability::None };
        self.store.write_for(durability, "write", |txn| {
            let mut rows = txn.open_table(ROUNDS)?;
            let row = TreeRow::of(&rows, order)?.unwrap_or_default().after(round, part);
            rows.insert(order, encode(&row).as_slice())?;
            Ok(())
        })?;
        if !is_finished {
            self.unlease(order);
        }
        Ok(())
    }

    /// Begins the next round. First what trees found in the last one, and the spares of the sites that it left
    /// closed, become trees. `plan` gets
    /// the number of the round. If it returns none, or the last round brought nothing new, the round is the
    /// last one. Returns none if no tree is left.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn next_round(
        &mut self,
        plan: impl FnOnce(u32, UnfinishedTrees<'_>) -> Result<Option<Allowances>, redb::Error>,
    ) -> Result<Option<Round>, FrontierError> {
        self.offer_found()?;
        let planned = self.store.read("read", |txn| {
            if waiting(txn)?.is_empty() {
                return Ok(None);
            }
            let last = round(txn)?.map_or(0, |round| round.number);
            let allowances =
                if last == 0 || has_moved(txn, last)? { plan(last + 1, UnfinishedTrees(txn))? } else { None };
            Ok(Some((last + 1, allowances)))
        })?;
        let Some((number, allowances)) = planned else { return Ok(None) };
        let price = allowances.as_ref().map(|allowances| allowances.price);
        self.store.write("write", |txn| {
            let mut queue = Queue::open(txn, self.store.spread())?;
            queue.set_counter(ROUND, u64::from(number))?;
            let trees = queue.add_to_counter(NEXT, 0)?;
            queue.set_counter(TREES, trees)?;
            queue.set_counter(PRICE, price.unwrap_or(f64::INFINITY).to_bits())?;
            let mut rows = txn.open_table(ROUNDS)?;
            for (order, requests) in allowances.map_or_else(Vec::new, |allowances| allowances.requests) {
                let before = TreeRow::of(&rows, order)?.unwrap_or_default();
                let until = before.counted + u64::from(requests);
                let row = TreeRow { round: number, until, ..before };
                rows.insert(order, encode(&row).as_slice())?;
            }
            Ok(())
        })?;
        Ok(Some(Round { number, price }))
    }

    /// Merges the trees that have ended, and offers the start URLs that trees found in the last round, in the
    /// order of the trees.
    fn offer_found(&mut self) -> Result<(), FrontierError> {
        let first_taken = self.store.write("write", |txn| {
            let mut queue = Queue::open(txn, self.store.spread())?;
            queue.merge_all()?;
            let mut rows = txn.open_table(ROUNDS)?;
            let mut with_found: Vec<(u64, TreeRow)> = Vec::new();
            for entry in rows.iter()? {
                let (order, bytes) = entry?;
                let row = TreeRow::from_bytes(bytes.value())?;
                if !row.found.is_empty() {
                    with_found.push((order.value(), row));
                }
            }
            for (order, mut row) in with_found {
                let (site, generation) = queue.origin(order)?;
                for candidate in std::mem::take(&mut row.found) {
                    queue.offer(candidate, Some(&site), generation + 1)?;
                }
                rows.insert(order, encode(&row).as_slice())?;
            }
            Ok(queue.first_taken)
        })?;
        self.rewind_cursor(first_taken);
        Ok(())
    }
}

fn round(txn: &ReadTransaction) -> Result<Option<Round>, redb::Error> {
    let number = u32::try_from(counter(txn, ROUND)?).unwrap_or(u32::MAX);
    let price = Some(f64::from_bits(counter(txn, PRICE)?)).filter(|price| price.is_finite());
    Ok((number > 0).then_some(Round { number, price }))
}

/// The trees that are not finished, in the order of the queue, by their numbers in the order of the survey.
fn waiting(txn: &ReadTransaction) -> Result<Vec<u64>, redb::Error> {
    txn.open_table(WAITING)?.iter()?.map(|entry| Ok(entry?.0.value().1)).collect()
}

/// Whether a tree came further in the last round, or is new since: otherwise further rounds are in vain.
fn has_moved(txn: &ReadTransaction, last: u32) -> Result<bool, redb::Error> {
    if counter(txn, NEXT)? > counter(txn, TREES)? {
        return Ok(true);
    }
    for entry in txn.open_table(ROUNDS)?.iter()? {
        let row = TreeRow::from_bytes(entry?.1.value())?;
        if row.ended == last && row.has_moved {
            return Ok(true);
        }
    }
    Ok(false)
}
