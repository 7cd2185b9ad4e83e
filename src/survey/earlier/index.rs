use std::path::Path;

use redb::{Builder, Database, ReadableTable, ReadableTableMetadata, Table};
use xxhash_rust::xxh3::xxh3_64;

use super::{EarlierPages, LINKS, PAGES, StoredLink, StoredPage, open_store, pack, store_error, store_key};
use crate::address::WebUrl;
use crate::exchange::{ContentClass, MediaType, Purpose, SiteSoftware, Validators};
use crate::page::{Element, PageFacts, RecordedPage};
use crate::records::{
    ExchangeRow, Manifest, PageLinkRow, RobotsRow, Row, TablesError, read_pieces, row_count,
};
use crate::survey::error::SurveyError;

/// How far the tables of the earlier survey have been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadingProgress {
    /// The number of rows read so far.
    pub rows: u64,
    /// The number of rows in total.
    pub total: u64,
}

/// The columns that are needed, besides those that are never null.
const COLUMNS: &[&str] = &[
    "status",
    "failure",
    "content_type",
    "content_encoding",
    "charset",
    "language",
    "title",
    "body_hash",
    "last_modified",
    "etag",
    "internal_links",
    "external_links",
    "unchanged_bytes",
    "excluded_by",
    "text_simhash",
    "dropped_links",
    "generator",
    "cms",
    "cms_evidence",
    "content",
    "content_evidence",
    "text_language",
    "words",
];

/// Checks that `dir` has what a survey with `--since` needs, and that its files look whole. Returns the
/// number of rows.
///
/// # Errors
/// When something is missing or damaged.
pub(in crate::survey) fn check(dir: &Path) -> Result<u64, SurveyError> {
    Manifest::load(dir).map_err(|error| SurveyError::Since(error.to_string()))?;
    let is_missing =
        |table| row_count(dir, table).is_err_and(|error| error.source.kind() == std::io::ErrorKind::NotFound);
    if is_missing(PageLinkRow::TABLE) || is_missing(RobotsRow::TABLE) {
        return Err(SurveyError::Since(format!(
            "{} has no page links, which unchanged pages need: survey with --record-links, which adds no load on \
             servers, and the next survey can build on that one",
            dir.display()
        )));
    }
    let rows = |table| row_count(dir, table).map(|count| count.rows).map_err(damaged_edition);
    Ok(rows(ExchangeRow::TABLE)? + rows(PageLinkRow::TABLE)?)
}

pub(in crate::survey) fn damaged_edition(error: TablesError) -> SurveyError {
    SurveyError::Since(error.to_string())
}

impl EarlierPages {
    /// Builds the store at `path` from the tables of the survey in `dir`, one table file at a time. Returns
    /// the number of pages and files in it.
    ///
    /// # Errors
    /// When a table cannot be read or the store cannot be written.
    pub(in crate::survey) fn build(
        path: &Path,
        dir: &Path,
        report_progress: &mut dyn FnMut(ReadingProgress),
    ) -> Result<u64, SurveyError> {
        let mut reading = ReadingProgress { rows: 0, total: check(dir)? };
        let store = open_store(path, Builder::create)?;
        let index = Index { path, store };
        for rows in read_pieces::<ExchangeRow>(dir, COLUMNS).map_err(damaged_edition)? {
            let rows = rows.map_err(damaged_edition)?;
            index.write(|tables| rows.iter().try_for_each(|row| tables.add_page(row)))?;
            reading.rows += rows.len() as u64;
            report_progress(reading);
        }
        let mut run = LinkRun::default();
        for rows in read_pieces::<PageLinkRow>(dir, &["spelled"]).map_err(damaged_edition)? {
            let rows = rows.map_err(damaged_edition)?;
            reading.rows += rows.len() as u64;
            index.write(|tables| rows.into_iter().try_for_each(|row| run.add_link(tables, row)))?;
            report_progress(reading);
        }
        index.write(|tables| {
            run.finish_page(tables)?;
            Ok(tables.pages.len()?)
        })
    }

    /// Builds an empty store at `path`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(in crate::survey) fn build_empty(path: &Path) -> Result<(), SurveyError> {
        let store = open_store(path, Builder::create)?;
        Index { path, store }.write(|_| Ok(()))
    }
}

struct Index<'a> {
    path: &'a Path,
    store: Database,
}

impl Index<'_> {
    fn write<T>(
        &self,
        work: impl FnOnce(&mut Tables<'_>) -> Result<T, redb::Error>,
    ) -> Result<T, SurveyError> {
        let run = || {
            let txn = self.store.begin_write()?;
            let done = work(&mut Tables { pages: txn.open_table(PAGES)?, links: txn.open_table(LINKS)? })?;
            txn.commit()?;
            Ok(done)
        };
        run().map_err(|error| store_error("write", self.path, error))
    }
}

/// The tables of the store while it is written.
struct Tables<'txn> {
    pages: Table<'txn, u128, &'static [u8]>,
    links: Table<'txn, u128, &'static [u8]>,
}

