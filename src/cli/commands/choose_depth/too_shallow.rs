use super::figures::percent;
use crate::analysis::DepthShare;
use crate::records::units::thousands;

/// A survey that ended where too many site trees go on.
pub(super) struct TooShallow {
    pub open_trees: u64,
    pub trees: u64,
    pub deepest: u16,
    /// How much of all levels it knows.
    pub known: DepthShare,
}

impl TooShallow {
    /// What a depth that keeps all bounds leaves open.
    pub(super) fn beside_a_depth(&self, of: &str) -> String {
        format!(
            "{} of {} site trees go on below depth {deepest}, where this survey ended: deeper surveys may keep the bounds too. Of\n  \
             all levels, coverage is at most what is shown; levels 0 to {deepest} may have {} of the {of} with the next level.\n  \
             To know, survey a sample of the sites deeper (--sample, --depth), and ask again.\n",
            thousands(self.open_trees),
            thousands(self.trees),
            percent(self.known.with_next),
            deepest = self.deepest,
        )
    }

    /// Why no depth can be recommended, and what to do then.
    pub(super) fn in_words(&self, of: &str, wanted: &str) -> String {
        let DepthShare { with_next, by_trend } = self.known;
        let rest = if by_trend > with_next {
            format!("; by the trend of the levels they have {}", percent(by_trend))
        } else {
            ", and less with levels below".to_owned()
        };
        format!(
            "Survey deeper: {} of {} site trees go on below depth {deepest}, where this survey ended, so that no depth can be\n\
             recommended. Coverage and load are shares of what it knows; of all levels, coverage is at most what is shown.\n  \
             Levels 0 to {deepest} may have {} of the {of} with the next level{rest}; {wanted}.\n  \
             Survey a sample of the sites deeper (--sample, --depth), and ask again.\n",
            thousands(self.open_trees),
            thousands(self.trees),
            percent(with_next),
            deepest = self.deepest,
        )
    }
}
