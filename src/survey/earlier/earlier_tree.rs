use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::address::{Host, PageKey, Site, WebUrl};
use crate::exchange::Depth;
use crate::records::{ExchangeRow, PageLinkRow};
use crate::walk::yields::{Memory, Rates, SeenUrl};

/// A site tree of the earlier survey, built row by row. The exchanges must come in their own order; links may
/// come in any order.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct EarlierTree {
    /// The hash of the site's name.
    pub site: u64,
    /// In the order of the requests.
    pages: Vec<EarlierUrl>,
    /// External hosts, each with the first page that names it.
    hosts: HashMap<u64, u32>,
    /// URLs of the site that were linked but not requested, with the lowest level of a page that links to
    /// them.
    unfetched: HashMap<PageKey, u16>,
    /// A page or file was received.
    has_response: bool,
}

/// A URL that was requested.
#[derive(Debug, Serialize, Deserialize)]
struct EarlierUrl {
    url: String,
    depth: u16,
    requests: u32,
    /// The target of its redirect, if that is in the site.
    redirect: Option<PageKey>,
    /// The first page that leads to it.
    finder: Option<u32>,
}

/// The number of each page in the tree.
pub(super) type UrlNumbers = HashMap<PageKey, u32>;

impl EarlierTree {
    pub(super) fn new(site: &str) -> Self {
        Self { site: xxh3_64(site.as_bytes()), ..Self::default() }
    }

    pub(super) fn url_numbers(&self) -> UrlNumbers {
        let key =
            |(index, page): (u32, &EarlierUrl)| Some((WebUrl::parse(&page.url).ok()?.page_key(), index));
        (0..).zip(&self.pages).filter_map(key).collect()
    }

    /// Takes an exchange; returns whether it was for a URL of the tree.
    pub(super) fn add_exchange(&mut self, url_numbers: &mut UrlNumbers, row: ExchangeRow) -> bool {
        let Some((depth, url)) = row.depth.zip(WebUrl::parse(&row.url).ok()) else { return false };
        let index = *url_numbers.entry(url.page_key()).or_insert_with(|| {
            self.pages.push(EarlierUrl { url: row.url, depth, requests: 0, redirect: None, finder: None });
            u32::try_from(self.pages.len() - 1).unwrap_or(u32::MAX)
        });
        self.has_response |= matches!(row.status, Some(200..=299)) || row.unchanged_bytes.is_some();
        let page = &mut self.pages[index as usize];
        page.requests = page.requests.saturating_add(1);
        let is_redirect = matches!(row.status, Some(300..=399));
        let Some(target) = row.location.filter(|_| is_redirect).and_then(|to| url.join(&to).ok()) else {
            return true;
        };
        let is_internal = Host::parse(&row.site).map(Site::new).is_ok_and(|site| site.has(target.host()));
        match is_internal {
            true => page.redirect = Some(target.page_key()),
            false => self.note_host(target.host(), index),
        }
        true
    }

    /// Takes a link of a page.
    pub(super) fn add_link(&mut self, url_numbers: &UrlNumbers, row: &PageLinkRow) {
        let parsed = WebUrl::parse(&row.page).ok().zip(WebUrl::parse(&row.url).ok());
        let Some((page, url)) = parsed else { return };
        let Some(index) = url_numbers.get(&page.page_key()).copied() else { return };
        if !row.is_internal {
            self.note_host(url.host(), index);
        } else if !row.nofollow {
            self.note_finder(url_numbers, url.page_key(), index);
        }
    }

    /// Notes that a page leads to another URL of the site.
    fn note_finder(&mut self, url_numbers: &UrlNumbers, url: PageKey, by: u32) {
        let Some(index) = url_numbers.get(&url) else {
            let depth = self.pages[by as usize].depth;
            let least = self.unfetched.entry(url).or_insert(depth);
            *least = depth.min(*least);
            return;
        };
        // A page can only be found by a page that was requested before it.
        if by < *index {
            let finder = &mut self.pages[*index as usize].finder;
            *finder = Some(finder.map_or(by, |known| known.min(by)));
        }
    }

    /// Notes that a page names an external host.
    fn note_host(&mut self, host: &Host, index: u32) {
        let first = self.hosts.entry(xxh3_64(host.as_str().as_bytes())).or_insert(index);
        *first = index.min(*first);
    }

