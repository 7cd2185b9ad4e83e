use super::counted::{share, share_of};
use crate::analysis::SpentBudget;
use crate::analysis::overview::{Class, ClassGroup, Level, Mean, Probes, SkipReason, SkippedUrls};
use crate::records::units::{count, thousands};
use crate::report::{Axis, Block, Cell, Column, Columns, Fact, Figure, Part, Scale, Section, Table, advice};

/// URLs that were found but not fetched, by reason.
#[must_use]
pub(in crate::report) fn section(skipped_urls: &SkippedUrls, spent: Option<&SpentBudget>) -> Section {
    let most = skipped_urls.classes.iter().max_by_key(|class| class.urls);
    let lead = format!(
        "Of {} internal URLs found, {} were requested. The most frequent reason for the rest: {}.",
        thousands(skipped_urls.internal_urls),
        share_of(skipped_urls.fetched, skipped_urls.internal_urls),
        most.map_or_else(String::new, |class| {
            format!("{} ({} URLs)", class.class.label(), thousands(class.urls))
        }),
    );
    let promised = skipped_urls.expected_hosts.map_or_else(String::new, |hosts| {
        format!(
            " The pages of low expected yield were expected to hold {} external hosts themselves, new in their trees.",
            thousands(hosts.round() as u64)
        )
    });
    let sums = match skipped_urls.rows_that_do_not_reconcile {
        0 => "At every level of every site tree, the classes add up to the number of URLs found.".to_owned(),
        rows => format!(
            "At {} of site trees, the classes do not add up to the number of URLs found: the tables are \
             damaged, or the program has a defect.",
            count(rows, "level")
        ),
    };
    let budget = spent.map(|spent| Block::Note(advice::spent_budget(spent).collect::<Vec<_>>().join(" ")));
    let mut section = Section::new("kept-back", "What was not fetched", lead)
        .with(classes(skipped_urls))
        .with(by_level(skipped_urls))
        .with(robots(skipped_urls))
        .with_filled(skipped_urls.probes.as_ref().map_or_else(empty_table, probes))
        .with_filled(skipped_urls.left_out.as_ref().map_or_else(empty_table, left_out))
        .with(Block::Note(format!(
            "{sums}{promised} URLs that were never found, because the pages above them were not fetched, are in no figure of this \
             section: the section on what was not seen estimates them."
        )));
    section.blocks.extend(budget);
    section
}

/// The meaning of a class's label.
fn meaning(label: &str) -> Option<&'static str> {
    Class::ALL.iter().find(|class| class.label() == label).map(|class| class.meaning())
}

fn classes(skipped_urls: &SkippedUrls) -> Table {
    let columns = vec![
        Column::text("reason"),
        Column::number("internal URLs", ""),
        Column::share("share of all found"),
        Column::number("site trees with any", ""),
    ];
    let row = |class: &SkipReason| {
        vec![
            class.class.label().into(),
            Cell::Count(class.urls),
            share(class.urls, skipped_urls.internal_urls),
            Cell::Count(class.site_trees),
        ]
    };
    let fetched = [
        Class::Fetched.label().into(),
        Cell::Count(skipped_urls.fetched),
        share(skipped_urls.fetched, skipped_urls.internal_urls),
        Cell::Missing,
    ];
    let rows = skipped_urls.classes.iter().map(row).chain([fetched.into()]);
    Table::new("table-kept-back", "Internal URLs found, each in exactly one class", columns)
        .with_rows(rows)
        .explained(meaning)
}

