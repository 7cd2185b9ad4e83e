use std::collections::{HashMap, HashSet, VecDeque};

use super::origin_of;
use crate::address::{Host, OptOuts, PageKey, Scope, WebUrl};
use crate::exchange::{Class, Entrance, Failure, Outcome, Response};
use crate::settings::Entrances;

/// The entrance to a site: the attempts so far, their results, and the attempts that follow while no page has
/// come.
pub(in crate::walk) struct EntranceAttempts {
    offered: WebUrl,
    max_tries: u16,
    /// The number of entrances put on the list so far.
    pub tried: u16,
    /// The entrance that brought the first page.
    pub successful: Option<Entrance>,
    /// The host of the first page.
    home: Option<Host>,
    /// The address of that host opted out.
    has_home_address_opted_out: bool,
    /// Entrances to try while no page has come.
    next: VecDeque<EntranceCandidate>,
    /// Front pages to request in any case.
    front_pages: VecDeque<EntranceCandidate>,
    /// The pages that have been on the list of level 0, each with the scheme.
    listed: HashSet<(bool, PageKey)>,
    /// The class of each page that was not requested.
    skipped: HashMap<PageKey, Class>,
    /// The best result of the requests to each origin, robots.txt included.
    origins: HashMap<String, OriginProgress>,
    /// A front page led out of the scope.
    pub front_page_moved: bool,
    /// Rules forbid a front page of this site: the owner has spoken.
    pub is_forbidden: bool,
    /// The rules of a robots.txt forbid an entrance.
    pub forbidden_by_robots: bool,
    /// A server sent some response, even if only that its TLS is too old.
    pub got_response: bool,
}

pub(in crate::walk) struct EntranceCandidate {
    pub url: WebUrl,
    pub entrance: Entrance,
    applies: AttemptCondition,
}

enum AttemptCondition {
    Always,
    /// Unless no connection to this origin came about.
    Connected(String),
    /// Unless this origin has no address, or sent a status.
    Unanswered(String),
}

/// How far requests to an origin came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OriginProgress {
    NoAddress,
    NoConnection,
    Connected,
    Answered,
}

impl OriginProgress {
    /// None for a request that was not sent.
    fn from_response(response: &Response) -> Option<Self> {
        if response.status.is_some() {
            return Some(Self::Answered);
        }
        match response.failure? {
            Failure::DnsNxdomain | Failure::DnsNoAddress | Failure::DnsTimeout | Failure::DnsServfail => {
                Some(Self::NoAddress)
            }
            Failure::AddressRefused
            | Failure::NoRoute
            | Failure::TlsTimeout
            | Failure::TlsCertificate
            | Failure::TlsHandshake
            | Failure::TlsAlert
            | Failure::TlsHttp2Only
            | Failure::TlsTooOld => Some(Self::NoConnection),
            failure if failure.is_connect_failure() => Some(Self::NoConnection),
            Failure::OptedOut | Failure::HeldOff | Failure::GivenUp | Failure::ServerBudget => None,
            _ => Some(Self::Connected),
        }
    }
}

impl EntranceAttempts {
    pub(in crate::walk) fn new(entrances: Entrances, scope: &Scope, offered: &WebUrl) -> Self {
        Self {
            offered: offered.clone(),
            max_tries: entrances.limit(),
            tried: 1,
            successful: None,
            home: None,
            has_home_address_opted_out: false,
            next: candidates(scope, offered),
            front_pages: if entrances == Entrances::All {
                front_pages(scope, offered)
            } else {
                VecDeque::new()
            },
            listed: HashSet::from([(offered.is_https(), offered.page_key())]),
            skipped: HashMap::new(),
            origins: HashMap::new(),
            front_page_moved: false,
            is_forbidden: false,
            forbidden_by_robots: false,
            got_response: false,
        }
    }

    /// The next entrance that applies: while there is no page by the rule, then the doors that are requested
    /// in any case.
    pub(in crate::walk) fn next(&mut self, has_page: bool) -> Option<EntranceCandidate> {
        if has_page || self.front_page_moved || self.tried >= self.max_tries {
            self.next.clear();
        }
        while let Some(candidate) = self.next.pop_front().or_else(|| self.front_pages.pop_front()) {
            if self.applies(&candidate.applies) && !self.is_listed(&candidate.url) {
                return Some(candidate);
            }
        }
        None
    }

    fn applies(&self, when: &AttemptCondition) -> bool {
        let reached = |origin: &String| self.origins.get(origin).copied();
        match when {
            AttemptCondition::Always => true,
            AttemptCondition::Connected(origin) => {
                reached(origin).is_none_or(|reached| reached >= OriginProgress::Connected)
            }
            AttemptCondition::Unanswered(origin) => {
                !matches!(reached(origin), Some(OriginProgress::NoAddress | OriginProgress::Answered))
            }
        }
    }

    /// Notes how far a request at level 0 came, robots.txt included.
    pub(in crate::walk) fn note_response(&mut self, url: &WebUrl, response: &Response) {
        let failure = response.failure;
        self.got_response |= response.status.is_some() || failure.is_some_and(Failure::server_responded);
        if let Some(reached) = OriginProgress::from_response(response) {
            let best = self.origins.entry(origin_of(url)).or_insert(reached);
            *best = reached.max(*best);
        }
    }