impl Tables<'_> {
    /// If a URL was fetched twice, the last usable response counts.
    fn add_page(&mut self, row: &ExchangeRow) -> Result<(), redb::Error> {
        if let Some((key, stored)) = stored(row) {
            let bytes = postcard::to_stdvec(&stored).unwrap_or_default();
            self.pages.insert(key, bytes.as_slice())?;
        }
        Ok(())
    }

    /// The number of links that were counted on a page of this tree.
    fn link_count(&self, key: u128, tree: u64) -> Result<Option<usize>, redb::Error> {
        let bytes = self.pages.get(key)?;
        let stored = bytes.and_then(|bytes| StoredPage::read(bytes.value()));
        let page = stored.filter(|stored| stored.tree == tree).and_then(|stored| stored.page);
        Ok(page.map(|(_, count)| count as usize))
    }
}

/// What is stored of an exchange; none if nothing can be reused.
fn stored(row: &ExchangeRow) -> Option<(u128, StoredPage)> {
    let is_complete = row.status == Some(200) || row.unchanged_bytes.is_some();
    let validators = Validators { etag: row.etag.clone(), last_modified: row.last_modified.clone() };
    let is_reusable = is_complete && row.failure.is_none() && row.excluded_by.is_none();
    if row.purpose != Purpose::Page.as_str() || !is_reusable || validators.is_empty() {
        return None;
    }
    let url = WebUrl::parse(&row.url).ok()?;
    let page = match &row.charset {
        Some(charset) => Some(recorded_page(row, charset)?),
        // A page that was not read is not known. No survey writes such a row.
        None if matches!(
            MediaType::from_fields(row.content_type.as_deref()),
            MediaType::Html | MediaType::Xhtml
        ) =>
        {
            return None;
        }
        None => None,
    };
    let stored = StoredPage {
        tree: tree_key(&row.site, row.seed),
        validators,
        content_type: row.content_type.clone(),
        content_encoding: row.content_encoding.clone(),
        body_bytes: row.body_bytes,
        received_bytes: row.unchanged_bytes.unwrap_or(row.received_bytes),
        page,
        facts: page_facts(row),
    };
    Some((store_key(url.host(), &row.url), stored))
}

fn recorded_page(row: &ExchangeRow, charset: &str) -> Option<(RecordedPage, u32)> {
    let page = RecordedPage {
        links: Vec::new(),
        charset: charset.to_owned(),
        language: row.language.clone(),
        title: row.title.clone(),
        body_hash: u128::from_str_radix(row.body_hash.as_deref()?, 16).ok()?,
        text_simhash: row.text_simhash.as_deref().and_then(|hash| u64::from_str_radix(hash, 16).ok()),
        dropped_links: row.dropped_links.unwrap_or_default(),
        facts: PageFacts::NONE,
    };
    Some((page, row.internal_links?.checked_add(row.external_links?)?))
}

fn page_facts(row: &ExchangeRow) -> PageFacts {
    let software = row.cms.clone().zip(row.cms_evidence.clone());
    PageFacts {
        generator: row.generator.clone(),
        software: software.map(|(name, evidence)| SiteSoftware { name, evidence }),
        content: row.content.as_deref().and_then(ContentClass::named),
        content_evidence: row.content_evidence.clone(),
        text_language: row.text_language.clone(),
        words: row.words.unwrap_or_default(),
    }
}

pub(super) fn tree_key(site: &str, seed: u16) -> u64 {
    xxh3_64(format!("{site} {seed}").as_bytes())
}

/// The links of one page, which are adjacent and in order.
#[derive(Default)]
struct LinkRun {
    tree: u64,
    page: String,
    position: u32,
    links: Vec<StoredLink>,
    /// A link cannot be read, so the page has to be transferred again.
    is_broken: bool,
}

impl LinkRun {
    fn add_link(&mut self, tables: &mut Tables<'_>, row: PageLinkRow) -> Result<(), redb::Error> {
        let tree = tree_key(&row.site, row.seed);
        if self.page != row.page || self.tree != tree || row.position <= self.position {
            self.finish_page(tables)?;
            (self.tree, self.page) = (tree, row.page);
        }
        self.position = row.position;
        match Element::from_word(&row.element) {
            Some(element) => {
                let url = row.spelled.unwrap_or(row.url);
                self.links.push(StoredLink { url, element, nofollow: row.nofollow });
            }
            None => self.is_broken = true,
        }
        Ok(())
    }

    /// Stores the links if their page is known and this number of links was counted on it.
    fn finish_page(&mut self, tables: &mut Tables<'_>) -> Result<(), redb::Error> {
        let links = std::mem::take(&mut self.links);
        let is_broken = std::mem::take(&mut self.is_broken);
        self.position = 0;
        let Ok(url) = WebUrl::parse(&self.page) else { return Ok(()) };
        let key = store_key(url.host(), &self.page);
        if !is_broken && tables.link_count(key, self.tree)? == Some(links.len()) {
            tables.links.insert(key, pack(&links).as_slice())?;
        }
        Ok(())
    }
}
