use super::sampled_rate::SampledRate;

/// Why a share has no interval.
///
/// The rule uses counts only, and never the width of the interval. Samples that lack the largest trees of
/// their Web have the shortest intervals, so leaving out wide intervals would keep the wrong ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoInterval {
    /// All site trees belong to one site, which does not show how sites differ.
    OneSite,
    /// Too few site trees hold any of it.
    FewTrees,
    /// One site tree holds more than half of it.
    LargestTree,
    /// Too few site trees hold any of it below this depth.
    FewBelow,
    /// Too few site trees hold any of it down to this depth.
    FewAbove,
}

/// The least number of site trees that must hold any of a figure. In surveys of thirty trees, intervals hold
/// in 85 to 95 of 100 cases, whatever the method.
const MIN_TREES: u32 = 50;
/// The least number of site trees on either side of a depth: fewer do not show how much trees differ.
const MIN_PER_SIDE: u32 = 20;
/// The largest share that a single tree may hold.
const MAX_TREE_SHARE: f64 = 0.5;

impl NoInterval {
    /// The rule: by depth, why the share has no interval; none if it has one, or if the share covers
    /// everything that is known.
    pub(in crate::analysis) fn by_depth(all: &SampledRate) -> Vec<Option<Self>> {
        let depths = all.beyond.len();
        let largest = all.unit_totals.iter().copied().fold(0.0, f64::max);
        let survey_reason = if all.units > 1 && largest > MAX_TREE_SHARE * all.total_amount {
            // Takes precedence over `FewTrees`: it explains more.
            Some(Self::LargestTree)
        } else if all.units < MIN_TREES {
            Some(Self::FewTrees)
        } else {
            None
        };
        let is_partial = |depth: usize| all.total_amount > 0.0 && depth + 1 < depths;
        let reason_at =
            |depth| survey_reason.or_else(|| Self::at_depth(all, depth)).filter(|_| is_partial(depth));
        (0..depths).map(reason_at).collect()
    }

    fn at_depth(all: &SampledRate, depth: usize) -> Option<Self> {
        if all.units_below(depth) < MIN_PER_SIDE {
            Some(Self::FewBelow)
        } else if all.units_above(depth) < MIN_PER_SIDE {
            Some(Self::FewAbove)
        } else {
            None
        }
    }

    /// The name in tables and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::OneSite => "one_site",
            Self::FewTrees => "few_trees",
            Self::LargestTree => "largest_tree",
            Self::FewBelow => "few_below",
            Self::FewAbove => "few_above",
        }
    }

    /// A short text to show in place of an interval.
    #[must_use]
    pub fn short_text(self) -> &'static str {
        match self {
            Self::OneSite => "one site",
            Self::FewTrees => "few trees",
            Self::LargestTree => "one large tree",
            Self::FewBelow => "few trees below",
            Self::FewAbove => "few trees above",
        }
    }

    /// The rule for which shares have an interval, as a sentence.
    #[must_use]
    pub fn rule() -> String {
        format!(
            "A share has an interval if at least {MIN_TREES} site trees contribute to it, none of them more than half, at least \
             {MIN_PER_SIDE} contribute below the depth and at least {MIN_PER_SIDE} down to it."
        )
    }

    /// The reason as a clause.
    #[must_use]
    pub fn reason(self) -> String {
        match self {
            Self::OneSite => "one site does not show how sites differ".to_owned(),
            Self::FewTrees => format!("fewer than {MIN_TREES} site trees contribute to it"),
            Self::LargestTree => "one site tree holds more than half of it".to_owned(),
            Self::FewBelow => {
                format!("fewer than {MIN_PER_SIDE} site trees contribute to it below this depth")
            }
            Self::FewAbove => {
                format!("fewer than {MIN_PER_SIDE} site trees contribute to it down to this depth")
            }
        }
    }
}
