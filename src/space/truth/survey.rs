use std::collections::{BTreeSet, HashMap, HashSet};

use super::country::{CarryOver, Country, Start, fed_back};
use super::entrances::names;
use super::hosts::hosts;
use super::later::TreeQueue;
use super::oracle::Oracle;
use super::{Entrances, Truth, TruthSettings};
use crate::World;

impl Truth {
    /// What a survey of the world with these settings must find. Hostile sites are left out.
    #[must_use]
    pub fn compute(world: &World, settings: &TruthSettings) -> Self {
        let country = Country::new(world, settings);
        let mut truth =
            Self { sites: Vec::new(), levels: Vec::new(), links: Vec::new(), hosts: hosts(&country) };
        let mut queue = TreeQueue::new(settings.entrances != Entrances::UpTo(1));
        let starts: Vec<Start> = settings
            .start
            .iter()
            .filter_map(|url| country.start(url, None))
            .filter(|start| world.hostile.site(&start.url.host).is_none())
            .collect();
        starts.iter().cloned().for_each(|start| queue.offer(start));
        while let Some((start, known)) = queue.pop() {
            let tree = Oracle::new(&country, start, &known).walk();
            queue.note_merged(&tree.row.site, tree.closed);
            let parent = (tree.row.site.as_str(), tree.row.generation);
            country.fed_back(&tree.links, parent).into_iter().for_each(|start| queue.offer(start));
            truth.sites.push(tree.row);
            truth.levels.extend(tree.levels);
            truth.links.extend(tree.links);
        }
        truth.set_reachable(&country, &starts);
        truth.sites.sort_by(|left, right| (&left.site, left.seed).cmp(&(&right.site, right.seed)));
        truth.levels.sort_by(|left, right| {
            (&left.site, left.seed, left.depth).cmp(&(&right.site, right.seed, right.depth))
        });
        truth.links.sort_by(|left, right| {
            (&left.site, left.seed, left.depth, &left.url).cmp(&(
                &right.site,
                right.seed,
                right.depth,
                &right.url,
            ))
        });
        truth
    }

    /// Sets `reachable`. For a site that no tree has opened, tries its doors and every URL of it that the
    /// survey met.
    fn set_reachable(&mut self, country: &Country<'_>, starts: &[Start]) {
        let opened: HashSet<&str> =
            self.sites.iter().filter(|row| row.reachable).map(|row| row.site.as_str()).collect();
        let closed_sites = self.sites.iter().filter(|row| !opened.contains(row.site.as_str()));
        let mut candidates: HashMap<&str, BTreeSet<String>> =
            closed_sites.map(|row| (row.site.as_str(), BTreeSet::new())).collect();
        for (site, candidates) in &mut candidates {
            let doors = names(site).into_iter();
            candidates
                .extend(doors.flat_map(|name| ["http", "https"].map(|scheme| format!("{scheme}://{name}/"))));
        }
        let start_urls = starts.iter().map(|start| (start.site.as_str(), start.url.to_string()));
        let linked = self.links.iter().filter(|link| link.in_survey && !candidates.is_empty());
        let linked: Vec<(&str, String)> = linked
            .filter_map(|link| {
                let url = fed_back(&link.url, country.settings.feed_back)?;
                Some((link.target_site.as_str(), url))
            })
            .collect();
        for (site, url) in start_urls.chain(linked) {
            if let Some(candidates) = candidates.get_mut(site) {
                candidates.insert(url);
            }
        }
        let opens = |url: &String| {
            let start = country.start(url, None);
            start.is_some_and(|start| Oracle::new(country, start, &CarryOver::default()).opens())
        };
        let mut reachable: HashSet<String> = opened.into_iter().map(str::to_owned).collect();
        reachable.extend(
            candidates
                .iter()
                .filter(|(_, candidates)| candidates.iter().any(opens))
                .map(|(site, _)| (*site).to_owned()),
        );
        for row in &mut self.sites {
            row.reachable = reachable.contains(&row.site);
        }
    }
}
