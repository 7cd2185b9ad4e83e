use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redb::{
    Builder, Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition,
    TableHandle, WriteTransaction,
};

use super::ahead::AheadTrees;
use super::entry::{Finished, KeptRobots, Lease, Offer, Spread, StartCandidate};
use super::error::FrontierError;
use super::gate::{CLOSED, GATES};
use super::layout::{FOUND, META, QueueKey, ROUNDS, SITES, TREES, WAITING, decode, queue_key};
use super::queue::{NEXT, Queue, SITES_FOUND, SiteEntry};
use crate::address::{Host, Site};

const SERVERS: TableDefinition<'static, &[u8], &[u8]> = TableDefinition::new("servers");
const KNOWN: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("known");

/// The hosts that were requested from each server, with the site of each.
const HOSTS: TableDefinition<'static, &[u8], &str> = TableDefinition::new("hosts");

/// Lists of start URLs that were offered after the first one, with a number from the caller for each.
const ADDED: TableDefinition<'static, &str, u64> = TableDefinition::new("added");

/// The last response that finished trees got for each robots.txt, with the time of its request …
const ROBOTS: TableDefinition<'static, u64, (u64, &[u8])> = TableDefinition::new("robots");
/// … and their keys by these times.
const ROBOTS_BY_AGE: TableDefinition<'static, (u64, u64), ()> = TableDefinition::new("robots_by_age");

/// Cost and findings of finished trees, in an encoding that only the caller reads.
const TALLY: TableDefinition<'static, (), &[u8]> = TableDefinition::new("tally");

/// The time in the survey when a process last opened it, in an encoding that only the caller reads.
const CLOCK: TableDefinition<'static, (), &[u8]> = TableDefinition::new("clock");

/// The number of complete segments of the tables.
const SEGMENTS: &str = "segments";
/// The number of requests of finished trees that were sent and whose responses were never recorded.
const UNRECORDED: &str = "unrecorded";
/// The number of finished trees.
const FINISHED: &str = "finished";

/// The version of the layout of all data in the store, including servers' states and the data for later
/// trees. A layout that changes gets a higher number, and data of a lower version is read as it was written.
const CURRENT_FORMAT: u64 = 1;
/// The counter that holds the version of the layout; the first layout was written without it.
const FORMAT: &str = "format";

/// The number of bytes of the store that are cached in memory.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// The durable queue of site trees.
pub struct Frontier {
    pub(super) store: Arc<Store>,
    /// Order numbers of trees that this process handed out and that are not finished.
    leased: HashSet<u64>,
    /// No tree before this queue key is waiting without being leased.
    cursor: QueueKey,
    ahead: AheadTrees,
    /// The number of parts in rounds that have ended in this process.
    pub(super) ended_parts: u64,
}

/// Progress of the survey, in site trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of trees ever queued.
    pub trees: u64,
    /// The number of trees whose rows are in the tables.
    pub finished: u64,
    /// The number of trees handed out and not finished.
    pub leased: u64,
    /// The number of different sites.
    pub sites: u64,
}

/// The file of a frontier.
pub struct Store {
    path: PathBuf,
    database: Database,
    spread: Spread,
}

/// Proof that a batch is written, for [`Frontier::note`].
pub struct WrittenBatch {
    first_taken: Option<QueueKey>,
}

/// The data of a batch, which must become true together.
pub struct Batch<'a> {
    /// Trees whose rows are in the segments.
    pub finished: &'a [Finished],
    /// The number of complete segments of the tables, including those of this batch.
    pub segments: u64,
    /// The changed states of servers, by address.
    pub servers: &'a [(IpAddr, Vec<u8>)],
    /// Hosts that were requested from servers, with the site of each; new or not.
    pub hosts: &'a [(IpAddr, Host, Site)],
    /// The number of requests of these trees whose responses a crash lost.
    pub unrecorded: u64,
    /// Counts and findings up to and including these trees.
    pub tally: &'a [u8],
    /// Responses to the robots.txt requests of these trees.
    pub robots: &'a [KeptRobots],
    /// robots.txt responses requested before this time, in microseconds since 1970, are dropped.
    pub robots_since: u64,
}

