use std::ops::{Index, IndexMut};

use super::vocabulary;

vocabulary! {
    /// How an internal URL ended: fetched, or the one reason why not. The word is the column of the table
    /// `levels`.
    pub enum Class in ClassGroup {
        /// Internal URLs that were requested, whatever the response.
        Fetched = "fetched" in Fetched as "requested",
        /// Internal URLs that robots.txt forbids, or whose host wants a longer pause between requests than
        /// the survey makes.
        Robots = "not_fetched_robots" in Robots as "robots.txt",
        /// Internal URLs of a host whose robots.txt could not be fetched: everything is then forbidden (RFC
        /// 9309 §2.3.1.4).
        RobotsUnreachable = "not_fetched_robots_unreachable" in Robots as "robots.txt could not be fetched",
        /// Internal URLs that only links marked nofollow lead to.
        Nofollow = "not_fetched_nofollow" in Nofollow as "nofollow",
        /// Internal URLs that the survey's filters exclude: their file names say that they are not HTML, or a
        /// pattern matches them.
        Filtered = "not_fetched_filtered" in Filters as "filters",
        /// Query URLs of a script that had reached the limit on query URLs per script.
        Script = "not_fetched_script" in Scripts as "query URL rule",
        /// Internal URLs below the depth of the survey.
        Depth = "not_fetched_depth" in Depth as "depth limit",
        /// Internal URLs left when a budget of the site was used up, the walk was stopped, or a server no
        /// longer responded.
        Limit = "not_fetched_limit" in Limit as "site budget or stop",
        /// Internal URLs of a trap: paths that repeat themselves, and patterns that lead only to more URLs of
        /// the same pattern.
        Trap = "not_fetched_trap" in Other as "trap",
        /// Internal URLs of a host that shows the same pages as another host of the site. The pages are known
        /// from that host.
        Mirror = "not_fetched_mirror" in Other as "mirror",
        /// Internal URLs of a host or address on the opt-out list.
        OptOut = "not_fetched_opt_out" in Other as "opt-out",
        /// Internal URLs behind more redirects than the survey follows.
        Redirects = "not_fetched_redirects" in Other as "too many redirects",
        /// Internal URLs that did not promise to be worth a request, with `--depth auto`, `--budget` or
        /// `--focus`.
        Yield = "not_fetched_yield" in Yield as "low expected yield",
        /// Internal URLs left when the server turned the survey away after it had delivered pages.
        Refused = "not_fetched_refused" in Limit as "server turned the survey away",
    }
}

vocabulary! {
    /// Classes that a figure draws as one, so that the colours can be distinguished. The word is the name in
    /// the legend.
    pub enum ClassGroup {
        /// URLs that were requested.
        Fetched = "fetched",
        /// Skipped because of the owner's robots.txt, or because it could not be fetched.
        Robots = "robots.txt",
        /// Skipped because of the owner's marks on links.
        Nofollow = "nofollow",
        /// Skipped because of the filters of the survey.
        Filters = "filters",
        /// Skipped because of the limit on query URLs per script.
        Scripts = "query URL rule",
        /// Skipped because of the depth of the survey.
        Depth = "depth",
        /// Skipped because of a budget, a stop, or a server in trouble.
        Limit = "budget or stop",
        /// Skipped because they did not promise to be worth a request.
        Yield = "low expected yield",
        /// Skipped for a rarer reason: a trap, a mirror, an opt-out, or too many redirects.
        Other = "other",
    }
}

impl Class {
    const PREFIX: &'static str = "not_fetched_";

    /// The classes that are reasons why a URL was not fetched.
    pub fn reasons() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(|class| *class != Self::Fetched)
    }

    /// The reason alone, without the prefix that all reasons share.
    #[must_use]
    pub fn reason(self) -> &'static str {
        self.as_str().strip_prefix(Self::PREFIX).unwrap_or(self.as_str())
    }

    /// Whether a limit other than the depth skipped such a URL. The pages below it are then unknown, and a
    /// deeper survey would not find them either.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::Limit | Self::Refused | Self::Trap | Self::OptOut | Self::Yield)
    }
}

/// Number of internal URLs per class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts([u64; Class::ALL.len()]);

impl ClassCounts {
    /// The sum over all classes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, urls| sum.saturating_add(*urls))
    }

    /// The sum over all reasons.
    #[must_use]
    pub fn not_fetched(&self) -> u64 {
        Class::reasons().fold(0, |sum, class| sum.saturating_add(self[class]))
    }

    /// The sum over the classes of a group.
    #[must_use]
    pub fn in_group(&self, group: ClassGroup) -> u64 {
        let classes = Class::ALL.iter().filter(|class| class.group() == group);
        classes.fold(0, |sum, class| sum.saturating_add(self[*class]))
    }

    /// Adds the other counts, class by class. Damaged tables may hold any number, so sums saturate.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, urls)| *sum = sum.saturating_add(urls));
    }
}

impl Index<Class> for ClassCounts {
    type Output = u64;

    fn index(&self, class: Class) -> &u64 {
        &self.0[class as usize]
    }
}

impl IndexMut<Class> for ClassCounts {
    fn index_mut(&mut self, class: Class) -> &mut u64 {
        &mut self.0[class as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_but_one_is_a_reason() {
        assert_eq!(Class::reasons().count(), Class::ALL.len() - 1);
        for class in Class::ALL {
            let is_reason = class.as_str().starts_with(Class::PREFIX);
            assert_eq!(is_reason, *class != Class::Fetched, "{class}");
            assert!(class.as_str().ends_with(class.reason()) && !class.meaning().is_empty());
        }
        assert_eq!(Class::RobotsUnreachable.reason(), "robots_unreachable");
    }

    #[test]
    fn counts_add_up_by_class_by_group_and_over_all() {
        let mut counts = ClassCounts::default();
        Class::ALL.iter().enumerate().for_each(|(at, class)| counts[*class] = 1 << at);
        assert_eq!(counts.total(), (1 << Class::ALL.len()) - 1);
        assert_eq!(counts.not_fetched(), counts.total() - counts[Class::Fetched]);
        let groups = ClassGroup::ALL.iter().map(|group| counts.in_group(*group));
        assert_eq!(groups.sum::<u64>(), counts.total(), "each class is in one group");
        assert_eq!(counts.in_group(ClassGroup::Robots), 0b110);
        let mut twice = counts;
        twice.add(&counts);
        assert_eq!(twice.total(), 2 * counts.total());
        counts[Class::Trap] = u64::MAX;
        twice.add(&counts);
        assert_eq!((twice.total(), twice[Class::Trap]), (u64::MAX, u64::MAX), "tables may be damaged");
    }
}
