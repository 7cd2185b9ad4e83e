use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::end::Known;
use super::entrances::names;
use super::later::Queue;
use super::oracle::Oracle;
use super::rules::{PageId, url_of};
use super::{Entrances, FeedBack, LinkTruth, Truth, TruthSettings};
use crate::address::{Host, WebUrl};
use crate::space::World;
use crate::space::content::Url;

/// A tree hands in no more different URLs of one site.
const MOST_URLS: usize = 3;

/// Where a site tree begins, and how it became known.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub site: String,
    pub url: Url,
    pub parent_site: Option<String>,
    pub generation: u32,
    /// Which of the site's trees it is, from 0.
    pub seed: u16,
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

    /// The start URLs that the links of a tree make: so many different ones at most of each site.
    fn fed_back(&self, links: &[LinkTruth], parent: (&str, u32)) -> Vec<Start> {
        let mut of_sites: HashMap<String, Vec<PageId>> = HashMap::new();
        links
            .iter()
            .filter(|link| link.in_survey)
            .filter_map(|link| fed_back(&link.url, self.settings.feed_back))
            .filter_map(|url| self.start(&url, Some(parent)))
            .filter(|start| {
                let (urls, page) = (of_sites.entry(start.site.clone()).or_default(), PageId::of(&start.url));
                let is_taken = urls.len() < MOST_URLS && !urls.contains(&page);
                if is_taken {
                    urls.push(page);
                }
                is_taken
            })
            .collect()
    }

    fn start(&self, url: &str, parent: Option<(&str, u32)>) -> Option<Start> {
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

impl Truth {
    /// What a survey of the world with these settings must find. Of hostile sites nothing is told.
    #[must_use]
    pub fn of(world: &World, settings: &TruthSettings) -> Self {
        let country = Country { world, settings, sites: RefCell::default() };
        let mut truth = Self { sites: Vec::new(), levels: Vec::new(), links: Vec::new() };
        let mut queue = Queue::new(settings.entrances != Entrances::UpTo(1));
        let starts: Vec<Start> = settings
            .start
            .iter()
            .filter_map(|url| country.start(url, None))
            .filter(|start| world.hostile.site(&start.url.host).is_none())
            .collect();
        starts.iter().cloned().for_each(|start| queue.offer(start));
        while let Some((start, known)) = queue.pop() {
            let tree = Oracle::new(&country, start, &known).walk();
            queue.merged(&tree.row.site, tree.closed);
            let parent = (tree.row.site.as_str(), tree.row.generation);
            country.fed_back(&tree.links, parent).into_iter().for_each(|start| queue.offer(start));
            truth.sites.push(tree.row);
            truth.levels.extend(tree.levels);
            truth.links.extend(tree.links);
        }
        truth.tell_reachable(&country, &starts);
        truth.sites.sort_by(|one, other| (&one.site, one.seed).cmp(&(&other.site, other.seed)));
        truth.levels.sort_by(|one, other| {
            (&one.site, one.seed, one.depth).cmp(&(&other.site, other.seed, other.depth))
        });
        truth.links.sort_by(|one, other| {
            (&one.site, one.seed, one.depth, &one.url).cmp(&(
                &other.site,
                other.seed,
                other.depth,
                &other.url,
            ))
        });
        truth
    }

    /// Of sites that no tree has opened: whether one of their doors, or of the URLs that the survey has met, does.
    fn tell_reachable(&mut self, country: &Country<'_>, starts: &[Start]) {
        let opened: HashSet<&str> =
            self.sites.iter().filter(|row| row.reachable).map(|row| row.site.as_str()).collect();
        let shut = self.sites.iter().filter(|row| !opened.contains(row.site.as_str()));
        let mut ways: HashMap<&str, BTreeSet<String>> =
            shut.map(|row| (row.site.as_str(), BTreeSet::new())).collect();
        for (site, ways) in &mut ways {
            let doors = names(site).into_iter();
            ways.extend(doors.flat_map(|name| ["http", "https"].map(|scheme| format!("{scheme}://{name}/"))));
        }
        let met = starts.iter().map(|start| (start.site.as_str(), start.url.to_string()));
        let linked = self.links.iter().filter(|link| link.in_survey && !ways.is_empty());
        let linked: Vec<(&str, String)> = linked
            .filter_map(|link| {
                let url = fed_back(&link.url, country.settings.feed_back)?;
                Some((link.target_site.as_str(), url))
            })
            .collect();
        for (site, url) in met.chain(linked) {
            if let Some(ways) = ways.get_mut(site) {
                ways.insert(url);
            }
        }
        let opens = |url: &String| {
            let start = country.start(url, None);
            start.is_some_and(|start| Oracle::new(country, start, &Known::default()).opens())
        };
        let mut reachable: HashSet<String> = opened.into_iter().map(str::to_owned).collect();
        reachable.extend(
            ways.iter().filter(|(_, ways)| ways.iter().any(opens)).map(|(site, _)| (*site).to_owned()),
        );
        for row in &mut self.sites {
            row.reachable = reachable.contains(&row.site);
        }
    }
}

fn fed_back(url: &str, feed_back: FeedBack) -> Option<String> {
    match feed_back {
        FeedBack::Off => None,
        FeedBack::Link => Some(url.to_owned()),
        FeedBack::Door => WebUrl::parse(url).ok().map(|url| url.door().as_str().to_owned()),
    }
}
