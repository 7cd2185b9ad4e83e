use super::counted::{figure, share, share_of, table};
use crate::analysis::overview::{Failure, NamedCount, Outcome, Outcomes, TurnedAway};
use crate::records::units::{count, thousands};
use crate::report::{Block, Cell, Column, Section, Table};

/// How exchanges and site trees ended.
#[must_use]
pub(in crate::report) fn section(outcomes: &Outcomes) -> Section {
    let failed: u64 = outcomes.failures.iter().map(|counted| counted.count).sum();
    let trees: u64 = outcomes.trees.iter().map(|counted| counted.count).sum();
    let trees_with = |outcome: Outcome| {
        outcomes.trees.iter().find(|counted| counted.name == outcome.as_str()).map_or(0, |found| found.count)
    };
    let lead = format!(
        "{} of {} site trees were walked to their end, {} responded without a page, and {} could not be reached. \
         {} of {} exchanges got no complete response.",
        share_of(trees_with(Outcome::Complete), trees),
        thousands(trees),
        share_of(trees_with(Outcome::NoPage), trees),
        share_of(trees_with(Outcome::Unreachable), trees),
        share_of(failed, outcomes.exchanges),
        thousands(outcomes.exchanges),
    );
    let by_outcome = figure(
        "figure-outcomes",
        "Site trees by outcome: why their walk ended",
        "outcome",
        "site trees",
        &outcomes.trees,
    );
    let by_failure = table(
        "table-failures",
        "Exchanges without a complete response, by failure",
        "failure",
        "exchanges",
        &outcomes.failures,
    );
    Section::new("outcomes", "Outcomes and failures", lead)
        .with(by_outcome.explained(meaning_of_outcome))
        .with(Block::Text(turned_away(&outcomes.turned_away)))
        .with(by_country_domain(outcomes))
        .with_filled(by_failure.explained(|word| Failure::named(word).map(Failure::meaning)))
        .with(statuses(outcomes))
        .with(Block::Note(
            "The section Method explains each word. On a screen, hover over a word to see its meaning. An HTTP status is \
             never a failure, not even a status such as 500."
                .to_owned(),
        ))
}

fn meaning_of_outcome(word: &str) -> Option<&'static str> {
    Outcome::named(word).map(Outcome::meaning)
}

/// The number of sites that turn crawlers away, in a sentence.
fn turned_away(sites: &TurnedAway) -> String {
    let TurnedAway { sites, refused, challenged, evidence } = sites;
    let evidence: Vec<String> =
        evidence.iter().map(|word| format!("{} {}", word.name, thousands(word.count))).collect();
    let evidence = if evidence.is_empty() {
        String::new()
    } else {
        format!(" Sites with challenges: {}.", evidence.join(", "))
    };
    format!(
        "Of {}, {} turned the survey away: {} after they had delivered pages, {} with a challenge or a block page \
         instead of every page.{evidence}",
        count(*sites, "site"),
        share_of(refused + challenged, *sites),
        thousands(*refused),
        thousands(*challenged),
    )
}

fn by_country_domain(outcomes: &Outcomes) -> Table {
    let outcome_names = || outcomes.trees.iter().map(|counted| counted.name.as_str());
    let columns = [Column::text("country domain"), Column::number("site trees", "")]
        .into_iter()
        .chain(outcome_names().map(|word| Column::number(word, "site trees")))
        .collect();
    let count = |list: &[NamedCount], word: &str| {
        list.iter().find(|counted| counted.name == word).map_or(0, |found| found.count)
    };
    let rows = outcomes.by_country_domain.iter().map(|domain| {
        [Cell::from(domain.country_domain.as_str()), Cell::Count(domain.trees)]
            .into_iter()
            .chain(outcome_names().map(|word| Cell::Count(count(&domain.outcomes, word))))
            .collect()
    });
    Table::new("table-outcomes", "Outcomes of site trees by country domain", columns)
        .with_rows(rows)
        .explained(meaning_of_outcome)
}

fn statuses(outcomes: &Outcomes) -> Table {
    let answers: u64 = outcomes.statuses.iter().map(|status| status.pages + status.robots).sum();
    let columns = vec![
        Column::text("status"),
        Column::number("for pages", "responses"),
        Column::number("for robots.txt", "responses"),
        Column::share("share of responses"),
    ];
    let rows = outcomes.statuses.iter().map(|status| {
        vec![
            status.status.to_string().into(),
            Cell::Count(status.pages),
            Cell::Count(status.robots),
            share(status.pages + status.robots, answers),
        ]
    });
    Table::new("table-statuses", "Responses by HTTP status", columns).with_rows(rows)
}
