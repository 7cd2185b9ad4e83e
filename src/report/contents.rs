use serde_json::Value;

use super::{Banner, Cell, Fact, Progress, Report, sections};
use crate::analysis::{Censoring, Curves, Deepest, Kind, Overview, Recorded, Sampling, Unseen};
use crate::records::{Manifest, SurveyState};

/// All that was found of a survey, for [`Report::of`].
#[derive(Clone, Debug)]
pub struct Findings {
    pub recorded: Recorded,
    pub sampling: Sampling,
    pub curves: Curves,
    pub deepest: Deepest,
    pub censoring: Censoring,
    pub unseen: Unseen,
    pub overview: Overview,
    /// The depth that is recommended, if one is.
    pub chosen: Option<u16>,
    /// Of a survey that is not over.
    pub progress: Option<Progress>,
}

impl Report {
    /// Lays out what was found.
    #[must_use]
    pub fn of(findings: &Findings) -> Self {
        let Findings { recorded, sampling, curves, deepest, censoring, unseen, overview, chosen, progress } =
            findings;
        Self {
            title: title(&recorded.manifest),
            subtitle: subtitle(&recorded.manifest),
            banner: Banner::of(&recorded.manifest, *progress),
            facts: headline(curves, *chosen),
            sections: vec![
                sections::card::section(overview),
                sections::funnel::section(&overview.funnel),
                sections::curves::section(curves, sampling, *chosen),
                sections::deepest::section(deepest, sampling, *chosen),
                sections::load_coverage::section(curves, sampling, *chosen),
                sections::certainty::section(censoring, unseen, sampling, *chosen),
                sections::sites::section(&overview.sites),
                sections::links::section(&overview.links),
                sections::technology::section(&overview.technology),
                sections::infrastructure::section(&overview.infrastructure),
                sections::times::section(&overview.times),
                sections::outcomes::section(&overview.outcomes),
                sections::ledger::section(&overview.ledger),
                sections::kept_back::section(&overview.kept_back),
                sections::method::section(overview),
            ],
        }
    }
}

/// Country domains that a title names; more are counted.
const NAMED: usize = 6;

fn title(manifest: &Manifest) -> String {
    let domains: Vec<String> =
        (manifest.settings.get("cctld").and_then(Value::as_array).into_iter().flatten())
            .filter_map(Value::as_str)
            .map(|domain| format!(".{domain}"))
            .collect();
    let others = domains.len().saturating_sub(NAMED);
    match domains.len() {
        0 => "The Web servers of a survey".to_owned(),
        _ if others == 0 => format!("The Web servers of {}", domains.join(", ")),
        _ => format!("The Web servers of {} and {others} more country domains", domains[..NAMED].join(", ")),
    }
}

fn subtitle(manifest: &Manifest) -> String {
    let day = |moment: crate::records::Timestamp| moment.to_string()[..10].to_owned();
    let (begun, last) = (day(manifest.created), day(manifest.finished.unwrap_or(manifest.updated)));
    let ended = match manifest.state {
        SurveyState::Finished => "finished",
        SurveyState::Running | SurveyState::Interrupted | SurveyState::Failed => "as of",
    };
    let kind = if manifest.simulation.is_some() {
        "A simulation of a virtual Web, its times virtual"
    } else {
        "A survey"
    };
    format!("{kind}, begun {begun}, {ended} {last}, by ccsurvey {}.", manifest.tool_version)
}

/// The numbers that one looks for first.
fn headline(curves: &Curves, chosen: Option<u16>) -> Vec<Fact> {
    let Some(last) = curves.levels.last() else { return Vec::new() };
    let known = |kind: Kind| last.known[kind as usize];
    let chosen = chosen.map_or_else(|| "none".to_owned(), |depth| format!("depth {depth}"));
    vec![
        Fact::new("Site trees", curves.trees),
        Fact::new("Pages", last.pages),
        Fact::new("Requests", last.requests),
        Fact::new("Load", Cell::Bytes(last.bytes)).note("on the wire, both ways"),
        Fact::new("External URLs", known(Kind::Urls)).note("distinct"),
        Fact::new("External hosts", known(Kind::Hosts)),
        Fact::new("External sites", known(Kind::Sites)),
        Fact::new("Server addresses", known(Kind::Addresses)).note("of linked hosts that were asked"),
        Fact::new("Deepest level walked", u64::from(last.depth)),
        Fact::new("Depth recommended", chosen),
    ]
}
