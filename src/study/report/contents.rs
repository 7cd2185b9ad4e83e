use serde_json::Value;

use super::sections::groups::GroupCurves;
use super::{Banner, Cell, Fact, Report, Section, percent, sections};
use crate::analysis::{
    Censoring, Choice, Comparison, Completeness, Curves, Deepest, Forecast, Influence, Kind, Overview,
    Recorded, Sampling, TELLS_NO_DEPTH, Unseen,
};
use crate::records::units::duration;
use crate::records::{Manifest, SurveyState, SurveyedWeb};

/// All that was found of a survey, for [`Report::from_findings`].
#[derive(Clone, Debug)]
pub struct Findings {
    /// The survey.
    pub recorded: Recorded,
    /// How intervals were computed.
    pub sampling: Sampling,
    /// Load and coverage by depth.
    pub curves: Curves,
    /// How deep site trees are.
    pub deepest: Deepest,
    /// What cut trees leave open.
    pub censoring: Censoring,
    /// What the survey cannot have seen.
    pub unseen: Unseen,
    /// The depth for the next survey.
    pub choice: Choice,
    /// Other strategies beside it.
    pub comparison: Comparison,
    /// What a single site does to the choice.
    pub influence: Option<Influence>,
    /// For a network environment, if one was given, with other strategies there.
    pub forecast: Option<(Forecast, Comparison)>,
    /// For each grouping that was asked for.
    pub groups: Vec<GroupCurves>,
    /// The other chapters.
    pub overview: Overview,
    /// Whether it is all of the survey.
    pub standing: Completeness,
}

impl Findings {
    /// The depth that figures mark: that of the environment, where there is one. None where pages were left out of every
    /// level, which tell nothing of a survey to a depth.
    fn chosen(&self) -> Option<u16> {
        if self.recorded.manifest.leaves_pages_out() {
            return None;
        }
        self.forecast.as_ref().map_or(self.choice.depth, |(forecast, _)| forecast.depth)
    }
}

impl Report {
    /// Lays out what was found.
    #[must_use]
    pub fn from_findings(findings: &Findings) -> Self {
        let manifest = &findings.recorded.manifest;
        let partial = Banner::if_partial(&findings.standing);
        Self {
            title: title(manifest),
            subtitle: subtitle(manifest, &findings.standing),
            banners: Banner::if_virtual(&manifest.web()).into_iter().chain(partial).collect(),
            facts: headline(findings),
            sections: sections(findings),
        }
    }
}

/// What exists, what it cost and which depth to use, then all else.
fn sections(findings: &Findings) -> Vec<Section> {
    let Findings { sampling, curves, overview, standing, .. } = findings;
    let chosen = findings.chosen();
    let mut list = vec![
        sections::facts::card::section(overview, standing),
        sections::facts::funnel::section(&overview.funnel, standing),
    ];
    list.extend(overview.doors.as_ref().map(sections::facts::doors::section));
    list.extend([
        sections::curves::section(curves, sampling, chosen),
        sections::deepest::section(&findings.deepest, sampling, chosen),
        sections::load_coverage::section(curves, sampling, chosen),
    ]);
    if !findings.recorded.manifest.leaves_pages_out() {
        let is_partial = findings.standing.is_partial();
        let Findings { choice, comparison, influence, .. } = findings;
        list.push(sections::choice::section(choice, comparison, influence.as_ref(), is_partial));
    }
    let forecast = findings.forecast.as_ref();
    list.extend(forecast.map(|(forecast, comparison)| {
        sections::forecast::section(forecast, comparison, findings.standing.is_partial())
    }));
    list.push(sections::certainty::section(&findings.censoring, &findings.unseen, sampling, chosen));
    list.extend(findings.groups.iter().map(sections::groups::section));
    list.extend([
        sections::facts::sites::section(&overview.sites),
        sections::facts::links::section(&overview.links),
        sections::facts::technology::section(&overview.technology),
        sections::facts::infrastructure::section(&overview.infrastructure),
        sections::times::section(&overview.times),
        sections::facts::outcomes::section(&overview.outcomes),
        sections::ledger::section(&overview.ledger, standing),
        sections::facts::skipped::section(&overview.kept_back),
        sections::facts::method::section(overview),
    ]);
    list
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
    let whose = match domains.len() {
        0 => "a survey".to_owned(),
        _ if others == 0 => domains.join(", "),
        _ => format!("{} and {others} more country domains", domains[..NAMED].join(", ")),
    };
    match manifest.web() {
        SurveyedWeb::Internet => format!("The Web servers of {whose}"),
        SurveyedWeb::Virtual(_) | SurveyedWeb::Gateway(_) => format!("A virtual Web: the servers of {whose}"),
        SurveyedWeb::Recorded(_) => format!("A survey walked again: the Web servers of {whose}"),
    }
}

