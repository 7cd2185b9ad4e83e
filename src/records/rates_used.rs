use serde::{Deserialize, Serialize};

/// The rates by which a survey leaves pages out: `rates.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatesUsed {
    /// XXH3 of the file, 128 bits, hexadecimal.
    pub hash: String,
    /// What is lost with the pages left out; none where the rates do not tell, and where they are not gone by alone
    /// (`--focus`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<ToldLoss>,
}

/// What deep surveys, of which the rates were learned, would have lost at the price of this one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToldLoss {
    /// External hosts, new in the tree, for each that the pages left out were expected to bring themselves.
    pub ratio: f64,
    /// The standard deviation of its logarithm between surveys; none where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<f64>,
    /// The variance that the trees of a survey make, for each expected host.
    pub within: f64,
}

impl ToldLoss {
    /// What is lost where so many hosts were expected, and the ends of its interval at so many standard deviations: surveys
    /// differ by factors, the trees of one by sums.
    #[must_use]
    pub fn range(self, expected: f64, reach: f64) -> (f64, [f64; 2]) {
        let lost = self.ratio * expected;
        let (factor, sum) =
            ((reach * self.between.unwrap_or_default()).exp(), reach * (self.within * expected).sqrt());
        (lost, [(lost / factor - sum).max(0.0), lost * factor + sum])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surveys_differ_by_factors_and_trees_by_sums() {
        let loss = ToldLoss { ratio: 3.0, between: Some(0.5), within: 4.0 };
        let (lost, [low, high]) = loss.range(100.0, 2.0);
        assert_eq!(lost, 300.0);
        assert!((low - (300.0 / std::f64::consts::E - 40.0)).abs() < 1e-9, "{low}");
        assert!((high - (300.0 * std::f64::consts::E + 40.0)).abs() < 1e-9, "{high}");
        let one = ToldLoss { between: None, ..loss };
        assert_eq!(one.range(100.0, 2.0), (300.0, [260.0, 340.0]));
        assert_eq!(one.range(1.0, 2.0), (3.0, [0.0, 7.0]));
        assert_eq!(one.range(0.0, 2.0), (0.0, [0.0, 0.0]));
    }
}
