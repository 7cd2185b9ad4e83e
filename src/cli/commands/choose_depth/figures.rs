use crate::analysis::{Estimate, Evidence, Kind, Reading, Settling};
pub(super) use crate::records::units::percent;
use crate::records::units::thousands;

/// `96.9–98.0 %`; nothing where there is no interval.
pub(super) fn interval(estimate: Estimate) -> String {
    let ends = estimate.interval().map(|(low, high)| format!("{:.1}–{:.1} %", low * 100.0, high * 100.0));
    ends.unwrap_or_default()
}

/// `97.5 % (96.9–98.0 %)`.
pub(super) fn with_interval(estimate: Estimate) -> String {
    let ends = estimate.interval().map(|_| format!(" ({})", interval(estimate)));
    percent(estimate.value) + &ends.unwrap_or_default()
}

pub(super) fn kind_in_words(kind: Kind) -> &'static str {
    Reading::Union.counts(kind)
}

/// What decides at a confidence.
pub(super) fn by_confidence(confidence: f64) -> String {
    if confidence > Evidence::EVEN {
        format!("at a confidence of {}", percent(confidence))
    } else {
        "by the curve".to_owned()
    }
}

/// The risk of a coverage that the curve decided.
pub(super) fn lower(low: f64) -> String {
    format!("coverage is as likely lower as higher, and may be {}", percent(low))
}

/// What would narrow an interval.
pub(super) fn settled(settling: Settling, trees: u64) -> String {
    format!(
        "About {} more sites would settle it, with an interval of ± {:.0} points; {} were surveyed.",
        thousands(settling.more_sites),
        settling.within * 100.0,
        thousands(trees)
    )
}
