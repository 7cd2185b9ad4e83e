use super::counted::{CountBasis, ordered, share, share_of, table};
use crate::analysis::overview::{GENERIC, Links};
use crate::records::units::count;
use crate::report::{Block, Cell, Column, Figure, Matrix, Scale, Section, Table, percent};

/// The targets of external links.
#[must_use]
pub(in crate::report) fn section(links: &Links) -> Section {
    let lead = format!(
        "Links to other sites were found in {}: {}, with {} of {}. {} of the pairs lead to generic \
         domains, and {} stay in the surveyed country domains.",
        count(links.linking_trees, "site tree"),
        count(links.external_urls, "URL pair"),
        count(links.hosts, "host"),
        count(links.sites, "site"),
        percent(links.share_to_generic()),
        share_of(links.in_survey, links.external_urls),
    );
    let section = Section::new("links", "Links to other sites", lead);
    if links.external_urls == 0 {
        return section;
    }
    let trees = CountBasis { row_noun: "host", unit: "linking site trees", whole: links.linking_trees };
    let caption = "The hosts that most site trees link to, with their share of the trees with external links";
    section
        .with(ordered("figure-linked-hosts", caption, trees, &links.most_linked_hosts))
        .with(most_linked_sites(links))
        .with(matrix(links))
        .with(table(
            "table-elements",
            "URL pairs by the element that holds the link",
            "element",
            "URL pairs",
            &links.elements,
        ))
        .with(Block::Note(format!(
            "A URL pair is an external URL and a site tree that links to it. {} are on links marked \
             nofollow. A country domain is a surveyed one or a top-level domain of two letters; all \
             others are generic.",
            share_of(links.nofollow, links.external_urls)
        )))
}

fn most_linked_sites(links: &Links) -> Table {
    let columns = vec![
        Column::text("site"),
        Column::number("linking site trees", ""),
        Column::share("share of these trees"),
    ];
    let rows = links.most_linked_sites.iter().map(|site| {
        vec![site.name.clone().into(), Cell::Count(site.count), share(site.count, links.linking_trees)]
    });
    Table::new("table-linked-sites", "The sites that most site trees link to", columns).with_rows(rows)
}

/// More rows and columns than these would be unreadable. The table has all of them.
const MAX_SHOWN: usize = 12;

fn matrix(links: &Links) -> Figure {
    let matrix = &links.matrix;
    let cell = |urls: &u64, row: &[u64]| {
        let sum: u64 = row.iter().sum();
        (sum > 0).then(|| *urls as f64 / sum as f64)
    };
    let cells = matrix
        .urls
        .iter()
        .take(MAX_SHOWN)
        .map(|row| row.iter().take(MAX_SHOWN).map(|urls| cell(urls, row)).collect());
    let chart = Matrix {
        row_title: "From sites under".to_owned(),
        column_title: "To hosts under".to_owned(),
        rows: matrix.from.iter().take(MAX_SHOWN).cloned().collect(),
        columns: matrix.to.iter().take(MAX_SHOWN).cloned().collect(),
        cells: cells.collect(),
        scale: Scale::Share,
    };
    let columns = std::iter::once(Column::text("from"))
        .chain(matrix.to.iter().map(|to| Column::number(to, "URL pairs")))
        .collect();
    let rows = matrix.from.iter().zip(&matrix.urls).map(|(from, urls)| {
        std::iter::once(Cell::from(from.as_str())).chain(urls.iter().map(|urls| Cell::Count(*urls))).collect()
    });
    Figure::new(
        "figure-link-matrix",
        "Where the URL pairs of each country domain lead, as shares of its row. The table has the \
         counts.",
        format!("Of all URL pairs, {} lead to {GENERIC} domains.", percent(links.share_to_generic())),
        chart,
        Table::new("", "", columns).with_rows(rows),
    )
}
