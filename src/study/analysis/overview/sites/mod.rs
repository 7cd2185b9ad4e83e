//! The sites of a survey: outcomes, age of pages, copies.

pub(super) mod age;
pub(super) mod card;
pub(super) mod copies;
pub(super) mod funnel;
pub(super) mod near;
pub(super) mod outcomes;

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::tables::group;
use super::exchange::ExchangeView;
use super::listed::{ListedTrees, OUTSIDE, SiteView};
use super::spread::{Spread, gini, share};
use super::tally::{NamedCount, Tally};
use age::{Age, AgeMaker};
use copies::{Copies, CopiesMaker};

/// The size, depth and age of sites, and how many of their pages have query URLs or are copies.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sites {
    /// Pages per site, over sites with at least one page.
    pub pages: Spread,
    /// Sites with exactly one page.
    pub with_one_page: u64,
    /// The Gini coefficient of pages over sites with at least one page.
    pub unevenness: f64,
    /// The largest sites, the site with the most pages first.
    pub largest: Vec<LargeSite>,
    /// The share of all pages that belongs to the largest 1 % of the sites with a page (at least one site).
    pub share_of_largest_hundredth: f64,
    /// Sites by number of pages, in classes from 0 up.
    pub by_size: Vec<NamedCount>,
    /// Site trees with a page by the deepest level that was requested, from 0 on.
    pub by_deepest: Vec<u64>,
    /// Site trees by generation, from 0 on.
    pub by_generation: Vec<u64>,
    /// By country domain, the one with the most sites first, `outside` last.
    pub by_country_domain: Vec<CountryDomain>,
    /// Pages with a `?` or a `;` in their URL.
    pub query_pages: u64,
    /// Pages that were read for links.
    pub read_pages: u64,
    /// The age of pages by `Last-Modified`.
    pub age: Age,
    /// Copies of pages, by body and by text.
    pub copies: Copies,
}

/// One of the sites with the most pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LargeSite {
    /// The registrable domain.
    pub site: String,
    /// Pages that were read.
    pub pages: u64,
    /// The share of all pages of the survey.
    pub share: f64,
}

/// The sites of one country domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CountryDomain {
    /// The country domain, as in the settings of the survey, or `outside`.
    pub name: String,
    /// Sites with a site tree.
    pub sites: u64,
    /// Sites with at least one page.
    pub with_page: u64,
    /// Pages of all its sites.
    pub pages: u64,
    /// The median of pages per site, over sites with at least one page.
    pub median_pages: f64,
}

/// The number of largest sites that are named.
const NAMED: usize = 10;

#[derive(Default)]
pub(super) struct SitesMaker {
    /// The number of pages of each site.
    pages: Vec<u32>,
    cctlds: Vec<u32>,
    by_deepest: Vec<u64>,
    by_generation: Vec<u64>,
    query_pages: u64,
    read_pages: u64,
    age: AgeMaker,
    copies: CopiesMaker,
}

impl SitesMaker {
    pub(super) fn add_site(&mut self, site: &SiteView<'_>, cctld: u32) {
        if site.is_first {
            self.pages.push(0);
            self.cctlds.push(cctld);
        }
        if let Some(pages) = self.pages.get_mut(site.site as usize) {
            *pages = pages.saturating_add(u32::try_from(site.pages).unwrap_or(u32::MAX));
        }
        count_at(&mut self.by_generation, site.generation);
        if let Some(deepest) = site.deepest.filter(|_| site.pages > 0) {
            count_at(&mut self.by_deepest, deepest);
        }
    }

