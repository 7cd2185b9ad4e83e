use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};

use crate::roster::AgentNumber;

/// How often requests were sent again because it was unknown whether the link of their agent was why they
/// brought nothing.
///
/// Requests that were lost for other reasons, such as the death of an agent, do not count. The counts are in
/// memory only: a coordinator that starts again begins at zero.
#[derive(Debug, Default)]
pub(in crate::survey) struct Doubts(Mutex<HashMap<u64, TreeDoubts>>);

#[derive(Debug, Default)]
struct TreeDoubts {
    by_request: HashMap<u32, Repetitions>,
    /// The number of repetitions after a loss that was the only one.
    after_only_loss: u32,
    /// The agent that lost the request that is repeated next.
    lost_at: Option<AgentNumber>,
}

/// The repetitions of a request.
#[derive(Debug, Default)]
struct Repetitions {
    count: u32,
    is_after_only_loss: bool,
}

/// Why it is unknown whether the link caused a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::survey) enum Doubt {
    /// Requests to other servers were lost, too.
    OthersLost,
    /// Nothing but this response shows that the link, or the connection that it came over, may be broken.
    OnlyLoss,
}

/// A link that was cut for a moment is silent, and a network that forgot its connections resets them. Two
/// agents may have lost their links at once.
const MAX_PER_REQUEST: u32 = 2;

/// Without another sign, this many requests of a tree are repeated in vain. A server that is silent for
/// everybody, or breaks off, should not receive extra requests page after page.
const MAX_AFTER_ONLY_LOSS: u32 = 2;

impl Doubts {
    /// Whether a request that an agent lost may be sent again. If so, that is counted.
    pub(in crate::survey) fn try_repeat(
        &self,
        tree: u64,
        request: u32,
        doubt: Doubt,
        agent: AgentNumber,
    ) -> bool {
        let mut trees = self.trees();
        let TreeDoubts { by_request, after_only_loss, lost_at } = trees.entry(tree).or_default();
        let repetitions = by_request.entry(request).or_default();
        let is_free = match doubt {
            Doubt::OthersLost => repetitions.count < MAX_PER_REQUEST,
            Doubt::OnlyLoss => repetitions.count == 0 && *after_only_loss < MAX_AFTER_ONLY_LOSS,
        };
        if is_free {
            *lost_at = Some(agent);
            repetitions.count += 1;
            if doubt == Doubt::OnlyLoss {
                repetitions.is_after_only_loss = true;
                *after_only_loss += 1;
            }
        }
        is_free
    }

    /// The agent that lost the request that the tree repeats next: another one is to walk it, if there is
    /// one.
    pub(in crate::survey) fn avoided(&self, tree: u64) -> Option<AgentNumber> {
        self.trees().get_mut(&tree)?.lost_at.take()
    }

    /// Notes that a request brought a response: if it was repeated, the link was the cause, which does not
    /// count against the tree.
    pub(in crate::survey) fn resolve(&self, tree: u64, request: u32) {
        let mut trees = self.trees();
        if let Some(doubts) = trees.get_mut(&tree)
            && let Some(repetitions) = doubts.by_request.remove(&request)
        {
            doubts.after_only_loss -= u32::from(repetitions.is_after_only_loss);
        }
    }

    /// Forgets a tree that is finished.
    pub(in crate::survey) fn forget(&self, tree: u64) {
        self.trees().remove(&tree);
    }

    fn trees(&self) -> MutexGuard<'_, HashMap<u64, TreeDoubts>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_repeated_twice_while_others_are_lost_and_once_if_it_is_the_only_one() {
        let doubts = Doubts::default();
        let try_repeat = |request, doubt| doubts.try_repeat(1, request, doubt, 7);
        assert_eq!([0; 3].map(|request| try_repeat(request, Doubt::OthersLost)), [true, true, false]);
        assert_eq!([1; 2].map(|request| try_repeat(request, Doubt::OnlyLoss)), [true, false]);
        assert_eq!([2, 3, 4].map(|request| try_repeat(request, Doubt::OnlyLoss)), [true, false, false]);
        assert!(try_repeat(4, Doubt::OthersLost), "losses of several servers are not the site's fault");
        assert_eq!(
            [1, 1, 2].map(|tree| doubts.avoided(tree)),
            [Some(7), None, None],
            "once for each repetition"
        );
        assert!(doubts.try_repeat(2, 3, Doubt::OnlyLoss, 8), "each tree has its own count");
        doubts.resolve(1, 2);
        assert_eq!(
            [5, 6].map(|request| try_repeat(request, Doubt::OnlyLoss)),
            [true, false],
            "2 had a response"
        );
        doubts.forget(1);
        assert!(try_repeat(0, Doubt::OnlyLoss));
    }
}
