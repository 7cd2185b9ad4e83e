use std::sync::Arc;

use crate::analysis::intervals::chance::Chance;
use crate::analysis::{
    Kind, KnownByDepth, KnownKeys, NotFetched, Occurrence, Occurrences, Recorded, Tree, Trees,
    intervals::units,
};

impl Recorded {
    /// The survey as if it had only some of its site trees. Keys known to several of them are counted exactly
    /// if all occurrences are in memory, and estimated from the sample of keys otherwise.
    #[must_use]
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Self {
        let numbers = numbers(self.trees.len(), keep);
        let occurrences = self.known.occurrences.each_ref().map(|all| all.only(&numbers));
        let counts = occurrences.each_ref().map(Occurrences::known_by_depth);
        self.part(&numbers, KnownKeys { counts, occurrences })
    }

    /// The survey with only these kinds of keys.
    pub(in crate::analysis) fn with_kinds(&self, kinds: &'static [Kind]) -> Self {
        let mut known = KnownKeys::default();
        for kind in kinds {
            known.counts[*kind as usize] = self.known.counts[*kind as usize].clone();
            known.occurrences[*kind as usize] = self.known.occurrences[*kind as usize].clone();
        }
        let all_numbers: Vec<Option<u32>> = (0..).map(Some).take(self.trees.len()).collect();
        Self { kinds, ..self.part(&all_numbers, known) }
    }

    /// A smaller survey: `trees` site trees drawn without replacement, from every country domain in
    /// proportion.
    #[must_use]
    pub fn sample(&self, trees: usize, seed: u64) -> Self {
        let mut chosen = vec![false; self.trees.len()];
        for tree in units::sample(&self.trees, trees, &mut Chance::new(seed, 0)) {
            chosen[tree as usize] = true;
        }
        self.only(|tree| chosen[tree])
    }

    /// The trees that have a new number in `numbers`, with `known` as the keys that they know.
    pub(in crate::analysis) fn part(&self, numbers: &[Option<u32>], known: KnownKeys) -> Self {
        let (manifest, trees) = (self.manifest.clone(), self.trees.only(numbers));
        let (kinds, out_of_budget) = (self.kinds, self.out_of_budget);
        Self { manifest, trees, known, out_of_budget, kinds, index: Arc::default(), group_keys: None }
    }
}

/// New numbers for the trees that are kept, in their original order; none for the others.
pub(in crate::analysis) fn numbers(trees: usize, keep: impl Fn(usize) -> bool) -> Vec<Option<u32>> {
    let mut next = 0;
    let mut number = |tree| {
        keep(tree).then(|| {
            next += 1;
            next - 1
        })
    };
    (0..trees).map(&mut number).collect()
}

impl Trees {
    fn only(&self, numbers: &[Option<u32>]) -> Self {
        let is_kept = |(tree, number): (&Tree, &Option<u32>)| number.map(|_| tree.clone());
        let trees = self.trees.iter().zip(numbers).filter_map(is_kept).collect();
        let kept = |entry: &NotFetched| Some(NotFetched { tree: numbers[entry.tree as usize]?, ..*entry });
        let not_fetched = self.not_fetched.iter().filter_map(kept).collect();
        Self { trees, not_fetched, levels: Arc::clone(&self.levels), labels: self.labels.clone() }
    }
}

impl Occurrences {
    fn only(&self, numbers: &[Option<u32>]) -> Self {
        let kept = |occurrence: &Occurrence| {
            Some(Occurrence { tree: numbers[occurrence.tree as usize]?, ..*occurrence })
        };
        Self { list: self.list.iter().filter_map(kept).collect(), halvings: self.halvings }
    }

    /// The number of keys first known at each depth, scaled up if these are a sample.
    pub(in crate::analysis) fn known_by_depth(&self) -> KnownByDepth {
        let mut known = KnownByDepth::default();
        let weight = 1_u64 << self.halvings.min(u64::BITS - 1);
        for key in self.keys() {
            known.add(key.iter().map(|one| one.depth).min().unwrap_or(0), weight);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_share_count_for_all() {
        let occurrence = |key, tree, depth| Occurrence { key, tree, depth };
        let occurrences = Occurrences {
            list: vec![occurrence(4, 0, 2), occurrence(4, 1, 1), occurrence(8, 0, 2)],
            halvings: 2,
        };
        let known = occurrences.known_by_depth();
        assert_eq!([known.up_to(0), known.up_to(1), known.up_to(2), known.total()], [0, 4, 8, 8]);
    }
}