impl Frontier {
    /// Opens the store at `path`, or creates it where there is no file.
    ///
    /// # Errors
    /// When another process has it open, a newer program wrote it, the file holds no survey state, or it
    /// cannot be read or written.
    pub fn open(path: &Path, spread: Spread) -> Result<Self, FrontierError> {
        let is_new = !path.exists();
        let store = Builder::new()
            .set_cache_size(CACHE_BYTES)
            .create(path)
            .map_err(|source| FrontierError::store("open", path, source))?;
        let store = Store { path: path.to_owned(), database: store, spread };
        if !is_new && !store.read("read", has_state)? {
            return Err(FrontierError::Empty { path: store.path });
        }
        // A survey that resumes need not wait for the disk.
        if store.read("read", is_prepared)? {
            return Ok(Self::from_store(store));
        }
        let format = store.write("prepare", |txn| {
            let mut queue = Queue::open(txn, spread)?;
            txn.open_table(SERVERS)?;
            txn.open_table(KNOWN)?;
            txn.open_table(HOSTS)?;
            txn.open_table(ADDED)?;
            txn.open_table(TALLY)?;
            txn.open_table(CLOCK)?;
            txn.open_table(ROBOTS)?;
            txn.open_table(ROBOTS_BY_AGE)?;
            txn.open_table(ROUNDS)?;
            let format = queue.add_to_counter(FORMAT, 0)?.max(CURRENT_FORMAT);
            queue.set_counter(FORMAT, format)?;
            Ok(format)
        })?;
        if format > CURRENT_FORMAT {
            return Err(FrontierError::Newer { path: store.path, format, known: CURRENT_FORMAT });
        }
        Ok(Self::from_store(store))
    }

    fn from_store(store: Store) -> Self {
        Self {
            store: Arc::new(store),
            leased: HashSet::new(),
            cursor: (0, 0),
            ahead: AheadTrees::default(),
            ended_parts: 0,
        }
    }

    /// Offers the user's start URLs; returns the result for each.
    ///
    /// # Errors
    /// When the store cannot be written; then none was taken.
    pub fn offer(
        &mut self,
        starts: impl IntoIterator<Item = StartCandidate>,
    ) -> Result<Vec<Offer>, FrontierError> {
        let (offers, first_taken) = self.store.write("write", |txn| {
            let mut queue = Queue::open(txn, self.store.spread)?;
            let offers =
                starts.into_iter().map(|start| queue.offer(start, None, 0)).collect::<Result<_, _>>()?;
            Ok((offers, queue.first_taken))
        })?;
        self.cursor = first_taken.map_or(self.cursor, |first| first.min(self.cursor));
        Ok(offers)
    }

    /// Offers a further list of start URLs, after all existing ones, and records a number with the list's
    /// name. A list that was offered before is not offered again. Returns the recorded number, and the result
    /// for each URL.
    ///
    /// # Errors
    /// When the store cannot be written; then none was taken.
    pub fn offer_once(
        &mut self,
        name: &str,
        number: u64,
        starts: impl IntoIterator<Item = StartCandidate>,
    ) -> Result<(u64, Vec<Offer>), FrontierError> {
        let (number, offers, first_taken) = self.store.write("write", |txn| {
            let mut added = txn.open_table(ADDED)?;
            if let Some(noted) = added.get(name)?.map(|noted| noted.value()) {
                return Ok((noted, Vec::new(), None));
            }
            added.insert(name, number)?;
            let mut queue = Queue::open(txn, self.store.spread)?;
            let offers =
                starts.into_iter().map(|start| queue.offer(start, None, 0)).collect::<Result<_, _>>()?;
            Ok((number, offers, queue.first_taken))
        })?;
        self.cursor = first_taken.map_or(self.cursor, |first| first.min(self.cursor));
        Ok((number, offers))
    }

