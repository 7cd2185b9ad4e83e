use foldhash::{HashMap, HashSet};

use super::OrderBreaches;
use crate::exchange::{Failure, Purpose, requests_pause};

/// Judges the requests of site trees, one tree after another, in the order in which they were sent.
#[derive(Debug, Default)]
pub struct TreeRequests {
    /// The origins of the tree with a request for robots.txt, and whether any response to it allows pages.
    robots: HashMap<Box<str>, bool>,
    answered_pages: HashSet<Box<str>>,
    /// Number of responses for robots.txt that are on record in other trees.
    shared: u64,
    order: OrderBreaches,
}

/// A request and its result.
#[derive(Clone, Copy, Debug)]
pub struct TreeRequest<'a> {
    /// In canonical form.
    pub url: &'a str,
    /// Page, robots.txt or head.
    pub purpose: Purpose,
    /// Status of the response, if one arrived.
    pub status: Option<u16>,
    /// Why no complete response arrived.
    pub failure: Option<Failure>,
    /// Whether the last robots.txt that was read for its host forbids it, if that is known.
    pub is_forbidden: bool,
}

impl TreeRequests {
    /// The next tree uses this many responses for robots.txt that are on record in other trees: at most as
    /// many of its origins need no robots.txt of their own.
    pub fn allow_shared(&mut self, responses: u64) {
        self.shared = responses;
    }

    /// Judges the next request of the tree.
    pub fn note(&mut self, request: &TreeRequest<'_>) {
        let origin = origin_of(request.url);
        match request.purpose {
            Purpose::Robots => *self.robots.entry(origin.into()).or_default() |= request.may_allow(),
            Purpose::Page | Purpose::Check if request.reached_the_network() => {
                self.judge_by_robots(request, origin);
                if request.purpose == Purpose::Page {
                    self.judge_repetition(request);
                }
            }
            _ => {}
        }
    }

    fn judge_by_robots(&mut self, request: &TreeRequest<'_>, origin: &str) {
        let url = || request.url.to_owned();
        match self.robots.get(origin) {
            None if self.shared > 0 => {
                self.shared -= 1;
                self.robots.insert(origin.into(), true);
            }
            None => self.order.before_robots.add(url),
            Some(false) => self.order.despite_robots.add(url),
            Some(true) => {}
        }
        if request.is_forbidden {
            self.order.against_robots.add(url);
        }
    }

    fn judge_repetition(&mut self, request: &TreeRequest<'_>) {
        let url = || request.url.to_owned();
        if self.answered_pages.contains(request.url) {
            self.order.twice.add(url);
        } else if !request.may_be_repeated() {
            self.answered_pages.insert(request.url.into());
        }
    }

    /// Ends the tree.
    pub fn end_tree(&mut self) {
        self.robots.clear();
        self.answered_pages.clear();
        self.shared = 0;
    }

    /// The breaches in all trees so far.
    #[must_use]
    pub fn order(&self) -> &OrderBreaches {
        &self.order
    }
}

impl<'a> TreeRequest<'a> {
    /// A request as recorded in a table; none if the purpose is not in the list.
    #[must_use]
    pub fn from_columns(
        url: &'a str,
        purpose: &str,
        status: Option<u16>,
        failure: Option<&str>,
    ) -> Option<Self> {
        let (purpose, failure) = (Purpose::named(purpose)?, failure.and_then(Failure::named));
        Some(Self { url, purpose, status, failure, is_forbidden: false })
    }

    fn reached_the_network(&self) -> bool {
        self.failure.is_none_or(Failure::reached_the_network)
    }

    /// Whether the result of a request for robots.txt can allow a page: 5xx and network failures forbid
    /// everything (RFC 9309 §2.3.1.4), and so does 429 to a polite survey. A redirect can allow a page: its
    /// target may be at another origin.
    #[must_use]
    pub fn may_allow(&self) -> bool {
        self.status.is_some_and(|status| status < 500 && status != 429)
    }

    /// Whether the page may be requested again: a server that named a time to come back gets another request.
    /// After a failed connection, another address of the host may work, or older TLS. A request that was lost
    /// with an idle connection is sent once more, and so is one whose response our HTTP library could not
    /// read.
    fn may_be_repeated(&self) -> bool {
        let allows_retry = |failure: Failure| {
            failure.is_connect_failure()
                || failure.refuses_tls()
                || failure == Failure::IdleClosed
                || failure.may_be_read_by_fallback()
        };
        requests_pause(self.status) || self.failure.is_some_and(allows_retry)
    }
}

