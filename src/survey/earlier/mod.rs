//! What an earlier survey knows about pages and files, so that only changed ones are transferred again.
//!
//! When a survey is created, the tables of the earlier one are read once, file by file, into a store in the
//! new folder (`index`). From then on the earlier survey is not needed. However large it is, memory holds
//! only what is requested. Pages are looked up by URL, so an earlier survey with another depth or scope, or
//! an interrupted one, helps with what it has.
//!
//! The store keeps only what can be reused as a whole: pages and files that came complete with status 200 and
//! an `ETag` or a date, or that had not changed since a survey before. A page must also have as many recorded
//! links as were counted. With `--focus` the tables are read once more, for what each page yielded and was
//! worth (`focus`). Only [`EarlierPage::complete_response`] decides what a server's response means for them.

mod earlier_tree;
mod focus;
mod index;

use std::io;
use std::path::{Path, PathBuf};

use redb::{Builder, Database, DatabaseError, ReadableDatabase, TableDefinition};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::error::SurveyError;
use crate::address::{Host, WebUrl};
use crate::exchange::{Response, Validators};
use crate::page::{Element, Link, Page, PageFacts, RecordedPage};
use crate::walk::Content;
pub use crate::walk::yields::Focus;
pub(super) use index::damaged_edition;

pub use index::ReadingProgress;
pub(super) use index::check;

/// By [`store_key`]: the row from the table of exchanges …
const PAGES: TableDefinition<'static, u128, &[u8]> = TableDefinition::new("pages");
/// … and, compressed, the rows from the table of page links, if there are any.
const LINKS: TableDefinition<'static, u128, &[u8]> = TableDefinition::new("links");

/// The cache of the store, in bytes. The pages of a site are adjacent in the store.
const CACHE_BYTES: usize = 32 * 1024 * 1024;
/// The fastest level of zstd. It compresses almost as well as higher ones, because links share their
/// prefixes.
const COMPRESSION: i32 = 1;
/// HTTP status: not modified (RFC 9110 §15.4.5).
pub(super) const NOT_MODIFIED: u16 = 304;

/// The pages and files of an earlier survey.
pub(super) struct EarlierPages {
    path: PathBuf,
    store: Database,
}

/// A page or file as the earlier survey received it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EarlierPage {
    pub validators: Validators,
    content_type: Option<String>,
    content_encoding: Option<String>,
    body_bytes: u64,
    received_bytes: u64,
    /// None for a file, which is not read.
    page: Option<RecordedPage>,
}

/// A page or file as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct StoredPage {
    /// The hash of the site tree that it belongs to; its links belong to the same tree.
    tree: u64,
    validators: Validators,
    content_type: Option<String>,
    content_encoding: Option<String>,
    body_bytes: u64,
    received_bytes: u64,
    /// Stored with the number of its links instead of the links.
    page: Option<(RecordedPage, u32)>,
    /// What the page told of its site. Stores of earlier versions end before it ([`StoredPage::LATER`]).
    facts: PageFacts,
}

impl StoredPage {
    /// The bytes of facts of which none is known, as postcard writes them.
    const LATER: [u8; 6] = [0; 6];

    fn read(stored: &[u8]) -> Option<Self> {
        postcard::from_bytes(&[stored, &Self::LATER].concat()).ok()
    }
}

/// A link as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct StoredLink {
    url: String,
    element: Element,
    nofollow: bool,
}

impl EarlierPages {
    /// Opens the store at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or another process has it open.
    pub(super) fn open(path: &Path) -> Result<Self, SurveyError> {
        Ok(Self { path: path.to_owned(), store: open_store(path, Builder::open)? })
    }

    /// What is known about a URL, if that is all that a walk needs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) fn find(&self, url: &WebUrl) -> Result<Option<EarlierPage>, SurveyError> {
        let read = || -> Result<_, redb::Error> {
            let txn = self.store.begin_read()?;
            let key = store_key(url.host(), url.as_str());
            let stored = txn.open_table(PAGES)?.get(key)?.map(|value| value.value().to_vec());
            let links = txn.open_table(LINKS)?.get(key)?.map(|value| value.value().to_vec());
            Ok((stored, links))
        };
        let (stored, links) = read().map_err(|error| store_error("read", &self.path, error))?;
        Ok(stored.and_then(|stored| EarlierPage::from_stored(&stored, links.as_deref())))
    }
}

impl EarlierPage {
    /// Returns none if the number of links is not the number that was counted.
    fn from_stored(stored: &[u8], links: Option<&[u8]>) -> Option<Self> {
        let stored = StoredPage::read(stored)?;
        let page = match stored.page {
            None => None,
            Some((page, count)) => {
                let links = links.map_or(Some(Vec::new()), read_links)?;
                let links = (links.len() == count as usize).then_some(links)?;
                Some(RecordedPage { links, facts: stored.facts, ..page })
            }
        };
        Some(Self {
            validators: stored.validators,
            content_type: stored.content_type,
            content_encoding: stored.content_encoding,
            body_bytes: stored.body_bytes,
            received_bytes: stored.received_bytes,
            page,
        })
    }

