/// A histogram of times with classes of equal ratio: percentiles are exact to 1 %, whatever the number of
/// exchanges.
#[derive(Clone, Default)]
pub(in crate::analysis::overview) struct Histogram {
    classes: Vec<u64>,
    sum: f64,
    max: f64,
}

/// A class spans 2 %, so its middle is within 1 % of every value in it.
const RATIO: f64 = 1.02;
/// In milliseconds. Shorter times are in the first class. Tables record times to the microsecond.
const MIN_TIME: f64 = 0.001;
/// From a microsecond to more than a day: no time exceeds the largest time-out, which is a day.
const CLASSES: usize = 1300;

/// Percentiles of times, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Percentiles {
    /// The number of values.
    pub count: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// 5 % of the values are less.
    pub p5: f64,
    /// 25 % of the values are less.
    pub p25: f64,
    /// 50 % of the values are less.
    pub median: f64,
    /// 75 % of the values are less.
    pub p75: f64,
    /// 95 % of the values are less.
    pub p95: f64,
    /// 99 % of the values are less.
    pub p99: f64,
    /// The greatest value.
    pub max: f64,
}

impl Histogram {
    pub(in crate::analysis::overview) fn add(&mut self, ms: f64) {
        if !ms.is_finite() {
            return;
        }
        let class = ((ms / MIN_TIME).ln() / RATIO.ln()).floor();
        // `as` saturates: negative numbers go to the first class.
        let class = (class as usize).min(CLASSES - 1);
        if self.classes.len() <= class {
            self.classes.resize(class + 1, 0);
        }
        self.classes[class] += 1;
        self.sum += ms;
        self.max = self.max.max(ms);
    }

    pub(in crate::analysis::overview) fn finish(&self) -> Percentiles {
        let count = self.classes.iter().sum();
        let percentile_at = |share| self.percentile(count, share);
        Percentiles {
            count,
            mean: if count == 0 { 0.0 } else { self.sum / count as f64 },
            p5: percentile_at(0.05),
            p25: percentile_at(0.25),
            median: percentile_at(0.5),
            p75: percentile_at(0.75),
            p95: percentile_at(0.95),
            p99: percentile_at(0.99),
            max: self.max,
        }
    }

    /// The middle of the class that holds the value of this rank.
    fn percentile(&self, count: u64, share: f64) -> f64 {
        let rank = (share * count as f64).ceil().max(1.0) as u64;
        let mut cumulative = 0;
        for (class, class_count) in self.classes.iter().enumerate() {
            cumulative += class_count;
            if cumulative >= rank {
                return (MIN_TIME * RATIO.powf(class as f64 + 0.5)).min(self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_has_no_times() {
        assert_eq!(Histogram::default().finish(), Percentiles::default());
    }

    proptest! {
        #[test]
        fn percentiles_are_right_to_one_percent(mut times in prop::collection::vec(0.001..1e8, 1..500)) {
            let mut histogram = Histogram::default();
            times.iter().for_each(|ms| histogram.add(*ms));
            times.sort_unstable_by(f64::total_cmp);
            let found = histogram.finish();
            for (share, found) in [(0.05, found.p5), (0.5, found.median), (0.95, found.p95)] {
                let rank = (share * times.len() as f64).ceil() as usize;
                let exact = times[rank.max(1) - 1];
                prop_assert!((found / exact - 1.0).abs() <= 0.0101, "{found} for {exact}");
            }
            prop_assert_eq!(found.max, times[times.len() - 1]);
        }

        #[test]
        fn any_number_is_taken(ms in any::<f64>()) {
            let mut histogram = Histogram::default();
            histogram.add(ms);
            prop_assert!(histogram.finish().count <= 1);
        }
    }
}
