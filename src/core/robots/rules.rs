use std::cmp::Ordering;
use std::time::Duration;

use super::groups::{Groups, RobotsDefects, Rule};
use super::lines::RobotsLines;
use crate::address::{PathPattern, Target, WebUrl};

/// The permissions that one robots.txt gives our product token.
///
/// ```
/// use ccsurvey_address::WebUrl;
/// use ccsurvey_core::robots::Rules;
/// let rules = Rules::parse(b"User-agent: *\nDisallow: /cgi-bin/\nAllow: /cgi-bin/hello$", "ccsurvey");
/// let may = |url: &str| rules.allows(&WebUrl::parse(url).unwrap());
/// assert!(may("http://example.ke/"));
/// assert!(!may("http://example.ke/cgi-bin/search?q=x"));
/// assert!(may("http://example.ke/cgi-bin/hello"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The most specific first, `allow` before an equally specific `disallow`.
    by_precedence: Vec<Rule>,
    crawl_delay: Option<Duration>,
    defects: RobotsDefects,
}

impl Rules {
    /// Reads any bytes; only the groups for our token (else for `*`) are kept. If the token is written with a
    /// version, such as `ccsurvey/1.0`, only the name counts.
    #[must_use]
    pub fn parse(body: &[u8], product_token: &str) -> Self {
        let lines = RobotsLines::new(body);
        let mut groups = Groups::new(product_token);
        for record in lines.records() {
            groups.add_record(record);
        }
        let defects = RobotsDefects { truncated: lines.truncated, html: lines.is_markup(), ..groups.defects };
        let group = groups.applicable();
        let mut by_precedence = group.rules;
        by_precedence.sort_unstable_by(Rule::precedence);
        by_precedence.dedup();
        by_precedence.shrink_to_fit();
        Self { by_precedence, crawl_delay: group.crawl_delay, defects }
    }

    /// No rules: everything may be requested.
    #[must_use]
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// `Disallow: /`: nothing but robots.txt itself may be requested.
    #[must_use]
    pub fn disallow_all() -> Self {
        let rule = |pattern| Rule { pattern, allow: false };
        Self { by_precedence: PathPattern::parse(b"/").map(rule).into_iter().collect(), ..Self::default() }
    }

    /// Whether this URL may be requested: as its most specific matching rule says, or yes if none matches
    /// (RFC 9309 §2.2.2). The URL must belong to the authority of the rules.
    ///
    /// Costs one pass over the URL for each rule; the worst file that fits the limit has some 50,000.
    #[must_use]
    pub fn allows(&self, url: &WebUrl) -> bool {
        if self.by_precedence.is_empty() || url.target() == "/robots.txt" {
            return true;
        }
        let target = Target::new(url.target());
        self.by_precedence.iter().find(|rule| rule.pattern.matches(&target)).is_none_or(|rule| rule.allow)
    }

    /// Whether any URL is forbidden.
    #[must_use]
    pub fn forbids_some(&self) -> bool {
        self.by_precedence.iter().any(|rule| !rule.allow)
    }

    /// The pause between requests that the owner asks for. It is not in the standard, but many ask for it and
    /// we respect it. Invalid values are ignored; the longest of several counts.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The errors in the file.
    #[must_use]
    pub fn defects(&self) -> RobotsDefects {
        self.defects
    }
}

