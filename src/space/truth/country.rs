use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::rules::{PageId, url_of};
use super::{FeedBack, LinkTruth, TruthSettings};
use crate::World;
use crate::address::{Host, WebUrl};
use crate::model::content::Url;

/// The most distinct URLs of one site that a tree feeds back.
const MOST_URLS: usize = 3;

/// The start of a site tree, and its origin.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub site: String,
    pub url: Url,
    pub parent_site: Option<String>,
    pub generation: u32,
    /// The number of the tree within its site, from 0.
    pub seed: u16,
}

/// What the trees of a site leave to later ones: pages and scripts that are not requested again.
#[derive(Clone, Debug, Default)]
pub(super) struct CarryOver {
    pub pages: HashSet<PageId>,
    pub scripts: HashMap<PageId, u32>,
    /// robots.txt files, and redirects of them, that earlier trees received; later trees get them without a
    /// request.
    pub robots: HashSet<String>,
}

/// The world from the view of a survey with these settings.
pub(super) struct Country<'a> {
    pub world: &'a World,
    pub settings: &'a TruthSettings,
    sites: RefCell<HashMap<String, Rc<str>>>,
}

impl<'a> Country<'a> {
    pub(crate) fn new(world: &'a World, settings: &'a TruthSettings) -> Self {
        Self { world, settings, sites: RefCell::default() }
    }

    pub(crate) fn site_of(&self, host: &str) -> Rc<str> {
        if let Some(site) = self.sites.borrow().get(host) {
            return Rc::clone(site);
        }
        let site: Rc<str> = Host::parse(host)
            .map_or_else(|_| host.to_owned(), |host| self.settings.suffixes.site_of(&host).to_string())
            .into();
        self.sites.borrow_mut().insert(host.to_owned(), Rc::clone(&site));
        site
    }

    pub(crate) fn surveys(&self, host: &str) -> bool {
        Host::parse(host).is_ok_and(|host| self.world.surveys(&host))
    }

    /// The start URLs that result from the links of a tree, limited to a number of distinct URLs per site.
    pub(crate) fn fed_back(&self, links: &[LinkTruth], parent: (&str, u32)) -> Vec<Start> {
        let mut pages_by_site: HashMap<String, Vec<PageId>> = HashMap::new();
        links
            .iter()
            .filter(|link| link.in_survey)
            .filter_map(|link| fed_back(&link.url, self.settings.feed_back))
            .filter_map(|url| self.start(&url, Some(parent)))
            .filter(|start| {
                let (urls, page) =
                    (pages_by_site.entry(start.site.clone()).or_default(), PageId::from_url(&start.url));
                let is_accepted = urls.len() < MOST_URLS && !urls.contains(&page);
                if is_accepted {
                    urls.push(page);
                }
                is_accepted
            })
            .collect()
    }

    pub(crate) fn start(&self, url: &str, parent: Option<(&str, u32)>) -> Option<Start> {
        let url = WebUrl::parse(url).ok()?;
        let url = url_of(url.is_https(), url.host().as_str(), url.target());
        Some(Start {
            site: self.site_of(&url.host).to_string(),
            url,
            parent_site: parent.map(|(site, _)| site.to_owned()),
            generation: parent.map_or(0, |(_, generation)| generation + 1),
            seed: 0,
        })
    }
}

pub(super) fn fed_back(url: &str, feed_back: FeedBack) -> Option<String> {
    match feed_back {
        FeedBack::Off => None,
        FeedBack::Link => Some(url.to_owned()),
        FeedBack::Door => WebUrl::parse(url).ok().map(|url| url.front_page_url().as_str().to_owned()),
    }
}
