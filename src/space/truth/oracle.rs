use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::country::{CarryOver, Country, Start};
use super::entrances::{EntranceAttempts, LevelEntry, Relation};
use super::rows::{LevelTruth, LinkTruth};
use super::rules::{Origin, PageId, UrlState};
use super::traps::TrapDetector;
use crate::model::content::{Content, Url};
use crate::model::site::{Role, Site};
use crate::model::url_location::UrlLocation;

/// The state of the walk of one site tree, one URL after another.
pub(super) struct Oracle<'a> {
    pub(super) country: &'a Country<'a>,
    pub(super) start: Start,
    pub(super) url_states: HashMap<PageId, UrlState>,
    /// The level that is being walked.
    pub(super) list: Vec<LevelEntry>,
    pub(super) found: Vec<Url>,
    pub(super) depth: u16,
    pub(super) levels: Vec<LevelTruth>,
    pub(super) queries: HashMap<PageId, u32>,
    /// Origins whose robots.txt was requested.
    pub(super) robots: HashMap<Origin, RobotsFetch>,
    pub(super) robots_requests: u64,
    /// robots.txt files that earlier trees received …
    pub(super) earlier_robots: HashSet<String>,
    /// … and those that this tree received.
    pub(super) own_robots: HashSet<String>,
    pub(super) links: Vec<LinkTruth>,
    pub(super) external_urls: HashSet<PageId>,
    pub(super) external_hosts: HashSet<String>,
    pub(super) external_sites: HashSet<Rc<str>>,
    pub(super) server_responded: bool,
    pub(super) page_responded: bool,
    pub(super) moved: bool,
    pub(super) attempts: EntranceAttempts,
    pub(super) traps: TrapDetector,
    /// Number of failed pages in a row.
    pub(super) failures: u32,
    /// How many of them were closed without a response.
    pub(super) resets: u32,
    /// The walk gave up on the server.
    pub(super) gave_up: bool,
    /// The hosts of requested URLs, each drawn once.
    hosts: RefCell<HashMap<String, HostLookup>>,
}

/// The result of fetching the robots.txt of an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RobotsFetch {
    /// The rules of the host in the model.
    Rules,
    /// A response without rules: everything is allowed.
    Nothing,
    /// No response, or a server error: nothing is allowed.
    Failure,
}

/// The site of a host and the role of the host there; none if no site has it.
type HostLookup = Option<(Arc<Site>, Role)>;

impl<'a> Oracle<'a> {
    /// A tree of a site with what earlier trees know, if there were any.
    pub(crate) fn new(country: &'a Country<'a>, start: Start, known: &CarryOver) -> Self {
        let entrances = country.settings.entrances;
        let mut url_states: HashMap<_, _> =
            known.pages.iter().map(|page| (*page, UrlState::Earlier)).collect();
        url_states.insert(PageId::from_url(&start.url), UrlState::Listed);
        let offered = LevelEntry::entrance(start.url.clone(), Relation::Offered, false);
        Self {
            country,
            url_states,
            list: vec![offered],
            attempts: EntranceAttempts::new(entrances, &start.site, &start.url, start.seed == 0),
            start,
            found: Vec::new(),
            depth: 0,
            levels: Vec::new(),
            queries: known.scripts.clone(),
            robots: HashMap::new(),
            robots_requests: 0,
            earlier_robots: known.robots.clone(),
            own_robots: HashSet::new(),
            links: Vec::new(),
            external_urls: HashSet::new(),
            external_hosts: HashSet::new(),
            external_sites: HashSet::new(),
            server_responded: false,
            page_responded: false,
            moved: false,
            traps: TrapDetector::default(),
            failures: 0,
            resets: 0,
            gave_up: false,
            hosts: RefCell::default(),
        }
    }

    pub(super) fn url_location(&self, url: &Url) -> Option<UrlLocation> {
        if !self.hosts.borrow().contains_key(&url.host) {
            let site = Site::with_host(self.country.world, &url.host);
            let site = site.map(|(site, role)| (Arc::new(site), role));
            self.hosts.borrow_mut().insert(url.host.clone(), site);
        }
        let (site, role) = self.hosts.borrow().get(&url.host)?.clone()?;
        Some(UrlLocation::on(site, role, url))
    }

    pub(super) fn content(&self, location: Option<&UrlLocation>) -> Content {
        location.map_or(Content::Reset, |location| location.content(self.country.world))
    }

    pub(super) fn current_level(&mut self) -> &mut LevelTruth {
        self.level(self.depth)
    }

    pub(super) fn level(&mut self, depth: u16) -> &mut LevelTruth {
        while self.levels.len() <= usize::from(depth) {
            let depth = u16::try_from(self.levels.len()).unwrap_or(u16::MAX);
            self.levels.push(LevelTruth {
                site: self.start.site.clone(),
                seed: self.start.seed,
                depth,
                ..LevelTruth::default()
            });
        }
        &mut self.levels[usize::from(depth)]
    }
}
