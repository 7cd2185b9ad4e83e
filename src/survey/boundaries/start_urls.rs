use std::collections::BTreeSet;

use super::scope::SurveyScope;
use crate::address::{Priorities, WebUrl};
use crate::frontier::{Offer, StartCandidate};
use crate::starts::StartList;
use crate::survey::earlier::Focus;

/// The result of offering the start URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StartUrlCounts {
    /// New sites.
    pub sites: usize,
    /// Further start URLs of these sites.
    pub seeds: usize,
    /// Left out, because their site already has the maximum number of start URLs.
    pub repeated: usize,
    /// Pages and files of an earlier survey that are requested only if they have changed.
    pub known: Option<u64>,
    /// How the requests of an earlier survey are to be spent.
    pub focus: Option<Focus>,
}

impl StartUrlCounts {
    pub(in crate::survey) fn count(offers: &[Offer]) -> Self {
        let number = |kind| offers.iter().filter(|offer| **offer == kind).count();
        let (sites, seeds, repeated) = (number(Offer::Site), number(Offer::Seed), number(Offer::Known));
        Self { sites, seeds, repeated, known: None, focus: None }
    }

    pub(in crate::survey) fn plus(self, more: Self) -> Self {
        Self {
            sites: self.sites + more.sites,
            seeds: self.seeds + more.seeds,
            repeated: self.repeated + more.repeated,
            known: self.known,
            focus: self.focus,
        }
    }
}

/// The start URLs of a list whose sites are drawn into the sample, in the order of the list.
pub(in crate::survey) fn sampled_urls<'a>(
    list: &'a StartList,
    scope: &'a SurveyScope,
) -> impl Iterator<Item = WebUrl> + 'a {
    list.urls().filter(|url| scope.draws(url))
}

/// The same URLs in the order in which they are offered to the frontier: higher priority first.
///
/// The results of trees are merged in tree order, so urgent trees should not wait for the others. The list is
/// read once per priority, so that it need not be held in memory.
pub(in crate::survey) fn candidates_by_priority<'a>(
    list: &'a StartList,
    scope: &'a SurveyScope,
) -> impl Iterator<Item = StartCandidate> + 'a {
    let priority_of = |url: &WebUrl| scope.priorities.for_host(url.host());
    let ranks: BTreeSet<i32> = match scope.priorities == Priorities::default() {
        true => BTreeSet::from([0]),
        false => sampled_urls(list, scope).map(|url| priority_of(&url)).collect(),
    };
    ranks.into_iter().rev().flat_map(move |rank| {
        sampled_urls(list, scope).map(|url| scope.candidate(url)).filter(move |start| start.priority == rank)
    })
}
