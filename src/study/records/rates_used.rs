use serde::{Deserialize, Serialize};

/// The rates by which a survey leaves pages out: `rates.json` in its folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatesUsed {
    /// XXH3 of the file, 128 bits, hexadecimal.
    pub hash: String,
    /// What is lost with the pages left out; none where the rates do not tell it for the deepest level of this survey, or
    /// where `--focus` sets the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<ToldLoss>,
}

/// What deep surveys, of which the rates were learned, would have lost at the price of this one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToldLoss {
    /// External hosts, new in the tree, for each that the pages left out were expected to bring themselves.
    pub ratio: f64,
    /// The standard deviation of its logarithm between surveys.
    pub between: f64,
    /// How many surveys that is of.
    pub surveys: u32,
    /// The variance that the trees of a survey make, for each expected host.
    pub within: f64,
}

/// A number of lost hosts and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LostHosts {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl LostHosts {
    /// Whether the interval tells anything of a survey that found so many: at its upper end, half of all were found.
    /// Beyond that it exceeds what is known, and holds whatever was lost.
    #[must_use]
    pub fn tells(&self, found: f64) -> bool {
        self.high <= found
    }
}

/// Student's t, 97.5 %, by degrees of freedom from 1, and the normal distribution's.
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
const NORMAL: f64 = 1.96;

impl ToldLoss {
    /// What is lost where so many hosts were expected. Surveys differ by factors, and the next one as they do (a prediction
    /// interval of Student's); the trees of a survey differ by sums. Of one survey, how others differ is not known and not in
    /// it. None where the numbers are none, in a damaged manifest.
    #[must_use]
    pub fn of(self, expected: f64) -> Option<LostHosts> {
        let value = self.ratio * expected;
        let surveys = f64::from(self.surveys.max(1));
        let reach = match self.surveys as usize {
            0 | 1 => 0.0,
            surveys => *STUDENT.get(surveys - 2).unwrap_or(&NORMAL),
        };
        let factor = (reach * self.between * (1.0 + surveys.recip()).sqrt()).exp();
        let sum = NORMAL * (self.within * expected).sqrt();
        let lost = LostHosts { value, low: (value / factor - sum).max(0.0), high: value * factor + sum };
        (lost.low >= 0.0 && lost.low <= value && value <= lost.high && lost.high.is_finite()).then_some(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: ToldLoss = ToldLoss { ratio: 3.0, between: 0.0, surveys: 1, within: 4.0 };

    #[test]
    fn an_interval_that_exceeds_what_was_found_tells_nothing() {
        let lost = LOSS.of(100.0).unwrap();
        assert!(lost.tells(lost.high) && !lost.tells(lost.high - 1.0));
    }

    #[test]
    fn the_trees_of_a_survey_differ_by_sums() {
        let sum = 1.96 * 20.0;
        let lost = LOSS.of(100.0).unwrap();
        assert_eq!((lost.value, lost.low, lost.high), (300.0, 300.0 - sum, 300.0 + sum));
        assert_eq!(LOSS.of(1.0).unwrap().low, 0.0);
        assert_eq!(LOSS.of(0.0), Some(LostHosts { value: 0.0, low: 0.0, high: 0.0 }));
    }

    #[test]
    fn surveys_differ_by_factors_and_few_tell_little_of_the_next() {
        let of = |surveys| ToldLoss { between: 0.1, surveys, within: 0.0, ..LOSS }.of(100.0).unwrap();
        let factor = (12.706 * 0.1 * 1.5_f64.sqrt()).exp();
        assert!((of(2).high - 300.0 * factor).abs() < 1e-6 && (of(2).low - 300.0 / factor).abs() < 1e-6);
        assert!((of(3).high - 300.0 * (4.303 * 0.1 * (4.0_f64 / 3.0).sqrt()).exp()).abs() < 1e-6);
        assert!((of(100).high - 300.0 * (1.96 * 0.1 * 1.01_f64.sqrt()).exp()).abs() < 1e-6);
    }

    #[test]
    fn numbers_that_are_none_tell_nothing() {
        for loss in [
            ToldLoss { ratio: f64::NAN, ..LOSS },
            ToldLoss { ratio: -1.0, ..LOSS },
            ToldLoss { between: 1e6, surveys: 3, ..LOSS },
            ToldLoss { within: -1.0, ..LOSS },
        ] {
            assert_eq!(loss.of(100.0), None, "{loss:?}");
        }
    }
}
