//! The hosts of a site: which are entrances, which are one server, which mirror another.

pub(super) mod entrance;
pub(super) mod home_server;
pub(super) mod mirrors;

use std::time::{Duration, SystemTime};

use foldhash::HashMap;

use crate::address::WebUrl;
use crate::robots::{Availability, MAX_AGE, MAX_REDIRECTS, Rules};

/// The number of origins whose robots.txt a site tree may request, so that a name server that invents
/// subdomains does not exhaust our memory. The largest universities have some hundred hosts.
const MAX_ORIGINS: usize = 2_000;
/// The number of bytes of robots.txt kept in one site tree; files are about 1 kB, and 500 KiB each at most.
const MAX_RULE_BYTES: usize = 8 * 1024 * 1024;

/// What is known of the robots.txt of each origin (scheme, host, port: RFC 9309 §2.3).
#[derive(Default)]
pub(super) struct Origins {
    known: HashMap<String, RobotsRecord>,
    pending: Option<PendingRobots>,
    rule_bytes: usize,
}

/// The time of a request for a robots.txt.
#[derive(Clone, Copy, Debug)]
pub(super) struct RobotsRequestTime {
    pub at: SystemTime,
    /// The number of the request after it; none if another tree requested it.
    pub next: Option<u32>,
}

/// The result of the request for the robots.txt of an origin.
struct RobotsRecord {
    verdict: RobotsOutcome,
    requested: RobotsRequestTime,
    /// The size of the file; 0 if the file is counted for another origin.
    bytes: usize,
}

/// The meaning of an origin's robots.txt for a URL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RobotsOutcome {
    Rules(Rules),
    /// It could not be fetched because of a network failure or a server error: disallow all.
    Unreachable,
    /// The host's address is on the opt-out list: nothing was sent, and nothing may be sent.
    OptedOut,
}

/// The one request for a robots.txt that is under way.
struct PendingRobots {
    /// The origins whose rules the response will be: the origin requested, and the origins of its redirects.
    origins: Vec<String>,
    url: WebUrl,
    redirects: usize,
    retries: u8,
    begun: bool,
}

/// What must be done before a URL of some origin can be decided.
pub(super) enum Lookup<'a> {
    Known(&'a RobotsOutcome),
    /// This robots.txt must be requested.
    Fetch(WebUrl),
    /// Its response is pending.
    Pending,
}

