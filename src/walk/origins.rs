use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use crate::address::WebUrl;
use crate::robots::{Availability, MAX_AGE, MAX_REDIRECTS, Rules};

/// Origins whose robots.txt one site tree asks for: a name server that invents subdomains must not
/// grow our memory. The largest universities have some hundred hosts.
const MAX_ORIGINS: usize = 2_000;
/// Bytes of robots.txt kept in one site tree; files are about 1 kB, and 500 KiB each at most.
const MAX_RULE_BYTES: usize = 8 * 1024 * 1024;

/// What is known of the robots.txt of each origin (scheme, host, port: RFC 9309 §2.3).
#[derive(Default)]
pub(super) struct Origins {
    known: HashMap<String, Known>,
    asking: Option<Asking>,
    rule_bytes: usize,
}

/// When a robots.txt was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub at: SystemTime,
    /// The number of the question after it.
    pub next: u32,
}

/// What came of asking an origin for its robots.txt.
struct Known {
    verdict: Verdict,
    asked: Asked,
    /// Of the file; none where another origin's was meant.
    bytes: usize,
}

/// What an origin's robots.txt means for a URL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Rules(Rules),
    /// It could not be had for a network failure or a server error: disallow all.
    Unreachable,
}

/// The one question for a robots.txt that is under way.
struct Asking {
    /// Whose rules the answer will be: the origin asked, and those its redirects led through.
    origins: Vec<String>,
    url: WebUrl,
    redirects: usize,
    retries: u8,
    begun: bool,
}

/// What should be done before a URL of some origin can be decided.
pub(super) enum Lookup<'a> {
    Known(&'a Verdict),
    /// This robots.txt should be asked for.
    Ask(WebUrl),
    /// It is being asked for.
    Pending,
}

impl Origins {
    /// What the robots.txt for a URL says; one that is to be asked for `again` is asked for although it is known.
    pub(super) fn lookup(&mut self, url: &WebUrl, again: bool) -> Lookup<'_> {
        let origin = origin_of(url);
        let is_known = self.known.contains_key(&origin);
        let is_being_asked = self.asking.as_ref().is_some_and(|asking| asking.origins.contains(&origin));
        if is_known && !again && !is_being_asked {
            return Lookup::Known(&self.known[&origin].verdict);
        }
        if !is_known && (self.known.len() >= MAX_ORIGINS || self.rule_bytes > MAX_RULE_BYTES) {
            return Lookup::Known(&Verdict::Unreachable);
        }
        let asking = self.asking.get_or_insert_with(|| Asking {
            origins: vec![origin],
            url: url.robots_txt(),
            redirects: 0,
            retries: 0,
            begun: false,
        });
        if asking.begun { Lookup::Pending } else { Lookup::Ask(asking.url.clone()) }
    }

    pub(super) fn begin(&mut self) {
        if let Some(asking) = &mut self.asking {
            asking.begun = true;
        }
    }

    /// Whether the robots.txt for a URL is known, be it old.
    pub(super) fn knows(&self, url: &WebUrl) -> bool {
        self.known.contains_key(&origin_of(url))
    }

    /// Until when the robots.txt for a URL may be gone by, if it is known.
    ///
    /// For the `next` question right after it there is no bound: where pauses are as long as a day, nothing else
    /// would ever be asked for.
    pub(super) fn good_until(&self, url: &WebUrl, next: u32) -> Option<SystemTime> {
        let asked = self.known.get(&origin_of(url))?.asked;
        (asked.next != next).then(|| asked.at + MAX_AGE)
    }

    /// How long the origin wants us to wait between requests.
    pub(super) fn crawl_delay(&self, url: &WebUrl) -> Option<Duration> {
        match &self.known.get(&origin_of(url))?.verdict {
            Verdict::Rules(rules) => rules.crawl_delay(),
            Verdict::Unreachable => None,
        }
    }

    /// An answer said when to come back: the same robots.txt is asked for once more.
    pub(super) fn retry(&mut self, most: u8) -> bool {
        match &mut self.asking {
            Some(asking) if asking.retries < most => {
                asking.retries += 1;
                asking.begun = false;
                true
            }
            _ => false,
        }
    }

    /// A redirect: followed, at least five in a row (RFC 9309 §2.3.1.2), also across authorities.
    /// Rules that another origin's robots.txt turns out to be are that origin's rules too.
    pub(super) fn redirected(&mut self, to: Option<WebUrl>, product_token: &str, asked: Asked) {
        let Some(asking) = &mut self.asking else { return };
        let Some(target) = to.filter(|_| asking.redirects < MAX_REDIRECTS) else {
            return self.settle(Verdict::Rules(Availability::TooManyRedirects.rules(product_token)), asked);
        };
        asking.redirects += 1;
        let is_robots_txt = target == target.robots_txt();
        let origin = origin_of(&target);
        if is_robots_txt
            && !asking.origins.contains(&origin)
            && let Some(known) = self.known.get(&origin).filter(|known| asked.at < known.asked.at + MAX_AGE)
        {
            let (verdict, at) = (known.verdict.clone(), known.asked.at);
            return self.settle(verdict, Asked { at, ..asked });
        }
        if is_robots_txt && !asking.origins.contains(&origin) {
            asking.origins.push(origin);
        }
        asking.url = target;
        asking.begun = false;
    }

    pub(super) fn found(
        &mut self,
        body: &[u8],
        availability: Availability<'_>,
        product_token: &str,
        asked: Asked,
    ) {
        self.settle_with(Verdict::Rules(availability.rules(product_token)), asked, body.len());
    }

    pub(super) fn settle(&mut self, verdict: Verdict, asked: Asked) {
        self.settle_with(verdict, asked, 0);
    }

    fn settle_with(&mut self, verdict: Verdict, asked: Asked, mut bytes: usize) {
        for origin in self.asking.take().map(|asking| asking.origins).unwrap_or_default() {
            self.rule_bytes += bytes;
            let known = Known { verdict: verdict.clone(), asked, bytes };
            if let Some(before) = self.known.insert(origin, known) {
                self.rule_bytes -= before.bytes;
            }
            bytes = 0;
        }
    }
}

/// Scheme, host and port.
pub(super) fn origin_of(url: &WebUrl) -> String {
    format!("{}://{}", if url.is_https() { "https" } else { "http" }, url.authority())
}
