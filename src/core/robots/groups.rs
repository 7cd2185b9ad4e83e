use std::time::Duration;

use super::lines::Record;
use crate::address::PathPattern;

/// Gathers, record by record, the rules of a robots.txt for us and for everyone.
pub(super) struct Groups<'a> {
    token: &'a [u8],
    /// Present once a line has named us, even without rules.
    ours: Option<Group>,
    everyone: Group,
    in_group: bool,
    rules_for: Header,
    delay_for: Header,
    pub(super) defects: RobotsDefects,
}

/// Whether URLs that match the pattern may be requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) pattern: PathPattern,
    pub(super) allow: bool,
}

/// Errors in a robots.txt, in any of its groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RobotsDefects {
    /// Lines that are no field at all, name no crawler, or have a path or delay that means nothing.
    pub malformed_lines: u32,
    /// Rules before the first `User-agent`.
    pub rules_outside_groups: u32,
    /// Longer than [`MAX_BYTES`](super::MAX_BYTES): the rest was not read.
    pub truncated: bool,
    /// It begins like HTML or XML: most likely an error page sent as 200.
    pub html: bool,
}

/// All groups for one name, combined (RFC 9309 §2.2.1).
#[derive(Default)]
pub(super) struct Group {
    pub(super) rules: Vec<Rule>,
    pub(super) crawl_delay: Option<Duration>,
}

/// The crawlers that the last consecutive user-agent lines name.
///
/// There are two headers. Rules end one as the standard says, and only rules do, so that no other record can
/// divide a group (§2.2.4). A `Crawl-delay` is such another record. For delays alone it ends a header of its
/// own, because `User-agent: a`, `Crawl-delay: 1`, `User-agent: b`, `Crawl-delay: 2` is how people write two
/// delays.
#[derive(Default)]
struct Header {
    us: bool,
    everyone: bool,
    ended: bool,
}

impl<'a> Groups<'a> {
    pub(super) fn new(product_token: &'a str) -> Self {
        Self {
            token: tokens(product_token.as_bytes()).next().unwrap_or_default(),
            ours: None,
            everyone: Group::default(),
            in_group: false,
            rules_for: Header::default(),
            delay_for: Header::default(),
            defects: RobotsDefects::default(),
        }
    }

    pub(super) fn add_record(&mut self, record: Record<'_>) {
        match record {
            Record::UserAgent(value) => self.user_agent(value),
            Record::Allow(path) => self.rule(path, true),
            Record::Disallow(path) => self.rule(path, false),
            Record::CrawlDelay(value) => self.delay(value),
            Record::Sitemap(_) | Record::Other => {}
            Record::Malformed => self.defects.malformed_lines += 1,
        }
    }

    /// The groups that bind us: those that name us, however short, else those for `*`.
    pub(super) fn applicable(self) -> Group {
        self.ours.unwrap_or(self.everyone)
    }

    /// A line should hold one product token (§2.2). If it holds more, it names them all: an owner who copies
    /// our `User-Agent` header from a log means us.
    fn user_agent(&mut self, value: &[u8]) {
        let everyone = value.split(u8::is_ascii_whitespace).next() == Some(b"*");
        let us = tokens(value).any(|token| token.eq_ignore_ascii_case(self.token));
        if us {
            self.ours.get_or_insert_default();
        } else if !everyone && tokens(value).next().is_none() {
            self.defects.malformed_lines += 1;
        }
        self.in_group = true;
        self.rules_for.name(us, everyone);
        self.delay_for.name(us, everyone);
    }

    /// An empty path is no rule, but ends the header as one (§2.2: `empty-pattern`).
    fn rule(&mut self, path: &[u8], allow: bool) {
        self.rules_for.ended = true;
        self.delay_for.ended = true;
        if !self.in_group {
            self.defects.rules_outside_groups += 1;
            return;
        }
        if path.is_empty() {
            return;
        }
        let Some(pattern) = PathPattern::parse(path) else {
            self.defects.malformed_lines += 1;
            return;
        };
        let rule = Rule { pattern, allow };
        if self.rules_for.everyone {
            self.everyone.rules.push(rule.clone());
        }
        if let Some(ours) = self.ours.as_mut().filter(|_| self.rules_for.us) {
            ours.rules.push(rule);
        }
    }

    fn delay(&mut self, value: &[u8]) {
        self.delay_for.ended = true;
        let Some(delay) = seconds(value) else {
            self.defects.malformed_lines += 1;
            return;
        };
        // The longest of several delays: it respects all of them.
        if self.delay_for.everyone {
            self.everyone.crawl_delay = self.everyone.crawl_delay.max(Some(delay));
        }
        if let Some(ours) = self.ours.as_mut().filter(|_| self.delay_for.us) {
            ours.crawl_delay = ours.crawl_delay.max(Some(delay));
        }
    }
}

impl Header {
    fn name(&mut self, us: bool, everyone: bool) {
        if self.ended {
            *self = Self::default();
        }
        self.us |= us;
        self.everyone |= everyone;
    }
}

/// The product tokens in a name: `FooBot/2.1 (x)` has `FooBot`, `2.1` and `x`.
///
/// RFC 9309 §2.2.1 allows letters, `_` and `-`; the names of real crawlers (`archive.org_bot`) also contain
/// digits, dots and letters beyond ASCII, and a cut there would mistake one for another.
fn tokens(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte) || !byte.is_ascii();
    name.split(move |byte| !part(byte)).filter(|token| !token.is_empty())
}

/// A delay in seconds: decimal digits, perhaps with a point. Anything else is invalid.
fn seconds(value: &[u8]) -> Option<Duration> {
    if !value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return None;
    }
    let seconds = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
