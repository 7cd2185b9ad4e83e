use crate::analysis::{Curves, Estimate, Kind, LoadUnit, NoInterval, Reading, Sampling};
use crate::report::percent;

/// The name of a kind, as the report uses it.
pub(super) fn kind(kind: Kind) -> &'static str {
    Reading::Union.counts(kind)
}

/// The name of a kind that counts once in every site tree.
pub(super) fn pairs(kind: Kind) -> &'static str {
    Reading::Pair.counts(kind)
}

/// The units in which a survey has load. A survey without any busy time (a simulation without distances) has
/// no rate of it.
pub(super) fn units(curves: &Curves) -> Vec<LoadUnit> {
    units_of(curves.levels.last().map(|last| &last.load))
}

/// As [`units`], from the load rates of the deepest level.
pub(super) fn units_of(last: Option<&[Estimate; 3]>) -> Vec<LoadUnit> {
    let is_there = |unit: &LoadUnit| last.is_some_and(|load| load[*unit as usize].value > 0.0);
    [LoadUnit::Requests, LoadUnit::Bytes, LoadUnit::BusyTime].into_iter().filter(is_there).collect()
}

/// The text of a figure when nothing was found.
pub(super) const NOTHING_FOUND: &str = "No external URL was found.";

/// The kinds with any finding. If no linked host was requested, there are no server addresses.
pub(super) fn kinds(curves: &Curves) -> Vec<Kind> {
    let last = curves.levels.last();
    let is_known = |kind: &Kind| last.is_some_and(|last| last.known[*kind as usize] > 0);
    Kind::ALL.into_iter().filter(is_known).collect()
}

/// Explains the bands of a figure.
pub(super) fn bands(sampling: &Sampling) -> String {
    format!(
        "Bands: {} intervals over site trees. {} Without an interval, a line has no band.",
        confidence(sampling),
        NoInterval::rule()
    )
}

/// The confidence level of the intervals in a report: `95 %`.
pub(super) fn confidence(sampling: &Sampling) -> String {
    percent(sampling.confidence).replace(".0 %", " %")
}