impl Rule {
    /// The pattern itself comes last: equal rules become neighbours, and the order of lines plays no part.
    fn precedence(&self, other: &Self) -> Ordering {
        let octets = other.pattern.octets().cmp(&self.pattern.octets());
        octets.then(other.allow.cmp(&self.allow)).then_with(|| self.pattern.cmp(&other.pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::super::MAX_BYTES;
    use super::*;
    use proptest::prelude::*;

    fn url(path: &str) -> WebUrl {
        WebUrl::parse(&format!("http://a.ke{path}")).unwrap()
    }

    #[test]
    fn defects_are_counted() {
        let body = b"Disallow: /early\nnot a field at all\nUser-agent:\nUser-agent: ?\nUser-agent: *\n\
            Disallow: nowhere\nCrawl-delay: soon\nSitemap: http://a.ke/s.xml\nDisallow /\n";
        let rules = Rules::parse(body, "ccsurvey");
        let expected =
            RobotsDefects { malformed_lines: 5, rules_outside_groups: 1, ..RobotsDefects::default() };
        assert_eq!(rules.defects(), expected);
        assert!(!rules.allows(&url("/x")));
    }

    #[test]
    fn an_error_page_sent_as_robots_txt_has_no_rules() {
        let page = b"\n<!DOCTYPE html>\n<html><head><title>Disallow: /</title>\n<style>a: b</style>";
        let rules = Rules::parse(page, "ccsurvey");
        assert!(rules.defects().html);
        assert_eq!(rules.by_precedence, Vec::new());
    }

    #[test]
    fn crawl_delays_are_seconds_and_nonsense_is_ignored() {
        let delay = |value: &str| {
            Rules::parse(format!("User-agent: *\nCrawl-delay: {value}").as_bytes(), "x").crawl_delay()
        };
        assert_eq!(delay("2"), Some(Duration::from_secs(2)));
        assert_eq!(delay(".5"), Some(Duration::from_millis(500)));
        assert_eq!(delay("10 # please"), Some(Duration::from_secs(10)));
        for nonsense in ["", ".", "-1", "1e3", "inf", "NaN", "1.2.3", "10s", &"9".repeat(400)] {
            assert_eq!(delay(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn the_longest_of_several_delays_counts() {
        let body = b"User-agent: *\nCrawl-delay: 3\nCrawl-delay: 1\n\nUser-agent: *\nCrawl-delay: 2";
        assert_eq!(Rules::parse(body, "x").crawl_delay(), Some(Duration::from_secs(3)));
    }

    #[test]
    fn a_crawl_delay_divides_delays_but_not_groups() {
        let body = b"User-agent: a\nCrawl-delay: 1\nUser-agent: b\nCrawl-delay: 2\nDisallow: /x";
        for (token, seconds) in [("a", 1), ("b", 2)] {
            let rules = Rules::parse(body, token);
            assert_eq!(rules.crawl_delay(), Some(Duration::from_secs(seconds)));
            assert!(!rules.allows(&url("/x")), "RFC 9309 §2.2.4: only rules end a header");
        }
    }

    #[test]
    fn a_hostile_file_is_read_and_held_against_a_long_url() {
        let mut body = b"User-agent: *\n".to_vec();
        while body.len() < MAX_BYTES {
            body.extend_from_slice(b"Disallow: /*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b$\n");
            body.extend_from_slice(format!("Disallow: /*{}\n", body.len()).as_bytes());
        }
        let rules = Rules::parse(&body, "ccsurvey");
        assert!(rules.allows(&url(&format!("/{}", "a".repeat(2000)))));
        assert!(!rules.allows(&url("/aaaaaaaaaaaaaaaaaaaaaaaaaab")));
    }

    proptest! {
        #[test]
        fn any_bytes_give_rules(body in proptest::collection::vec(any::<u8>(), 0..400), path in "/[ -~]{0,40}") {
            let rules = Rules::parse(&body, "ccsurvey");
            if let Ok(url) = WebUrl::parse(&format!("http://a.ke{path}")) {
                let _ = rules.allows(&url);
            }
        }

        #[test]
        fn any_records_give_rules(body in "((User-agent|Disallow|Allow|Crawl-delay|x)[: ]{0,2}[*a/$%.1-9é#]{0,9}[\r\n]{1,2}){0,20}") {
            let rules = Rules::parse(body.as_bytes(), "a");
            prop_assert!(rules.allows(&url("/robots.txt")));
            let _ = rules.allows(&url("/a/1%C3%A9?a"));
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn what_stands_behind_the_limit_changes_nothing(lines in "((Disallow|Allow): /[ab]{0,3}\n){0,9}", tail in "[ -~\n]{0,40}") {
            let mut body = format!("User-agent: *\n{lines}").into_bytes();
            let short = Rules::parse(&body, "x");
            body.resize(MAX_BYTES - 1, b'\n');
            body.push(b'\n');
            body.extend_from_slice(format!("Disallow: /\n{tail}").as_bytes());
            let long = Rules::parse(&body, "x");
            prop_assert!(long.defects().truncated);
            prop_assert_eq!(long.by_precedence, short.by_precedence);
        }

    }

    proptest! {
        #[test]
        fn the_order_of_rules_plays_no_part(mut lines in proptest::collection::vec("(Disallow|Allow): /[ab*]{0,3}\n", 0..6)) {
            let rules = |lines: &[String]| Rules::parse(format!("User-agent: *\n{}", lines.concat()).as_bytes(), "x");
            let forward = rules(&lines);
            lines.reverse();
            prop_assert_eq!(rules(&lines), forward);
        }
    }
}
