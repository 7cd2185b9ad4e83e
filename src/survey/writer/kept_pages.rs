use encoding_rs::Encoding;

use crate::address::Scope;
use crate::exchange::Purpose;
use crate::frontier::Lease;
use crate::page::{Link, Page};
use crate::records::{PageLinkRow, RobotsRow, SegmentRows};
use crate::survey::error::SurveyError;
use crate::survey::journal::entry::ExchangeRecord;
use crate::walk::Content;

/// A segment is written when it has this number of rows …
const SEGMENT_ROWS: usize = 100_000;
/// … or this number of bytes of URLs and other texts, which hostile pages make long.
const SEGMENT_TEXT_BYTES: usize = 64 * 1024 * 1024;

/// Whether rows with this number of bytes of text are to be written as a segment.
pub(in crate::survey) fn fill_a_segment(rows: &SegmentRows, text_bytes: usize) -> bool {
    rows.len() >= SEGMENT_ROWS || text_bytes >= SEGMENT_TEXT_BYTES
}

/// The data from a site tree's responses that is needed to walk it again: the links of its pages, and its
/// robots.txt.
///
/// Ten thousand pages can have a hundred million links, so a full segment is written before the tree ends.
/// Such a segment counts only together with the one that contains the site, like any other.
pub(in crate::survey) struct KeptPages<'a, W> {
    lease: &'a Lease,
    scope: &'a Scope,
    rows: SegmentRows,
    text_bytes: usize,
    write: W,
}

impl<'a, W: FnMut(&SegmentRows) -> Result<(), SurveyError>> KeptPages<'a, W> {
    pub(in crate::survey) fn new(lease: &'a Lease, scope: &'a Scope, write: W) -> Self {
        Self { lease, scope, rows: SegmentRows::default(), text_bytes: 0, write }
    }

    pub(in crate::survey) fn keep(&mut self, record: &ExchangeRecord) -> Result<(), SurveyError> {
        let kept = match &record.content {
            // A probe is no page of the tree.
            _ if record.request.purpose == Purpose::Probe => return Ok(()),
            Content::Page(page) => SegmentRows { page_links: self.links(record, page), ..Default::default() },
            Content::Robots(body) => {
                SegmentRows { robots: vec![self.robots(record, body)], ..Default::default() }
            }
            Content::Nothing => return Ok(()),
        };
        self.text_bytes += kept.text_bytes();
        self.rows.append(kept);
        if fill_a_segment(&self.rows, self.text_bytes) {
            (self.write)(&self.rows)?;
            self.rows = SegmentRows::default();
            self.text_bytes = 0;
        }
        Ok(())
    }

    /// The rows that are not written yet.
    pub(in crate::survey) fn remaining_rows(self) -> SegmentRows {
        self.rows
    }

    fn links(&self, record: &ExchangeRecord, page: &Page) -> Vec<PageLinkRow> {
        let row = |(position, link): (u32, &Link)| {
            let (url, spelled) = (link.url.canonical(), link.url.as_str());
            PageLinkRow {
                site: self.lease.site.to_string(),
                seed: self.lease.seed,
                page: record.request.url.as_str().to_owned(),
                position,
                spelled: (spelled != url).then(|| spelled.to_owned()),
                url,
                element: link.element.as_str().to_owned(),
                nofollow: link.nofollow || page.nofollow,
                is_internal: self.scope.contains_from(record.request.url.host(), link.url.host()),
            }
        };
        (0..).zip(&page.links).map(row).collect()
    }

    fn robots(&self, record: &ExchangeRecord, body: &[u8]) -> RobotsRow {
        RobotsRow {
            site: self.lease.site.to_string(),
            seed: self.lease.seed,
            url: record.request.url.as_str().to_owned(),
            status: record.response.status.unwrap_or_default(),
            body: as_text(body),
        }
    }
}

