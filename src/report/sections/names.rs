use crate::analysis::{Kind, LoadUnit, Sampling};
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

pub(super) const UNITS: [LoadUnit; 3] = [LoadUnit::Requests, LoadUnit::Bytes, LoadUnit::BusyTime];

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
