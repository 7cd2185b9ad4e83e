use super::incomplete;
use crate::analysis::{
    ComparedShare, ComparedSurvey, Curves, Kind, PresenceCounts, SurveyComparison, meaning_of_value,
};
use crate::records::units::{count, thousands};
use crate::records::{ChangedFact, Presence};
use crate::report::{
    Axis, Block, Cell, Column, Figure, Lines, Point, Scale, Section, Series, Table, percent,
};

/// Births and deaths.
pub(super) fn presence(comparison: &SurveyComparison) -> Section {
    let (sites, hosts) = (&comparison.sites, &comparison.hosts);
    let lead = format!(
        "{} responded in {}, {} in {}: {} were born and {} died. {} that responded before were not requested again, so it \
         is not known whether they still respond.",
        count(sites.before(), "site"),
        comparison.earlier.name,
        thousands(sites.after()),
        comparison.later.name,
        thousands(sites.born()),
        thousands(sites.died()),
        thousands(sites.lost_sight()),
    );
    let births = if comparison.earlier.is_incomplete() {
        format!(
            " {} {}: sites that it did not see count as born here and may be older.",
            comparison.earlier.name,
            incomplete(&comparison.earlier).unwrap_or_default()
        )
    } else {
        String::new()
    };
    Section::new("presence", "Born and died", lead)
        .with(presence_table("table-sites", "Sites by their presence in both surveys", sites))
        .with(presence_table("table-hosts", "Hosts by their presence in both surveys", hosts))
        .with(Block::Note(format!(
            "Born: responds in the later survey, and in the earlier one no response came or nobody knew it. Died: responded \
             in the earlier survey, and was requested in the later one in vain. A site responds if any of its hosts does. \
             Servers that were only out of order for the time of a survey are among both.{births}"
        )))
}

fn presence_table(id: &str, caption: &str, counts: &PresenceCounts) -> Table {
    let words = Presence::ALL.iter().map(|presence| Column::number(&presence.as_str().replace('_', " "), ""));
    let columns = std::iter::once(Column::text("before \\ after")).chain(words).collect();
    let rows = Presence::ALL.iter().map(|before| {
        let cells = Presence::ALL.iter().map(|after| Cell::Count(counts.of(*before, *after)));
        std::iter::once(Cell::Word(before.as_str().replace('_', " "), before.meaning()))
            .chain(cells)
            .collect()
    });
    Table::new(id, caption, columns).with_rows(rows)
}

/// What a change of a share is, in words.
fn verdict(share: &ComparedShare) -> &'static str {
    match share.sites.difference() {
        difference if difference.low > 0.0 => "more",
        difference if difference.high < 0.0 => "fewer",
        _ if share.sites.gained + share.sites.lost == 0 => "unchanged",
        _ => "not more than chance",
    }
}

/// The changes of shares that are more than chance, in words: `40.0 % → 52.0 % have an IPv6 address`.
#[must_use]
pub fn certain_changes(comparison: &SurveyComparison) -> Vec<String> {
    let certain = comparison.shares.iter().filter(|share| share.is_certain());
    certain.map(|share| format!("{} {}", before_and_after(share), share.name)).collect()
}

/// A share before and after: `40.0 % → 52.0 %`.
pub(super) fn before_and_after(share: &ComparedShare) -> String {
    let [before, after] = [share.sites.before(), share.sites.after()].map(|share| percent(share.value));
    format!("{before} → {after}")
}

