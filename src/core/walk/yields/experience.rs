use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::evidence::{Factor, YieldEvidence};
use super::url_candidate::UrlCandidate;

/// How much weight the mean of all sites has beside what a site shows, in expected finds; of branches beside their
/// site, and of folders beside their branch. Chosen on the worlds that `reports/adaptive` names as tuned on.
const SITE_PRIOR: f64 = 2.0;
const BRANCH_PRIOR: f64 = 1.0;
const FOLDER_PRIOR: f64 = 1.0;

/// What the pages of a tree brought for what they were expected to bring.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Experience {
    site: YieldEvidence,
    branches: HashMap<u64, YieldEvidence>,
    folders: HashMap<u64, YieldEvidence>,
}

impl Experience {
    pub(super) fn note(&mut self, prospect: &UrlCandidate, found: f64) {
        self.site.add(prospect.own, found);
        self.branches.entry(prospect.branch).or_default().add(prospect.own, found);
        self.folders.entry(prospect.folder).or_default().add(prospect.own, found);
    }

    /// That of another tree of the site besides.
    pub(super) fn add(&mut self, other: &Self) {
        self.site.add(other.site.expected, other.site.found);
        for (own, others) in [(&mut self.branches, &other.branches), (&mut self.folders, &other.folders)] {
            for (key, evidence) in others {
                own.entry(*key).or_default().add(evidence.expected, evidence.found);
            }
        }
    }

    /// External hosts, new in the tree, that a page is expected to bring itself.
    pub(super) fn expected(&self, prospect: &UrlCandidate) -> f64 {
        prospect.own * self.factor(prospect).mean
    }

    /// By how much the pages around a page bring more than others like them.
    pub(super) fn factor(&self, prospect: &UrlCandidate) -> Factor {
        let site = self.site.factor(SITE_PRIOR, 1.0);
        let of = |group: &HashMap<u64, YieldEvidence>, key| group.get(&key).copied().unwrap_or_default();
        let branch = of(&self.branches, prospect.branch).factor(BRANCH_PRIOR, site.mean);
        let above = site.mean * branch.mean;
        let folder = of(&self.folders, prospect.folder).factor(FOLDER_PRIOR, above);
        Factor { mean: above * folder.mean, ..folder }
    }
}