    pub(super) fn add(&mut self, exchange: &ExchangeView<'_>) {
        if !exchange.was_parsed() {
            return;
        }
        self.read_pages += 1;
        // A host name contains neither character. DESIGN.md calls such a URL a query URL.
        self.query_pages += u64::from(exchange.url.contains(['?', ';']));
        self.age.add(exchange.last_modified, exchange.started);
        if let Some(hash) = exchange.body_hash {
            self.copies.add(hash, exchange.text_simhash, exchange.site);
        }
    }

    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    pub(super) fn finish(self, listed: &ListedTrees) -> Sites {
        let mut with_page: Vec<f64> =
            self.pages.iter().filter(|pages| **pages > 0).map(|pages| f64::from(*pages)).collect();
        with_page.sort_unstable_by(|a, b| b.total_cmp(a));
        let all: f64 = with_page.iter().sum();
        let hundredth = with_page.len().div_ceil(100);
        let largest_pages: f64 = with_page.iter().take(hundredth).sum();
        Sites {
            with_one_page: self.pages.iter().filter(|pages| **pages == 1).count() as u64,
            largest: self.largest(listed),
            share_of_largest_hundredth: if all > 0.0 { largest_pages / all } else { 0.0 },
            by_size: self.by_size(),
            by_country_domain: self.by_country_domain(listed),
            unevenness: gini(with_page.clone()),
            pages: Spread::from_values(with_page),
            by_deepest: self.by_deepest,
            by_generation: self.by_generation,
            query_pages: self.query_pages,
            read_pages: self.read_pages,
            age: self.age.finish(),
            copies: self.copies.finish(),
        }
    }

    fn largest(&self, listed: &ListedTrees) -> Vec<LargeSite> {
        let all: u64 = self.pages.iter().map(|pages| u64::from(*pages)).sum();
        let mut order: Vec<(u32, u32)> = (0u32..).zip(self.pages.iter().copied()).collect();
        order.retain(|(_, pages)| *pages > 0);
        let name = |site: u32| listed.sites.name(site);
        order.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| name(a.0).cmp(name(b.0))));
        let named = order.into_iter().take(NAMED);
        let large = |(site, pages): (u32, u32)| {
            let pages = u64::from(pages);
            LargeSite { site: name(site).to_owned(), pages, share: share(pages, all) }
        };
        named.map(large).collect()
    }

    fn by_size(&self) -> Vec<NamedCount> {
        let mut classes = Tally::default();
        self.pages.iter().for_each(|pages| classes.add(group::pages_class(u64::from(*pages))));
        let counted = classes.finish();
        // One number of pages from each class, in order.
        [0, 1, 2, 10, 100, 1000]
            .map(group::pages_class)
            .into_iter()
            .map(|class| {
                let count = counted.iter().find(|counted| counted.name == class);
                NamedCount { name: class.to_owned(), count: count.map_or(0, |counted| counted.count) }
            })
            .collect()
    }

    fn by_country_domain(&self, listed: &ListedTrees) -> Vec<CountryDomain> {
        let mut domains: BTreeMap<u32, (CountryDomain, Vec<f64>)> = BTreeMap::new();
        for (&pages, &cctld) in self.pages.iter().zip(&self.cctlds) {
            let (domain, spread) = domains.entry(cctld).or_default();
            domain.sites += 1;
            domain.pages += u64::from(pages);
            if pages > 0 {
                domain.with_page += 1;
                spread.push(f64::from(pages));
            }
        }
        let finish = |(cctld, (domain, spread)): (u32, (CountryDomain, Vec<f64>))| CountryDomain {
            name: listed.labels.name(cctld).to_owned(),
            median_pages: Spread::from_values(spread).median,
            ..domain
        };
        let mut list: Vec<CountryDomain> = domains.into_iter().map(finish).collect();
        list.sort_by(|a, b| {
            let outside = |domain: &CountryDomain| domain.name == OUTSIDE;
            (outside(a).cmp(&outside(b))).then(b.sites.cmp(&a.sites)).then_with(|| a.name.cmp(&b.name))
        });
        list
    }
}

/// The highest level or generation that is counted: greater numbers come from a damaged table.
const MAX_CLASSES: usize = 10_000;

fn count_at(counts: &mut Vec<u64>, index: u32) {
    let index = (index as usize).min(MAX_CLASSES);
    if counts.len() <= index {
        counts.resize(index + 1, 0);
    }
    counts[index] += 1;
}
