//! The page of a comparison of surveys.

mod sections;
mod series;

use super::{Banner, Cell, Fact, Report, Section};
pub use sections::certain_changes;

use crate::analysis::{ComparedShare, ComparedSurvey, SurveyComparison};
use crate::records::units::thousands;

impl Report {
    /// Builds the page on surveys that were compared in turn: each with the next.
    #[must_use]
    pub fn from_comparisons(comparisons: &[SurveyComparison]) -> Self {
        let surveys = surveys(comparisons);
        let names: Vec<&str> = surveys.iter().map(|survey| survey.name.as_str()).collect();
        let last = comparisons.last();
        let virtual_web = surveys.iter().find_map(|survey| Banner::if_virtual(&survey.manifest.web()));
        Self {
            title: format!("What changed: {}", names.join(" → ")),
            subtitle: subtitle(&surveys),
            banners: virtual_web.into_iter().chain(last.and_then(unlike_banner)).collect(),
            facts: last.map(headline).unwrap_or_default(),
            sections: list(comparisons, &surveys),
        }
    }
}

/// Each survey once, the earliest first.
fn surveys(comparisons: &[SurveyComparison]) -> Vec<&ComparedSurvey> {
    let first = comparisons.first().map(|comparison| &comparison.earlier);
    first.into_iter().chain(comparisons.iter().map(|comparison| &comparison.later)).collect()
}

fn subtitle(surveys: &[&ComparedSurvey]) -> String {
    let dates: Vec<String> = surveys
        .iter()
        .map(|survey| format!("{}: started {}", survey.name, survey.manifest.created.day()))
        .collect();
    format!("{}. By ccsurvey {}.", dates.join("; "), env!("CARGO_PKG_VERSION"))
}

/// A warning where one of the surveys says less than the other.
fn unlike_banner(comparison: &SurveyComparison) -> Option<Banner> {
    let reasons: Vec<String> = [&comparison.earlier, &comparison.later]
        .into_iter()
        .filter_map(|survey| Some(format!("{} {}", survey.name, incomplete(survey)?)))
        .collect();
    if reasons.is_empty() {
        return None;
    }
    let text = format!(
        "{}. A host that such a survey does not show may exist all the same: it is not counted as dead, and one that \
         only the later survey shows may be older than the earlier survey.",
        reasons.join("; ")
    );
    Some(Banner { title: "Not all that exists was surveyed.".to_owned(), text })
}

/// Why a survey does not show all that it could.
fn incomplete(survey: &ComparedSurvey) -> Option<&'static str> {
    Some(match () {
        () if survey.completeness.is_under_way() => "has not ended",
        () if survey.completeness.is_partial() => "left sites because a shared budget was used up",
        () if survey.manifest.skips_pages() => "left out pages that did not promise to be worth a request",
        () if survey.is_sample() => "surveyed a sample of its start list",
        () => return None,
    })
}

fn headline(comparison: &SurveyComparison) -> Vec<Fact> {
    let sites = &comparison.sites;
    let between = |before: u64, after: u64| format!("{} → {}", thousands(before), thousands(after));
    let share = |estimate| Cell::ShareBetween(estimate).display();
    let mut facts = vec![
        Fact::new("Sites that respond", between(sites.before(), sites.after())),
        Fact::new("Sites born", sites.born())
            .note(format!("{} of those that respond now and are known before", share(sites.born_share()))),
        Fact::new("Sites died", sites.died())
            .note(format!("{} of those that responded and were requested again", share(sites.died_share()))),
        Fact::new("Hosts that respond", between(comparison.hosts.before(), comparison.hosts.after())),
        Fact::new("Hosts born", comparison.hosts.born()),
        Fact::new("Hosts died", comparison.hosts.died()),
    ];
    let largest = comparison.shares.iter().filter(|share| share.is_certain());
    let largest = largest.max_by(|a, b| {
        let size = |share: &ComparedShare| share.sites.difference().value.abs();
        size(a).total_cmp(&size(b))
    });
    facts.extend(largest.map(|share| {
        Fact::new("Largest change of a share", sections::before_and_after(share))
            .note(format!("of the sites {}", share.name))
    }));
    facts
}

fn list(comparisons: &[SurveyComparison], surveys: &[&ComparedSurvey]) -> Vec<Section> {
    let Some(last) = comparisons.last() else { return Vec::new() };
    let mut list = vec![sections::presence(last), sections::shares(last), sections::facts(last)];
    if comparisons.len() > 1 {
        list.push(series::section(comparisons, surveys));
    }
    list.extend([sections::curves(surveys), sections::cost(surveys), sections::unlike(last)]);
    list
}
