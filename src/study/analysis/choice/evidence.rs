use crate::analysis::{
    Censoring, CurveLevel, Curves, DepthShare, DepthShares, Estimate, Kind, LoadUnit, Reading, Recorded,
    Sampling,
};

/// What a depth is chosen by, and how sure the choice is to be.
///
/// At a confidence of one half the corrected curve decides: that of the survey lies too high in most surveys. At a higher
/// confidence the bound on the safe side decides that holds so often; at 97.5 % it is the end of an interval of 95 %.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// With the intervals that are shown.
    pub curves: Curves,
    /// What lies below the place where trees were cut.
    pub censoring: Censoring,
    /// What lies below the deepest level.
    pub shares: DepthShares,
    /// That the depth chosen keeps what is asked of it.
    pub confidence: f64,
    /// Intervals whose ends are the bounds of that confidence; none: the corrected curve decides.
    bounds: Option<Curves>,
}

/// On which side of a figure it is safe to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::analysis) enum Side {
    /// Coverage: it may be lower.
    Low,
    /// Load: it may be higher.
    High,
}

impl Evidence {
    /// The confidence of a choice where nothing is said: the corrected curve decides.
    pub const EVEN: f64 = 0.5;

    /// Measures the curves of a survey, and the bounds of a confidence above [`Self::EVEN`].
    #[must_use]
    pub fn measure(recorded: &Recorded, sampling: &Sampling, confidence: f64) -> Self {
        Self::by(recorded, sampling, confidence, |sampling| Curves::measure(recorded, sampling))
    }

    /// The same by curves that are drawn in this way.
    pub(in crate::analysis) fn by(
        recorded: &Recorded,
        sampling: &Sampling,
        confidence: f64,
        draw: impl Fn(&Sampling) -> Curves,
    ) -> Self {
        // A bound that leaves out so much on one side is the end of an interval that leaves out twice as much.
        let two_sided = Sampling { confidence: 2.0 * confidence - 1.0, ..*sampling };
        Self {
            curves: draw(sampling),
            censoring: Censoring::measure(recorded),
            shares: DepthShares::measure(recorded),
            confidence,
            bounds: (confidence > Self::EVEN).then(|| draw(&two_sided)),
        }
    }

    /// The figure of each level that decides.
    pub(in crate::analysis) fn deciding(
        &self,
        figure: impl Fn(&CurveLevel) -> Estimate,
        safe: Side,
    ) -> Vec<f64> {
        let Some(bounds) = &self.bounds else {
            return self.curves.levels.iter().map(|level| figure(level).corrected).collect();
        };
        bounds.levels.iter().map(|level| safe.end_of(figure(level))).collect()
    }

    /// The coverage of each level that decides.
    pub(in crate::analysis) fn deciding_coverage(&self, of: Kind, reading: Reading) -> Vec<f64> {
        self.deciding(|level| reading.coverage(level, of), Side::Low)
    }

    /// The load of each level that decides.
    pub(in crate::analysis) fn deciding_load(&self, unit: LoadUnit) -> Vec<f64> {
        self.deciding(|level| level.load(unit), Side::High)
    }

    /// How much of what there is to be found or spent in deeper levels too the survey knows, as far as this
    /// confidence can tell.
    pub(in crate::analysis) fn share(&self, share: DepthShare) -> f64 {
        if self.bounds.is_some() { share.with_next } else { share.by_trend }
    }

    #[cfg(test)]
    pub(in crate::analysis) fn of_curves(curves: Curves, confidence: f64, shares: DepthShares) -> Self {
        let censoring =
            Censoring { cut_trees: 0, unasked_urls: 0, might_bring: [0.0; 4], levels: Vec::new() };
        let bounds = (confidence > Self::EVEN).then(|| curves.clone());
        Self { curves, censoring, shares, confidence, bounds }
    }
}

impl Side {
    pub(in crate::analysis) fn end_of(self, figure: Estimate) -> f64 {
        match self {
            Self::Low if figure.is_unsure() => 0.0,
            Self::High if figure.is_unsure() => 1.0,
            Self::Low => figure.low,
            Self::High => figure.high,
        }
    }
}
