use std::collections::{HashMap, HashSet, VecDeque};
use std::str::FromStr;

use super::rows::LevelTruth;
use super::rules::{Origin, PageId, UrlState, has_address, origin};
use crate::World;
use crate::model::content::Url;
use crate::web::{Handshake, Web};

/// How many entrances of a site a survey tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrances {
    /// At most this many, the offered URL included. With 1, a site gets no later tree either.
    UpTo(u8),
    /// The default number, and then the four doors (bare name and www, http and https), whatever the
    /// responses were.
    All,
}

const USUAL: u8 = 4;

impl Default for Entrances {
    fn default() -> Self {
        Self::UpTo(USUAL)
    }
}

impl FromStr for Entrances {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(limit @ 1..=USUAL) => Ok(Self::UpTo(limit)),
            _ if text == "all" => Ok(Self::All),
            _ => Err(format!("'{text}' is neither a number from 1 to {USUAL} nor all")),
        }
    }
}

/// The relation of an entrance to the offered URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Offered,
    FrontPage,
    OtherScheme,
    OtherName,
    OtherNameOtherScheme,
}

impl Relation {
    /// The word for it in the table `sites`.
    pub(crate) fn column_value(self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::FrontPage => "front_page",
            Self::OtherScheme => "other_scheme",
            Self::OtherName => "other_name",
            Self::OtherNameOtherScheme => "other_name_other_scheme",
        }
    }
}

/// Why a URL is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SkipReason {
    Trap,
    Filtered,
    Script,
    Robots,
    Unreachable,
}

impl SkipReason {
    pub(crate) fn count(self, level: &mut LevelTruth) -> &mut u64 {
        match self {
            Self::Trap => &mut level.not_fetched_trap,
            Self::Filtered => &mut level.not_fetched_filtered,
            Self::Script => &mut level.not_fetched_script,
            Self::Robots => &mut level.not_fetched_robots,
            Self::Unreachable => &mut level.not_fetched_robots_unreachable,
        }
    }
}

/// A URL in the list of a level.
#[derive(Clone)]
pub(super) struct LevelEntry {
    pub url: Url,
    /// Number of redirects that led here.
    pub hops: u32,
    /// The same page under its other scheme, whose class is counted already.
    pub is_repeat: bool,
    /// At level 0, the relation of this entrance, or of the one whose redirects led here.
    pub relation: Option<Relation>,
    pub is_trap: bool,
    /// The schemes under which the page was requested: http, https.
    pub requested: [bool; 2],
}

impl LevelEntry {
    pub(crate) fn new(url: Url, hops: u32) -> Self {
        Self { url, hops, is_repeat: false, relation: None, is_trap: false, requested: [false; 2] }
    }

    /// Set `is_repeat` if the page has its class already.
    pub(crate) fn entrance(url: Url, relation: Relation, is_repeat: bool) -> Self {
        Self { relation: Some(relation), is_repeat, ..Self::new(url, 0) }
    }

    pub(crate) fn is_entrance(&self) -> bool {
        self.relation.is_some() && self.hops == 0
    }
}

/// The entrance attempts of a tree.
pub(super) struct EntranceAttempts {
    is_https: bool,
    limit: u16,
    pub tried: u16,
    /// The relation of the entrance that led to the first page.
    pub opened: Option<Relation>,
    /// Tried while no page has arrived.
    by_rule: VecDeque<(Relation, Url)>,
    /// Tried in any case.
    unconditional: VecDeque<(Relation, Url)>,
    /// The URLs in the list of level 0, by scheme and page.
    listed: HashSet<(bool, PageId)>,
    /// Pages of level 0 that were skipped.
    skipped: HashMap<PageId, SkipReason>,
    /// Origins that responded with a status.
    responding: HashSet<Origin>,
    /// A front page redirects away from the site.
    pub front_moved: bool,
    /// robots.txt disallows a front page.
    forbidden: bool,
    /// robots.txt disallows an entrance.
    pub skipped_by_robots: bool,
}

impl EntranceAttempts {
    /// For a tree that begins with `offered` on a site with this bare name.
    pub(crate) fn new(entrances: Entrances, bare: &str, offered: &Url, is_first_tree: bool) -> Self {
        let (limit, asks_all) = match entrances {
            Entrances::UpTo(limit) => (limit, false),
            Entrances::All => (USUAL, is_first_tree),
        };
        Self {
            is_https: offered.is_https,
            limit: limit.into(),
            tried: 1,
            opened: None,
            by_rule: in_order(bare, offered).into(),
            unconditional: if asks_all { doors(bare, offered).into() } else { VecDeque::new() },
            listed: HashSet::from([(offered.is_https, PageId::from_url(offered))]),
            skipped: HashMap::new(),
            responding: HashSet::new(),
            front_moved: false,
            forbidden: false,
            skipped_by_robots: false,
        }
    }