/// Scheme, host and port: the scope of a robots.txt (RFC 9309 §2.3).
fn origin_of(url: &str) -> &str {
    let begin = url.find("://").map_or(0, |at| at + 3);
    let end = url[begin..].find(['/', '?', '#']).map_or(url.len(), |at| begin + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_ends_before_the_path() {
        for (url, origin) in [
            ("http://a.ke/x?y", "http://a.ke"),
            ("https://a.ke:8443/", "https://a.ke:8443"),
            ("http://a.ke?x", "http://a.ke"),
            ("", ""),
        ] {
            assert_eq!(origin_of(url), origin);
        }
    }

    fn order_of(requests: &[(&str, Purpose, u16, bool)]) -> [u64; 4] {
        let mut all = TreeRequests::default();
        for &(url, purpose, status, is_forbidden) in requests {
            all.note(&TreeRequest { url, purpose, status: Some(status), failure: None, is_forbidden });
        }
        let OrderBreaches { before_robots, despite_robots, against_robots, twice } = all.order();
        [before_robots, despite_robots, against_robots, twice].map(|count| count.times)
    }

    #[test]
    fn pages_before_robots_txt_despite_it_against_it_and_twice_are_counted() {
        let robots = |status| ("http://a.ke/robots.txt", Purpose::Robots, status, false);
        let page = |status, is_forbidden| ("http://a.ke/x", Purpose::Page, status, is_forbidden);
        assert_eq!(order_of(&[robots(200), page(200, false)]), [0, 0, 0, 0]);
        assert_eq!(order_of(&[page(200, false), robots(200)]), [1, 0, 0, 0]);
        assert_eq!(order_of(&[robots(503), page(200, false)]), [0, 1, 0, 0]);
        assert_eq!(order_of(&[robots(200), page(200, true)]), [0, 0, 1, 0]);
        assert_eq!(order_of(&[robots(200), page(200, false), page(200, false)]), [0, 0, 0, 1]);
        assert_eq!(order_of(&[robots(200), page(503, false), page(200, false)]), [0, 0, 0, 0]);
    }

    #[test]
    fn a_check_is_no_repetition_of_its_page_and_is_bound_by_robots_txt() {
        let robots = |status| ("http://a.ke/robots.txt", Purpose::Robots, status, false);
        let page = ("http://a.ke/x", Purpose::Page, 200, false);
        let check = |is_forbidden| ("http://a.ke/x", Purpose::Check, 403, is_forbidden);
        assert_eq!(order_of(&[robots(200), page, check(false), check(false)]), [0, 0, 0, 0]);
        assert_eq!(order_of(&[robots(200), page, check(true)]), [0, 0, 1, 0]);
        assert_eq!(order_of(&[check(false)]), [1, 0, 0, 0]);
        assert_eq!(order_of(&[robots(503), check(false)]), [0, 1, 0, 0]);
        assert_eq!(order_of(&[robots(200), check(false), page, page]), [0, 0, 0, 1]);
    }

    #[test]
    fn as_many_origins_as_responses_are_shared_need_no_robots_txt_of_their_own() {
        let before_robots = |shared| {
            let mut all = TreeRequests::default();
            all.allow_shared(shared);
            for url in ["http://a.ke/x", "http://a.ke/y", "https://a.ke/x", "http://b.a.ke/"] {
                all.note(&TreeRequest::from_columns(url, "page", Some(200), None).unwrap());
            }
            all.end_tree();
            all.note(&TreeRequest::from_columns("http://a.ke/x", "page", Some(200), None).unwrap());
            all.order.before_robots.times
        };
        assert_eq!([0, 1, 2, 3, 9].map(before_robots), [5, 3, 2, 1, 1]);
    }

    #[test]
    fn a_robots_txt_that_could_not_be_had_allows_nothing() {
        for (status, times) in [(404, 0), (301, 0), (429, 1), (499, 0), (500, 1)] {
            let requests = [("http://a.ke/robots.txt", Purpose::Robots, status, false)];
            let page = ("http://a.ke/x", Purpose::Page, 200, false);
            assert_eq!(order_of(&[requests[0], page]), [0, times, 0, 0], "{status}");
        }
    }

    #[test]
    fn what_never_left_us_is_no_question_and_what_found_no_connection_may_be_put_again() {
        let order = |failures: &[Option<Failure>]| {
            let mut all = TreeRequests::default();
            for &failure in failures {
                all.note(&TreeRequest {
                    url: "http://a.ke/x",
                    purpose: Purpose::Page,
                    status: None,
                    failure,
                    is_forbidden: false,
                });
            }
            [all.order.before_robots.times, all.order.twice.times]
        };
        assert_eq!(order(&[Some(Failure::HeldOff), Some(Failure::OptedOut)]), [0, 0]);
        assert_eq!(order(&[Some(Failure::ConnectRefused), Some(Failure::TlsTooOld), None]), [3, 0]);
        assert_eq!(order(&[Some(Failure::IdleClosed), None]), [2, 0]);
        assert_eq!(order(&[Some(Failure::BadHttp), None]), [2, 1]);
        assert_eq!(order(&[Some(Failure::OddHttp), None, None]), [3, 1]);
    }

    #[test]
    fn each_tree_begins_with_nothing_known() {
        let mut all = TreeRequests::default();
        for _ in 0..2 {
            let answered = |url, purpose| TreeRequest::from_columns(url, purpose, Some(200), None).unwrap();
            all.note(&answered("http://a.ke/robots.txt", "robots"));
            all.note(&answered("http://a.ke/x", "page"));
            all.end_tree();
        }
        assert_eq!(*all.order(), OrderBreaches::default());
        assert!(TreeRequest::from_columns("http://a.ke/", "tea", Some(200), None).is_none());
        let answered = TreeRequest::from_columns("http://a.ke/", "page", None, Some("held_off")).unwrap();
        assert_eq!((answered.failure, answered.may_allow()), (Some(Failure::HeldOff), false));
        all.note(&answered);
        assert_eq!(*all.order(), OrderBreaches::default());
    }
}