/// Shares of sites that respond in both surveys.
pub(super) fn shares(comparison: &SurveyComparison) -> Section {
    let certain = certain_changes(comparison);
    let lead = match certain.as_slice() {
        [] => "No share of the sites that respond in both surveys changed by more than chance.".to_owned(),
        _ => format!("Of the sites that respond in both surveys, {}.", certain.join("; ")),
    };
    let columns = vec![
        Column::text("the sites …"),
        Column::number("sites", ""),
        Column::interval("before", "share"),
        Column::interval("after", "share"),
        Column::interval("change", "share"),
        Column::number("gained", "sites"),
        Column::number("lost", "sites"),
        Column::text("verdict"),
    ];
    let rows = comparison.shares.iter().map(|share| {
        vec![
            share.name.into(),
            Cell::Count(share.sites.count()),
            Cell::ShareBetween(share.sites.before()),
            Cell::ShareBetween(share.sites.after()),
            Cell::ShareBetween(share.sites.difference()),
            Cell::Count(share.sites.gained),
            Cell::Count(share.sites.lost),
            verdict(share).into(),
        ]
    });
    let caption = "Shares of the sites that respond in both surveys, paired by site";
    Section::new("shares", "What sites do", lead)
        .with_filled(Table::new("table-shares", caption, columns).with_rows(rows))
        .with(Block::Note(
            "A site is described by its host with the most pages, and counts where both surveys know the fact. 95 % \
             intervals over sites: of a share by Wilson (1927), of a change by Newcombe (1998, method 10 for pairs). If the \
             interval of a change holds 0, the change is not more than chance."
                .to_owned(),
        ))
}

