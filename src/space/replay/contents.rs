use std::collections::BTreeMap;

/// What is in a replay, and what of the survey is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub hosts: u64,
    pub servers: u64,
    /// URLs with an answer.
    pub urls: u64,
    /// Those that were read as pages.
    pub pages: u64,
    /// Links on them, internal and external.
    pub links: u64,
    /// Files of robots.txt with a body.
    pub robots: u64,
    /// Internal URLs on the pages that were never asked for: too deep, too many, or kept back.
    pub unfetched_urls: u64,
    /// Pages that have not the links that their exchange counted.
    pub pages_without_links: u64,
    /// Exchanges whose URL another one has as well; the last one counts.
    pub repeated: u64,
    /// Exchanges that never were, for our own side refused or held them back.
    pub not_asked: u64,
    /// Exchanges at other ports than those of their scheme.
    pub at_other_ports: u64,
    /// Exchanges whose URL or failure cannot be read.
    pub unreadable: u64,
    /// Exchanges whose failure is another one in the replay, by its word.
    pub approximated: BTreeMap<String, u64>,
}
