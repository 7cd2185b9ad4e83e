use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::evidence::{Factor, YieldEvidence};
use super::url_candidate::UrlCandidate;

/// The weight of the mean of all sites against the evidence of a site, in expected finds; of the site against
/// its branches, and of a branch against its folders. Chosen on the worlds that `reports/adaptive` names as
/// tuned on.
const SITE_PRIOR: f64 = 2.0;
const BRANCH_PRIOR: f64 = 1.0;
const FOLDER_PRIOR: f64 = 1.0;

/// The expected and the actual yield of the pages of a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Experience {
    site: YieldEvidence,
    branches: HashMap<u64, YieldEvidence>,
    folders: HashMap<u64, YieldEvidence>,
}

impl Experience {
    pub(super) fn note(&mut self, candidate: &UrlCandidate, found: f64) {
        self.site.add(candidate.own, found);
        self.branches.entry(candidate.branch).or_default().add(candidate.own, found);
        self.folders.entry(candidate.folder).or_default().add(candidate.own, found);
    }

    /// Adds the experience of another tree of the site.
    pub(super) fn add(&mut self, other: &Self) {
        self.site.add(other.site.expected, other.site.found);
        for (own, others) in [(&mut self.branches, &other.branches), (&mut self.folders, &other.folders)] {
            for (key, evidence) in others {
                own.entry(*key).or_default().add(evidence.expected, evidence.found);
            }
        }
    }

    /// The number of external hosts, new in the tree, that the page itself is expected to bring.
    pub(super) fn expected(&self, candidate: &UrlCandidate) -> f64 {
        candidate.own * self.factor(candidate).mean
    }

    /// How much more the pages around a page bring than others like them.
    pub(super) fn factor(&self, candidate: &UrlCandidate) -> Factor {
        let site = self.site.factor(SITE_PRIOR, 1.0);
        let evidence_of =
            |group: &HashMap<u64, YieldEvidence>, key| group.get(&key).copied().unwrap_or_default();
        let branch = evidence_of(&self.branches, candidate.branch).factor(BRANCH_PRIOR, site.mean);
        let above = site.mean * branch.mean;
        let folder = evidence_of(&self.folders, candidate.folder).factor(FOLDER_PRIOR, above);
        Factor { mean: above * folder.mean, ..folder }
    }
}
