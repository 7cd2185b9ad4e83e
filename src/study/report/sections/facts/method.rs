use super::counted::capital;
use crate::analysis::Overview;
use crate::analysis::overview::{Class, Entrance, Failure, Method, Outcome, ShownSetting};
use crate::records::{SurveyedWeb, Term};
use crate::report::{Block, Cell, Column, Fact, Section, Table};

/// How the numbers were obtained, so that others can reproduce them.
#[must_use]
pub(in crate::report) fn section(overview: &Overview) -> Section {
    let method = &overview.method;
    let lead = format!(
        "Surveyed with ccsurvey {}. Computed with ccsurvey {} from the tables of the survey and nothing \
         else.",
        method.surveyed_with, method.counted_with
    );
    Section::new("method", "Method", lead)
        .with(sources(method))
        .with(Block::Heading("Terms".to_owned()))
        .with(definitions())
        .with(word_table())
        .with(settings("table-settings", "The effective settings of the survey", &method.settings))
        .with(Block::Heading("Citation".to_owned()))
        .with(Block::text(citation(overview)))
        .with(Block::Note(
            "A survey sees what is linked, up to its depth and budgets, from one place, at one time. \
             It does not see what robots.txt forbids. Sites that links from the start URLs do not reach are \
             missing. Countries and networks come from the databases."
                .to_owned(),
        ))
}

fn sources(method: &Method) -> Vec<Fact> {
    let mut facts =
        vec![Fact::new("Public Suffix List", method.suffix_list.clone()).note("divides hosts into sites")];
    for database in &method.geo {
        let built = database.built.day();
        facts.push(
            Fact::new("Database of addresses", database.database_type.clone()).note(format!("built {built}")),
        );
    }
    if method.geo.is_empty() {
        facts.push(
            Fact::new("Database of addresses", Cell::Missing).note("countries and networks are unknown"),
        );
    }
    let simulation_settings = method.simulation.iter();
    facts.extend(
        simulation_settings
            .map(|setting| Fact::new(&format!("Virtual Web: {}", setting.name), setting.value.clone())),
    );
    facts.extend(method.tables.iter().map(|(name, count)| Fact::new(&format!("Rows of {name}"), count.rows)));
    facts
}

fn definitions() -> Vec<Fact> {
    Term::ALL
        .iter()
        .map(|term| Fact::new(&capital(term.as_str()), term.meaning().replace(['*', '`'], "")))
        .collect()
}

/// The meanings of the words in tables and figures. A printed page has no tooltips.
fn word_table() -> Table {
    macro_rules! rows {
        ($column:literal, $Words:ident) => {
            $Words::ALL.iter().map(|word| [$column, word.as_str(), word.meaning()].map(Cell::from).to_vec())
        };
    }
    let rows = rows!("outcome", Outcome)
        .chain(rows!("entrance", Entrance))
        .chain(rows!("class of an internal URL", Class))
        .chain(rows!("failure", Failure));
    let columns = ["what", "word", "meaning"].map(Column::text).into();
    Table::new("table-words", "Words in the tables", columns).with_rows(rows)
}

fn settings(id: &str, caption: &str, settings: &[ShownSetting]) -> Table {
    let columns = vec![Column::text("setting"), Column::text("value")];
    let rows = settings.iter().map(|setting| vec![setting.name.clone().into(), setting.value.clone().into()]);
    Table::new(id, caption, columns).with_rows(rows)
}

fn citation(overview: &Overview) -> String {
    let card = &overview.card;
    let domains: Vec<String> = card.country_domains.iter().map(|domain| format!(".{domain}")).collect();
    let day = card.created.day();
    let subject = match card.vantage.web {
        SurveyedWeb::Internet => "Survey of the Web servers",
        SurveyedWeb::Gateway(_) => "Survey of a virtual Web, not the Internet: the servers",
        SurveyedWeb::Virtual(_) => "Simulated survey of a virtual Web: the servers",
        SurveyedWeb::Recorded(_) => "Simulation of a recorded survey of the Web servers",
    };
    format!(
        "{subject} of {}, started {day}, made with ccsurvey {}. The method is that of \
         Nakahira, Hoshino and Mikami, \"Low Load Server Crawler: Design and Evaluation\", WWW 2008.",
        domains.join(", "),
        card.tool_version
    )
}
