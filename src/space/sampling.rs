//! Tests whether samples agree with the intended distributions. All bounds are at p = 1e-4, and the seeds are
//! fixed: a test that passes once always passes.

use std::f64::consts::SQRT_2;

use crate::draw::real;

/// Standard normal deviates at p = 1e-4, two-sided and one-sided.
const TWO_SIDED: f64 = 3.8906;
const ONE_SIDED: f64 = 3.7190;

/// Number of samples in the tests.
pub(super) const MANY: u64 = 20_000;

/// Compares a count with its share, by the normal approximation.
pub(super) fn assert_share(name: &str, hits: u64, all: u64, share: f64) {
    let (mean, variance) = (real(all) * share, real(all) * share * (1.0 - share));
    let deviation = (real(hits) - mean).abs();
    assert!(deviation <= TWO_SIDED * variance.sqrt() + 1e-9, "{name}: {hits} of {all}, expected {mean:.0}");
}

/// Compares the counts of several kinds with their shares, by a chi-squared test (bound by Wilson and
/// Hilferty).
pub(super) fn assert_shares(name: &str, counts: &[u64], shares: &[f64]) {
    let all = real(counts.iter().sum());
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{name}: {shares:?}");
    let (mut chi_square, mut kinds) = (0.0, 0);
    for (count, share) in counts.iter().zip(shares) {
        let expected = all * share;
        assert!(expected > 0.0 || *count == 0, "{name}: {counts:?}");
        if expected > 0.0 {
            chi_square += (real(*count) - expected).powi(2) / expected;
            kinds += 1;
        }
    }
    let freedom = 2.0 / (9.0 * real(kinds - 1));
    let bound = real(kinds - 1) * (1.0 - freedom + ONE_SIDED * freedom.sqrt()).powi(3);
    assert!(chi_square < bound, "{name}: {counts:?} against {shares:?}: {chi_square} > {bound}");
}

/// Compares a sample with a distribution function, by the Kolmogorov–Smirnov test.
pub(super) fn assert_distribution(name: &str, sample: &[f64], distribution: impl Fn(f64) -> f64) {
    assert_within(name, sample, (f64::NEG_INFINITY, f64::INFINITY), distribution);
}

/// The same for a sample that was clamped to `least` and `most`: of the values at the bounds, only the number
/// counts.
pub(super) fn assert_within(
    name: &str,
    sample: &[f64],
    (least, most): (f64, f64),
    distribution: impl Fn(f64) -> f64,
) {
    let mut sample = sample.to_vec();
    sample.sort_by(f64::total_cmp);
    let count = real(sample.len() as u64);
    let inside = (0_u64..).zip(&sample).filter(|(_, x)| (least..most).contains(*x) && **x > least);
    let distance = inside.fold(0.0_f64, |distance, (below, x)| {
        let at = distribution(*x);
        distance.max(at - real(below) / count).max(real(below + 1) / count - at)
    });
    // sqrt(−ln(p / 2) / 2)
    let bound = 2.2253 / count.sqrt();
    assert!(distance > 0.0 && distance < bound, "{name}: off by {distance}, allowed {bound}");
}

/// Distribution function of the standard normal.
pub(super) fn normal(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs() / SQRT_2);
    // Abramowitz and Stegun 7.1.26, error below 1.5e-7.
    let tail = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592]
        .iter()
        .fold(0.0, |sum, c| sum * t + c)
        * t
        * (-x * x / 2.0).exp();
    if x < 0.0 { tail / 2.0 } else { 1.0 - tail / 2.0 }
}

/// Distribution function of a log-normal distribution.
pub(super) fn log_normal(x: f64, median: f64, sigma: f64) -> f64 {
    normal((x / median).ln() / sigma)
}
