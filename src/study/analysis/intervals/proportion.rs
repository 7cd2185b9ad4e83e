use super::estimate::Estimate;
use super::sampling::Sampling;

/// The share of `part` among `whole` independent things, with a 95 % interval (Wilson, 1927); 0 without an
/// interval if there are none.
pub(in crate::analysis) fn proportion(part: u64, whole: u64) -> Estimate {
    if whole == 0 {
        return Estimate::exact(0.0);
    }
    let (value, [low, high]) = (part as f64 / whole as f64, wilson(part, whole));
    Estimate::between(low, value, high)
}

fn wilson(part: u64, whole: u64) -> [f64; 2] {
    let (share, count) = (part as f64 / whole as f64, whole as f64);
    let quantile = Sampling::default().normal_quantile();
    let squared = quantile * quantile;
    let middle = share + squared / (2.0 * count);
    let half = quantile * (share * (1.0 - share) / count + squared / (4.0 * count * count)).sqrt();
    let end = |end: f64| (end / (1.0 + squared / count)).clamp(0.0, 1.0);
    [end(middle - half), end(middle + half)]
}

/// Independent things that have a property before and after, only before, only after, or never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PairedCounts {
    /// Before and after.
    pub both: u64,
    /// Before, and not after.
    pub lost: u64,
    /// After, and not before.
    pub gained: u64,
    /// Neither before nor after.
    pub neither: u64,
}

impl PairedCounts {
    pub(in crate::analysis) fn add(&mut self, before: bool, after: bool) {
        *match (before, after) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.lost,
            (false, true) => &mut self.gained,
            (false, false) => &mut self.neither,
        } += 1;
    }

    /// The number of things.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.both + self.lost + self.gained + self.neither
    }

    /// The share of the things that have the property before.
    #[must_use]
    pub fn before(&self) -> Estimate {
        proportion(self.both + self.lost, self.count())
    }

    /// The share of the things that have the property after.
    #[must_use]
    pub fn after(&self) -> Estimate {
        proportion(self.both + self.gained, self.count())
    }

    /// By how much the share has changed, with a 95 % interval that takes account of the pairing: method 10
    /// of Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
    /// paired data", Statistics in Medicine 17 (1998).
    #[must_use]
    pub fn difference(&self) -> Estimate {
        let (before, after) = (self.before(), self.after());
        let value = after.value - before.value;
        if self.count() == 0 {
            return Estimate::exact(0.0);
        }
        let correlation = self.correlation();
        let distance = |one: f64, other: f64| {
            (one * one - 2.0 * correlation * one * other + other * other).max(0.0).sqrt()
        };
        let low = value - distance(after.value - after.low, before.high - before.value);
        let high = value + distance(after.high - after.value, before.value - before.low);
        Estimate::between(low.max(-1.0), value, high.min(1.0))
    }

    /// The correlation of the property before and after, with the correction for continuity that the method
    /// prescribes.
    fn correlation(&self) -> f64 {
        let [both, lost, gained, neither] =
            [self.both, self.lost, self.gained, self.neither].map(|count| count as f64);
        let margins = (both + lost) * (gained + neither) * (both + gained) * (lost + neither);
        if margins <= 0.0 {
            return 0.0;
        }
        let product = both * neither - lost * gained;
        let corrected = if product > 0.0 { (product - self.count() as f64 / 2.0).max(0.0) } else { product };
        corrected / margins.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::super::chance::Chance;
    use super::*;

    #[test]
    fn shares_have_the_published_intervals() {
        // Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let share = proportion(part, whole);
            assert!((share.low - low).abs() < 1e-4 && (share.high - high).abs() < 1e-4, "{share:?}");
        }
        assert_eq!(proportion(0, 0), Estimate::exact(0.0));
    }

    #[test]
    fn differences_have_the_published_intervals() {
        // Newcombe (1998), table III, method 10: cells e, f, g, h; the difference is (f - g) / n.
        for ([both, lost, gained, neither], low, high) in
            [([36, 12, 2, 0], 0.0569, 0.3404), ([54, 0, 0, 0], -0.0664, 0.0664)]
        {
            // The paper takes the first minus the second; here it is after minus before.
            let counts = PairedCounts { both, lost: gained, gained: lost, neither };
            let difference = counts.difference();
            let is_met = (difference.low - low).abs() < 6e-4 && (difference.high - high).abs() < 6e-4;
            assert!(is_met, "{counts:?}: {difference:?}");
        }
        assert_eq!(PairedCounts::default().difference(), Estimate::exact(0.0));
    }

    #[test]
    fn ninety_five_of_a_hundred_differences_hold() {
        let mut held = 0;
        for draw in 0..2000 {
            let mut chance = Chance::new(draw, 0);
            let mut counts = PairedCounts::default();
            for _ in 0..120 {
                let before = chance.uniform() < 0.4;
                let changes = chance.uniform() < if before { 0.05 } else { 0.15 };
                counts.add(before, before != changes);
            }
            let truth = 0.6 * 0.15 - 0.4 * 0.05;
            let difference = counts.difference();
            held += u32::from(difference.low <= truth && truth <= difference.high);
        }
        assert!((1860..=1960).contains(&held), "{held} of 2000");
    }
}
