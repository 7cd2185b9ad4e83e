use std::collections::HashMap;

use crate::address::is_name_at_or_below;

/// An attribute by which site trees are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// The country domain of the start URL.
    Cctld,
    /// The number of links from the start list to the site.
    Generation,
    /// The country of the server of the start URL.
    Country,
    /// The autonomous system of that server.
    Network,
    /// The software that this server reports, without version.
    Software,
    /// The number of pages of the tree: 0, 1, 2–9, 10–99, 100–999, 1,000 or more.
    Pages,
}

impl Grouping {
    /// All groupings, in the order of their discriminants.
    pub const ALL: [Self; 6] =
        [Self::Cctld, Self::Generation, Self::Country, Self::Network, Self::Software, Self::Pages];

    /// The name used in files and flags.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cctld => "cctld",
            Self::Generation => "generation",
            Self::Country => "country",
            Self::Network => "network",
            Self::Software => "software",
            Self::Pages => "pages",
        }
    }
}

/// The group of trees with an unknown value: a country that no database knows, software that is not named.
pub const UNKNOWN: &str = "unknown";

/// The names of groups, each stored once. A tree keeps the number of its name.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    names: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
}

impl Labels {
    pub(in crate::analysis) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    /// The number of a name that has one.
    pub(in crate::analysis) fn known(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The name of a group.
    #[must_use]
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or(UNKNOWN, |name| name)
    }
}

/// The product in a `Server` header, without version: the text before the first `/`, space, bracket, comma or
/// semicolon.
pub(in crate::analysis) fn software_family(header: &str) -> &str {
    let end = header.find(['/', ' ', '(', ';', ',']).unwrap_or(header.len());
    header[..end].trim()
}

/// The first of the surveyed country domains that contains a host, as for sites.
pub(in crate::analysis) fn country_domain<'d>(host: &str, surveyed: &'d [String]) -> Option<&'d str> {
    surveyed.iter().find(|domain| is_name_at_or_below(host, domain)).map(String::as_str)
}

/// The name of an autonomous system, with its organisation if known.
pub(in crate::analysis) fn network(asn: u32, organisation: Option<&str>) -> String {
    organisation.map_or_else(|| format!("AS{asn}"), |name| format!("AS{asn} {name}"))
}

/// The class of a tree by its number of pages.
pub(in crate::analysis) fn pages_class(pages: u64) -> &'static str {
    match pages {
        0 => "no page",
        1 => "1 page",
        2..10 => "2–9 pages",
        10..100 => "10–99 pages",
        100..1000 => "100–999 pages",
        _ => "1,000 pages or more",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_lies_in_the_first_country_domain_that_ends_its_name() {
        let domains = ["co.ke", "ke", "tz"].map(str::to_owned);
        for (host, domain) in [
            ("a.ke", Some("ke")),
            ("a.co.ke", Some("co.ke")),
            ("ke", Some("ke")),
            ("poke", None),
            ("a.ke.com", None),
        ] {
            assert_eq!(country_domain(host, &domains), domain, "{host}");
        }
    }

    #[test]
    fn software_is_told_without_version_and_modules() {
        for (header, family) in [
            ("Apache/1.3.34 (Debian) PHP/4.4.2-1build1", "Apache"),
            ("nginx", "nginx"),
            ("Microsoft-IIS/6.0", "Microsoft-IIS"),
            ("", ""),
        ] {
            assert_eq!(software_family(header), family);
        }
    }

    #[test]
    fn a_name_has_one_number() {
        let mut labels = Labels::default();
        assert_eq!([labels.number("ke"), labels.number("tz"), labels.number("ke")], [0, 1, 0]);
        assert_eq!([labels.name(1), labels.name(9)], ["tz", "unknown"]);
    }
}