fn by_level(skipped_urls: &SkippedUrls) -> Figure {
    let groups = || ClassGroup::ALL.iter().filter(|group| **group != ClassGroup::Fetched);
    let shares = |level: &Level| {
        let share = |group: &ClassGroup| match level.internal_urls {
            0 => 0.0,
            found => level.classes.in_group(*group) as f64 / found as f64,
        };
        groups().map(share).collect()
    };
    let chart = Columns {
        x: "Depth level".to_owned(),
        y: Axis::new("Share of the level's URLs", Scale::Share),
        parts: groups().map(|group| Part { name: group.to_string(), meaning: group.meaning() }).collect(),
        columns: (0..)
            .zip(&skipped_urls.levels)
            .map(|(depth, level): (u32, _)| (depth.to_string(), shares(level)))
            .collect(),
        mark: None,
    };
    let columns =
        [Column::number("depth", ""), Column::number("internal URLs", ""), Column::number("requested", "")]
            .into_iter()
            .chain(skipped_urls.classes.iter().map(|class| Column::number(class.class.label(), "URLs")));
    let rows = (0..).zip(&skipped_urls.levels).map(|(depth, level)| {
        [Cell::Count(depth), Cell::Count(level.internal_urls), Cell::Count(level.classes[Class::Fetched])]
            .into_iter()
            .chain(Class::reasons().map(|class| Cell::Count(level.classes[class])))
            .collect()
    });
    Figure::new(
        "figure-kept-back",
        "URLs found at each level and not requested, as a share of all URLs found there. The level \
         below the deepest one walked holds URLs that are too deep.",
        format!(
            "{} of all internal URLs were not requested.",
            share_of(
                skipped_urls.internal_urls - skipped_urls.fetched.min(skipped_urls.internal_urls),
                skipped_urls.internal_urls
            )
        ),
        chart,
        Table::new("", "", columns.collect()).with_rows(rows).explained(meaning),
    )
}

fn empty_table() -> Table {
    Table::new("", "", Vec::new())
}

/// The findings that the query URL rule hid, by the sites in which probes fetched more query URLs.
fn probes(probes: &Probes) -> Table {
    let title = format!(
        "Findings missed because of the query URL rule: {} query URLs of {} scripts in {} site trees were fetched as probes, of {} \
         that the survey skipped. A finding that several of them share counts for each in the last \
         column, which is therefore an upper bound",
        thousands(probes.requests),
        thousands(probes.scripts),
        thousands(probes.site_trees),
        thousands(probes.withheld),
    );
    hidden("table-probes", title, "per skipped query URL", probes)
}

/// The findings that were missed on pages that promised too little.
fn left_out(probes: &Probes) -> Table {
    let title = format!(
        "Findings missed on pages of low expected yield: {} of these pages in {} site trees were fetched as probes, of {} that the \
         survey skipped. A finding that several of them share counts for each in the last column. Findings on pages that \
         only they lead to are not included",
        thousands(probes.requests),
        thousands(probes.site_trees),
        thousands(probes.withheld),
    );
    hidden("table-left-out", title, "per skipped page", probes)
}

fn hidden(name: &'static str, title: String, whose: &str, probes: &Probes) -> Table {
    let columns = vec![
        Column::text("new to its tree"),
        Column::number(whose, "on average"),
        Column::number("at least", "95 %"),
        Column::number("at most", "95 %"),
        Column::number("all skipped together", "at most"),
    ];
    let row = |what: &str, mean: &Mean| {
        vec![
            what.into(),
            Cell::Number(mean.value, 3),
            Cell::Number(mean.low, 3),
            Cell::Number(mean.high, 3),
            Cell::Count((mean.value * probes.withheld as f64).round() as u64),
        ]
    };
    let rows = [row("URL pairs", &probes.external_urls), row("host pairs", &probes.external_hosts)];
    Table::new(name, title, columns).with_rows(rows)
}

fn robots(skipped_urls: &SkippedUrls) -> Vec<Fact> {
    let robots = &skipped_urls.robots;
    let fact = |name: &str, count: u64| Fact::new(name, count);
    vec![
        fact("Attempts to get a robots.txt", robots.attempts),
        fact("With rules", robots.rules).note("2xx"),
        fact("Everything allowed", robots.allow_all).note("4xx other than 429"),
        fact("Everything forbidden", robots.disallow_all).note("5xx, 429, or no response"),
        fact("Redirected", robots.redirects).note("3xx"),
    ]
}
