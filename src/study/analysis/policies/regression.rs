use rayon::prelude::*;

use crate::walk::yields::{FEATURES, LOGARITHMS};

/// What is known of a page before a request, and what it brought.
pub(super) struct Sample {
    pub features: [f32; FEATURES],
    /// The number of external hosts, new in the tree, that it brought itself.
    pub own: f32,
    /// The number of hosts per request of the best path through it.
    pub worth: f32,
    /// How much it counts.
    pub weight: f32,
}

/// The penalty on squared weights of standardised features, per unit of the samples' weight: it keeps
/// features that say the same from working against each other.
const RIDGE: f64 = 3e-3;
const MOST_STEPS: usize = 40;
/// The gain of the objective, per unit of the samples' weight, below which the fit ends.
const LEAST_GAIN: f64 = 1e-9;
/// The number of parts in which sums are taken, whatever the number of threads, so that they are the same on
/// any machine.
const PARTS: usize = 64;

type Weights = [f64; FEATURES];

/// The mean and the standard deviation of each feature; the first one is constant and stays as it is.
struct Scaling {
    mean: Weights,
    deviation: Weights,
}

/// The objective and its derivatives.
struct Slope {
    value: f64,
    gradient: Weights,
    curvature: Vec<Weights>,
}

/// Fits the logarithm of a mean as a weighted sum of features (Poisson regression with a ridge penalty, by
/// Newton's method: McCullagh and Nelder, *Generalized Linear Models*, 1989, chapters 2 and 6).
pub(super) fn fit(samples: &[&[Sample]], target: fn(&Sample) -> f32) -> Weights {
    let total: f64 = samples.iter().copied().flatten().map(|sample| f64::from(sample.weight)).sum();
    let found: f64 =
        samples.iter().copied().flatten().map(|sample| f64::from(sample.weight * target(sample))).sum();
    let mut weights = [0.0; FEATURES];
    if total <= 0.0 {
        return weights;
    }
    let scaling = Scaling::new(samples, total);
    weights[0] = (found / total).max(1e-6).ln();
    let mut slope = slope(samples, target, &scaling, &weights, total);
    for _ in 0..MOST_STEPS {
        let Some(direction) = solve(&slope.curvature, &slope.gradient) else { break };
        // Halved until it leads up.
        let next = (0..20).find_map(|halvings| {
            let length = 0.5_f64.powi(halvings);
            let mut next = weights;
            next.iter_mut().zip(&direction).for_each(|(weight, step)| *weight += length * step);
            let there = self::slope(samples, target, &scaling, &next, total);
            (there.value > slope.value).then_some((next, there))
        });
        let Some((next, there)) = next else { break };
        let gain = there.value - slope.value;
        (weights, slope) = (next, there);
        if gain < LEAST_GAIN * total {
            break;
        }
    }
    scaling.undo(&weights)
}

impl Scaling {
    fn new(samples: &[&[Sample]], total: f64) -> Self {
        let (mut mean, mut square) = ([0.0; FEATURES], [0.0; FEATURES]);
        for sample in samples.iter().copied().flatten() {
            for (at, feature) in sample.features.iter().enumerate() {
                let (feature, weight) = (f64::from(*feature), f64::from(sample.weight));
                mean[at] += weight * feature / total;
                square[at] += weight * feature * feature / total;
            }
        }
        let mut deviation = [1.0; FEATURES];
        for at in 1..FEATURES {
            let variance = square[at] - mean[at] * mean[at];
            // A feature that never varies says nothing.
            deviation[at] = if variance > 1e-9 { variance.sqrt() } else { f64::INFINITY };
        }
        mean[0] = 0.0;
        Self { mean, deviation }
    }

    fn apply(&self, sample: &Sample) -> Weights {
        let mut out = [0.0; FEATURES];
        for (at, feature) in sample.features.iter().enumerate() {
            out[at] = (f64::from(*feature) - self.mean[at]) / self.deviation[at];
        }
        out
    }

    /// The weights for features as they are.
    fn undo(&self, weights: &Weights) -> Weights {
        let mut out = [0.0; FEATURES];
        for at in 0..FEATURES {
            out[at] = weights[at] / self.deviation[at];
        }
        out[0] -= (1..FEATURES).map(|at| out[at] * self.mean[at]).sum::<f64>();
        out
    }
}

fn slope(
    samples: &[&[Sample]],
    target: fn(&Sample) -> f32,
    scaling: &Scaling,
    weights: &Weights,
    total: f64,
) -> Slope {
    let all: Vec<&Sample> = samples.iter().copied().flatten().collect();
    let parts: Vec<Slope> = all
        .par_chunks(all.len().div_ceil(PARTS).max(1))
        .map(|part| {
            let mut slope = Slope::zero();
            part.iter().for_each(|sample| slope.add(sample, target(sample), scaling, weights));
            slope
        })
        .collect();
    let mut sum = Slope::zero();
    for part in &parts {
        sum.value += part.value;
        for at in 0..FEATURES {
            sum.gradient[at] += part.gradient[at];
            for other in 0..=at {
                sum.curvature[at][other] += part.curvature[at][other];
            }
        }
    }
    for (at, weight) in weights.iter().enumerate().skip(1) {
        sum.value -= RIDGE * total * weight * weight / 2.0;
        sum.gradient[at] -= RIDGE * total * weight;
        sum.curvature[at][at] += RIDGE * total;
    }
    sum
}