/// A robots.txt as text with the same meaning: UTF-16 is decoded according to its byte order mark, and bytes
/// that are not UTF-8 are percent-encoded (RFC 9309 §2.2.2).
fn as_text(body: &[u8]) -> String {
    if let Some((encoding, _)) = Encoding::for_bom(body)
        && encoding != encoding_rs::UTF_8
    {
        return encoding.decode(body).0.into_owned();
    }
    let mut text = String::with_capacity(body.len());
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("%{byte:02X}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::SystemTime;

    use super::*;
    use crate::address::{Host, ScopeRule, SuffixSection, Suffixes, WebUrl};
    use crate::exchange::{Failure, Purpose, Request, Response};
    use crate::page::{MAX_LINKS, Source};
    use crate::robots::Rules;

    fn record(number: u32, links: usize) -> ExchangeRecord {
        page(number, &(0..links).map(|link| format!("<a href={link}>")).collect::<String>())
    }

    fn page(number: u32, html: &str) -> ExchangeRecord {
        let url = WebUrl::parse(&format!("http://a.ke/{number}")).unwrap();
        let source = Source { body: html.as_bytes(), url: &url, content_type: None, robots_tag: None };
        let content = Content::Page(Box::new(Page::read(source)));
        let response = Response::not_sent(SystemTime::UNIX_EPOCH, None, Failure::Reset, None);
        ExchangeRecord {
            request: Request { number, url, purpose: Purpose::Page, depth: None },
            response,
            content,
            unchanged_bytes: None,
        }
    }

    fn lease_and_scope() -> (Lease, Scope) {
        let suffixes = Suffixes::parse(crate::survey::BUILT_IN_SUFFIX_LIST, SuffixSection::Icann).unwrap();
        let scope = Scope::new(&Host::parse("a.ke").unwrap(), ScopeRule::Site, Arc::new(suffixes));
        let lease = Lease {
            priority: 0,
            order: 0,
            site: scope.site().clone(),
            seed: 0,
            start: WebUrl::parse("http://a.ke/").unwrap(),
            parent: None,
            generation: 0,
        };
        (lease, scope)
    }

    #[test]
    fn links_and_robots_txt_of_a_tree_are_kept_and_nothing_of_its_probes() {
        let (lease, scope) = lease_and_scope();
        let mut pages = KeptPages::new(&lease, &scope, |_| Ok(()));
        let mut probe = record(1, 5);
        probe.request.purpose = Purpose::Probe;
        let rules = Content::Robots(b"User-agent: *\nDisallow: /x".to_vec());
        let robots = ExchangeRecord { content: rules, ..record(2, 0) };
        let nothing = ExchangeRecord { content: Content::Nothing, ..record(3, 5) };
        [record(0, 2), probe, robots, nothing].iter().for_each(|record| pages.keep(record).unwrap());
        let kept = pages.remaining_rows();
        assert_eq!(
            kept.page_links.iter().map(|row| row.page.as_str()).collect::<Vec<_>>(),
            ["http://a.ke/0"; 2]
        );
        let [row] = &kept.robots[..] else { panic!("{:?}", kept.robots) };
        assert_eq!((row.url.as_str(), row.body.as_str()), ("http://a.ke/2", "User-agent: *\nDisallow: /x"));
    }

    #[test]
    fn a_link_is_kept_as_it_is_spelled_and_in_canonical_form() {
        let (lease, scope) = lease_and_scope();
        let mut pages = KeptPages::new(&lease, &scope, |_| Ok(()));
        pages.keep(&page(0, "<a href=/%7ex rel=nofollow></a><a href=http://b.ke/~x></a>")).unwrap();
        let kept = pages.remaining_rows().page_links;
        let recorded = kept.iter().map(|row| {
            (row.position, row.url.as_str(), row.spelled.as_deref(), row.nofollow, row.is_internal)
        });
        assert_eq!(
            recorded.collect::<Vec<_>>(),
            [
                (0, "http://a.ke/~x", Some("http://a.ke/%7ex"), true, true),
                (1, "http://b.ke/~x", None, false, false),
            ]
        );
    }

    #[test]
    fn a_tree_with_more_text_than_a_segment_holds_is_written_in_several() {
        let (lease, scope) = lease_and_scope();
        let mut written = 0;
        let mut pages = KeptPages::new(&lease, &scope, |_| {
            written += 1;
            Ok(())
        });
        let long = "x".repeat(2000);
        let html: String = (0..2000).map(|link| format!("<a href=/{long}{link}>")).collect();
        let record = page(0, &html);
        // Each has 4 MB of text.
        (0..17).for_each(|_| pages.keep(&record).unwrap());
        let rest = pages.remaining_rows().len();
        assert_eq!((written, rest < SEGMENT_ROWS / 10), (1, true), "{rest}");
    }

    #[test]
    fn a_tree_with_more_links_than_a_segment_holds_is_written_in_several() {
        let (lease, scope) = lease_and_scope();
        let mut written = Vec::new();
        let mut pages = KeptPages::new(&lease, &scope, |rows| {
            written.push(rows.len());
            Ok(())
        });
        (0..11).for_each(|number| pages.keep(&record(number, MAX_LINKS)).unwrap());
        let rest = pages.remaining_rows();
        assert_eq!((written, rest.len()), (vec![SEGMENT_ROWS], MAX_LINKS));
        assert!(rest.page_links.iter().all(|row| row.page == "http://a.ke/10" && row.is_internal));
    }

    #[test]
    fn a_robots_txt_of_any_bytes_means_the_same_as_text() {
        let url = |path: &str| WebUrl::parse(&format!("http://a.ke{path}")).unwrap();
        let utf_16: Vec<u8> =
            "\u{feff}User-agent: *\nDisallow: /b".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (body, kept) in [
            (&b"User-agent: *\nDisallow: /caf\xe9"[..], "/caf%E9"),
            ("User-agent: *\nDisallow: /café".as_bytes(), "/caf%C3%A9"),
            (&utf_16, "/b"),
        ] {
            let rules = |body: &[u8]| Rules::parse(body, "ccsurvey").allows(&url(kept));
            assert!(!rules(body) && !rules(as_text(body).as_bytes()), "{kept}");
        }
    }
}
