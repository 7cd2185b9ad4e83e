use crate::address::WebUrl;

/// The numbers of all kinds of entries in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that should hold a start URL, and additional URLs in them; for a zone file, records that should.
    pub lines: u64,
    /// Start URLs that are taken.
    pub urls: u64,
    /// The sites of these URLs, by registrable domain; counted only if it is known what a site is.
    pub sites: u64,
    /// Distinct start URLs in the country domains, those not drawn included.
    pub inside: u64,
    /// Distinct start URLs outside of them, taken or not.
    pub outside: u64,
    /// Lines whose URL occurred in an earlier line.
    pub doubled: u64,
    /// Lines that are skipped.
    pub bad: u64,
    /// Rows and lines that only say that there is no start URL: they are not among `lines`.
    pub without_value: u64,
    /// Comments that name hosts: they are not among `lines`.
    pub commented: u64,
    /// Directives of a zone file for names that are not read; they are bad lines, too.
    pub unread: u64,
    /// Names in a zone file that have other records and no NS record, and are not below a name that has one.
    pub without_ns: u64,
    /// All sites of the list that may be surveyed, those not drawn included.
    pub sites_in_list: u64,
}

/// A line of a start list that is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1.
    pub line: u64,
    /// The text of the line, shortened if long.
    pub value: String,
    /// The reason, with what was expected.
    pub why: String,
}

/// A start URL outside the country domains that is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideUrl {
    /// From 1.
    pub line: u64,
    /// In the form in which it would be surveyed.
    pub url: WebUrl,
}
