use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use super::evidence::{Factor, YieldEvidence};
use super::features::{MOVING, OF_FACTOR, OF_GROUP};
use super::logarithm::ln;
use super::url::groups::{Group, GroupKeys};

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
    groups: [HashMap<u32, YieldEvidence>; Group::ALL.len()],
}

impl Experience {
    /// A page of these groups brought `found` hosts; such pages bring `expected`.
    pub(super) fn note(&mut self, keys: &GroupKeys, expected: f64, found: f64) {
        self.site.add(expected, found);
        for group in Group::ALL {
            self.groups[group as usize].entry(keys.get(group)).or_default().add(expected, found);
        }
    }

    /// Adds the experience of another tree of the site.
    pub(super) fn add(&mut self, other: &Self) {
        self.site.join(&other.site);
        for (own, others) in self.groups.iter_mut().zip(&other.groups) {
            for (key, evidence) in others {
                own.entry(*key).or_default().join(evidence);
            }
        }
    }

    /// The features of a URL of these groups that change with what is read.
    pub(super) fn features(&self, keys: &GroupKeys) -> [f64; MOVING] {
        let mut out = [0.0; MOVING];
        let factor = self.factor(keys);
        out[0] = ln(factor.mean);
        out[1] = ln(1.0 + 1.0 / factor.shape.sqrt());
        let groups = Group::ALL.map(|group| self.of_group(group, keys));
        let all = std::iter::once(self.site).chain(groups);
        for (features, evidence) in out[OF_FACTOR.len()..].chunks_exact_mut(OF_GROUP.len()).zip(all) {
            features.copy_from_slice(&of_group(&evidence, factor.mean));
        }
        out
    }

    /// The evidence of a group to which a URL belongs.
    fn of_group(&self, group: Group, keys: &GroupKeys) -> YieldEvidence {
        self.groups[group as usize].get(&keys.get(group)).copied().unwrap_or_default()
    }

    /// How much more the pages around a page bring than others like them.
    fn factor(&self, keys: &GroupKeys) -> Factor {
        let site = self.site.factor(SITE_PRIOR, 1.0);
        let branch = self.of_group(Group::Branch, keys).factor(BRANCH_PRIOR, site.mean);
        let above = site.mean * branch.mean;
        let folder = self.of_group(Group::Folder, keys).factor(FOLDER_PRIOR, above);
        Factor { mean: above * folder.mean, ..folder }
    }
}

/// The features of a group whose pages bring `above` times as much as such pages do on average.
fn of_group(evidence: &YieldEvidence, above: f64) -> [f64; OF_GROUP.len()] {
    if evidence.pages == 0 {
        return [0.0; OF_GROUP.len()];
    }
    let (pages, hits) = (f64::from(evidence.pages), f64::from(evidence.hits));
    [
        ln((1.0 + evidence.found) / (1.0 + above * evidence.expected)),
        ln(1.0 + pages),
        ln((0.5 + hits) / (1.0 + pages)),
        ln(0.05 + evidence.recent),
        ln(1.0 + f64::from(evidence.dry)),
    ]
}
