mod asking;
mod auto;
mod bans;
mod bounds;
mod echoes;
mod entering;
mod laws;
mod levels;
mod parts;
mod refresh;
mod rounds;
mod rules;
mod salvaged;
mod sessions;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::*;
use crate::address::{Host, OptOut, OptOuts, Scope, ScopeRule, SuffixSection, Suffixes, WebUrl};
use crate::exchange::{Class, Depth, Entrance, Failure, Outcome, Purpose, Request, Response, Wire};
use crate::page::{Page, Source};
use crate::settings::{Entrances, NonHtml};

/// A Web that fits on a page: the response of each URL.
#[derive(Debug, Default)]
pub(super) struct Web(HashMap<String, ServedPage>);

#[derive(Clone, Debug)]
pub(super) enum ServedPage {
    Html(String),
    Status(u16),
    To(String),
    Robots(String),
    Gone,
    Fails(Failure),
    /// A response with status 2xx that is no HTML.
    File,
    OptedOut,
    /// A robots.txt that came with a failure.
    Broken(Failure, String),
    /// A challenge with this status in place of a page.
    Challenge(u16),
    Later,
}

impl Web {
    pub(super) fn page(mut self, url: &str, links: &[&str]) -> Self {
        let html = links.iter().map(|link| format!("<a href=\"{link}\">x</a>")).collect::<String>();
        self.0.insert(url.to_owned(), ServedPage::Html(html));
        self
    }

    pub(super) fn serve(mut self, url: &str, served: ServedPage) -> Self {
        self.0.insert(url.to_owned(), served);
        self
    }

    fn redirect(self, from: &str, to: &str) -> Self {
        self.serve(from, ServedPage::To(to.to_owned()))
    }

    fn response(&self, request: &Request) -> (Response, Content) {
        let mut response =
            Response::not_sent(SystemTime::UNIX_EPOCH, Some([41, 90, 0, 1].into()), Failure::Reset, None);
        response.wire = Wire { sent: 100, received: 1000, connections: 0 };
        let served = self.0.get(request.url.as_str()).cloned().unwrap_or(ServedPage::Status(404));
        if let ServedPage::Gone = served {
            return (response, Content::Nothing);
        }
        if let ServedPage::Fails(failure) = served {
            response.failure = Some(failure);
            return (response, Content::Nothing);
        }
        if let ServedPage::OptedOut = served {
            response.failure = Some(Failure::OptedOut);
            return (response, Content::Nothing);
        }
        response.failure = None;
        response.status = Some(200);
        response.head.content_type = Some("text/html; charset=utf-8".to_owned());
        let content = match served {
            ServedPage::Html(html) => {
                let source = Source {
                    body: html.as_bytes(),
                    url: &request.url,
                    content_type: response.head.content_type.as_deref(),
                    robots_tag: None,
                };
                Content::Page(Box::new(Page::read(source)))
            }
            ServedPage::Robots(text) => Content::Robots(text.into_bytes()),
            ServedPage::Broken(failure, text) => {
                response.failure = Some(failure);
                Content::Robots(text.into_bytes())
            }
            ServedPage::Status(status) => {
                response.status = Some(status);
                Content::Nothing
            }
            ServedPage::Challenge(status) => {
                response.status = Some(status);
                response.head.challenge = Some(crate::exchange::Challenge::Cloudflare);
                Content::Nothing
            }
            ServedPage::Later => {
                response.status = Some(503);
                response.head.retry_after = Some(Duration::from_secs(5));
                Content::Nothing
            }
            ServedPage::To(to) => {
                response.status = Some(301);
                response.head.location = Some(to);
                Content::Nothing
            }
            ServedPage::File => {
                response.head.content_type = Some("application/pdf".to_owned());
                Content::Nothing
            }
            ServedPage::Gone | ServedPage::Fails(_) | ServedPage::OptedOut => Content::Nothing,
        };
        (response, content)
    }
}

fn url(text: &str) -> WebUrl {
    WebUrl::parse(text).unwrap()
}

fn suffixes() -> Arc<Suffixes> {
    static LIST: std::sync::OnceLock<Arc<Suffixes>> = std::sync::OnceLock::new();
    let parse = || {
        Arc::new(
            Suffixes::parse(include_str!("../../../../data/public_suffix_list.dat"), SuffixSection::Icann)
                .unwrap(),
        )
    };
    LIST.get_or_init(parse).clone()
}