impl Origins {
    /// Looks up the robots.txt for a URL. With `again`, it is requested again although it is known.
    pub(super) fn lookup(&mut self, url: &WebUrl, again: bool) -> Lookup<'_> {
        let origin = origin_of(url);
        let is_known = self.known.contains_key(&origin);
        let is_pending = self.pending.as_ref().is_some_and(|pending| pending.origins.contains(&origin));
        if is_known && !again && !is_pending {
            return Lookup::Known(&self.known[&origin].verdict);
        }
        if !is_known && (self.known.len() >= MAX_ORIGINS || self.rule_bytes > MAX_RULE_BYTES) {
            return Lookup::Known(&RobotsOutcome::Unreachable);
        }
        let pending = self.pending.get_or_insert_with(|| PendingRobots {
            origins: vec![origin],
            url: url.robots_txt(),
            redirects: 0,
            retries: 0,
            begun: false,
        });
        if pending.begun { Lookup::Pending } else { Lookup::Fetch(pending.url.clone()) }
    }

    pub(super) fn begin(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.begun = true;
        }
    }

    /// Whether a robots.txt is being requested.
    pub(super) fn is_fetching(&self) -> bool {
        self.pending.is_some()
    }

    /// The URL that is to be requested for a robots.txt and has not been yet.
    pub(super) fn next_url(&self) -> Option<&WebUrl> {
        self.pending.as_ref().filter(|pending| !pending.begun).map(|pending| &pending.url)
    }

    /// Whether the robots.txt for a URL is known, even if it is old.
    pub(super) fn knows(&self, url: &WebUrl) -> bool {
        self.known.contains_key(&origin_of(url))
    }

    /// The time until which the robots.txt for a URL is valid, if it is known.
    ///
    /// For the `next` request right after it there is no limit: if pauses are as long as a day, nothing else
    /// would ever be requested. Rules that another tree requested have a limit, because this tree can request
    /// its own.
    pub(super) fn valid_until(&self, url: &WebUrl, next: u32) -> Option<SystemTime> {
        let requested = self.known.get(&origin_of(url))?.requested;
        (requested.next != Some(next)).then(|| requested.at + MAX_AGE)
    }

    /// The pause between requests that the origin asks for.
    pub(super) fn crawl_delay(&self, url: &WebUrl) -> Option<Duration> {
        match &self.known.get(&origin_of(url))?.verdict {
            RobotsOutcome::Rules(rules) => rules.crawl_delay(),
            RobotsOutcome::Unreachable | RobotsOutcome::OptedOut => None,
        }
    }

    /// The response said when to come back: the same robots.txt is requested once more.
    pub(super) fn retry(&mut self, limit: u8) -> bool {
        match &mut self.pending {
            Some(pending) if pending.retries < limit => {
                pending.retries += 1;
                pending.begun = false;
                true
            }
            _ => false,
        }
    }

    /// Follows a redirect: at least five in a row (RFC 9309 §2.3.1.2), also across authorities. If it leads
    /// to the robots.txt of another origin, the response gives the rules of that origin, too.
    pub(super) fn redirected(
        &mut self,
        to: Option<WebUrl>,
        product_token: &str,
        requested: RobotsRequestTime,
    ) {
        let Some(pending) = &mut self.pending else { return };
        let Some(target) = to.filter(|_| pending.redirects < MAX_REDIRECTS) else {
            return self.settle(
                RobotsOutcome::Rules(Availability::TooManyRedirects.rules(product_token)),
                requested,
            );
        };
        pending.redirects += 1;
        let is_robots_txt = target == target.robots_txt();
        let origin = origin_of(&target);
        if is_robots_txt
            && !pending.origins.contains(&origin)
            && let Some(known) =
                self.known.get(&origin).filter(|known| requested.at < known.requested.at + MAX_AGE)
        {
            let (verdict, at) = (known.verdict.clone(), known.requested.at);
            return self.settle(verdict, RobotsRequestTime { at, ..requested });
        }
        if is_robots_txt && !pending.origins.contains(&origin) {
            pending.origins.push(origin);
        }
        pending.url = target;
        pending.begun = false;
    }

    pub(super) fn found(
        &mut self,
        body: &[u8],
        availability: Availability<'_>,
        product_token: &str,
        requested: RobotsRequestTime,
    ) {
        self.settle_with(RobotsOutcome::Rules(availability.rules(product_token)), requested, body.len());
    }

    pub(super) fn settle(&mut self, verdict: RobotsOutcome, requested: RobotsRequestTime) {
        self.settle_with(verdict, requested, 0);
    }

    /// The address of the requested host is on the opt-out list. The other origins whose rules the response
    /// would have been are unreachable.
    pub(super) fn opted_out(&mut self, requested: RobotsRequestTime) {
        let Some(origin) = self.pending.as_ref().map(|pending| origin_of(&pending.url)) else { return };
        self.settle(RobotsOutcome::Unreachable, requested);
        if let Some(record) = self.known.get_mut(&origin) {
            record.verdict = RobotsOutcome::OptedOut;
        }
    }

    fn settle_with(&mut self, verdict: RobotsOutcome, requested: RobotsRequestTime, mut bytes: usize) {
        for origin in self.pending.take().map(|pending| pending.origins).unwrap_or_default() {
            self.rule_bytes += bytes;
            let known = RobotsRecord { verdict: verdict.clone(), requested, bytes };
            if let Some(previous) = self.known.insert(origin, known) {
                self.rule_bytes -= previous.bytes;
            }
            bytes = 0;
        }
    }
}

