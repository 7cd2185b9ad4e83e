use serde::{Deserialize, Serialize};

use crate::load::Spent;
use crate::walk::Known;

/// What the finished trees of a site carry over to its next one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::survey) struct CarryOver {
    /// The URLs that were requested and are not requested again.
    pub known: Known,
    /// Spent from the account of the last tree that sent any request.
    pub spent: Spent,
}

impl CarryOver {
    /// The bytes that records of earlier versions lack at their end, as postcard writes them: the spending is
    /// unknown, and counts as nothing.
    pub(in crate::survey) const LATER: [u8; 5] = [0; 5];

    /// The amount spent from this account.
    pub(in crate::survey) fn spent_of(&self, account: u32) -> Spent {
        if self.spent.account == account { self.spent } else { Spent { account, ..Spent::default() } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{PageKey, ScriptKey};

    #[test]
    fn what_earlier_versions_lack_is_nothing_spent() {
        assert_eq!(postcard::to_stdvec(&Spent::default()).unwrap(), CarryOver::LATER);
        let known = Known { scripts: [(ScriptKey(PageKey(7)), 1)].into(), ..Known::default() };
        let stored = postcard::to_stdvec(&known).unwrap();
        assert!(postcard::from_bytes::<CarryOver>(&stored).is_err());
        let read: CarryOver = postcard::from_bytes(&[&stored[..], &CarryOver::LATER].concat()).unwrap();
        assert_eq!(read, CarryOver { known, spent: Spent::default() });
    }
}
