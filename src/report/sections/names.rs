use crate::analysis::{Curves, Kind, LoadUnit, Sampling};
use crate::report::percent;

/// What is counted, in the words of the report.
pub(super) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Urls => "external URLs",
        Kind::Hosts => "external hosts",
        Kind::Sites => "external sites",
        Kind::Addresses => "server addresses",
    }
}

/// The units in which a survey has load: one with no busy time at all (a simulation without distances) has no
/// rate of it.
pub(super) fn units(curves: &Curves) -> Vec<LoadUnit> {
    let last = curves.levels.last();
    let is_there = |unit: &LoadUnit| last.is_some_and(|last| last.load(*unit).value > 0.0);
    [LoadUnit::Requests, LoadUnit::Bytes, LoadUnit::BusyTime].into_iter().filter(is_there).collect()
}

pub(super) fn unit(unit: LoadUnit) -> &'static str {
    match unit {
        LoadUnit::Requests => "requests",
        LoadUnit::Bytes => "bytes",
        LoadUnit::BusyTime => "busy time",
    }
}

/// `95 %` for the intervals of a report.
pub(super) fn confidence(sampling: &Sampling) -> String {
    percent(sampling.confidence).replace(".0 %", " %")
}