impl Slope {
    fn zero() -> Self {
        Self { value: 0.0, gradient: [0.0; FEATURES], curvature: vec![[0.0; FEATURES]; FEATURES] }
    }

    fn add(&mut self, sample: &Sample, found: f32, scaling: &Scaling, weights: &Weights) {
        let features = scaling.apply(sample);
        let logarithm: f64 = features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
        let logarithm = logarithm.clamp(*LOGARITHMS.start(), *LOGARITHMS.end());
        let (mean, found, weight) = (logarithm.exp(), f64::from(found), f64::from(sample.weight));
        self.value += weight * (found * logarithm - mean);
        for (at, feature) in features.iter().enumerate() {
            self.gradient[at] += weight * (found - mean) * feature;
            let share = weight * mean * feature;
            for (curvature, other) in self.curvature[at][..=at].iter_mut().zip(&features) {
                *curvature += share * other;
            }
        }
    }
}

/// Solves a positive definite system by its Cholesky factor; only the lower triangle of the matrix is read.
/// None if it is not positive definite.
fn solve(matrix: &[Weights], right: &Weights) -> Option<Weights> {
    let mut lower = matrix.to_vec();
    for row in 0..FEATURES {
        for column in 0..=row {
            let dot: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
            let rest = lower[row][column] - dot;
            lower[row][column] =
                if row == column { (rest > 0.0).then(|| rest.sqrt())? } else { rest / lower[column][column] };
        }
    }
    let mut out = *right;
    for row in 0..FEATURES {
        let dot: f64 = (0..row).map(|at| lower[row][at] * out[at]).sum();
        out[row] = (out[row] - dot) / lower[row][row];
    }
    for row in (0..FEATURES).rev() {
        let dot: f64 = (row + 1..FEATURES).map(|at| lower[at][row] * out[at]).sum();
        out[row] = (out[row] - dot) / lower[row][row];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    /// Pages whose first feature is constant, whose next two vary, and which bring what `mean` says of these.
    fn samples(mean: impl Fn(f64, f64) -> f64) -> Vec<Sample> {
        let draw = |number: u64| (xxh3_64(&number.to_le_bytes()) % 1000) as f32 / 500.0 - 1.0;
        let sample = |number: u64| {
            let mut features = [0.0; FEATURES];
            (features[0], features[1], features[2]) = (1.0, draw(2 * number), draw(2 * number + 1));
            let found = mean(features[1].into(), features[2].into()) as f32;
            Sample { features, own: found, worth: 2.0 * found, weight: 1.0 }
        };
        (0..500).map(sample).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn weights_are_found_again_and_features_that_never_vary_have_none(
            constant in -2.0..1.0_f64,
            one in -1.5..1.5_f64,
            other in -1.5..1.5_f64,
        ) {
            let samples = samples(|first, second| (constant + one * first + other * second).exp());
            let (before, after) = samples.split_at(123);
            let weights = fit(&[before, after], |sample| sample.own);
            for (weight, expected) in weights.iter().zip([constant, one, other]) {
                prop_assert!((weight - expected).abs() < 0.05, "{weights:?}");
            }
            prop_assert!(weights[3..].iter().all(|weight| *weight == 0.0), "{weights:?}");
            prop_assert_eq!(fit(&[&samples[..]], |sample| sample.own), weights, "parts of other sizes");
            let doubled = fit(&[&samples[..]], |sample| sample.worth);
            prop_assert!((doubled[0] - weights[0] - 2.0_f64.ln()).abs() < 0.01, "{doubled:?}");
        }
    }

    #[test]
    fn where_nothing_was_found_the_fit_ends_and_expects_next_to_nothing() {
        let weights = fit(&[&samples(|_, _| 0.0)[..]], |sample| sample.own);
        assert!(weights[0] < -5.0 && weights.iter().all(|weight| weight.is_finite()), "{weights:?}");
        assert_eq!(fit(&[], |sample| sample.own), [0.0; FEATURES]);
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_solution() {
        let mut matrix = vec![[0.0; FEATURES]; FEATURES];
        assert_eq!(solve(&matrix, &[1.0; FEATURES]), None);
        (0..FEATURES).for_each(|at| matrix[at][at] = 4.0);
        assert_eq!(solve(&matrix, &[1.0; FEATURES]), Some([0.25; FEATURES]));
    }
}