    /// The next tree to walk, in order; none when all waiting trees are handed out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn lease(&mut self) -> Result<Option<Lease>, FrontierError> {
        let ahead = self.ahead.first();
        let found = self.store.read("read", |txn| {
            let slot = match (self.first_waiting(txn)?, ahead) {
                (Some(waiting), Some(ahead)) => waiting.min(ahead),
                (Some(slot), None) | (None, Some(slot)) => slot,
                (None, None) => return Ok(None),
            };
            Ok(Some((slot, tree(txn, slot.1)?)))
        })?;
        let Some((slot, lease)) = found else { return Ok(None) };
        let (rank, order) = slot;
        let lease = lease.ok_or_else(|| FrontierError::Damaged {
            path: self.store.path.clone(),
            what: format!("site tree {order} is queued but not stored"),
        })?;
        if ahead == Some(slot) {
            self.ahead.remove(slot);
        } else {
            self.cursor = (rank, order + 1);
        }
        self.leased.insert(order);
        Ok(Some(lease))
    }

    /// Records that a tree is handed out.
    pub(super) fn lease_order(&mut self, order: u64) {
        self.leased.insert(order);
    }

    /// Records that a tree is no longer being walked.
    pub(super) fn unlease(&mut self, order: u64) {
        self.leased.remove(&order);
    }

    /// The first tree that waits in the store and is not handed out.
    fn first_waiting(&self, txn: &ReadTransaction) -> Result<Option<QueueKey>, redb::Error> {
        for entry in txn.open_table(WAITING)?.range(self.cursor..)? {
            let slot = entry?.0.value();
            if !self.leased.contains(&slot.1) {
                return Ok(Some(slot));
            }
        }
        Ok(None)
    }

    /// Records that a tree has ended, and will be finished later: if another tree of its site waits for it,
    /// that one may be walked now. It needs `known`; none where that is the same as what it would get anyway.
    ///
    /// # Errors
    /// When the store cannot be read, or the error that `known` returns.
    pub fn free_next<E: From<FrontierError>>(
        &mut self,
        ended: &Lease,
        known: impl FnOnce() -> Result<Option<Vec<u8>>, E>,
    ) -> Result<(), E> {
        // A site that may have one start URL has one tree, or its earlier trees are merged.
        if self.store.spread.seeds_per_site <= 1 {
            return Ok(());
        }
        let next = self.store.read("read", |txn| {
            let blocked = site_entry(txn, &ended.site)?.map_or_else(Vec::new, |entry| entry.blocked);
            // A tree that was itself handed out sooner is in this list.
            let own_index = blocked.iter().position(|slot| *slot == queue_key(ended));
            Ok(blocked.get(own_index.map_or(0, |own_index| own_index + 1)).copied())
        })?;
        if let Some(next) = next {
            self.ahead.free(next, ended, known()?);
        }
        Ok(())
    }

    /// Takes in finished trees, in one transaction with the number of table segments that are now complete
    /// and the states of servers. Merges their findings as far as the order allows.
    ///
    /// # Errors
    /// When the store cannot be written; then nothing has changed.
    pub fn finish(&mut self, batch: &Batch<'_>) -> Result<(), FrontierError> {
        let written = self.store.finish(batch)?;
        self.note(written, batch.finished);
        Ok(())
    }

    /// The store, to write finished trees while the frontier is in use; afterwards call [`Frontier::note`].
    #[must_use]
    pub fn store(&self) -> Arc<Store> {
        self.store.clone()
    }

    /// Records that these trees were written.
    pub fn note(&mut self, written: WrittenBatch, finished: &[Finished]) {
        for tree in finished {
            self.leased.remove(&tree.lease.order);
        }
        self.ahead.forget(finished);
        self.rewind_cursor(written.first_taken);
    }

    /// Takes in a tree that has ended, before its rows are written: the sites that it found may be walked at
    /// once.
    ///
    /// This becomes durable when the tree is [finished](Self::finish), which then uses only the tree's queue
    /// key. So it is meant for a survey that is not resumed after a crash: a simulation.
    ///
    /// # Errors
    /// When the store cannot be written; then nothing has changed.
    pub fn merge_finished(&mut self, tree: &Finished) -> Result<(), FrontierError> {
        let first_taken = self.store.write_for(Durability::None, "write", |txn| {
            Ok(self.store.queue_with(txn, std::slice::from_ref(tree))?.first_taken)
        })?;
        self.rewind_cursor(first_taken);
        Ok(())
    }

    /// Moves the cursor back, because a further tree of a site may have become free before it, or a tree of
    /// great priority was found.
    pub(super) fn rewind_cursor(&mut self, first_taken: Option<QueueKey>) {
        self.cursor = first_taken.map_or(self.cursor, |first| first.min(self.cursor));
    }

    /// The number of complete segments of the tables; later ones were being written when a process died.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn segments(&self) -> Result<u64, FrontierError> {
        self.store.read("read", |txn| counter(txn, SEGMENTS))
    }

    /// The time that was recorded when the survey was last opened.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn clock(&self) -> Result<Option<Vec<u8>>, FrontierError> {
        self.store.read("read", |txn| Ok(txn.open_table(CLOCK)?.get(())?.map(|value| value.value().to_vec())))
    }

    /// Records the time in the survey.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn note_clock(&mut self, clock: &[u8]) -> Result<(), FrontierError> {
        self.store.write("write", |txn| {
            txn.open_table(CLOCK)?.insert((), clock)?;
            Ok(())
        })
    }

    /// Adds to the number of requests whose responses are lost.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn add_unrecorded(&mut self, requests: u64) -> Result<(), FrontierError> {
        self.store.write("write", |txn| {
            Queue::open(txn, self.store.spread)?.add_to_counter(UNRECORDED, requests)?;
            Ok(())
        })
    }

    /// The number of requests of finished trees whose responses a crash lost, including those of missing
    /// journals.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn unrecorded(&self) -> Result<u64, FrontierError> {
        self.store.read("read", |txn| counter(txn, UNRECORDED))
    }

    /// # Errors
    /// When the store cannot be read.
    pub fn counts(&self) -> Result<Counts, FrontierError> {
        self.store.read("read", |txn| {
            Ok(Counts {
                trees: counter(txn, NEXT)?,
                finished: counter(txn, FINISHED)?,
                leased: self.leased.len() as u64,
                sites: counter(txn, SITES_FOUND)?,
            })
        })
    }

    /// Counts and findings up to the last batch; none before the first batch, and where an earlier version
    /// wrote it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn tally(&self) -> Result<Option<Vec<u8>>, FrontierError> {
        self.store.read("read", |txn| Ok(txn.open_table(TALLY)?.get(())?.map(|value| value.value().to_vec())))
    }

    /// A tree that is queued or being walked, even if it waits in the store for the tree before it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn open_tree(&self, order: u64) -> Result<Option<Lease>, FrontierError> {
        self.store.read("read", |txn| {
            let waiting = txn.open_table(WAITING)?;
            let Some(lease) = tree(txn, order)? else { return Ok(None) };
            let slot = queue_key(&lease);
            let is_open = waiting.get(slot)?.is_some()
                || site_entry(txn, &lease.site)?.is_some_and(|entry| entry.blocked.contains(&slot));
            Ok(is_open.then_some(lease))
        })
    }

    /// The data that earlier trees of a site left for later ones, as far as they have ended.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn carry_over(&self, site: &Site) -> Result<Option<Vec<u8>>, FrontierError> {
        if let Some(known) = self.ahead.carry_over(site) {
            return Ok(Some(known.clone()));
        }
        self.store.read("read", |txn| {
            Ok(txn.open_table(KNOWN)?.get(site.as_str())?.map(|value| value.value().to_vec()))
        })
    }

    /// The last response that a finished tree got for a robots.txt, if it is not too old.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn robots(&self, key: u64) -> Result<Option<Vec<u8>>, FrontierError> {
        self.store
            .read("read", |txn| Ok(txn.open_table(ROBOTS)?.get(key)?.map(|value| value.value().1.to_vec())))
    }

    /// The last recorded state of a server.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn server(&self, address: IpAddr) -> Result<Option<Vec<u8>>, FrontierError> {
        self.store.read("read", |txn| {
            let servers = txn.open_table(SERVERS)?;
            Ok(servers.get(address_key(address).as_slice())?.map(|value| value.value().to_vec()))
        })
    }

    /// The next servers after this one, in the order of addresses, with their states; none when there is no
    /// other.
    ///
    /// Returns at most `limit` servers: to read all of them, callers read page by page, and the store is free
    /// for others in between.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn servers_after(
        &self,
        after: Option<IpAddr>,
        limit: usize,
    ) -> Result<Vec<(IpAddr, Vec<u8>)>, FrontierError> {
        self.store.read("read", |txn| {
            let after = after.map(address_key);
            let begin = after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let servers = txn.open_table(SERVERS)?;
            let page = servers.range::<&[u8]>((begin, Bound::Unbounded))?.take(limit);
            page.map(|entry| {
                let (key, state) = entry?;
                let address = address_of(key.value()).ok_or_else(|| {
                    redb::Error::Corrupted(format!("{:?} is not a server address", key.value()))
                })?;
                Ok((address, state.value().to_vec()))
            })
            .collect()
        })
    }

    /// The number of hosts, and of sites, that were requested from each of these servers, which must be in
    /// the order of [`Frontier::servers_after`].
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn hosts_and_sites(&self, servers: &[IpAddr]) -> Result<Vec<(u32, u32)>, FrontierError> {
        let Some(first) = servers.first() else { return Ok(Vec::new()) };
        self.store.read("read", |txn| {
            let table = txn.open_table(HOSTS)?;
            let mut entries = table.range(address_key(*first).as_slice()..)?;
            let mut next = entries.next().transpose()?;
            let count = |server: &IpAddr| {
                let server = address_key(*server);
                let (mut hosts, mut sites) = (0, HashSet::new());
                while let Some((key, site)) = &next {
                    if key.value().starts_with(&server) {
                        hosts += 1;
                        sites.insert(site.value().to_owned());
                    } else if key.value() > server.as_slice() {
                        break;
                    }
                    next = entries.next().transpose()?;
                }
                Ok((hosts, u32::try_from(sites.len()).unwrap_or(u32::MAX)))
            };
            servers.iter().map(count).collect()
        })
    }
}

