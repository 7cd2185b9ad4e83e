use serde::Serialize;

/// The parameters of intervals, which take site trees as sampling units, stratified by country domain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sampling {
    /// The share of surveys whose intervals hold the estimated value.
    pub confidence: f64,
    /// The number of times that trees are drawn.
    pub replicates: u32,
    /// The seed of the random numbers: the same seed gives the same intervals.
    pub seed: u64,
}

impl Default for Sampling {
    /// With 400 replicates, each end of a 95 % interval is based on ten replicates. With another seed, the
    /// ends move by about a tenth of the interval's width.
    fn default() -> Self {
        Self { confidence: 0.95, replicates: 400, seed: 1 }
    }
}

impl Sampling {
    /// The probability below the interval, which equals the probability above it.
    pub(in crate::analysis) fn tail(&self) -> f64 {
        (1.0 - self.confidence).clamp(1e-9, 1.0) / 2.0
    }

    /// The number of standard deviations from the mean of a normal distribution to the ends of the interval:
    /// Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.23, with an error below 0.0005.
    pub(in crate::analysis) fn normal_quantile(&self) -> f64 {
        let t = (-2.0 * self.tail().ln()).sqrt();
        let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
        let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
        t - numerator / denominator
    }
}

/// A quantile of sorted values, of which there must be at least one, interpolated between neighbours.
pub(in crate::analysis) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_those_of_the_tables() {
        for (confidence, expected) in [(0.5, 0.6745), (0.8, 1.2816), (0.95, 1.9600), (0.99, 2.5758)] {
            let found = Sampling { confidence, ..Sampling::default() }.normal_quantile();
            assert!((found - expected).abs() < 0.0005, "{confidence}: {found}");
        }
    }
}
