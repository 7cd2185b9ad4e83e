//! Walks sites in folders, one after the other, as a survey walks them, and prints what it read.
//!
//! `ccsurvey-instructions FOLDER…` prints the number of pages and links, and one hash over all of them: the
//! same pages, walked in the same way, print the same line.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ccsurvey_address::{OptOut, Scope, ScopeRule, SuffixSection, Suffixes, WebUrl};
use ccsurvey_core::exchange::{Failure, Purpose, Request, Response};
use ccsurvey_core::page::{Page, Source};
use ccsurvey_core::walk::{Content, Known, Step, Walk, WalkSettings};
use xxhash_rust::xxh3::Xxh3;

const HTML: &str = "text/html";
const SUFFIXES: &str = include_str!("../../../data/public_suffix_list.dat");

#[derive(Default)]
struct ReadCounts {
    pages: u64,
    links: u64,
    hash: Xxh3,
}

fn main() {
    let suffixes =
        Arc::new(Suffixes::parse(SUFFIXES, SuffixSection::Icann).expect("the list of suffixes is sound"));
    let mut read = ReadCounts::default();
    for folder in std::env::args_os().skip(1) {
        read.walk(Path::new(&folder), &suffixes);
    }
    println!("{} {} {:016x}", read.pages, read.links, read.hash.digest());
}

impl ReadCounts {
    fn walk(&mut self, folder: &Path, suffixes: &Arc<Suffixes>) {
        let start = WebUrl::parse("http://site.ke/").expect("a URL");
        let scope = Scope::new(start.host(), ScopeRule::Site, suffixes.clone());
        let no_opt_outs = Arc::new(OptOut::parse("").expect("an empty list").into());
        let mut walk =
            Walk::new(Arc::new(WalkSettings::default()), scope, no_opt_outs, start, Known::default());
        loop {
            match walk.poll(SystemTime::UNIX_EPOCH) {
                Step::Request(request, _) => {
                    walk.begin(&request);
                    let (response, content) = self.request(folder, &request);
                    walk.handle(request.number, response, content);
                }
                Step::Wait => unreachable!("every question is answered at once"),
                Step::RoundOver | Step::Done => break,
            }
        }
        for external in &walk.conclude().0.externals {
            self.hash.update(external.url.as_str().as_bytes());
        }
    }

    /// The response that a server of the folder would send.
    fn request(&mut self, folder: &Path, request: &Request) -> (Response, Content) {
        let address = Some([127, 0, 0, 1].into());
        let mut response = Response::not_sent(SystemTime::UNIX_EPOCH, address, Failure::Reset, None);
        response.failure = None;
        let file = file_of(folder, request.url.path()).filter(|_| request.purpose != Purpose::Robots);
        let Some(body) = file.and_then(|file| std::fs::read(file).ok()) else {
            response.status = Some(404);
            return (response, Content::Nothing);
        };
        response.status = Some(200);
        response.head.content_type = Some(HTML.to_owned());
        let source = Source { body: &body, url: &request.url, content_type: Some(HTML), robots_tag: None };
        let page = Page::read_response(request, source);
        self.note(&page);
        (response, Content::Page(Box::new(page)))
    }

    fn note(&mut self, page: &Page) {
        self.pages += 1;
        self.links += page.links.len() as u64;
        self.hash.update(&page.body_hash.to_le_bytes());
        self.hash.update(&page.text_simhash.unwrap_or_default().to_le_bytes());
        for link in &page.links {
            self.hash.update(link.url.as_str().as_bytes());
        }
    }
}

/// The file of the page at this path; there are no other pages.
fn file_of(folder: &Path, path: &str) -> Option<PathBuf> {
    let file = folder.join(path.trim_start_matches('/'));
    let file = if path.ends_with('/') { file.join("index.html") } else { file };
    let is_page = file.extension().is_some_and(|kind| kind == "html" || kind == "htm");
    (is_page && file.is_file()).then_some(file)
}
