use serde_json::Value;

use super::sections::groups::GroupCurves;
use super::{Banner, Cell, Fact, Report, Section, percent, sections};
use crate::analysis::{
    Censoring, Choice, Comparison, Completeness, Curves, Deepest, Forecast, Influence, Kind, NO_DEPTH_REASON,
    Overview, Recorded, Sampling, SpentBudget, Unseen,
};
use crate::records::units::{count, duration};
use crate::records::{Manifest, SurveyState, SurveyedWeb};

/// All findings on a survey, for [`Report::from_findings`].
#[derive(Clone, Debug)]
pub struct Findings {
    /// The survey.
    pub recorded: Recorded,
    /// How the intervals were computed.
    pub sampling: Sampling,
    /// Load and coverage by depth.
    pub curves: Curves,
    /// The depth of site trees.
    pub deepest: Deepest,
    /// How much is unknown because trees were cut.
    pub censoring: Censoring,
    /// An estimate of what the survey could not see.
    pub unseen: Unseen,
    /// The recommended depth for the next survey.
    pub choice: Choice,
    /// The recommended depth compared with other strategies.
    pub comparison: Comparison,
    /// What the end of the survey's own budget brought, if it had one.
    pub spent_budget: Option<SpentBudget>,
    /// The influence of a single site on the choice.
    pub influence: Option<Influence>,
    /// The forecast for a network environment, if one was given, with the comparison of strategies in it.
    pub forecast: Option<(Forecast, Comparison)>,
    /// The curves of each grouping that was requested.
    pub groups: Vec<GroupCurves>,
    /// The data of the other sections.
    pub overview: Overview,
    /// Whether the findings cover the whole survey.
    pub completeness: Completeness,
}

impl Findings {
    /// The depth that figures mark: that of the environment, if one was given. None if the survey left out
    /// pages at every level, because such a survey says nothing about a survey to a fixed depth.
    fn chosen(&self) -> Option<u16> {
        if self.recorded.manifest.skips_pages() {
            return None;
        }
        self.forecast.as_ref().map_or(self.choice.depth, |(forecast, _)| forecast.depth)
    }
}

impl Report {
    /// Builds the report from the findings.
    #[must_use]
    pub fn from_findings(findings: &Findings) -> Self {
        let manifest = &findings.recorded.manifest;
        let partial = Banner::if_partial(&findings.completeness);
        Self {
            title: title(manifest),
            subtitle: subtitle(manifest, &findings.completeness),
            banners: Banner::if_virtual(&manifest.web()).into_iter().chain(partial).collect(),
            facts: headline(findings),
            sections: sections(findings),
        }
    }
}

/// First what exists, what it cost and which depth to use, then everything else.
fn sections(findings: &Findings) -> Vec<Section> {
    let Findings { sampling, curves, overview, completeness, .. } = findings;
    let chosen = findings.chosen();
    let mut list = vec![
        sections::facts::card::section(overview, completeness),
        sections::facts::funnel::section(&overview.funnel, completeness),
    ];
    list.extend(overview.doors.as_ref().map(sections::facts::doors::section));
    list.extend([
        sections::curves::section(curves, sampling, chosen),
        sections::deepest::section(&findings.deepest, sampling, chosen),
        sections::load_coverage::section(curves, sampling, chosen),
    ]);
    if !findings.recorded.manifest.skips_pages() {
        let is_partial = findings.completeness.is_partial();
        let Findings { choice, comparison, influence, .. } = findings;
        list.push(sections::choice::section(choice, comparison, influence.as_ref(), is_partial));
    }
    let forecast = findings.forecast.as_ref();
    list.extend(forecast.map(|(forecast, comparison)| {
        sections::forecast::section(forecast, comparison, findings.completeness.is_partial())
    }));
    list.push(sections::certainty::section(&findings.censoring, &findings.unseen, sampling, chosen));
    list.extend(findings.groups.iter().map(sections::groups::section));
    list.extend([
        sections::facts::sites::section(&overview.sites),
        sections::facts::links::section(&overview.links),
        sections::facts::graph::section(&overview.graph, completeness),
        sections::facts::technology::section(&overview.technology),
        sections::facts::infrastructure::section(&overview.infrastructure),
        sections::times::section(&overview.times),
        sections::facts::outcomes::section(&overview.outcomes),
        sections::ledger::section(&overview.ledger, completeness),
        sections::facts::skipped::section(&overview.kept_back, findings.spent_budget.as_ref()),
        sections::facts::method::section(overview),
    ]);
    list
}