/// Scheme, host and port.
pub(super) fn origin_of(url: &WebUrl) -> String {
    format!("{}://{}", if url.is_https() { "https" } else { "http" }, url.authority())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    fn requested(next: u32) -> RobotsRequestTime {
        RobotsRequestTime { at: NOW, next: Some(next) }
    }

    /// The result of a lookup: a word, or the URL to request.
    fn says(origins: &mut Origins, at: &str, again: bool) -> String {
        match origins.lookup(&url(at), again) {
            Lookup::Known(RobotsOutcome::Rules(rules)) if rules.allows(&url(at)) => "allowed".to_owned(),
            Lookup::Known(RobotsOutcome::Rules(_)) => "forbidden".to_owned(),
            Lookup::Known(RobotsOutcome::Unreachable) => "unreachable".to_owned(),
            Lookup::Known(RobotsOutcome::OptedOut) => "opted out".to_owned(),
            Lookup::Fetch(url) => url.to_string(),
            Lookup::Pending => "pending".to_owned(),
        }
    }

    /// Requests the robots.txt of a host and finds a file of this size.
    fn find(origins: &mut Origins, host: &str, bytes: usize) {
        let robots = format!("http://{host}/robots.txt");
        assert_eq!(says(origins, &robots, true), robots);
        origins.begin();
        origins.found(&vec![b'#'; bytes], Availability::Found(b""), "ccsurvey", requested(1));
    }

    #[test]
    fn a_tree_asks_two_thousand_origins_for_their_rules_and_takes_those_of_others_for_out_of_reach() {
        let mut origins = Origins::default();
        for host in 0..2_000 {
            find(&mut origins, &format!("h{host}.a.ke"), 0);
        }
        assert_eq!(says(&mut origins, "http://one-more.a.ke/", false), "unreachable");
        assert!(!origins.knows(&url("http://one-more.a.ke/")));
        assert_eq!(says(&mut origins, "http://h0.a.ke/x", false), "allowed");
        find(&mut origins, "h0.a.ke", 0);
    }

    #[test]
    fn a_tree_keeps_eight_mebibytes_of_rules() {
        let mut origins = Origins::default();
        for host in 0..16 {
            find(&mut origins, &format!("h{host}.a.ke"), 512 * 1024);
        }
        find(&mut origins, "i.a.ke", 1);
        assert_eq!(says(&mut origins, "http://j.a.ke/", false), "unreachable");
        // A file that is requested again replaces the earlier one.
        find(&mut origins, "h0.a.ke", 512 * 1024);
        assert_eq!(says(&mut origins, "http://j.a.ke/", false), "unreachable");
        find(&mut origins, "h0.a.ke", 512 * 1024 - 1);
        assert_eq!(says(&mut origins, "http://j.a.ke/", false), "http://j.a.ke/robots.txt");
    }

    #[test]
    fn a_file_that_serves_several_origins_is_kept_once() {
        let mut origins = Origins::default();
        for pair in 0..8 {
            let from = format!("http://f{pair}.a.ke/robots.txt");
            assert_eq!(says(&mut origins, &from, false), from);
            origins.begin();
            let to = format!("http://t{pair}.a.ke/robots.txt");
            origins.redirected(Some(url(&to)), "ccsurvey", requested(1));
            origins.begin();
            origins.found(&vec![b'#'; 1024 * 1024], Availability::Found(b""), "ccsurvey", requested(2));
            assert_eq!(says(&mut origins, &from, false), "allowed");
            assert_eq!(says(&mut origins, &to, false), "allowed");
        }
        find(&mut origins, "last.a.ke", 1);
        assert_eq!(says(&mut origins, "http://j.a.ke/", false), "unreachable");
    }

    #[test]
    fn an_answer_is_waited_for_and_asked_for_again_as_often_as_may_be() {
        let mut origins = Origins::default();
        assert!(!origins.retry(2), "nothing is being asked");
        let robots = "http://a.ke/robots.txt";
        for retry in [true, true, false] {
            assert_eq!(says(&mut origins, "http://a.ke/x", false), robots);
            origins.begin();
            assert_eq!(says(&mut origins, "http://a.ke/x", false), "pending");
            assert_eq!(says(&mut origins, "http://b.a.ke/x", false), "pending", "one at a time");
            assert_eq!(origins.retry(2), retry);
        }
        assert!(!origins.knows(&url("http://a.ke/x")));
        origins.settle(RobotsOutcome::Unreachable, requested(3));
        assert_eq!(says(&mut origins, "http://a.ke/x", false), "unreachable");
        assert_eq!(says(&mut origins, "https://a.ke/x", false), "https://a.ke/robots.txt", "another origin");
    }

    #[test]
    fn a_host_whose_address_opted_out_is_told_from_one_whose_rules_it_would_have_had() {
        let mut origins = Origins::default();
        says(&mut origins, "http://a.ke/x", false);
        origins.begin();
        origins.redirected(Some(url("http://b.a.ke/robots.txt")), "ccsurvey", requested(1));
        origins.opted_out(requested(2));
        assert_eq!(says(&mut origins, "http://a.ke/x", false), "unreachable");
        assert_eq!(says(&mut origins, "http://b.a.ke/x", false), "opted out");
        assert_eq!(
            says(&mut origins, "http://c.a.ke/x", false),
            "http://c.a.ke/robots.txt",
            "nothing is under way"
        );
    }

    #[test]
    fn five_redirects_are_followed_and_the_sixth_or_one_to_nowhere_means_that_there_are_no_rules() {
        let follow = |hops: usize| {
            let mut origins = Origins::default();
            says(&mut origins, "http://a.ke/x", false);
            for hop in 0..hops {
                origins.begin();
                origins.redirected(Some(url(&format!("http://a.ke/rules/{hop}"))), "ccsurvey", requested(1));
            }
            says(&mut origins, "http://a.ke/x", false)
        };
        assert_eq!(follow(5), "http://a.ke/rules/4");
        assert_eq!(follow(6), "allowed");
        let mut origins = Origins::default();
        says(&mut origins, "http://a.ke/x", false);
        origins.begin();
        origins.redirected(None, "ccsurvey", requested(1));
        assert_eq!(says(&mut origins, "http://a.ke/x", false), "allowed");
    }

    #[test]
    fn rules_of_another_origin_are_taken_over_while_they_are_young_with_their_age() {
        let redirected = |to: &str, age: Duration| {
            let mut origins = Origins::default();
            says(&mut origins, "http://b.a.ke/", false);
            origins.begin();
            origins.settle(RobotsOutcome::Unreachable, requested(1));
            says(&mut origins, "http://a.ke/", false);
            origins.begin();
            origins.redirected(Some(url(to)), "ccsurvey", RobotsRequestTime { at: NOW + age, next: Some(2) });
            (says(&mut origins, "http://a.ke/", false), origins.valid_until(&url("http://a.ke/"), 3))
        };
        let robots = "http://b.a.ke/robots.txt";
        let young = MAX_AGE - Duration::from_nanos(1);
        assert_eq!(redirected(robots, young), ("unreachable".to_owned(), Some(NOW + MAX_AGE)));
        assert_eq!(redirected(robots, MAX_AGE), (robots.to_owned(), None));
        let other = "http://b.a.ke/rules.txt";
        assert_eq!(redirected(other, young), (other.to_owned(), None), "no origin's robots.txt");
    }

    #[test]
    fn a_circle_of_redirects_serves_each_of_its_origins_and_no_rules_file_elsewhere_does() {
        let mut origins = Origins::default();
        says(&mut origins, "http://a.ke/", false);
        for to in ["https://a.ke/robots.txt", "http://a.ke/robots.txt", "http://b.a.ke/rules.txt"] {
            origins.begin();
            origins.redirected(Some(url(to)), "ccsurvey", requested(1));
            assert_eq!(says(&mut origins, "https://a.ke/", false), to, "they wait for the same answer");
        }
        origins.begin();
        let rules = b"User-agent: *\nDisallow: /x\nCrawl-delay: 7\n";
        origins.found(rules, Availability::Found(rules), "ccsurvey", requested(4));
        for origin in ["http://a.ke", "https://a.ke"] {
            assert_eq!(says(&mut origins, &format!("{origin}/x"), false), "forbidden");
            assert_eq!(says(&mut origins, &format!("{origin}/y"), false), "allowed");
            let url = url(origin);
            assert_eq!(origins.crawl_delay(&url), Some(Duration::from_secs(7)));
            // There is no limit for the request right after it, and a day for later ones.
            assert_eq!(origins.valid_until(&url, 4), None);
            assert_eq!(origins.valid_until(&url, 5), Some(NOW + MAX_AGE));
        }
        assert!(!origins.knows(&url("http://b.a.ke/")));
        assert_eq!(origins.crawl_delay(&url("http://b.a.ke/")), None);
        assert_eq!(origins.valid_until(&url("http://b.a.ke/"), 9), None);
    }
}
