/// A node in the tree of random decisions: the world, one of its sites, one of that site's pages.
///
/// A decision is drawn from the key of its subject and a tag of its own, so a new kind of decision never
/// shifts the others. The hash below is part of the specification [`SPECIFICATION`](super::SPECIFICATION):
/// another hash makes other worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(u64);

/// The randomness of one decision: 64 random bits, read once, in the form that the decision needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw(u64);

impl Key {
    pub(crate) fn of_world(specification: &str, seed: u64) -> Self {
        Self(combine(seed, hash_text(specification)))
    }

    pub(crate) fn child(self, part: u64) -> Self {
        Self(combine(self.0, part))
    }

    /// The key of a part with a name instead of a number.
    pub(crate) fn part(self, name: &str) -> Self {
        Self(combine(!self.0, hash_text(name)))
    }

    pub(crate) fn draw(self, tag: &str) -> Draw {
        Draw(combine(self.0, hash_text(tag)))
    }
}

impl Draw {
    /// One of a series of decisions of the same kind.
    pub(crate) fn nth(self, n: u64) -> Self {
        Self(combine(self.0, n))
    }

    /// Uniform in 0 ≤ x < 1, with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub(crate) fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn happens(self, share: f64) -> bool {
        self.unit() < share
    }

    /// Uniform in 0 ≤ x < n; 0 if n is 0.
    pub(crate) fn below(self, n: u64) -> u64 {
        u64::try_from((u128::from(self.0) * u128::from(n)) >> 64).unwrap_or(0)
    }

    pub(crate) fn pick<T>(self, from: &[T]) -> &T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap_or(0)]
    }

    /// A rank in 0 ≤ x < n, log-uniform: the first few ranks get most of the draws, as the
    /// best-known sites get most of the links.
    pub(crate) fn rank(self, n: u64) -> u64 {
        rounded((real(n) + 1.0).powf(self.unit()) - 0.5).saturating_sub(1).min(n.saturating_sub(1))
    }

    /// Standard normal, by the inverse of its distribution function (Acklam's approximation,
    /// relative error below 1.2e-9).
    pub(crate) fn normal(self) -> f64 {
        let p = (self.unit() + f64::EPSILON).min(1.0 - f64::EPSILON);
        if p < P_LOW {
            tail(p)
        } else if p > 1.0 - P_LOW {
            -tail(1.0 - p)
        } else {
            let q = p - 0.5;
            let r = q * q;
            poly(&A, r) * q / (poly(&B, r) * r + 1.0)
        }
    }

    pub(crate) fn log_normal(self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// Poisson, by walking up its distribution function. The mean is capped at 100, in links per page.
    pub(crate) fn poisson(self, mean: f64) -> u64 {
        let mean = mean.min(100.0);
        let (target, mut term, mut k) = (self.unit(), (-mean).exp(), 0_u64);
        let mut sum = term;
        while sum < target && k < 1000 {
            k += 1;
            term *= mean / real(k);
            sum += term;
        }
        k
    }
}

/// The first kind whose share the draw falls into; none if it falls into the rest.
pub(super) fn by_share<T: Copy>(draw: Draw, shares: &[(f64, T)]) -> Option<T> {
    let mut rest = draw.unit();
    shares.iter().find_map(|(share, kind)| {
        rest -= share;
        (rest < 0.0).then_some(*kind)
    })
}

/// 2^64 divided by the golden ratio: the step of `SplitMix64`.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A keyed hash: the mixing function of `SplitMix64`, applied to the part and then to part and key together.
fn combine(key: u64, part: u64) -> u64 {
    mix(mix(part.wrapping_add(STEP)) ^ key.wrapping_mul(STEP))
}

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", with variant 13 of the constants
/// by Stafford.
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// FNV-1a, which distinguishes short texts.
fn hash_text(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A count as a real number; counts of a world lie far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of a world lie far below 2^53")]
pub(super) fn real(count: u64) -> f64 {
    count as f64
}

/// The nearest count; 0 for negative numbers.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as wanted")]
pub(super) fn rounded(x: f64) -> u64 {
    x.round() as u64
}

const P_LOW: f64 = 0.024_25;
const A: [f64; 6] = [
    -39.696_830_286_653_76,
    220.946_098_424_520_5,
    -275.928_510_446_968_7,
    138.357_751_867_269,
    -30.664_798_066_147_16,
    2.506_628_277_459_239,
];
const B: [f64; 5] = [
    -54.476_098_798_224_06,
    161.585_836_858_040_9,
    -155.698_979_859_886_6,
    66.801_311_887_719_72,
    -13.280_681_552_885_72,
];
const C: [f64; 6] = [
    -0.007_784_894_002_430_293,
    -0.322_396_458_041_136_5,
    -2.400_758_277_161_838,
    -2.549_732_539_343_734,
    4.374_664_141_464_968,
    2.938_163_982_698_783,
];
const D: [f64; 4] =
    [0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416];

fn poly(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

fn tail(p: f64) -> f64 {
    let q = (-2.0 * p.ln()).sqrt();
    poly(&C, q) / (poly(&D, q) * q + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(tag: &str) -> impl Iterator<Item = Draw> {
        let draw = Key::of_world("test", 7).draw(tag);
        (0..20_000).map(move |n| draw.nth(n))
    }

    fn mean(values: impl Iterator<Item = f64>) -> f64 {
        values.sum::<f64>() / 20_000.0
    }

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        assert!((mean(draws("unit").map(Draw::unit)) - 0.5).abs() < 0.01);
        assert!(mean(draws("normal").map(Draw::normal)).abs() < 0.02);
        assert!((mean(draws("normal").map(|d| d.normal().powi(2))) - 1.0).abs() < 0.03);
        assert!((mean(draws("poisson").map(|d| real(d.poisson(2.0)))) - 2.0).abs() < 0.04);
        assert!((mean(draws("below").map(|d| real(d.below(11)))) - 5.0).abs() < 0.06);
    }

    #[test]
    fn ranks_stay_in_range_and_favour_the_first() {
        assert!(draws("rank").all(|d| d.rank(50) < 50));
        let first = draws("rank").filter(|d| d.rank(50) == 0).count();
        assert!(first > 1500, "{first}");
        assert_eq!(Key::of_world("test", 1).draw("rank").rank(1), 0);
    }

    #[test]
    fn the_hash_is_part_of_the_specification() {
        let key = Key::of_world("space-v1", 1);
        assert_eq!(key.child(3).draw("site class").0, key.child(3).draw("site class").0);
        assert_ne!(key.child(3).draw("site class").0, key.child(3).draw("site pages").0);
        assert_ne!(key.child(3).draw("site class").0, key.child(4).draw("site class").0);
    }
}
