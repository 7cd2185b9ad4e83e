use super::counted::{CountBasis, ordered, share_of, table};
use crate::analysis::Completeness;
use crate::analysis::overview::{Funnel, NamedCount};
use crate::records::units::{count, thousands};
use crate::report::{Block, Section};

/// The number of sites at each stage, from known to active.
#[must_use]
pub(in crate::report) fn section(funnel: &Funnel, completeness: &Completeness) -> Section {
    let lead = format!(
        "Known in the country domains: {}. Of these, {} were surveyed; {} of the surveyed sites respond and {} are \
         active.",
        count(funnel.known, "site"),
        thousands(funnel.surveyed),
        share_of(funnel.answered, funnel.surveyed),
        share_of(funnel.active, funnel.surveyed),
    );
    let mut section = Section::new("funnel", "From known to active sites", lead).with(ordered(
        "figure-funnel",
        "Sites of the country domains that reach each stage. A site is a registrable domain.",
        CountBasis { row_noun: "stage", unit: "sites", whole: funnel.known },
        &stages(funnel),
    ));
    if !funnel.answered_without_front_page.is_empty() {
        section = section.with(table(
            "table-no-front-page",
            "Sites that respond but have no front page, by outcome of their walk",
            "outcome",
            "sites",
            &funnel.answered_without_front_page,
        ));
    }
    let known = if completeness.is_under_way() {
        "start URLs whose site trees are done, and targets of their links"
    } else {
        "start URLs and targets of links"
    };
    section.with(Block::Note(format!(
        "Known: {known}. Resolves: an address was found. Responds: any status \
         was received, for robots.txt too. Front page: 2xx at an entrance of the site or where it redirects inside the \
         site. Active: two pages or more. Parked sites are not identified, because that would be a guess; \
         they are among the sites with one page. Left out: {} outside the country domains.",
        count(funnel.outside, "surveyed site")
    )))
}

fn stages(funnel: &Funnel) -> Vec<NamedCount> {
    [
        ("known", funnel.known),
        ("surveyed", funnel.surveyed),
        ("resolves", funnel.resolved),
        ("responds", funnel.answered),
        ("front page", funnel.front_page),
        ("a page was read", funnel.with_page),
        ("active", funnel.active),
    ]
    .map(|(name, count)| NamedCount { name: name.to_owned(), count })
    .into()
}
