use std::path::Path;

use redb::{Builder, Database, ReadableDatabase, ReadableTable, Table, TableDefinition, TableError};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use super::earlier_tree::{EarlierTree, UrlNumbers};
use super::index::{ReadingProgress, damaged_edition, tree_key};
use super::{EarlierPages, open_store, pack, store_error, unpack};
use crate::exchange::Purpose;
use crate::records::{ExchangeRow, Manifest, PageLinkRow, Row, read_pieces, row_count};
use crate::settings::Settings;
use crate::survey::error::SurveyError;
use crate::walk::yields::{Costs, Focus, Memory, Rates};

/// By the hash of a site's name: the memory that a walk of its trees uses.
const MEMORIES: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("memories");
/// By the hash of a tree's name, while the earlier survey is read: the tree as read so far.
const TREES: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("trees");

impl EarlierPages {
    /// Computes, in the store at `path`, what a walk should know about each site of the survey in `dir`, and
    /// how to spend this share of its requests.
    ///
    /// # Errors
    /// When a table cannot be read or the store cannot be written.
    pub(in crate::survey) fn focus(
        path: &Path,
        dir: &Path,
        rates: &Rates,
        share: f64,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<Focus, SurveyError> {
        let store = open_store(path, Builder::open)?;
        let earlier = Manifest::load(dir).ok().filter(Manifest::skips_pages);
        let deepest = |manifest: Manifest| {
            Settings::deserialize(manifest.settings).map_or(u16::MAX, |settings| settings.deepest())
        };
        let earlier_deepest = earlier.map(deepest);
        let mut reading = TreeReading { path, store, open: OpenTree::default(), costs: Costs::default() };
        reading.exchanges(dir)?;
        reading.links(dir, report_progress)?;
        reading.remember(rates, earlier_deepest)?;
        // The trees are no longer in the store. If compaction fails, the store is larger, and that is all.
        let _ = reading.store.compact();
        Ok(reading.costs.focus(share))
    }

    /// What an earlier survey found in a site.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(in crate::survey) fn memory(&self, site: &str) -> Result<Option<Memory>, SurveyError> {
        let read = || -> Result<_, redb::Error> {
            let table = match self.store.begin_read()?.open_table(MEMORIES) {
                Err(TableError::TableDoesNotExist(_)) => return Ok(None),
                table => table?,
            };
            Ok(table.get(xxh3_64(site.as_bytes()))?.and_then(|bytes| unpack(bytes.value())))
        };
        read().map_err(|error| store_error("read", &self.path, error))
    }
}

/// Reads the earlier survey's tables into the store, with one tree in memory at a time. The rows of a tree
/// are mostly adjacent; those of a large tree may be spread.
struct TreeReading<'a> {
    path: &'a Path,
    store: Database,
    open: OpenTree,
    costs: Costs,
}

#[derive(Default)]
struct OpenTree {
    name: Option<u64>,
    tree: EarlierTree,
    url_numbers: UrlNumbers,
}

/// The tables of the store while it is written.
struct Stores<'txn> {
    trees: Table<'txn, u64, &'static [u8]>,
    memories: Table<'txn, u64, &'static [u8]>,
}

