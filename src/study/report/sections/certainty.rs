use super::names;
use crate::analysis::{Bounds, CensoredLevel, Censoring, Kind, Sampling, Unseen};
use crate::records::units::thousands;
use crate::report::{
    Axis, Block, Cell, Column, Figure, Lines, Point, Scale, Section, Series, Table, percent,
};

/// What the survey could not see: pages below the cut of trees, and pages without links.
#[must_use]
pub(in crate::report) fn section(
    censoring: &Censoring,
    unseen: &Unseen,
    sampling: &Sampling,
    chosen: Option<u16>,
) -> Section {
    let hosts = unseen.kinds.iter().find(|of| of.kind == Kind::Hosts);
    let lead = hosts.map_or_else(String::new, |hosts| {
        format!(
            "{} external hosts are known. By the estimate below, there are at least {}. {} site trees \
             were cut, and {} URLs found in them were not requested.",
            thousands(hosts.known),
            Cell::CountBetween(hosts.all).display(),
            thousands(censoring.cut_trees),
            thousands(censoring.unasked_urls),
        )
    });
    let mut section = Section::new("certainty", "What was not seen", lead)
        .with(Block::Heading("Site trees that were cut".to_owned()))
        .with(bounds(censoring, chosen));
    section.blocks.extend([
        Block::Note(
            "Coverage is a share of what is known. The upper line holds if the cut trees hold nothing \
             more. The lower line assumes that every URL not requested is a page. It also assumes that \
             such a page, with everything below it, yields as much as a page of that depth in the trees \
             that ended by themselves (or in its own tree, if that is more), and that all of it is new. \
             The lower line is a model, not the worst case: an endless tree may hold any amount."
                .to_owned(),
        ),
        Block::Heading("Targets that the survey did not find".to_owned()),
        estimates(unseen, sampling).into(),
        Block::Note(unseen.caveat.to_owned()),
    ]);
    section
}

fn bounds(censoring: &Censoring, chosen: Option<u16>) -> Figure {
    let urls = |level: &CensoredLevel| level.union[Kind::Urls as usize];
    let hosts = |level: &CensoredLevel| level.union[Kind::Hosts as usize];
    let band = |name, of: &dyn Fn(&CensoredLevel) -> Bounds| {
        let point = |level: &CensoredLevel| {
            let Bounds { low, high } = of(level);
            Point::estimated(level.depth.into(), crate::analysis::Estimate::between(low, high, high))
        };
        Series::new(name, censoring.levels.iter().map(point).collect())
    };
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(Kind::ALL.into_iter().flat_map(|kind| {
            ["at least", "at most"].map(|end| Column::share(&format!("{}, {end}", names::kind(kind))))
        }))
        .collect();
    let rows = censoring.levels.iter().map(|level| {
        let ends = level.union.iter().flat_map(|bounds| [Cell::Share(bounds.low), Cell::Share(bounds.high)]);
        std::iter::once(Cell::Count(level.depth.into())).chain(ends).collect()
    });
    let alt = censoring.levels.last().map_or_else(String::new, |last| {
        format!(
            "If everything that the cut trees may still hold were new, the whole survey would know {} of the \
             external URLs and {} of the hosts.",
            percent(urls(last).low),
            percent(hosts(last).low)
        )
    });
    let chart = Lines {
        x: Axis::new("Depth level", Scale::Depth),
        y: Axis::new("Union coverage with its bounds", Scale::Share),
        series: vec![band(names::kind(Kind::Urls), &urls), band(names::kind(Kind::Hosts), &hosts)],
        mark: super::curves::mark(chosen),
    };
    Figure::new(
        "figure-censoring",
        "Coverage against depth: if cut trees hold nothing more (line), and if everything that they \
         may still hold is new (lower edge of the band).",
        alt,
        chart,
        Table::new("", "", columns).with_rows(rows),
    )
}

fn estimates(unseen: &Unseen, sampling: &Sampling) -> Table {
    let columns = vec![
        Column::text("what"),
        Column::number("known", ""),
        Column::number("in one tree only", ""),
        Column::number("in two trees", ""),
        Column::interval("at least", ""),
        Column::share("sample coverage"),
    ];
    let rows = unseen.kinds.iter().filter(|of| of.known > 0).map(|of| {
        vec![
            names::kind(of.kind).into(),
            Cell::Count(of.known),
            Cell::Count(of.in_one_tree),
            Cell::Count(of.in_two_trees),
            Cell::CountBetween(of.all),
            of.sample_coverage.map_or(Cell::Missing, Cell::Share),
        ]
    });
    let caption = format!(
        "The least number of targets that exist, known ones included (Chao2 over site trees, {} intervals). \
         Sample coverage: the share of links from further trees that would lead to known targets (Good and Turing).",
        names::confidence(sampling)
    );
    Table::new("table-unseen", caption, columns).with_rows(rows)
}