pub(super) fn start(start: &str, settings: WalkSettings, opt_out: &str) -> Walk {
    start_with_list(start, settings, Arc::new(OptOut::parse(opt_out).unwrap().into()))
}

/// A walk with an opt-out list that may change during the walk.
fn start_with_list(start: &str, settings: WalkSettings, opt_out: Arc<OptOuts>) -> Walk {
    let scope = Scope::new(&Host::parse("a.ke").unwrap(), ScopeRule::Site, suffixes());
    Walk::new(Arc::new(settings), scope, opt_out, url(start), Known::default())
}

/// Walks with up to `parallel` requests in flight; the last request gets its response first.
pub(super) fn drive(walk: Walk, web: &Web, parallel: usize) -> (Tree, Vec<Request>) {
    drive_in_order(walk, web, parallel, |flying| flying.len() - 1)
}

fn drive_in_order(
    mut walk: Walk,
    web: &Web,
    parallel: usize,
    mut pick: impl FnMut(&[Request]) -> usize,
) -> (Tree, Vec<Request>) {
    let (mut requested, mut flying) = (Vec::new(), Vec::new());
    loop {
        let step = if flying.len() < parallel { walk.poll(SystemTime::UNIX_EPOCH) } else { Step::Wait };
        match step {
            Step::Request(request, _) => {
                walk.begin(&request);
                requested.push(request.clone());
                flying.push(request);
            }
            Step::Wait => {
                let request: Request = flying.remove(pick(&flying));
                let (response, content) = web.response(&request);
                walk.handle(request.number, response, content);
            }
            Step::RoundOver => panic!("there are no rounds"),
            Step::Done => return (walk.conclude().0, requested),
        }
    }
}

pub(super) fn walk(web: &Web, settings: WalkSettings) -> (Tree, Vec<Request>) {
    drive(start("http://a.ke/", settings, ""), web, 1)
}

/// Sends one request after the other; `response` gives the response to each.
fn drive_by(
    mut walk: Walk,
    mut response: impl FnMut(&Request) -> (Response, Content),
) -> (Tree, Vec<Request>) {
    let mut requested = Vec::new();
    while let Step::Request(request, _) = walk.poll(SystemTime::UNIX_EPOCH) {
        walk.begin(&request);
        let (response, content) = response(&request);
        walk.handle(request.number, response, content);
        requested.push(request);
    }
    assert_eq!(walk.poll(SystemTime::UNIX_EPOCH), Step::Done);
    (walk.conclude().0, requested)
}

/// The record of a survey that requested the front page and these pages of level 1.
fn on_record(targets: impl IntoIterator<Item = String>) -> Vec<Request> {
    let request = |target: &str, purpose, depth| (url(&format!("http://a.ke{target}")), purpose, depth);
    let first = [request("/robots.txt", Purpose::Robots, None), request("/", Purpose::Page, Some(Depth(0)))];
    let pages = targets.into_iter().map(|target| request(&target, Purpose::Page, Some(Depth(1))));
    let all = (0..).zip(first.into_iter().chain(pages));
    all.map(|(number, (url, purpose, depth))| Request { number, url, purpose, depth }).collect()
}

/// Walks a site again that has this on record, and goes on.
fn walk_on_record(web: &Web, recorded: &[Request]) -> (Tree, Vec<Request>) {
    let mut walk = start("http://a.ke/", WalkSettings::default(), "");
    let mut requested = Vec::new();
    loop {
        let next = recorded.get(requested.len()).cloned();
        walk.expect_recorded(next.map_or(OnRecord::Nothing, OnRecord::Requested));
        match walk.poll(SystemTime::UNIX_EPOCH) {
            Step::Request(request, _) => {
                walk.begin(&request);
                let (response, content) = web.response(&request);
                walk.handle(request.number, response, content);
                requested.push(request);
            }
            Step::Wait => panic!("nothing is in flight"),
            Step::RoundOver => panic!("there are no rounds"),
            Step::Done => return (walk.conclude().0, requested),
        }
    }
}

fn pages(requested: &[Request]) -> Vec<(u16, &str)> {
    let pages = requested.iter().filter(|request| request.purpose == Purpose::Page);
    pages.map(|request| (request.depth.unwrap().0, request.url.target())).collect()
}