impl TreeReading<'_> {
    fn exchanges(&mut self, dir: &Path) -> Result<(), SurveyError> {
        let columns = ["depth", "status", "location", "total_ms", "unchanged_bytes"];
        for rows in read_pieces::<ExchangeRow>(dir, &columns).map_err(damaged_edition)? {
            // A request that our own side refused was not sent, and probes and checks yield nothing for a
            // tree.
            let purposes_beside_walk = [Purpose::Probe, Purpose::Check].map(Purpose::as_str);
            let is_of_walk =
                |row: &ExchangeRow| row.was_sent() && !purposes_beside_walk.contains(&row.purpose.as_str());
            let rows = rows.map_err(damaged_edition)?.into_iter().filter(is_of_walk);
            let (open, costs) = (&mut self.open, &mut self.costs);
            write(&self.store, self.path, |stores| {
                for row in rows {
                    open.switch_to(stores, &row.site, row.seed)?;
                    let is_of_tree = open.tree.add_exchange(&mut open.url_numbers, row);
                    costs.note_request(is_of_tree);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn links(
        &mut self,
        dir: &Path,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<(), SurveyError> {
        let total = row_count(dir, PageLinkRow::TABLE).map_err(damaged_edition)?.rows;
        let mut reading = ReadingProgress { rows: 0, total };
        for rows in read_pieces::<PageLinkRow>(dir, &[]).map_err(damaged_edition)? {
            let rows = rows.map_err(damaged_edition)?;
            let open = &mut self.open;
            write(&self.store, self.path, |stores| {
                for row in &rows {
                    open.switch_to(stores, &row.site, row.seed)?;
                    open.tree.add_link(&open.url_numbers, row);
                }
                Ok(())
            })?;
            reading.rows += rows.len() as u64;
            report_progress(reading);
        }
        let open = &mut self.open;
        write(&self.store, self.path, |stores| open.store_tree(stores))
    }

    /// Replaces the trees by the memories that follow from them.
    fn remember(&mut self, rates: &Rates, earlier_deepest: Option<u16>) -> Result<(), SurveyError> {
        /// Trees per transaction.
        const AT_ONCE: usize = 256;
        let costs = &mut self.costs;
        while write(&self.store, self.path, |stores| {
            for _ in 0..AT_ONCE {
                let Some(tree) = stores.next_tree()? else { return Ok(false) };
                let site = tree.site;
                let (seen, memory) = tree.remember(rates, earlier_deepest);
                costs.note_pages(&seen, memory.as_ref());
                let Some(mut memory) = memory else { continue };
                if let Some(known) = stores.memory(site)? {
                    memory.add(known);
                }
                stores.memories.insert(site, pack(&memory).as_slice())?;
            }
            Ok(true)
        })? {}
        Ok(())
    }
}

impl OpenTree {
    /// Makes this tree the one in memory.
    fn switch_to(&mut self, stores: &mut Stores<'_>, site: &str, seed: u16) -> Result<(), redb::Error> {
        let name = tree_key(site, seed);
        if self.name == Some(name) {
            return Ok(());
        }
        self.store_tree(stores)?;
        let known = stores.trees.get(name)?.and_then(|bytes| unpack(bytes.value()));
        self.tree = known.unwrap_or_else(|| EarlierTree::new(site));
        self.url_numbers = self.tree.url_numbers();
        self.name = Some(name);
        Ok(())
    }

    fn store_tree(&mut self, stores: &mut Stores<'_>) -> Result<(), redb::Error> {
        if let Some(name) = self.name.take() {
            stores.trees.insert(name, pack(&self.tree).as_slice())?;
        }
        Ok(())
    }
}

impl Stores<'_> {
    fn next_tree(&mut self) -> Result<Option<EarlierTree>, redb::Error> {
        let first = self.trees.pop_first()?.map(|(_, bytes)| unpack(bytes.value()).unwrap_or_default());
        Ok(first)
    }

    fn memory(&self, site: u64) -> Result<Option<Memory>, redb::Error> {
        Ok(self.memories.get(site)?.and_then(|bytes| unpack(bytes.value())))
    }
}

fn write<T>(
    store: &Database,
    path: &Path,
    work: impl FnOnce(&mut Stores<'_>) -> Result<T, redb::Error>,
) -> Result<T, SurveyError> {
    let run = || {
        let txn = store.begin_write()?;
        let mut stores = Stores { trees: txn.open_table(TREES)?, memories: txn.open_table(MEMORIES)? };
        let done = work(&mut stores)?;
        drop(stores);
        txn.commit()?;
        Ok(done)
    };
    run().map_err(|error| store_error("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_trees_may_take_turns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("since.redb");
        let store = Builder::new().create(&path).unwrap();
        let mut open = OpenTree::default();
        let requested =
            ["http://a.ke/", "http://b.ke/", "http://a.ke/page", "http://b.ke/page", "http://a.ke/end"];
        let mut left = write(&store, &path, |stores| {
            for url in requested {
                let site = &url[7..11];
                open.switch_to(stores, site, 0)?;
                let (site, url) = (site.to_owned(), url.to_owned());
                let row =
                    ExchangeRow { site, url, depth: Some(0), status: Some(200), ..ExchangeRow::default() };
                open.tree.add_exchange(&mut open.url_numbers, row);
            }
            open.store_tree(stores)?;
            Ok([stores.next_tree()?, stores.next_tree()?, stores.next_tree()?])
        })
        .unwrap()
        .map(|tree| tree.map_or(0, |tree| tree.url_numbers().len()));
        left.sort_unstable();
        assert_eq!(left, [0, 2, 3]);
    }
}