    /// For a tree whose only entrance is the offered URL.
    pub(crate) fn single(bare: &str, offered: &Url) -> Self {
        Self::new(Entrances::UpTo(1), bare, offered, false)
    }

    pub(crate) fn note_response(&mut self, url: &Url) {
        self.responding.insert(origin(url));
    }

    pub(crate) fn note_listed(&mut self, url: &Url) {
        self.listed.insert((url.is_https, PageId::from_url(url)));
    }

    pub(crate) fn is_listed(&self, url: &Url) -> bool {
        self.listed.contains(&(url.is_https, PageId::from_url(url)))
    }

    /// Records that a URL of level 0 is skipped.
    pub(crate) fn note_skipped(&mut self, entry: &LevelEntry, reason: SkipReason) {
        if !entry.is_repeat {
            self.skipped.insert(PageId::from_url(&entry.url), reason);
        }
        self.skipped_by_robots |= reason == SkipReason::Robots;
        self.forbidden |= reason == SkipReason::Robots && is_front(&entry.url);
    }

    /// Why the same page was skipped under its other scheme.
    pub(crate) fn take_skipped(&mut self, url: &Url) -> Option<SkipReason> {
        self.skipped.remove(&PageId::from_url(url))
    }

    /// Records that a URL of level 0 redirects away from the site.
    pub(crate) fn note_moved(&mut self, offered: &Url, from: &LevelEntry) {
        let begins_at_front =
            from.relation.is_some_and(|relation| relation != Relation::Offered || is_front(offered));
        self.front_moved |= begins_at_front || is_front(&from.url);
    }

    /// The next entrance to list once the list of level 0 is done.
    pub(crate) fn next(
        &mut self,
        world: &World,
        url_states: &mut HashMap<PageId, UrlState>,
        has_page: bool,
    ) -> Option<LevelEntry> {
        if self.forbidden {
            return None;
        }
        if has_page || self.front_moved || self.tried >= self.limit {
            self.by_rule.clear();
        }
        loop {
            let by_rule = self.by_rule.pop_front();
            let may_try = by_rule.as_ref().is_none_or(|(relation, url)| self.may_open(world, *relation, url));
            let (relation, url) = by_rule.or_else(|| self.unconditional.pop_front())?;
            let url_state = url_states.get(&PageId::from_url(&url)).copied();
            if !may_try || url_state == Some(UrlState::Earlier) || self.is_listed(&url) {
                continue;
            }
            url_states.insert(PageId::from_url(&url), UrlState::Listed);
            self.note_listed(&url);
            self.tried += 1;
            return Some(LevelEntry::entrance(url, relation, url_state == Some(UrlState::Listed)));
        }
    }

    fn may_open(&self, world: &World, relation: Relation, url: &Url) -> bool {
        match relation {
            Relation::Offered | Relation::OtherName => true,
            Relation::FrontPage => {
                has_address(world, &url.host)
                    && (!url.is_https || world.handshake(&url.host) != Handshake::Closed)
            }
            Relation::OtherScheme | Relation::OtherNameOtherScheme => {
                let first = (self.is_https, url.host.clone());
                has_address(world, &url.host) && !self.responding.contains(&first)
            }
        }
    }
}

/// A front page has the path `/` and no query.
pub(super) fn is_front(url: &Url) -> bool {
    url.target == "/"
}

fn front(is_https: bool, host: &str) -> Url {
    Url { is_https, ..Url::http(host, "/") }
}

/// The front page of the host, then the other doors of the site, with the offered scheme first.
fn in_order(bare: &str, offered: &Url) -> Vec<(Relation, Url)> {
    let (same, other) = (offered.is_https, !offered.is_https);
    let mut list = vec![
        (Relation::FrontPage, front(same, &offered.host)),
        (Relation::OtherScheme, front(other, &offered.host)),
    ];
    for name in names(bare).into_iter().filter(|name| *name != offered.host) {
        list.push((Relation::OtherName, front(same, &name)));
        list.push((Relation::OtherNameOtherScheme, front(other, &name)));
    }
    list
}

fn doors(bare: &str, offered: &Url) -> Vec<(Relation, Url)> {
    let both_schemes = |name: String| {
        [false, true].map(|is_https| {
            let relation = match (name == offered.host, is_https == offered.is_https) {
                (true, true) => Relation::FrontPage,
                (true, false) => Relation::OtherScheme,
                (false, true) => Relation::OtherName,
                (false, false) => Relation::OtherNameOtherScheme,
            };
            (relation, front(is_https, &name))
        })
    };
    names(bare).into_iter().flat_map(both_schemes).collect()
}

pub(super) fn names(bare: &str) -> [String; 2] {
    [bare.to_owned(), format!("www.{bare}")]
}
