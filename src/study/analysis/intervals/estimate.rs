use super::no_interval::NoInterval;

/// A figure with the interval that holds what it estimates with the confidence asked for.
///
/// Where nothing is estimated, or nothing tells how sure it is, both ends are the figure itself: it has no interval. The
/// first is so of nothing and of all, which are shares by definition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// As it was measured.
    pub value: f64,
    /// What it is, in all likelihood, among all that the survey is a sample of: without most of the bias that a ratio of
    /// uneven sums has. It equals the value where nothing is corrected.
    pub corrected: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Why it has no interval; none where it has one, or needs none.
    pub no_interval: Option<NoInterval>,
}

impl Estimate {
    /// A figure without an interval.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self::between(value, value, value)
    }

    /// A figure that nothing corrects, with its ends.
    #[must_use]
    pub fn between(low: f64, value: f64, high: f64) -> Self {
        Self { value, corrected: value, low, high, no_interval: None }
    }

    /// The ends of the interval; none where there is none.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        (self.low < self.high).then_some((self.low, self.high))
    }

    /// Whether it is a share between nothing and all of which nothing tells how sure it is.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        self.interval().is_none() && self.value > 0.0 && self.value < 1.0
    }
}

/// Ends of a share that nothing tells how sure it is are null.
impl serde::Serialize for Estimate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut estimate = serializer.serialize_struct("Estimate", 5)?;
        let is_told = !self.is_unsure();
        estimate.serialize_field("value", &self.value)?;
        estimate.serialize_field("corrected", &self.corrected)?;
        estimate.serialize_field("low", &is_told.then_some(self.low))?;
        estimate.serialize_field("high", &is_told.then_some(self.high))?;
        estimate.serialize_field("no_interval", &self.no_interval.map(NoInterval::word))?;
        estimate.end()
    }
}
