use crate::analysis::{Estimate, Evidence, Kind, Reading, Settling};
pub(super) use crate::records::units::percent;
use crate::records::units::thousands;

/// `96.9–98.0 %`, or a word why there is no interval.
pub(super) fn interval(estimate: Estimate) -> String {
    let ends = estimate.interval().map(|(low, high)| format!("{:.1}–{:.1} %", low * 100.0, high * 100.0));
    let why = || estimate.no_interval.map(|why| why.shown().to_owned());
    ends.or_else(why).unwrap_or_default()
}

/// `97.5 % (corrected 97.1 %, 96.9–98.0 %)`: what the correction does not change, and an interval that there is not, are left
/// out.
pub(super) fn with_interval(estimate: Estimate) -> String {
    let (measured, corrected) = (percent(estimate.value), percent(estimate.corrected));
    let corrected = (corrected != measured).then(|| format!("corrected {corrected}"));
    let ends = estimate.interval().map(|_| interval(estimate));
    let more: Vec<String> = corrected.into_iter().chain(ends).collect();
    if more.is_empty() { measured } else { format!("{measured} ({})", more.join(", ")) }
}

pub(super) fn kind_in_words(kind: Kind) -> &'static str {
    Reading::Union.counts(kind)
}

/// What decides at a confidence.
pub(super) fn by_confidence(confidence: f64) -> String {
    if confidence > Evidence::EVEN {
        format!("at a confidence of {}", percent(confidence))
    } else {
        "by the corrected curve".to_owned()
    }
}

/// The risk of a coverage that the curve decided.
pub(super) fn lower(low: f64) -> String {
    format!("among all such sites coverage may be {}", percent(low))
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
