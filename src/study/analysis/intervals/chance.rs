/// A random number generator with a seed: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), the same on every
/// machine.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct Chance {
    state: u64,
}

impl Chance {
    /// Seeds a generator. Generators of different `stream`s are as good as independent.
    pub(in crate::analysis) fn new(seed: u64, stream: u64) -> Self {
        let mut chance = Self { state: seed };
        let mixed = chance.next() ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93);
        Self { state: mixed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`. The probabilities of two numbers differ by less than `end` in 2⁶⁴.
    pub(in crate::analysis) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A number between 0 and 1, both excluded.
    pub(in crate::analysis) fn uniform(&mut self) -> f64 {
        ((self.next() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A number from the exponential distribution with mean 1.
    pub(in crate::analysis) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// A number from the standard normal distribution (Box and Muller, 1958).
    pub(in crate::analysis) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Moves `count` things chosen without replacement to the front, in any order.
    pub(in crate::analysis) fn choose<T>(&mut self, items: &mut [T], count: usize) {
        for index in 0..count.min(items.len()) {
            items.swap(index, index + self.below(items.len() - index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_things_are_distinct_and_each_has_the_same_chance() {
        let mut chance = Chance::new(7, 0);
        let mut items: Vec<usize> = (0..20).collect();
        let mut times = [0u32; 20];
        for _ in 0..10_000 {
            chance.choose(&mut items, 5);
            items[..5].iter().for_each(|item| times[*item] += 1);
        }
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
        // 2,500 are expected with a standard deviation of 43; five standard deviations are allowed.
        assert!(times.iter().all(|times| (2285..2715).contains(times)), "{times:?}");
    }

    #[test]
    fn another_seed_or_purpose_is_another_chance() {
        let first = |seed, stream| Chance::new(seed, stream).next();
        assert_eq!(first(1, 1), first(1, 1));
        assert_ne!(first(1, 1), first(1, 2));
        assert_ne!(first(1, 1), first(2, 1));
    }
}