impl Store {
    /// As [`Frontier::finish`], but the frontier must be informed afterwards ([`Frontier::note`]).
    ///
    /// # Errors
    /// When it cannot be written; then nothing has changed.
    pub fn finish(&self, batch: &Batch<'_>) -> Result<WrittenBatch, FrontierError> {
        self.write("write", |txn| {
            let mut queue = self.queue_with(txn, batch.finished)?;
            queue.add_to_counter(FINISHED, batch.finished.len() as u64)?;
            queue.add_to_counter(UNRECORDED, batch.unrecorded)?;
            queue.set_counter(SEGMENTS, batch.segments)?;
            txn.open_table(TALLY)?.insert((), batch.tally)?;
            let mut servers = txn.open_table(SERVERS)?;
            for (address, state) in batch.servers {
                servers.insert(address_key(*address).as_slice(), state.as_slice())?;
            }
            let mut hosts = txn.open_table(HOSTS)?;
            for (address, host, site) in batch.hosts {
                hosts.insert(host_key(*address, host).as_slice(), site.as_str())?;
            }
            keep_robots(txn, batch.robots, batch.robots_since)?;
            Ok(WrittenBatch { first_taken: queue.first_taken })
        })
    }

    /// The queue with these trees closed, and merged as far as their order allows.
    fn queue_with<'txn>(
        &self,
        txn: &'txn WriteTransaction,
        trees: &[Finished],
    ) -> Result<Queue<'txn>, redb::Error> {
        let mut queue = Queue::open(txn, self.spread)?;
        let mut known = txn.open_table(KNOWN)?;
        for tree in trees {
            let is_new = queue.close(tree)?;
            if let Some(bytes) = tree.known.as_ref().filter(|_| is_new) {
                known.insert(tree.lease.site.as_str(), bytes.as_slice())?;
            }
        }
        queue.merge()?;
        Ok(queue)
    }

    /// How far the survey spreads.
    pub(super) fn spread(&self) -> Spread {
        self.spread
    }

    pub(super) fn read<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, FrontierError> {
        let run = || work(&self.database.begin_read()?);
        run().map_err(|source| FrontierError::store(operation, &self.path, source))
    }

    pub(super) fn write<T>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, FrontierError> {
        self.write_for(Durability::Immediate, operation, work)
    }

    pub(super) fn write_for<T>(
        &self,
        durability: Durability,
        operation: &'static str,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, FrontierError> {
        let run = || {
            let mut txn = self.database.begin_write()?;
            txn.set_durability(durability)?;
            let done = work(&txn)?;
            txn.commit()?;
            Ok(done)
        };
        run().map_err(|source: redb::Error| FrontierError::store(operation, &self.path, source))
    }
}

