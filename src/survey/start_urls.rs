use std::collections::BTreeSet;

use super::parts::Reach;
use crate::address::{Priorities, WebUrl};
use crate::frontier::StartCandidate;
use crate::starts::StartList;

/// The start URLs of a list whose sites are drawn, in its order.
pub(super) fn drawn<'a>(list: &'a StartList, reach: &'a Reach) -> impl Iterator<Item = WebUrl> + 'a {
    list.urls().filter(|url| reach.draws(url))
}

/// The same as they are offered to the frontier: those of greater priority first.
///
/// What trees find is merged in their order: the urgent ones are not to wait for the others. The list is gone through
/// once for each priority there is, so that it need not be held in memory.
pub(super) fn offered<'a>(
    list: &'a StartList,
    reach: &'a Reach,
) -> impl Iterator<Item = StartCandidate> + 'a {
    let of = |url: &WebUrl| reach.priorities.of_host(url.host());
    let ranks: BTreeSet<i32> = match reach.priorities == Priorities::default() {
        true => BTreeSet::from([0]),
        false => drawn(list, reach).map(|url| of(&url)).collect(),
    };
    ranks.into_iter().rev().flat_map(move |rank| {
        drawn(list, reach).map(|url| reach.start(url)).filter(move |start| start.priority == rank)
    })
}