    /// Returns the requested URLs with the yield of each, and the memory of the tree if any page or file was
    /// received. `earlier_deepest` is the deepest level of a survey that left pages out: URLs that were
    /// linked above that level and not requested count as left out.
    pub(super) fn remember(
        mut self,
        rates: &Rates,
        earlier_deepest: Option<u16>,
    ) -> (Vec<SeenUrl>, Option<Memory>) {
        let url_numbers = self.url_numbers();
        for index in 0..self.pages.len() {
            if let Some(target) = self.pages[index].redirect {
                self.note_finder(&url_numbers, target, u32::try_from(index).unwrap_or(u32::MAX));
            }
        }
        let mut hosts = vec![0; self.pages.len()];
        self.hosts.values().for_each(|index| hosts[*index as usize] += 1);
        let seen = self.pages.into_iter().zip(hosts).filter_map(|(page, hosts)| {
            Some(SeenUrl {
                url: WebUrl::parse(&page.url).ok()?,
                depth: Depth(page.depth),
                finder: page.finder,
                requests: page.requests,
                hosts,
            })
        });
        let seen: Vec<SeenUrl> = seen.collect();
        if !self.has_response {
            return (seen, None);
        }
        let mut memory = Memory::from_seen(&seen, rates);
        if let Some(deepest) = earlier_deepest {
            let above = self.unfetched.into_iter().filter(|(_, depth)| *depth < deepest);
            memory.leave_out(above.map(|(url, _)| url));
        }
        (seen, Some(memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::yields::Scale;

    fn exchange(url: &str, depth: u16) -> ExchangeRow {
        ExchangeRow {
            site: "a.ke".to_owned(),
            url: url.to_owned(),
            depth: Some(depth),
            purpose: "page".to_owned(),
            status: Some(200),
            total_ms: Some(1.0),
            ..ExchangeRow::default()
        }
    }

    fn link(page: &str, url: &str, is_internal: bool) -> PageLinkRow {
        PageLinkRow {
            site: "a.ke".to_owned(),
            page: page.to_owned(),
            url: url.to_owned(),
            is_internal,
            ..PageLinkRow::default()
        }
    }

    fn seen(exchanges: Vec<ExchangeRow>, links: &[PageLinkRow]) -> (Vec<SeenUrl>, Option<Memory>) {
        let scale = Scale { by_depth: vec![1.0], ..Scale::default() };
        let rates = Rates::new(Vec::new(), scale.clone(), scale);
        let (mut tree, mut url_numbers) = (EarlierTree::new("a.ke"), UrlNumbers::new());
        for row in exchanges {
            tree.add_exchange(&mut url_numbers, row);
        }
        links.iter().for_each(|row| tree.add_link(&url_numbers, row));
        tree.remember(&rates, Some(1))
    }

    #[test]
    fn a_host_counts_for_the_first_page_that_names_it_in_whatever_order_the_rows_come() {
        let (front, deep) = ("http://a.ke/", "http://a.ke/deep");
        let away = ExchangeRow {
            status: Some(302),
            location: Some("http://b.ke/".to_owned()),
            ..exchange("http://a.ke/go", 1)
        };
        let links = [
            link(deep, "http://b.ke/x", false),
            link(deep, "http://c.ke/", false),
            link("http://a.ke/go", deep, true),
            link(front, deep, true),
            link(front, "http://b.ke/", false),
        ];
        let (seen, _) = seen(vec![exchange(front, 0), away, exchange(deep, 1)], &links);
        let hosts: Vec<u32> = seen.iter().map(|url| url.hosts).collect();
        assert_eq!(hosts, [1, 0, 1]);
        assert_eq!(seen[2].finder, Some(0));
    }

    #[test]
    fn of_a_site_where_nothing_came_nothing_is_remembered() {
        let failed = ExchangeRow { status: None, ..exchange("http://a.ke/", 0) };
        assert_eq!(seen(vec![failed], &[]).1, None);
    }

    #[test]
    fn what_was_left_out_is_known_and_what_lay_deeper_than_all_is_not() {
        let links = [
            link("http://a.ke/", "http://a.ke/left", true),
            link("http://a.ke/page", "http://a.ke/deeper", true),
        ];
        let (_, memory) = seen(vec![exchange("http://a.ke/", 0), exchange("http://a.ke/page", 1)], &links);
        let worth = |url: &str| memory.as_ref().unwrap().worth(&WebUrl::parse(url).unwrap());
        assert_eq!((worth("http://a.ke/left"), worth("http://a.ke/deeper")), (Some(0.0), None));
    }
}
