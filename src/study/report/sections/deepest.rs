use super::names;
use crate::analysis::{Deepest, DeepestLevel, Sampling};
use crate::records::units::{count, thousands};
use crate::report::{
    Axis, Block, Cell, Column, Columns, Figure, Lines, Part, Point, Scale, Section, Series, Table, percent,
};

/// The depth of site trees: figure 2 of the paper, with cut trees shown separately.
#[must_use]
pub(in crate::report) fn section(deepest: &Deepest, sampling: &Sampling, chosen: Option<u16>) -> Section {
    let cut: u64 = deepest.levels.iter().map(|level| level.cut).sum();
    let lead = format!(
        "{} site trees have a page. A limit cut {} of them before their end ({}). An estimated {} continue below \
         the deepest level walked.",
        thousands(deepest.trees),
        thousands(cut),
        percent(cut as f64 / deepest.trees.max(1) as f64),
        Cell::ShareBetween(deepest.share_without_end).display(),
    );
    let mut section = Section::new("deepest", "How deep site trees are", lead)
        .with(by_level(deepest, chosen))
        .with(survival(deepest, sampling, chosen));
    section.blocks.push(Block::Note(format!(
        "The share of deeper trees is the product-limit estimate of Kaplan and Meier: a tree that was cut counts at \
         the levels where it was seen. The estimate holds if the reasons for cuts do not depend on how much deeper \
         the trees are. Left out: {} without a page.",
        count(deepest.without_page, "site tree")
    )));
    section
}

fn by_level(deepest: &Deepest, chosen: Option<u16>) -> Figure {
    let rows = deepest
        .levels
        .iter()
        .map(|level| vec![Cell::Count(level.depth.into()), Cell::Count(level.ended), Cell::Count(level.cut)]);
    let heads = ["deepest level", "ended by themselves", "cut by a limit"];
    let column = |level: &DeepestLevel| (level.depth.to_string(), vec![level.ended as f64, level.cut as f64]);
    let chart = Columns {
        x: "Deepest level".to_owned(),
        y: Axis::new("Site trees", Scale::Count),
        parts: heads[1..].iter().map(|head| Part::from(*head)).collect(),
        columns: deepest.levels.iter().map(column).collect(),
        mark: chosen.map(usize::from),
    };
    let total = |level: &&DeepestLevel| level.ended + level.cut;
    let most = deepest.levels.iter().rev().max_by_key(total);
    let alt = most.map_or_else(String::new, |most| {
        format!(
            "Site trees by deepest level: level {} is the most frequent, with {}; {} reach the \
             deepest level walked.",
            most.depth,
            thousands(total(&most)),
            thousands(deepest.levels.last().map_or(0, |last| total(&last))),
        )
    });
    Figure::new(
        "figure-deepest",
        "Site trees by their deepest level. If a limit cut a tree, its end is deeper or not known.",
        alt,
        chart,
        Table::new("", "", heads.map(|head| Column::number(head, "")).into()).with_rows(rows),
    )
}

fn survival(deepest: &Deepest, sampling: &Sampling, chosen: Option<u16>) -> Figure {
    let rows = deepest
        .levels
        .iter()
        .map(|level| vec![Cell::Count(level.depth.into()), Cell::ShareBetween(level.deeper)]);
    let points = deepest.levels.iter().map(|level| Point::estimated(level.depth.into(), level.deeper));
    let chart = Lines {
        x: Axis::new("Depth level", Scale::Depth),
        y: Axis::new("Share of trees that are deeper", Scale::Share),
        series: vec![Series::new("trees deeper than this level", points.collect())],
        mark: super::curves::mark(chosen),
    };
    let half = deepest.levels.iter().find(|level| level.deeper.value < 0.5);
    let alt = half.map_or_else(
        || match deepest.trees {
            0 => "No page was read, so there is no site tree to show.".to_owned(),
            _ => "More than half of all trees continue below the deepest level walked.".to_owned(),
        },
        |half| {
            let share = percent(half.deeper.value);
            format!("At depth {}, fewer than half of all trees continue: {share}.", half.depth)
        },
    );
    Figure::new(
        "figure-deeper",
        format!(
            "The share of site trees that are deeper than each level (Kaplan–Meier), with {} intervals.",
            names::confidence(sampling)
        ),
        alt,
        chart,
        Table::new("", "", vec![Column::number("depth", ""), Column::interval("deeper trees", "share")])
            .with_rows(rows),
    )
}
