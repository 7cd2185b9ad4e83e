use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use redb::{Database, ReadableTable, Table, TableDefinition};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::index::{ReadingProgress, damaged, tree_of};
use super::{CACHE_BYTES, EarlierPages, pack, store_error, unpack};
use crate::address::{Host, PageKey, Site, WebUrl};
use crate::exchange::Depth;
use crate::records::{ExchangeRow, Manifest, PageLinkRow, read_pieces};
use crate::survey::error::SurveyError;
use crate::walk::yields::{Memory, Rates, SeenUrl};

/// By the hash of a site's name: what the walk of its trees remembers.
const MEMORIES: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("memories");
/// By the hash of a tree's name, while the earlier survey is read: what was asked for in it.
const TREES: TableDefinition<'static, u64, &[u8]> = TableDefinition::new("trees");

/// What a survey with `--focus` spends, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::survey) struct Focus {
    /// New external hosts that a request must promise.
    pub price: f64,
    /// Requests of the earlier survey.
    pub earlier_requests: u64,
    /// Of these, those for what is asked for again at this price, robots.txt and front pages included.
    pub planned_requests: u64,
}

/// A URL of the earlier survey, as it is kept until its links are read.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    url: String,
    depth: u16,
    requests: u32,
    /// Where it redirects to in its site.
    redirect: Option<PageKey>,
    /// The host outside its site that it redirects to.
    away: Option<u64>,
}

/// What was asked for in a tree, in its order.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Tree {
    site: u64,
    pages: Vec<Asked>,
}

impl EarlierPages {
    /// Makes, in the store at `path`, what each site of the survey in `dir` tells a walk that is to spend this share of
    /// its requests.
    ///
    /// # Errors
    /// When a table cannot be read or the store not be written.
    pub(in crate::survey) fn focus(
        path: &Path,
        dir: &Path,
        rates: &Arc<Rates>,
        share: f64,
        tell: &mut dyn FnMut(ReadingProgress),
    ) -> Result<Focus, SurveyError> {
        let store = redb::Builder::new()
            .set_cache_size(CACHE_BYTES)
            .open(path)
            .map_err(|wrong| store_error("open", path, wrong.into()))?;
        let leaves_pages_out = Manifest::load(dir).is_ok_and(|manifest| manifest.leaves_pages_out());
        let mut planning = Planning { path, store, rates, leaves_pages_out, costs: Costs::default() };
        planning.read_pages(dir)?;
        planning.read_links(dir, tell)?;
        planning.finish()?;
        Ok(planning.costs.focus(share))
    }

    /// What an earlier survey found in a site.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(in crate::survey) fn memory(&self, site: &str) -> Result<Option<Memory>, SurveyError> {
        let read = || -> Result<_, redb::Error> {
            use redb::ReadableDatabase;
            let txn = self.store.begin_read()?;
            let table = match txn.open_table(MEMORIES) {
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
                table => table?,
            };
            Ok(table.get(xxh3_64(site.as_bytes()))?.and_then(|bytes| unpack(bytes.value())))
        };
        read().map_err(|wrong| store_error("read", &self.path, wrong))
    }
}

struct Planning<'a> {
    path: &'a Path,
    store: Database,
    rates: &'a Arc<Rates>,
    /// What the earlier survey found and did not ask for, it left out.
    leaves_pages_out: bool,
    costs: Costs,
}

/// The tables of the store while the plan is made.
struct Stores<'txn> {
    trees: Table<'txn, u64, &'static [u8]>,
    memories: Table<'txn, u64, &'static [u8]>,
}

