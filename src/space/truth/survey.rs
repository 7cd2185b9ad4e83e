use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

use super::oracle::Oracle;
use super::rules::url_of;
use super::{FeedBack, Truth, TruthSettings};
use crate::address::{Host, WebUrl};
use crate::space::World;
use crate::space::content::Url;

/// Where a site tree begins, and how it became known.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub site: String,
    pub url: Url,
    pub parent_site: Option<String>,
    pub generation: u32,
}

/// The world as a survey with these settings sees it.
pub(super) struct Country<'a> {
    pub world: &'a World,
    pub settings: &'a TruthSettings,
    sites: RefCell<HashMap<String, Rc<str>>>,
}

impl Country<'_> {
    pub fn site_of(&self, host: &str) -> Rc<str> {
        if let Some(site) = self.sites.borrow().get(host) {
            return Rc::clone(site);
        }
        let site: Rc<str> = Host::parse(host)
            .map_or_else(|_| host.to_owned(), |host| self.settings.suffixes.site_of(&host).to_string())
            .into();
        self.sites.borrow_mut().insert(host.to_owned(), Rc::clone(&site));
        site
    }

    pub fn surveys(&self, host: &str) -> bool {
        Host::parse(host).is_ok_and(|host| self.world.surveys(&host))
    }

    fn start(&self, url: &str, parent: Option<(&str, u32)>) -> Option<Start> {
        let url = WebUrl::parse(url).ok()?;
        let url = url_of(url.is_https(), url.host().as_str(), url.target());
        Some(Start {
            site: self.site_of(&url.host).to_string(),
            url,
            parent_site: parent.map(|(site, _)| site.to_owned()),
            generation: parent.map_or(0, |(_, generation)| generation + 1),
        })
    }
}

impl Truth {
    /// What a survey of the world with these settings must find. Of hostile sites nothing is told.
    #[must_use]
    pub fn of(world: &World, settings: &TruthSettings) -> Self {
        let country = Country { world, settings, sites: RefCell::default() };
        let mut truth = Self { sites: Vec::new(), levels: Vec::new(), links: Vec::new() };
        let mut known = HashSet::new();
        let mut queue: VecDeque<Start> = settings
            .start
            .iter()
            .filter_map(|url| country.start(url, None))
            .filter(|start| world.hostile.site(&start.url.host).is_none())
            .filter(|start| known.insert(start.site.clone()))
            .collect();
        while let Some(start) = queue.pop_front() {
            let tree = Oracle::new(&country, start).walk();
            for link in tree.links.iter().filter(|link| link.in_survey) {
                let parent = Some((tree.row.site.as_str(), tree.row.generation));
                let next =
                    fed_back(&link.url, settings.feed_back).and_then(|url| country.start(&url, parent));
                queue.extend(next.filter(|start| known.insert(start.site.clone())));
            }
            truth.sites.push(tree.row);
            truth.levels.extend(tree.levels);
            truth.links.extend(tree.links);
        }
        truth.sites.sort();
        truth.levels.sort();
        truth.links.sort_by(|one, other| {
            (&one.site, one.depth, &one.url).cmp(&(&other.site, other.depth, &other.url))
        });
        truth
    }
}

fn fed_back(url: &str, feed_back: FeedBack) -> Option<String> {
    match feed_back {
        FeedBack::Off => None,
        FeedBack::Link => Some(url.to_owned()),
        FeedBack::Door => WebUrl::parse(url).ok().map(|url| url.door().as_str().to_owned()),
    }
}
