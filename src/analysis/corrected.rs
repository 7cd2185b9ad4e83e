//! What a share is, in all likelihood, among all sites like those that were surveyed.
//!
//! A share that site trees make up together is a ratio of sums, and few trees hold most of both. The largest trees are the
//! deepest; most samples hold fewer of them than their part, and a few samples far more. So the curve of a sample lies above
//! that of its Web in most samples, and too high on average. The *corrected* share is lower on the scale of log-odds: by
//! three quarters of its squared standard error there, which tells how unlike each other the trees are that decide, and by
//! less of it where trees are more than a hundred. In simulated Webs that takes a third of the bias of 100 trees away
//! and makes their root mean squared error a seventh larger; of 1,000 trees little is left to correct. Among real
//! documentation packages, whose large sites are no deeper than others, it brings shares of 30 sites one to four points too low.
//!
//! Compared were the jackknife and Beale's ratio estimator, which correct the mean of deep levels hardly and err by a third more;
//! low quantiles of Webs drawn with a tail of Pareto's law, which err a quarter less in simulated Webs and are ten points too
//! low among documentation packages. `reports/intervals` can measure these, and Chao's richness at each depth over that of all
//! depths, which has not been compared yet.

use super::sampled_rate::SampledRate;

/// Of the squared standard error of the log-odds. At a half, samples of 100 trees lie more too high; at one, those of sites that
/// are all shallow lie too low.
const STRENGTH: f64 = 0.75;
/// So many trees are corrected in full, and more in proportion less: those that hold a giant have a large standard error and
/// are too low already.
const IN_FULL: f64 = 100.0;
/// A standard error of the log-odds beyond which it tells nothing more.
const MOST_SPREAD: f64 = 1.0;

/// The share down to a depth without most of its bias.
pub(super) fn corrected(all: &SampledRate, depth: usize) -> f64 {
    let value = 1.0 - all.missing(depth);
    if value <= 0.0 || value >= 1.0 {
        return value;
    }
    let strength = STRENGTH * (IN_FULL / f64::from(all.units)).min(1.0);
    from_log_odds(log_odds(value) - strength * spread(all, depth).min(MOST_SPREAD).powi(2))
}

/// The standard error of the log-odds of a share that is neither nothing nor all, by linearisation.
pub(super) fn spread(all: &SampledRate, depth: usize) -> f64 {
    let missing = all.missing(depth);
    all.spread(depth) / (missing * (1.0 - missing))
}

/// Of a share; of nothing and all, of shares as near as they can be told from it.
pub(super) fn log_odds(share: f64) -> f64 {
    let share = share.clamp(1e-12, 1.0 - 1e-12);
    (share / (1.0 - share)).ln()
}

/// The share that has these.
pub(super) fn from_log_odds(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees(levels: &[[f64; 2]], times: usize) -> SampledRate {
        let mut rate = SampledRate::new(2);
        rate.begin_stratum();
        for _ in 0..times {
            levels.iter().for_each(|[above, below]| rate.add(above + below, &[*below, 0.0]));
        }
        rate.sum_up();
        rate
    }

    #[test]
    fn uneven_trees_are_corrected_downwards_and_less_as_they_are_more() {
        let uneven = [[5.0, 0.0], [4.0, 1.0], [3.0, 9.0], [1.0, 0.0]];
        let (few, many) = (trees(&uneven, 1), trees(&uneven, 400));
        let value = 1.0 - few.missing(0);
        let (few, many) = (corrected(&few, 0), corrected(&many, 0));
        assert!(few < many && many < value && value - many < 0.001, "{few} {many} {value}");
    }

    #[test]
    fn trees_that_are_all_the_same_need_no_correction() {
        let same = trees(&[[3.0, 1.0]], 60);
        assert!((corrected(&same, 0) - 0.75).abs() < 1e-9);
        assert_eq!(corrected(&same, 1), 1.0);
    }

    #[test]
    fn log_odds_and_shares_are_each_others_inverse() {
        for share in [0.001, 0.3, 0.5, 0.96] {
            assert!((from_log_odds(log_odds(share)) - share).abs() < 1e-12);
        }
    }
}
