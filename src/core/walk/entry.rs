use super::step::Content;
use super::yields::UrlCandidate;
use crate::address::{PageKey, WebUrl};
use crate::exchange::{Class, Entrance, Purpose, Request, Response};

/// What is known of internal URLs: where each stands.
pub(super) type UrlStates = foldhash::HashMap<PageKey, UrlState>;

/// Where an internal URL stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum UrlState {
    /// Only `nofollow` links lead to it so far.
    Shunned,
    /// It stands in the list of the next level.
    Found,
    /// It stands in the list of this level or an earlier one.
    Listed,
    /// Its turn came, and it promised too little; a later tree of the site may still ask for it.
    LeftOut,
    /// An earlier tree of the site had it.
    Earlier,
}

impl UrlState {
    /// Whether its turn has come, or will without anything else happening.
    pub(super) fn is_final(self) -> bool {
        matches!(self, Self::Listed | Self::LeftOut | Self::Earlier)
    }
}

/// A URL on the list of a level.
#[derive(Clone, Debug)]
pub(super) struct ListedUrl {
    pub url: WebUrl,
    /// Redirects that led here.
    pub redirects: u8,
    /// How often it was asked for already because the server said when to come back.
    pub retries: u8,
    /// The same page under another spelling or another time: its URL has its class already.
    pub again: bool,
    /// HEAD was asked already: the answer says HTML, or could not say.
    pub probed: bool,
    /// At level 0, the entrance that it is or that redirects led from.
    pub entrance: Option<Entrance>,
    /// What was read so far says that it is not worth asking for.
    pub kept: Option<Class>,
    /// What it promises; none where no URL is left out for that.
    pub prospect: Option<UrlCandidate>,
    /// Schemes under which the page was asked for in this chain of redirects.
    pub schemes: Schemes,
    /// Spellings, hashed, that led to the same page in another session in this chain of redirects.
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
            kept: None,
            prospect: None,
            schemes: Schemes::default(),
            sessions: Vec::new(),
        }
    }

    /// Whether it is an entrance itself and not what one redirects to.
    pub(super) fn is_entrance(&self) -> bool {
        self.entrance.is_some() && self.redirects == 0
    }
}

/// A question whose answer is not merged yet.
pub(super) struct PendingRequest {
    pub number: u32,
    pub url: WebUrl,
    pub purpose: Purpose,
    /// None for robots.txt, probes and checks.
    pub entry: Option<ListedUrl>,
    /// Its URL counts as fetched since this request, and not for an earlier one.
    pub is_first: bool,
    /// What came of it elsewhere before.
    pub tries: Vec<Response>,
    pub response: Option<(Response, Content)>,
    /// The response is one that another tree got: no request was sent for it.
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

    /// Whether no server was asked, in the end nor at any try.
    pub(super) fn was_never_sent(&self, response: &Response) -> bool {
        let never_sent =
            |response: &Response| response.failure.is_some_and(|failure| !failure.reached_the_network());
        never_sent(response) && self.tries.iter().all(never_sent)
    }
}