/// Facts that differ.
pub(super) fn facts(comparison: &SurveyComparison) -> Section {
    let of = |fact: ChangedFact| comparison.facts.iter().find(|compared| compared.fact == fact.as_str());
    let moved = |fact: ChangedFact, what: &str| {
        of(fact).map(|compared| {
            format!(
                "{}, {}, {what}",
                count(compared.changed, "site"),
                Cell::ShareBetween(compared.share()).display()
            )
        })
    };
    let parts: Vec<String> = [
        moved(ChangedFact::Network, "stand in another network"),
        moved(ChangedFact::Country, "in another country"),
        moved(ChangedFact::Software, "run other server software"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let lead = match parts.as_slice() {
        [] => "No fact is known in both surveys.".to_owned(),
        _ => format!("Of the sites of which both surveys know it, {}.", parts.join("; ")),
    };
    let columns = vec![
        Column::text("fact"),
        Column::number("sites compared", ""),
        Column::number("differ", "sites"),
        Column::interval("share", "share"),
    ];
    let rows = comparison.facts.iter().map(|compared| {
        vec![
            compared.fact.into(),
            Cell::Count(compared.sites),
            Cell::Count(compared.changed),
            Cell::ShareBetween(compared.share()),
        ]
    });
    let facts = Table::new("table-facts", "Facts that differ, by site", columns).with_rows(rows);
    let meaning = |word: &str| ChangedFact::named(word).map(ChangedFact::meaning);
    let changes = comparison.facts.iter().flat_map(|compared| {
        compared.most_frequent.iter().map(|(before, after, sites)| {
            vec![compared.fact.into(), word(before), word(after), Cell::Count(*sites)]
        })
    });
    let columns = vec![
        Column::text("fact"),
        Column::text("before"),
        Column::text("after"),
        Column::number("sites", ""),
    ];
    let caption = "The most frequent changes of each fact";
    Section::new("facts", "What moved", lead)
        .with_filled(facts.explained(meaning))
        .with_filled(Table::new("table-changes", caption, columns).with_rows(changes).explained(meaning))
        .with(Block::Note(
            "The table changes in the folder of the later survey has a row for each host.".to_owned(),
        ))
}

/// A value, with its meaning if it is a word of ours.
fn word(value: &str) -> Cell {
    match meaning_of_value(value) {
        Some(meaning) => Cell::Word(value.to_owned(), meaning),
        None => value.to_owned().into(),
    }
}

/// Curves of all surveys in two figures.
pub(super) fn curves(surveys: &[&ComparedSurvey]) -> Section {
    let lead = surveys.iter().filter_map(|survey| {
        let last = survey.curves.levels.last()?;
        let hosts = count(last.known[Kind::Hosts as usize], "external host");
        Some(format!("{} found {hosts} for {}", survey.name, count(last.requests, "request")))
    });
    let lead = format!("{}.", lead.collect::<Vec<_>>().join("; "));
    Section::new("curves", "Depth, cost and findings", lead)
        .with(curve_figure(
            "figure-hosts-by-depth",
            "External hosts known down to each depth",
            "External hosts",
            surveys,
            |curves| curves.levels.iter().map(|level| level.known[Kind::Hosts as usize]).collect(),
        ))
        .with(curve_figure(
            "figure-requests-by-depth",
            "Requests down to each depth",
            "Requests",
            surveys,
            |curves| curves.levels.iter().map(|level| level.requests).collect(),
        ))
        .with(Block::Note(
            "Each survey counts what it found and sent itself: a survey of a longer start list finds more. Depths of a \
             survey that left out pages are those of the paths that it found."
                .to_owned(),
        ))
}

fn curve_figure(
    id: &str,
    caption: &str,
    unit: &str,
    surveys: &[&ComparedSurvey],
    values: impl Fn(&Curves) -> Vec<u64>,
) -> Figure {
    let depths = surveys.iter().map(|survey| survey.curves.levels.len()).max().unwrap_or_default();
    let lines: Vec<Vec<u64>> = surveys.iter().map(|survey| values(&survey.curves)).collect();
    let series = surveys.iter().zip(&lines).map(|(survey, values)| {
        let points = (0_u32..).zip(values).map(|(depth, value)| Point::exact(depth.into(), *value as f64));
        Series::new(&survey.name, points.collect())
    });
    let chart = Lines {
        x: Axis::new("Depth level", Scale::Depth).reaching(depths.saturating_sub(1) as f64),
        y: Axis::new(unit, Scale::Count),
        series: series.collect(),
        mark: None,
    };
    let columns = std::iter::once(Column::number("depth", ""))
        .chain(surveys.iter().map(|survey| Column::number(&survey.name, "")))
        .collect();
    let rows = (0..depths).map(|depth| {
        let cells =
            lines.iter().map(|values| values.get(depth).map_or(Cell::Missing, |value| Cell::Count(*value)));
        std::iter::once(Cell::Count(depth as u64)).chain(cells).collect()
    });
    let ends: Vec<String> = surveys
        .iter()
        .zip(&lines)
        .filter_map(|(survey, values)| Some(format!("{} {}", survey.name, thousands(*values.last()?))))
        .collect();
    let alt = format!("{unit} at the deepest level: {}.", ends.join(", "));
    Figure::new(id, caption, alt, chart, Table::new("", "", columns).with_rows(rows))
}

/// What each survey cost.
pub(super) fn cost(surveys: &[&ComparedSurvey]) -> Section {
    let columns = vec![
        Column::text("survey"),
        Column::text("started"),
        Column::text("state"),
        Column::number("site trees", ""),
        Column::number("pages", ""),
        Column::number("requests", ""),
        Column::number("bytes", "bytes"),
    ];
    let rows = surveys.iter().map(|survey| {
        let last = survey.curves.levels.last();
        let number = |value: fn(&crate::analysis::CurveLevel) -> u64| {
            last.map_or(Cell::Missing, |last| Cell::Count(value(last)))
        };
        vec![
            survey.name.clone().into(),
            survey.manifest.created.day().into(),
            incomplete(survey).unwrap_or("complete").into(),
            Cell::Count(survey.curves.trees),
            number(|last| last.pages),
            number(|last| last.requests),
            last.map_or(Cell::Missing, |last| Cell::Bytes(last.bytes)),
        ]
    });
    let table = Table::new("table-cost", "The compared surveys", columns).with_rows(rows);
    Section::new("cost", "What the surveys cost", "Requests, bytes and pages of each survey.").with(table)
}

/// The settings that differ.
pub(super) fn unlike(comparison: &SurveyComparison) -> Section {
    if comparison.unlike.is_empty() {
        let lead = "Both surveys were made with the same settings, as far as these decide about results.";
        return Section::new("settings", "Settings", lead);
    }
    let columns = vec![
        Column::text("setting"),
        Column::text(&comparison.earlier.name),
        Column::text(&comparison.later.name),
        Column::text("not comparable"),
    ];
    let rows = comparison.unlike.iter().map(|unlike| {
        vec![
            unlike.setting.clone().into(),
            unlike.earlier.clone().into(),
            unlike.later.clone().into(),
            unlike.affects.into(),
        ]
    });
    let lead = format!(
        "The surveys differ in {}. What the last column names is not comparable.",
        count(comparison.unlike.len() as u64, "setting that decides about results")
    );
    let table = Table::new("table-settings", "Settings that differ", columns).with_rows(rows);
    Section::new("settings", "Settings", lead).with(table)
}
