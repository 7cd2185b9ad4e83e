use super::step::Content;
use super::yields::UrlCandidate;
use crate::address::{PageKey, WebUrl};
use crate::exchange::{Class, Entrance, Purpose, Request, Response};

/// The state of each internal URL found.
pub(super) type UrlStates = foldhash::HashMap<PageKey, UrlState>;

/// How far an internal URL has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum UrlState {
    /// Only `nofollow` links lead to it so far.
    Shunned,
    /// It is in the list of the next level.
    Found,
    /// It is in the list of this level or an earlier one.
    Listed,
    /// Its turn came, and its expected yield was too low; a later tree of the site may still request it.
    LeftOut,
    /// An earlier tree of the site has reached it.
    Earlier,
}

impl UrlState {
    /// Whether its turn has come, or will come without further events.
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::Listed | Self::LeftOut | Self::Earlier)
    }
}

/// A URL on the list of a level.
#[derive(Clone, Debug)]
pub(super) struct ListedUrl {
    pub url: WebUrl,
    /// The number of redirects that led to this URL.
    pub redirects: u8,
    /// The number of times it was requested again because the server said when to come back.
    pub retries: u8,
    /// The same page in another spelling or at another time: its URL already has its class.
    pub again: bool,
    /// HEAD was requested already: the response says HTML, or leaves it open.
    pub probed: bool,
    /// At level 0: the entrance that this URL is, or from which redirects led to it.
    pub entrance: Option<Entrance>,
    /// The class of a URL that is not worth a request according to what was read so far.
    pub skipped: Option<Class>,
    /// Its expected yield; none if no URL is left out for its yield.
    pub candidate: Option<UrlCandidate>,
    /// The schemes under which the page was requested in this chain of redirects.
    pub schemes: Schemes,
    /// Hashes of the spellings that led to the same page in another session in this chain of redirects.
    pub sessions: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Schemes {
    pub http: bool,
    pub https: bool,
}

impl ListedUrl {
    pub(super) fn new(url: WebUrl) -> Self {
        Self {
            url,
            redirects: 0,
            retries: 0,
            again: false,
            probed: false,
            entrance: None,
            skipped: None,
            candidate: None,
            schemes: Schemes::default(),
            sessions: Vec::new(),
        }
    }

    /// Whether it is an entrance itself and not the target of a redirect from one.
    pub(super) fn is_entrance(&self) -> bool {
        self.entrance.is_some() && self.redirects == 0
    }
}

/// A request whose response is not merged yet.
pub(super) struct PendingRequest {
    pub number: u32,
    pub url: WebUrl,
    pub purpose: Purpose,
    /// None for robots.txt, probes and checks.
    pub entry: Option<ListedUrl>,
    /// Its URL counts as fetched because of this request, not because of an earlier one.
    pub is_first: bool,
    /// The results of earlier tries at this request.
    pub tries: Vec<Response>,
    pub response: Option<(Response, Content)>,
    /// The response is one that another tree received: no request was sent for it.
    pub is_shared: bool,
}

impl PendingRequest {
    pub(super) fn outside_the_tree(request: &Request) -> Self {
        let (url, purpose) = (request.url.clone(), request.purpose);
        Self {
            number: request.number,
            url,
            purpose,
            entry: None,
            is_first: false,
            tries: Vec::new(),
            response: None,
            is_shared: false,
        }
    }

    pub(super) fn page(request: &Request, entry: ListedUrl, is_first: bool) -> Self {
        Self { entry: Some(entry), is_first, ..Self::outside_the_tree(request) }
    }

    /// Whether nothing was sent to a server, neither in the end nor at any try.
    pub(super) fn was_never_sent(&self, response: &Response) -> bool {
        !response.was_sent() && !self.tries.iter().any(Response::was_sent)
    }
}