    /// An entrance brought a page.
    pub(in crate::walk) fn note_page(&mut self, url: &WebUrl, entrance: Option<Entrance>) {
        self.successful = self.successful.or(entrance);
        self.home.get_or_insert_with(|| url.host().clone());
    }

    /// The address of a host is on the opt-out list.
    pub(in crate::walk) fn note_opted_out(&mut self, host: &Host) {
        self.has_home_address_opted_out |= self.home.as_ref() == Some(host);
    }

    /// Whether the host of the first page has opted out since, by its name or its address.
    pub(in crate::walk) fn has_home_opted_out(&self, opt_out: &OptOuts) -> bool {
        self.has_home_address_opted_out || self.home.as_ref().is_some_and(|home| opt_out.has_host(home))
    }

    /// A URL on the list of level 0 is skipped; `again` if its page has its class already.
    pub(in crate::walk) fn note_skipped(&mut self, url: &WebUrl, again: bool, class: Class) {
        if !again {
            self.skipped.insert(url.page_key(), class);
        }
        if class == Class::Robots {
            self.forbidden_by_robots = true;
            self.is_forbidden |= url.is_front_page();
        }
    }

    /// The class of a page of level 0 that is requested now and was skipped under its other scheme.
    pub(in crate::walk) fn take_skipped(&mut self, url: &WebUrl) -> Option<Class> {
        self.skipped.remove(&url.page_key())
    }

    /// Whether a page has been on the list of level 0 already, under this scheme.
    pub(in crate::walk) fn is_listed(&self, url: &WebUrl) -> bool {
        self.listed.contains(&(url.is_https(), url.page_key()))
    }

    pub(in crate::walk) fn note_listed(&mut self, url: &WebUrl) {
        self.listed.insert((url.is_https(), url.page_key()));
    }

    /// Whether another URL may still open a site that brought no page.
    pub(in crate::walk) fn may_succeed_later(&self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Unreachable | Outcome::NoPage => true,
            Outcome::Moved => !self.front_page_moved,
            _ => false,
        }
    }

    /// A URL of level 0 redirects out of the scope.
    pub(in crate::walk) fn note_moved(&mut self, entrance: Option<Entrance>, from: &WebUrl) {
        let began_at_a_front_page = match entrance {
            None => false,
            Some(Entrance::Offered) => self.offered.is_front_page(),
            Some(_) => true,
        };
        self.front_page_moved |= began_at_a_front_page || from.is_front_page();
    }
}

/// The entrances that are tried after the start URL, in this order.
fn candidates(scope: &Scope, offered: &WebUrl) -> VecDeque<EntranceCandidate> {
    let front = offered.front_page_url();
    let origin = origin_of(&front);
    let other = front.with_other_scheme();
    let mut list = VecDeque::from([EntranceCandidate {
        url: front,
        entrance: Entrance::FrontPage,
        applies: AttemptCondition::Connected(origin.clone()),
    }]);
    list.extend(other.map(|url| EntranceCandidate {
        url,
        entrance: Entrance::OtherScheme,
        applies: AttemptCondition::Unanswered(origin),
    }));
    for url in other_names(scope, offered.host()).filter_map(|name| front_page(offered.is_https(), &name)) {
        let origin = origin_of(&url);
        let other = url.with_other_scheme();
        list.push_back(EntranceCandidate {
            url,
            entrance: Entrance::OtherName,
            applies: AttemptCondition::Always,
        });
        list.extend(other.map(|url| EntranceCandidate {
            url,
            entrance: Entrance::OtherNameOtherScheme,
            applies: AttemptCondition::Unanswered(origin),
        }));
    }
    list
}

/// The front pages of the site's bare name and of `www.`, by http and https.
fn front_pages(scope: &Scope, offered: &WebUrl) -> VecDeque<EntranceCandidate> {
    let names = [Some(scope.site().root().clone()), with_www(scope)];
    let front_pages = names.into_iter().flatten().flat_map(|name| {
        [false, true].map(|is_https| {
            let is_same = (name == *offered.host(), is_https == offered.is_https());
            let entrance = match is_same {
                (true, true) => Entrance::FrontPage,
                (true, false) => Entrance::OtherScheme,
                (false, true) => Entrance::OtherName,
                (false, false) => Entrance::OtherNameOtherScheme,
            };
            front_page(is_https, &name).map(|url| EntranceCandidate {
                url,
                entrance,
                applies: AttemptCondition::Always,
            })
        })
    });
    front_pages.flatten().collect()
}

/// The bare name of the site and the name with `www.`, except the host itself.
fn other_names(scope: &Scope, host: &Host) -> impl Iterator<Item = Host> {
    let names = [Some(scope.site().root().clone()), with_www(scope)];
    names.into_iter().flatten().filter(move |name| name != host)
}

/// None for a site that has no such name: an address, a public suffix, a host that is called `www` itself.
fn with_www(scope: &Scope) -> Option<Host> {
    let root = scope.site().root();
    if root.ip().is_some() || root.as_str().starts_with("www.") {
        return None;
    }
    Host::parse(&format!("www.{root}")).ok().filter(|name| scope.contains(name))
}

fn front_page(is_https: bool, name: &Host) -> Option<WebUrl> {
    let scheme = if is_https { "https" } else { "http" };
    WebUrl::parse(&format!("{scheme}://{name}/")).ok()
}
