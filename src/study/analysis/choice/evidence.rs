use crate::analysis::{
    Censoring, CurveLevel, Curves, DepthShare, DepthShares, Estimate, Kind, LoadUnit, Reading, Recorded,
    Sampling,
};

/// The evidence by which a depth is chosen, and the confidence of the choice.
///
/// At a confidence of one half, the corrected curve decides, because the measured curve lies too high in most
/// surveys. At a higher confidence, the bound on the safe side that holds with this confidence decides; at
/// 97.5 % it is the end of a 95 % interval.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The curves, with the intervals that are shown.
    pub curves: Curves,
    /// Bounds on what lies below the levels where trees were cut.
    pub censoring: Censoring,
    /// Estimates of what lies below the deepest level.
    pub shares: DepthShares,
    /// The probability that the chosen depth meets the criterion.
    pub confidence: f64,
    /// Curves with intervals whose ends are the bounds at that confidence; none if the corrected curve
    /// decides.
    bounds: Option<Curves>,
}

/// The safe side of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::analysis) enum Side {
    /// For coverage, which may be lower than measured.
    Low,
    /// For load, which may be higher than measured.
    High,
}

impl Evidence {
    /// The default confidence of a choice: the corrected curve decides.
    pub const EVEN_ODDS: f64 = 0.5;

    /// Computes the curves of a survey and, for a confidence above [`Self::EVEN_ODDS`], the bounds.
    #[must_use]
    pub fn measure(recorded: &Recorded, sampling: &Sampling, confidence: f64) -> Self {
        Self::by(recorded, sampling, confidence, |sampling| Curves::measure(recorded, sampling))
    }

    /// Whether the survey found nothing of a kind.
    pub(in crate::analysis) fn found_nothing(&self, (kind, reading): (Kind, Reading)) -> bool {
        self.curves.levels.last().is_none_or(|level| reading.coverage(level, kind).value <= 0.0)
    }

    /// As [`Self::measure`], with `draw` to compute the curves.
    pub(in crate::analysis) fn by(
        recorded: &Recorded,
        sampling: &Sampling,
        confidence: f64,
        draw: impl Fn(&Sampling) -> Curves,
    ) -> Self {
        // A bound that leaves out a share on one side is the end of an interval that leaves out twice that
        // share.
        let two_sided = Sampling { confidence: 2.0 * confidence - 1.0, ..*sampling };
        Self {
            curves: draw(sampling),
            censoring: Censoring::measure(recorded),
            shares: DepthShares::measure(recorded),
            confidence,
            bounds: (confidence > Self::EVEN_ODDS).then(|| draw(&two_sided)),
        }
    }

    /// The deciding figure of each level.
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

    /// The deciding coverage of each level.
    pub(in crate::analysis) fn deciding_coverage(&self, kind: Kind, reading: Reading) -> Vec<f64> {
        self.deciding(|level| reading.coverage(level, kind), Side::Low)
    }

    /// The deciding load of each level.
    pub(in crate::analysis) fn deciding_load(&self, unit: LoadUnit) -> Vec<f64> {
        self.deciding(|level| level.load(unit), Side::High)
    }

    /// The share of the finds or of the load that the survey knows, deeper levels included: the estimate that
    /// fits the confidence.
    pub(in crate::analysis) fn share(&self, share: DepthShare) -> f64 {
        share.at_confidence(self.confidence)
    }

    #[cfg(test)]
    pub(in crate::analysis) fn from_curves(curves: Curves, confidence: f64, shares: DepthShares) -> Self {
        let censoring =
            Censoring { cut_trees: 0, unasked_urls: 0, might_bring: [0.0; 4], levels: Vec::new() };
        let bounds = (confidence > Self::EVEN_ODDS).then(|| curves.clone());
        Self { curves, censoring, shares, confidence, bounds }
    }
}

impl DepthShare {
    /// The estimate that fits the confidence: by the trend at even odds, above them the lower one.
    #[must_use]
    pub fn at_confidence(self, confidence: f64) -> f64 {
        if confidence > Evidence::EVEN_ODDS { self.with_next } else { self.by_trend }
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