impl Planning<'_> {
    /// First the pages, tree by tree: rows of a tree stand together.
    fn read_pages(&mut self, dir: &Path) -> Result<(), SurveyError> {
        let wanted = ["depth", "status", "location", "total_ms"];
        let mut run = PageRun::default();
        for rows in read_pieces::<ExchangeRow>(dir, &wanted).map_err(damaged)? {
            let rows = rows.map_err(damaged)?;
            let costs = &mut self.costs;
            write(&self.store, self.path, |stores| {
                rows.into_iter().try_for_each(|row| run.take(stores, costs, row))
            })?;
        }
        write(&self.store, self.path, |stores| run.end(stores))
    }

    /// Then their links, and what follows from both.
    fn read_links(&mut self, dir: &Path, tell: &mut dyn FnMut(ReadingProgress)) -> Result<(), SurveyError> {
        let of = crate::records::row_count(dir, <PageLinkRow as crate::records::Row>::TABLE);
        let mut reading = ReadingProgress { rows: 0, of: of.map_err(damaged)?.rows };
        let mut run = LinkRun::default();
        for rows in read_pieces::<PageLinkRow>(dir, &[]).map_err(damaged)? {
            let rows = rows.map_err(damaged)?;
            reading.rows += rows.len() as u64;
            let (path, rates, leaves_out) = (self.path, self.rates, self.leaves_pages_out);
            let costs = &mut self.costs;
            write(&self.store, path, |stores| {
                rows.iter().try_for_each(|row| {
                    let tree = tree_of(&row.site, row.seed);
                    if run.tree != Some(tree) {
                        run.end(stores, costs, rates, leaves_out)?;
                        run = LinkRun::begin(stores, tree)?;
                    }
                    run.take(row);
                    Ok(())
                })
            })?;
            tell(reading);
        }
        let (rates, leaves_out, costs) = (self.rates, self.leaves_pages_out, &mut self.costs);
        write(&self.store, self.path, |stores| run.end(stores, costs, rates, leaves_out))
    }

    /// Trees without a link.
    fn finish(&mut self) -> Result<(), SurveyError> {
        let (rates, leaves_out, costs) = (self.rates, self.leaves_pages_out, &mut self.costs);
        write(&self.store, self.path, |stores| {
            loop {
                let first = stores.trees.first()?.map(|(tree, _)| tree.value());
                let Some(tree) = first else { return Ok(()) };
                LinkRun::begin(stores, tree)?.end(stores, costs, rates, leaves_out)?;
            }
        })
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
    run().map_err(|wrong| store_error("write", path, wrong))
}

/// The requests of one tree, which stand together.
#[derive(Default)]
struct PageRun {
    name: Option<u64>,
    tree: Tree,
    places: HashMap<PageKey, usize>,
}

impl PageRun {
    fn take(
        &mut self,
        stores: &mut Stores<'_>,
        costs: &mut Costs,
        row: ExchangeRow,
    ) -> Result<(), redb::Error> {
        // What our own side refused was no request.
        if row.total_ms.is_none() || row.purpose == "probe" {
            return Ok(());
        }
        let name = tree_of(&row.site, row.seed);
        if self.name != Some(name) {
            self.end(stores)?;
            self.name = Some(name);
            self.tree.site = xxh3_64(row.site.as_bytes());
        }
        costs.requests += 1;
        let Some((depth, url)) = row.depth.zip(WebUrl::parse(&row.url).ok()) else {
            costs.settled += 1;
            return Ok(());
        };
        let at = *self.places.entry(url.page_key()).or_insert_with(|| {
            self.tree.pages.push(Asked {
                url: row.url.clone(),
                depth,
                requests: 0,
                redirect: None,
                away: None,
            });
            self.tree.pages.len() - 1
        });
        let page = &mut self.tree.pages[at];
        page.requests += 1;
        let is_redirect = matches!(row.status, Some(300..=399));
        let target = row.location.filter(|_| is_redirect).and_then(|to| url.join(&to).ok());
        match target {
            Some(target)
                if Host::parse(&row.site).map(Site::new).is_ok_and(|site| site.has(target.host())) =>
            {
                page.redirect = Some(target.page_key());
            }
            Some(target) => page.away = Some(hash_of(target.host())),
            None => {}
        }
        Ok(())
    }

    fn end(&mut self, stores: &mut Stores<'_>) -> Result<(), redb::Error> {
        let (tree, name) = (std::mem::take(&mut self.tree), self.name.take());
        self.places.clear();
        if let Some(name) = name {
            stores.trees.insert(name, pack(&tree).as_slice())?;
        }
        Ok(())
    }
}

/// The links of one tree, which stand together and in their order.
#[derive(Default)]
struct LinkRun {
    tree: Option<u64>,
    of: Tree,
    places: HashMap<PageKey, u32>,
    finders: Vec<Option<u32>>,
    hosts: Vec<u32>,
    seen: HashSet<u64>,
    unasked: HashSet<PageKey>,
}

