use std::ops::{Index, IndexMut};

use super::vocabulary;

vocabulary! {
    /// How an internal URL ended: fetched, or the one reason why not. The word is the column of the table `levels`.
    pub enum Class in ClassGroup {
        /// Internal URLs that were requested, whatever came of it.
        Fetched = "fetched" in Fetched,
        /// Internal URLs that robots.txt forbids, or whose host wants a longer pause between requests than the survey makes.
        Robots = "not_fetched_robots" in Robots,
        /// Internal URLs of a host whose robots.txt could not be fetched: everything is then forbidden (RFC 9309 §2.3.1.4).
        RobotsUnreachable = "not_fetched_robots_unreachable" in Robots,
        /// Internal URLs that only links marked nofollow lead to.
        Nofollow = "not_fetched_nofollow" in Nofollow,
        /// Internal URLs that the survey's filters leave out: their file names say that they are not HTML, or a
        /// pattern excludes them.
        Filtered = "not_fetched_filtered" in Filters,
        /// Query URLs of a script of which enough were fetched.
        Script = "not_fetched_script" in Scripts,
        /// Internal URLs below the depth of the survey.
        Depth = "not_fetched_depth" in Depth,
        /// Internal URLs left when a budget of the site was used up, the walk was stopped, or a server no longer responded.
        Limit = "not_fetched_limit" in Limit,
        /// Internal URLs of a trap: paths that repeat themselves, and patterns that lead only to more of themselves.
        Trap = "not_fetched_trap" in Other,
        /// Internal URLs of a host that shows the same pages as another host of the site, on which they are known.
        Mirror = "not_fetched_mirror" in Other,
        /// Internal URLs of a host or address on the opt-out list.
        OptOut = "not_fetched_opt_out" in Other,
        /// Internal URLs behind more redirects than are followed.
        Redirects = "not_fetched_redirects" in Other,
        /// Internal URLs that did not promise to be worth a request, with `--depth auto` or `--focus`.
        Yield = "not_fetched_yield" in Yield,
        /// Internal URLs left when the server turned the survey away after it had delivered pages.
        Refused = "not_fetched_refused" in Limit,
    }
}

vocabulary! {
    /// Classes that a figure draws as one, so that colours can be told apart. The word is the name in the legend.
    pub enum ClassGroup {
        /// URLs that were requested.
        Fetched = "fetched",
        /// Kept back by rules of the owner, or because these could not be fetched.
        Robots = "robots.txt",
        /// Kept back by marks of the owner on links.
        Nofollow = "nofollow",
        /// Kept back by the filters of the survey.
        Filters = "filters",
        /// Kept back by the rule of one query URL per script.
        Scripts = "rule on scripts",
        /// Kept back by the depth of the survey.
        Depth = "depth",
        /// Kept back by a budget, a stop, or a server in trouble.
        Limit = "budget or stop",
        /// Kept back by a rule on what is worth a request.
        Yield = "too little promised",
        /// Kept back by a rarer reason: a trap, a mirror, an opt-out, or too many redirects.
        Other = "other",
    }
}

impl Class {
    const PREFIX: &'static str = "not_fetched_";

    /// The classes that are reasons why a URL was not fetched.
    pub fn reasons() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(|class| *class != Self::Fetched)
    }

    /// The reason alone: the word without what all reasons begin with.
    #[must_use]
    pub fn reason(self) -> &'static str {
        self.as_str().strip_prefix(Self::PREFIX).unwrap_or(self.as_str())
    }

    /// Whether a limit other than the depth kept such a URL back, so that what lies below it is not known and a deeper
    /// survey would not show it either.
    #[must_use]
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::Limit | Self::Refused | Self::Trap | Self::OptOut | Self::Yield)
    }
}

/// Internal URLs by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts([u64; Class::ALL.len()]);

impl ClassCounts {
    /// Over all classes.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, urls| sum.saturating_add(*urls))
    }

    /// Over all reasons.
    #[must_use]
    pub fn not_fetched(&self) -> u64 {
        Class::reasons().fold(0, |sum, class| sum.saturating_add(self[class]))
    }

    /// Over the classes of a group.
    #[must_use]
    pub fn in_group(&self, group: ClassGroup) -> u64 {
        let classes = Class::ALL.iter().filter(|class| class.group() == group);
        classes.fold(0, |sum, class| sum.saturating_add(self[*class]))
    }

    /// The other's are added to each class. Damaged tables may count to any number.
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
