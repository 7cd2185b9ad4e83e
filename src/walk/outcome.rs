use std::fmt;

use serde::{Deserialize, Serialize};

/// Why the walk of a site ended: the closed list behind the column `outcome`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// Pages came, and no link was left to follow.
    Complete,
    /// Links were left below the deepest level that the survey walks.
    Depth,
    /// The budget of requests was used up.
    RequestBudget,
    /// The budget of bytes was used up.
    ByteBudget,
    /// The time of the site was over.
    TimeBudget,
    /// Several levels in a row brought no new external link.
    Stable,
    /// No link was left but those of traps; or more URLs were found than a site is allowed to have.
    Trap,
    /// robots.txt keeps us from the site's entrances.
    Robots,
    /// The site redirects to another one.
    Moved,
    /// No answer from any entrance of the site, or none any more.
    Unreachable,
    /// The site opted out.
    OptOut,
    /// The survey went on with other settings, by which the walk would have asked something else.
    Interrupted,
    /// The site's servers said something, be it that their TLS is too old, and no entrance brought a page.
    NoPage,
    /// An error of this program in the walk of this site.
    Failed,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 14] = [
        Self::Complete,
        Self::Depth,
        Self::RequestBudget,
        Self::ByteBudget,
        Self::TimeBudget,
        Self::Stable,
        Self::Trap,
        Self::Robots,
        Self::Moved,
        Self::Unreachable,
        Self::OptOut,
        Self::Interrupted,
        Self::NoPage,
        Self::Failed,
    ];

    /// The word in the tables.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Depth => "depth",
            Self::RequestBudget => "request_budget",
            Self::ByteBudget => "byte_budget",
            Self::TimeBudget => "time_budget",
            Self::Stable => "stable",
            Self::Trap => "trap",
            Self::Robots => "robots",
            Self::Moved => "moved",
            Self::Unreachable => "unreachable",
            Self::OptOut => "opt_out",
            Self::Interrupted => "interrupted",
            Self::NoPage => "no_page",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_their_words_in_the_tables() {
        let words = [
            "complete",
            "depth",
            "request_budget",
            "byte_budget",
            "time_budget",
            "stable",
            "trap",
            "robots",
            "moved",
            "unreachable",
            "opt_out",
            "interrupted",
            "no_page",
            "failed",
        ];
        assert_eq!(Outcome::ALL.map(Outcome::as_str), words);
        assert_eq!(Outcome::ALL.map(|outcome| outcome.to_string()), words);
    }
}
