use super::play::{Run, TreeRun};
use crate::walk::yields::Loss;

/// What a policy left out of a ground.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// External hosts, new in their trees, that the pages left out were expected to bring.
    pub expected: f64,
    /// Those that the survey found in these trees and the policy did not.
    pub lost: f64,
    /// Those that the survey found.
    pub of: u64,
    /// Both of each tree.
    trees: Vec<(f64, f64)>,
}

impl Run {
    /// What was left out, of a ground on which everything was `whole`.
    #[must_use]
    pub fn lost(&self, whole: &Self) -> Lost {
        let missed = |(run, all): (&TreeRun, &TreeRun)| {
            (run.expected, all.hosts.len().saturating_sub(run.hosts.len()) as f64)
        };
        let trees: Vec<_> = self.trees.iter().zip(&whole.trees).map(missed).collect();
        let expected = trees.iter().map(|(expected, _)| expected).sum();
        let lost = trees.iter().map(|(_, lost)| lost).sum();
        Lost { expected, lost, of: whole.trees.iter().map(|tree| tree.hosts.len() as u64).sum(), trees }
    }
}

impl Lost {
    /// Hosts lost for each that was expected. Half a host is added to both, so that neither is nothing.
    fn ratio(&self) -> f64 {
        (self.lost + 0.5) / (self.expected + 0.5)
    }

    fn variance(&self) -> f64 {
        let ratio = self.ratio();
        self.trees.iter().map(|(expected, lost)| (lost - ratio * expected).powi(2)).sum()
    }
}

/// What surveys lost for what they expected, at one price, when they were played to `deepest`.
pub(super) fn loss(surveys: &[Lost], deepest: u16) -> Option<Loss> {
    let logs: Vec<f64> = surveys.iter().map(|survey| survey.ratio().ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let expected: f64 = surveys.iter().map(|survey| survey.expected).sum();
    let variance: f64 = surveys.iter().map(Lost::variance).sum();
    (expected > 0.0).then(|| Loss {
        ratio: mean.exp(),
        between: (squares / logs.len().saturating_sub(1).max(1) as f64).sqrt(),
        surveys: u32::try_from(logs.len()).unwrap_or(u32::MAX),
        within: variance / expected,
        deepest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(trees: &[(f64, &[u32])]) -> Run {
        let tree = |(expected, hosts): &(f64, &[u32])| TreeRun {
            requests: 1,
            hosts: hosts.to_vec(),
            expected: *expected,
        };
        Run { trees: trees.iter().map(tree).collect() }
    }

    #[test]
    fn what_is_lost_is_counted_tree_by_tree() {
        let whole = run(&[(0.0, &[1, 2, 3]), (0.0, &[3, 4])]);
        let lost = run(&[(0.5, &[1]), (0.25, &[3, 4])]).lost(&whole);
        assert_eq!((lost.expected, lost.lost, lost.of), (0.75, 2.0, 5));
        assert_eq!(lost.trees, [(0.5, 2.0), (0.25, 0.0)]);
        assert_eq!(whole.lost(&whole).lost, 0.0);
    }

    #[test]
    fn surveys_are_told_apart_from_their_trees() {
        let lost = |trees: &[(f64, f64)]| Lost {
            expected: trees.iter().map(|(expected, _)| expected).sum(),
            lost: trees.iter().map(|(_, lost)| lost).sum(),
            of: 1000,
            trees: trees.to_vec(),
        };
        // With half a host more on both sides 40 of 10, and 10 of 10.
        let (fours, ones) = (lost(&[(4.5, 20.0), (5.0, 19.5)]), lost(&[(4.5, 5.0), (5.0, 4.5)]));
        let one = loss(std::slice::from_ref(&fours), 20).unwrap();
        assert!((one.ratio - 4.0).abs() < 1e-9, "{one:?}");
        assert_eq!((one.between, one.surveys, one.deepest), (0.0, 1, 20));
        // Off by 2 and by −0.5, of 9.5 expected.
        assert!((one.within - 4.25 / 9.5).abs() < 1e-9, "{one:?}");
        let both = loss(&[fours, ones], 20).unwrap();
        assert!((both.ratio - 2.0).abs() < 1e-9 && both.surveys == 2, "{both:?}");
        // The logarithms lie ln 4 apart, a standard deviation 1 / √2 of that.
        assert!((both.between - 4.0_f64.ln() / 2.0_f64.sqrt()).abs() < 1e-9, "{both:?}");
        assert_eq!(loss(&[lost(&[(0.0, 0.0)])], 20), None, "nothing was left out");
    }
}