/// Stores the later of two responses for a robots.txt, and drops those that are too old.
fn keep_robots(txn: &WriteTransaction, robots: &[KeptRobots], since: u64) -> Result<(), redb::Error> {
    let (mut kept, mut by_age) = (txn.open_table(ROBOTS)?, txn.open_table(ROBOTS_BY_AGE)?);
    for KeptRobots { key, requested_at, response } in robots {
        let before = kept.get(*key)?.map(|value| value.value().0);
        if before.is_some_and(|before| before > *requested_at) {
            continue;
        }
        if let Some(before) = before {
            by_age.remove((before, *key))?;
        }
        kept.insert(*key, (*requested_at, response.as_slice()))?;
        by_age.insert((*requested_at, *key), ())?;
    }
    let old = by_age.range(..(since, 0))?.map(|entry| Ok(entry?.0.value()));
    for (requested_at, key) in old.collect::<Result<Vec<_>, redb::Error>>()? {
        by_age.remove((requested_at, key))?;
        kept.remove(key)?;
    }
    Ok(())
}

/// Whether the file holds the state of a survey, of any version.
fn has_state(txn: &ReadTransaction) -> Result<bool, redb::Error> {
    Ok(txn.list_tables()?.any(|table| table.name() == META.name()))
}

/// Whether all tables of this version exist.
fn is_prepared(txn: &ReadTransaction) -> Result<bool, redb::Error> {
    let table_names: HashSet<String> = txn.list_tables()?.map(|table| table.name().to_owned()).collect();
    let queue = [META.name(), TREES.name(), WAITING.name(), SITES.name(), FOUND.name(), ROUNDS.name()];
    let gates = [GATES.name(), CLOSED.name()];
    let others = [SERVERS.name(), KNOWN.name(), HOSTS.name(), ADDED.name(), TALLY.name(), CLOCK.name()];
    let robots = [ROBOTS.name(), ROBOTS_BY_AGE.name()];
    let mut all = queue.iter().chain(&gates).chain(&others).chain(&robots);
    Ok(all.all(|table| table_names.contains(*table)) && counter(txn, FORMAT)? == CURRENT_FORMAT)
}