fn subtitle(manifest: &Manifest, standing: &Completeness) -> String {
    let begun = manifest.created.day();
    let ended = match manifest.state {
        SurveyState::Finished => {
            format!(", finished {}", manifest.finished.unwrap_or(manifest.updated).day())
        }
        // The manifest of a survey at work is as old as its run.
        SurveyState::Running | SurveyState::Interrupted | SurveyState::Failed => {
            standing.known.map_or_else(String::new, |known| format!(", as of {}", known.at.day()))
        }
    };
    let kind = match manifest.web() {
        SurveyedWeb::Internet => "A survey",
        SurveyedWeb::Gateway(_) => "A survey of a virtual Web",
        SurveyedWeb::Virtual(_) => "A simulation of a virtual Web, its times virtual",
        SurveyedWeb::Recorded(_) => "A simulation of a recorded survey, its times virtual",
    };
    format!("{kind}, begun {begun}{ended}, by ccsurvey {}.", manifest.tool_version)
}

/// The numbers that one looks for first.
fn headline(findings: &Findings) -> Vec<Fact> {
    let (curves, totals) = (&findings.curves, &findings.overview.card.totals);
    let Some(last) = curves.levels.last() else { return Vec::new() };
    let known = |kind: Kind| last.known[kind as usize];
    let mut facts = vec![
        Fact::new("Site trees", curves.trees),
        Fact::new("Pages", totals.pages),
        Fact::new("Requests", totals.requests),
        Fact::new("Load", Cell::Bytes(totals.sent_bytes + totals.received_bytes))
            .note("on the wire, both ways"),
        Fact::new("External URLs", known(Kind::Urls)).note("each once in the survey"),
        Fact::new("External hosts", known(Kind::Hosts)),
        Fact::new("External sites", known(Kind::Sites)),
        Fact::new("Server addresses", known(Kind::Addresses)).note("of linked hosts that were asked"),
        Fact::new("Deepest level walked", u64::from(last.depth)),
    ];
    facts.extend(recommended(findings));
    facts
}

/// What is recommended: by coverage alone and, where an environment is given, in it.
fn recommended(findings: &Findings) -> Vec<Fact> {
    if findings.recorded.manifest.leaves_pages_out() {
        return vec![Fact::new("Recommended", "none".to_owned()).note(TELLS_NO_DEPTH)];
    }
    let fact = |name: &str, comparison: &Comparison| {
        let best = comparison.best();
        let flags = best.map_or_else(|| "none".to_owned(), |best| best.flags.clone());
        let provisional = if findings.standing.is_partial() { " (provisional)" } else { "" };
        let figures = best.map_or_else(String::new, |best| {
            let takes =
                best.seconds.map_or_else(String::new, |seconds| format!(", in {}", duration(seconds)));
            format!(
                "{} of what is known for {} of the requests{takes}",
                Cell::ShareBetween(best.coverage).display(),
                percent(best.load.value)
            )
        });
        Fact::new(name, flags + provisional).note(figures)
    };
    let by_coverage = fact("Recommended", &findings.comparison);
    let Some((_, comparison)) = &findings.forecast else { return vec![by_coverage] };
    let by_coverage = Fact { name: "Recommended by coverage".to_owned(), ..by_coverage };
    vec![by_coverage, fact("Recommended in the environment", comparison)]
}