    /// Reuses the earlier page or file if the server said that it has not changed. Completes the response
    /// with the headers that the server need not repeat. Returns the content for the walk and the number of
    /// bytes that the full transfer took.
    pub(super) fn complete_response(self, response: &mut Response) -> Option<(Content, u64)> {
        if response.status != Some(NOT_MODIFIED) || response.failure.is_some() {
            return None;
        }
        let head = &mut response.head;
        head.content_type = self.content_type;
        head.content_encoding = self.content_encoding;
        // The headers in this response are newer (RFC 9111 §3.2).
        head.etag = head.etag.take().or(self.validators.etag);
        head.last_modified = head.last_modified.take().or(self.validators.last_modified);
        response.body_bytes = self.body_bytes;
        let content = self.page.map_or(Content::Nothing, |page| {
            Content::Page(Box::new(Page::recalled(page, head.robots_tag.as_deref())))
        });
        Some((content, self.received_bytes))
    }
}

/// The hash of the host and the hash of the URL: the pages of a host are adjacent, as in the tables.
fn store_key(host: &Host, url: &str) -> u128 {
    u128::from(xxh3_64(host.as_str().as_bytes())) << 64 | u128::from(xxh3_64(url.as_bytes()))
}

fn pack<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Neither postcard nor zstd can fail on a value in memory.
    let bytes = postcard::to_stdvec(value).unwrap_or_default();
    zstd::bulk::compress(&bytes, COMPRESSION).unwrap_or_default()
}

fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(&zstd::decode_all(bytes).ok()?).ok()
}

fn read_links(bytes: &[u8]) -> Option<Vec<Link>> {
    let links: Vec<StoredLink> = unpack(bytes)?;
    links
        .into_iter()
        .map(|StoredLink { url, element, nofollow }| {
            Some(Link { url: WebUrl::parse(&url).ok()?, element, nofollow })
        })
        .collect()
}

/// Opens or creates the store at `path`.
fn open_store<'p>(
    path: &'p Path,
    open: impl FnOnce(&Builder, &'p Path) -> Result<Database, DatabaseError>,
) -> Result<Database, SurveyError> {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    open(&builder, path).map_err(|error| store_error("open", path, error.into()))
}

fn store_error(operation: &'static str, path: &Path, error: redb::Error) -> SurveyError {
    let source = match error {
        redb::Error::Io(source) => source,
        other => io::Error::other(other),
    };
    SurveyError::File { operation, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::exchange::Failure;

    fn page() -> EarlierPage {
        EarlierPage {
            validators: Validators {
                etag: Some("\"1\"".to_owned()),
                last_modified: Some("Tue, 10 Nov 2026 09:00:00 GMT".to_owned()),
            },
            content_type: Some("text/html".to_owned()),
            content_encoding: None,
            body_bytes: 5,
            received_bytes: 300,
            page: Some(RecordedPage {
                links: Vec::new(),
                charset: "UTF-8".to_owned(),
                language: None,
                title: None,
                body_hash: 7,
                text_simhash: Some(7),
                dropped_links: 0,
                facts: PageFacts::NONE,
            }),
        }
    }

    fn response(status: u16) -> Response {
        let nobody = Response::not_sent(SystemTime::UNIX_EPOCH, None, Failure::Reset, None);
        Response { status: Some(status), failure: None, ..nobody }
    }

    #[test]
    fn an_unchanged_page_is_taken_over_with_what_the_server_does_not_say_again() {
        let mut changed = response(304);
        changed.head.etag = Some("\"2\"".to_owned());
        let Some((Content::Page(reused), 300)) = page().complete_response(&mut changed) else {
            panic!("{changed:?}")
        };
        assert_eq!((reused.body_hash, reused.nofollow), (7, false));
        assert_eq!((changed.head.etag.as_deref(), changed.body_bytes), (Some("\"2\""), 5));
        assert_eq!(changed.head.last_modified, page().validators.last_modified);
        assert_eq!(changed.head.content_type.as_deref(), Some("text/html"));
    }

    #[test]
    fn a_server_that_wants_its_links_not_followed_any_more_is_heard() {
        let mut changed = response(304);
        changed.head.robots_tag = Some("nofollow".to_owned());
        let Some((Content::Page(reused), _)) = page().complete_response(&mut changed) else {
            panic!("{changed:?}")
        };
        assert!(reused.nofollow);
    }

    #[test]
    fn any_other_answer_stays_what_it_is() {
        for status in [200, 206, 302, 404, 412, 503] {
            let mut changed = response(status);
            assert_eq!(page().complete_response(&mut changed), None);
            assert_eq!(changed, response(status));
        }
        let mut broken = Response { failure: Some(Failure::BodyTruncated), ..response(304) };
        assert_eq!(page().complete_response(&mut broken), None);
    }

    #[test]
    fn links_are_stored_as_they_are_spelled_and_in_their_order() {
        let url = |number: u32| format!("http://a.ke/%7e{number}");
        let stored: Vec<StoredLink> = (0..500)
            .map(|number| StoredLink { url: url(number), element: Element::Area, nofollow: number % 2 == 0 })
            .collect();
        let bytes = pack(&stored);
        assert!(bytes.len() * 4 < 500 * url(0).len(), "{}", bytes.len());
        let links = read_links(&bytes).unwrap();
        assert!(links.iter().zip(0..).all(|(link, number)| {
            link.url.as_str() == url(number) && link.nofollow == (number % 2 == 0)
        }));
        assert_eq!((links.len(), links[7].element), (500, Element::Area));
        assert_eq!(read_links(&bytes[1..]), None);
    }
}
