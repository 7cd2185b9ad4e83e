use serde::{Deserialize, Serialize};

/// The groups of a site's pages whose yields are evidence for a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::walk::yields) enum Group {
    /// Reached through the same page of level 1.
    Branch,
    /// In the same folder: host and path up to the last slash.
    Folder,
    /// In folders that differ only by numbers, with the same letters at the beginning of the last segment and
    /// the same extension.
    Pattern,
    /// With the same last segment, in any folder.
    Name,
    /// Found on the same page.
    Parent,
}

impl Group {
    pub(in crate::walk::yields) const ALL: [Self; 5] =
        [Self::Branch, Self::Folder, Self::Pattern, Self::Name, Self::Parent];
}

/// For each group, the one to which a URL belongs. A site has too few of them for 32 bits to meet often, and
/// two groups that do only share their evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::walk::yields) struct GroupKeys([u32; Group::ALL.len()]);

impl GroupKeys {
    pub(in crate::walk::yields) fn get(&self, group: Group) -> u32 {
        self.0[group as usize]
    }

    #[must_use]
    pub(in crate::walk::yields) fn with(mut self, group: Group, hash: u64) -> Self {
        self.0[group as usize] = (hash >> 32) as u32;
        self
    }

    /// Takes over a key that was made for another URL.
    #[must_use]
    pub(in crate::walk::yields) fn with_key(mut self, group: Group, key: u32) -> Self {
        self.0[group as usize] = key;
        self
    }
}