/// The maximum number of country domains in a title; further ones are only counted.
const NAMED: usize = 6;

fn title(manifest: &Manifest) -> String {
    let domains: Vec<String> =
        (manifest.settings.get("cctld").and_then(Value::as_array).into_iter().flatten())
            .filter_map(Value::as_str)
            .map(|domain| format!(".{domain}"))
            .collect();
    let omitted = domains.len().saturating_sub(NAMED);
    let domain_names = match domains.len() {
        0 => "a survey".to_owned(),
        _ if omitted == 0 => domains.join(", "),
        _ => {
            let more = count(omitted as u64, "more country domain");
            format!("{} and {more}", domains[..NAMED].join(", "))
        }
    };
    match manifest.web() {
        SurveyedWeb::Internet => format!("The Web servers of {domain_names}"),
        SurveyedWeb::Virtual(_) | SurveyedWeb::Gateway(_) => {
            format!("A virtual Web: the servers of {domain_names}")
        }
        SurveyedWeb::Recorded(_) => format!("A replayed survey: the Web servers of {domain_names}"),
    }
}

fn subtitle(manifest: &Manifest, completeness: &Completeness) -> String {
    let begun = manifest.created.day();
    let ended = match manifest.state {
        SurveyState::Finished => {
            format!(", finished {}", manifest.finished.unwrap_or(manifest.updated).day())
        }
        // The manifest of an unfinished survey may be as old as the start of its run.
        SurveyState::Running | SurveyState::Interrupted | SurveyState::Failed => {
            completeness.known.map_or_else(String::new, |known| format!(", as of {}", known.at.day()))
        }
    };
    let kind = match manifest.web() {
        SurveyedWeb::Internet => "A survey",
        SurveyedWeb::Gateway(_) => "A survey of a virtual Web",
        SurveyedWeb::Virtual(_) => "A simulation of a virtual Web, on virtual time",
        SurveyedWeb::Recorded(_) => "A simulation of a recorded survey, on virtual time",
    };
    let budget = manifest.budget.as_ref().map_or_else(String::new, |budget| {
        format!(
            " It had a budget of {} in {}, so each site was fetched best first, and the depth of a page is that of \
             the first path found to it.",
            count(budget.requests, "request"),
            count(budget.rounds.len() as u64, "round"),
        )
    });
    format!("{kind}, started {begun}{ended}, by ccsurvey {}.{budget}", manifest.tool_version)
}

/// The numbers that readers look for first.
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
        Fact::new("External URLs", known(Kind::Urls)).note("each counted once in the survey"),
        Fact::new("External hosts", known(Kind::Hosts)),
        Fact::new("External sites", known(Kind::Sites)),
        Fact::new("Server addresses", known(Kind::Addresses)).note("of linked hosts that received a request"),
        Fact::new("Deepest level walked", u64::from(last.depth)),
    ];
    facts.extend(recommended(findings));
    facts
}

/// The recommendations: by coverage alone and, if an environment is given, for that environment.
fn recommended(findings: &Findings) -> Vec<Fact> {
    if findings.recorded.manifest.skips_pages() {
        let none = Fact::new("Recommended", "none".to_owned()).note(NO_DEPTH_REASON);
        let price = findings.spent_budget.as_ref().and_then(|spent| spent.last_price);
        let price = price.map(|price| {
            Fact::new("Requests for the last host", Cell::Number(price, 1)).note("at the end of the budget")
        });
        return price.into_iter().chain([none]).collect();
    }
    let fact = |name: &str, comparison: &Comparison| {
        let best = comparison.best();
        let flags = best.map_or_else(|| "none".to_owned(), |best| best.flags.clone());
        let provisional = if findings.completeness.is_partial() { " (provisional)" } else { "" };
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
