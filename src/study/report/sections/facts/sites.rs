use super::counted::{CountBasis, ordered, share, share_of};
use crate::analysis::overview::{CountryDomain, Sites, Spread};
use crate::records::units::{count, thousands};
use crate::report::{Block, Cell, Column, Fact, Section, Table, percent};

/// The size and age of sites, and the share of duplicates.
#[must_use]
pub(in crate::report) fn section(sites: &Sites) -> Section {
    let pages = &sites.pages;
    let lead = format!(
        "Of {} with a page, half have {} pages or fewer, and {} have a single one. The largest 1 % \
         have {} of all pages.",
        count(pages.count, "site"),
        Cell::Number(pages.median, 0).display(),
        share_of(sites.with_one_page, pages.count),
        percent(sites.share_of_largest_hundredth),
    );
    Section::new("sites", "Sites and pages", lead)
        .with(facts(sites))
        .with(ordered(
            "figure-site-size",
            "Sites by number of pages read",
            CountBasis::sum("pages", "sites", &sites.by_size),
            &sites.by_size,
        ))
        .with(largest(sites))
        .with(by_country_domain(&sites.by_country_domain))
        .with(ordered(
            "figure-age",
            "Pages with a date of last modification, by age when fetched",
            CountBasis::sum("age", "pages", &sites.age.classes),
            &sites.age.classes,
        ))
        .with(Block::Note(format!(
            "Age comes from the header Last-Modified: {} of the pages have a date in it, {} have none, and \
             {} have a date in the future. Pages generated on request state the time of the request or nothing.",
            share_of(sites.age.dated, sites.read_pages),
            thousands(sites.age.undated),
            thousands(sites.age.future),
        )))
}

fn facts(sites: &Sites) -> Vec<Fact> {
    let Spread { mean, median, p95, max, .. } = sites.pages;
    let copies = &sites.copies;
    vec![
        Fact::new("Pages of a site, mean", Cell::Number(mean, 1)).note("of sites with a page"),
        Fact::new("Median", Cell::Number(median, 1)),
        Fact::new("95th percentile", Cell::Number(p95, 1)),
        Fact::new("Most", Cell::Count(max as u64)),
        Fact::new("Unevenness", Cell::Number(sites.unevenness, 3))
            .note("Gini coefficient: 0 if all are equal, 1 if one has everything"),
        Fact::new("Pages of query URLs", share(sites.query_pages, sites.read_pages))
            .note("with ? or ; in the URL"),
        Fact::new("Different bodies", copies.bodies).note(format!("of {} pages", thousands(copies.pages))),
        Fact::new("Copies inside a site", share(copies.inside_sites, copies.pages)).note("beyond the first"),
        Fact::new("Copies across sites", share(copies.across_sites, copies.pages)).note(format!(
            "bodies found on two or more sites; {} with such a body",
            count(copies.sites_sharing, "site")
        )),
        Fact::new("Near copies inside a site", share(copies.nearly_inside_sites, copies.pages))
            .note("different bodies, but the SimHash of the text differs in at most 3 of 64 bits from that of another page"),
    ]
}

fn largest(sites: &Sites) -> Table {
    let columns =
        vec![Column::text("site"), Column::number("pages", ""), Column::share("share of all pages")];
    let rows = sites
        .largest
        .iter()
        .map(|site| vec![site.site.clone().into(), Cell::Count(site.pages), Cell::Share(site.share)]);
    Table::new("table-largest-sites", "The sites with the most pages read", columns).with_rows(rows)
}

fn by_country_domain(domains: &[CountryDomain]) -> Table {
    let columns = vec![
        Column::text("country domain"),
        Column::number("sites", ""),
        Column::number("with a page", ""),
        Column::share("share with a page"),
        Column::number("pages", ""),
        Column::number("median pages", ""),
    ];
    let rows = domains.iter().map(|domain| {
        vec![
            domain.name.clone().into(),
            Cell::Count(domain.sites),
            Cell::Count(domain.with_page),
            share(domain.with_page, domain.sites),
            Cell::Count(domain.pages),
            Cell::Number(domain.median_pages, 1),
        ]
    });
    Table::new("table-country-domains", "Sites and pages by country domain", columns).with_rows(rows)
}