pub(super) fn counter(txn: &ReadTransaction, name: &'static str) -> Result<u64, redb::Error> {
    Ok(txn.open_table(META)?.get(name)?.map_or(0, |value| value.value()))
}

fn host_key(address: IpAddr, host: &Host) -> Vec<u8> {
    [address_key(address).as_slice(), host.as_str().as_bytes()].concat()
}

/// IPv4 addresses have four bytes. IPv6 addresses have sixteen after a mark with which no unicast IPv4
/// address begins.
fn address_key(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => [&[0xff][..], &v6.octets()].concat(),
    }
}

fn address_of(key: &[u8]) -> Option<IpAddr> {
    match key {
        [0xff, v6 @ ..] => <[u8; 16]>::try_from(v6).ok().map(IpAddr::from),
        v4 => <[u8; 4]>::try_from(v4).ok().map(IpAddr::from),
    }
}

fn site_entry(txn: &ReadTransaction, site: &Site) -> Result<Option<SiteEntry>, redb::Error> {
    let entry = txn.open_table(SITES)?.get(site.as_str())?;
    entry.map(|value| decode(value.value(), format_args!("the entry of site {}", site.as_str()))).transpose()
}

fn tree(txn: &ReadTransaction, order: u64) -> Result<Option<Lease>, redb::Error> {
    let tree = txn.open_table(TREES)?.get(order)?;
    tree.map(|value| decode(value.value(), format_args!("site tree {order}"))).transpose()
}
