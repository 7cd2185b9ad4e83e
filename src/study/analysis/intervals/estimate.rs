use super::no_interval::NoInterval;

/// A figure with an interval that holds the estimated value with the given confidence.
///
/// If nothing is estimated, or the uncertainty cannot be computed, both ends are the figure itself: it has no
/// interval. Nothing is estimated for shares of 0 and 1, which hold by definition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The measured value.
    pub value: f64,
    /// The most likely value among everything that the survey is a sample of, with most of the bias of a
    /// ratio of uneven sums removed. Equals `value` if nothing is corrected.
    pub corrected: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Why the figure has no interval; none if it has one or needs none.
    pub no_interval: Option<NoInterval>,
}

impl Estimate {
    /// A figure without an interval.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self::between(value, value, value)
    }

    /// A figure without a correction, with the ends of its interval.
    #[must_use]
    pub fn between(low: f64, value: f64, high: f64) -> Self {
        Self { value, corrected: value, low, high, no_interval: None }
    }

    /// The ends of the interval, if there is one.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.low < self.high).then_some((self.low, self.high))
    }

    /// Whether this is a share between 0 and 1 of unknown uncertainty.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        self.interval().is_none() && self.value > 0.0 && self.value < 1.0
    }
}

/// The ends are null for a share of unknown uncertainty.
impl serde::Serialize for Estimate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut estimate = serializer.serialize_struct("Estimate", 5)?;
        let is_sure = !self.is_unsure();
        estimate.serialize_field("value", &self.value)?;
        estimate.serialize_field("corrected", &self.corrected)?;
        estimate.serialize_field("low", &is_sure.then_some(self.low))?;
        estimate.serialize_field("high", &is_sure.then_some(self.high))?;
        estimate.serialize_field("no_interval", &self.no_interval.map(NoInterval::word))?;
        estimate.end()
    }
}