impl LinkRun {
    fn begin(stores: &mut Stores<'_>, tree: u64) -> Result<Self, redb::Error> {
        let of: Tree = stores.trees.remove(tree)?.and_then(|bytes| unpack(bytes.value())).unwrap_or_default();
        let mut run = Self {
            tree: Some(tree),
            finders: vec![None; of.pages.len()],
            hosts: vec![0; of.pages.len()],
            ..Self::default()
        };
        for (at, page) in (0..).zip(&of.pages) {
            let Ok(url) = WebUrl::parse(&page.url) else { continue };
            run.places.insert(url.page_key(), at);
        }
        for (at, page) in (0..).zip(&of.pages) {
            if let Some(to) = page.redirect {
                run.find(to, at);
            }
            if let Some(host) = page.away {
                run.name(host, at);
            }
        }
        run.of = of;
        Ok(run)
    }

    fn take(&mut self, row: &PageLinkRow) {
        let parsed = WebUrl::parse(&row.page).ok().zip(WebUrl::parse(&row.url).ok());
        let Some((page, url)) = parsed else { return };
        let Some(at) = self.places.get(&page.page_key()).copied() else { return };
        if !row.is_internal {
            self.name(hash_of(url.host()), at);
        } else if !row.nofollow {
            self.find(url.page_key(), at);
        }
    }

    /// A page leads to another of the tree. Pages found each other in their order.
    fn find(&mut self, url: PageKey, by: u32) {
        match self.places.get(&url) {
            Some(at) if *at > by => {
                let finder = &mut self.finders[*at as usize];
                *finder = Some(finder.map_or(by, |known| known.min(by)));
            }
            Some(_) => {}
            None => {
                self.unasked.insert(url);
            }
        }
    }

    /// A page names a host.
    fn name(&mut self, host: u64, at: u32) {
        if self.seen.insert(host) {
            self.hosts[at as usize] += 1;
        }
    }

    fn end(
        &mut self,
        stores: &mut Stores<'_>,
        costs: &mut Costs,
        rates: &Arc<Rates>,
        leaves_pages_out: bool,
    ) -> Result<(), redb::Error> {
        if self.tree.take().is_none() {
            return Ok(());
        }
        let run = std::mem::take(self);
        let seen: Vec<SeenUrl> = run
            .of
            .pages
            .iter()
            .zip(run.finders.iter().zip(&run.hosts))
            .filter_map(|(page, (finder, hosts))| {
                let url = WebUrl::parse(&page.url).ok()?;
                let depth = Depth(page.depth);
                Some(SeenUrl { url, depth, finder: *finder, requests: page.requests, hosts: *hosts })
            })
            .collect();
        let mut memory = Memory::of(&seen, rates);
        for page in &seen {
            costs.note(page, memory.worth(page.url.page_key()).unwrap_or_default());
        }
        if leaves_pages_out {
            memory.leave_out(run.unasked);
        }
        let site = run.of.site;
        if let Some(known) = stores.memories.get(site)?.and_then(|bytes| unpack::<Memory>(bytes.value())) {
            memory.add(known);
        }
        stores.memories.insert(site, pack(&memory).as_slice())?;
        Ok(())
    }
}

/// What pages cost, by what they are worth.
#[derive(Debug, Default)]
struct Costs {
    /// Of the whole earlier survey.
    requests: u64,
    /// Of what is asked for in any case.
    settled: u64,
    /// By the first bits of the worth: in steps of less than one percent.
    by_worth: BTreeMap<u32, u64>,
}

/// Bits of a number that a step leaves out.
const STEP: u32 = 16;

impl Costs {
    fn note(&mut self, page: &SeenUrl, worth: f32) {
        if page.depth == Depth(0) || page.url.is_front_page() {
            self.settled += u64::from(page.requests);
        } else {
            // The bits of numbers that are not negative stand in the order of the numbers.
            *self.by_worth.entry(worth.max(0.0).to_bits() >> STEP).or_default() += u64::from(page.requests);
        }
    }

    /// The least price at which no more than this share of the requests is made.
    fn focus(&self, share: f64) -> Focus {
        let most = self.requests as f64 * share;
        let mut planned_requests = self.settled;
        let mut price = f64::MAX;
        for (bits, requests) in self.by_worth.iter().rev() {
            if (planned_requests + requests) as f64 > most {
                break;
            }
            planned_requests += requests;
            price = f32::from_bits(bits << STEP).into();
        }
        Focus { price, earlier_requests: self.requests, planned_requests }
    }
}

fn hash_of(host: &Host) -> u64 {
    xxh3_64(host.as_str().as_bytes())
}
