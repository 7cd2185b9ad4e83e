use std::fmt;

use publicsuffix::{List, Psl, Type};
use serde::{Deserialize, Serialize};

use super::Host;

/// The unit of a survey: the registrable domain of a host (public suffix and one label), or the
/// host itself where there is none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site(Host);

impl Site {
    /// The site with this registrable domain.
    #[must_use]
    pub fn new(root: Host) -> Self {
        Self(root)
    }

    /// Its registrable domain, or a host that is a site of its own.
    #[must_use]
    pub fn root(&self) -> &Host {
        &self.0
    }

    /// The root as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether a host is the root or below it.
    #[must_use]
    pub fn has(&self, host: &Host) -> bool {
        host.is_at_or_below(&self.0)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which part of the Public Suffix List divides sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuffixSection {
    /// Registries' suffixes only: `x.github.io` belongs to the site `github.io`.
    #[default]
    Icann,
    /// The private section too: `x.github.io` is a site.
    All,
}

/// Why a suffix list is not used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SuffixError {
    /// A line is no rule.
    #[error(
        "line {line}: '{value}' is not a suffix rule (expected a domain name such as 'co.ke', '*.ck' or '!www.ck')"
    )]
    Line {
        /// From 1.
        line: usize,
        /// What stands there.
        value: String,
    },
    /// The list has no section of registries.
    #[error("no line '// ===BEGIN ICANN DOMAINS===': this is not a Public Suffix List")]
    NoIcannSection,
    /// A marker that the list should have is missing.
    #[error("the list is cut short: no line '// ===END {0} DOMAINS==='")]
    CutShort(&'static str),
    /// The list cannot be used.
    #[error("the list cannot be read: {0}")]
    List(String),
}

/// The Public Suffix List, and the rule by which hosts belong to sites.
pub struct Suffixes {
    icann: List,
    /// Where private suffixes divide sites, too.
    all: Option<List>,
    version: Option<String>,
}

impl Suffixes {
    /// Reads a list in the format of publicsuffix.org.
    ///
    /// # Errors
    /// Names the first line that is no rule, or the section that is missing.
    pub fn parse(text: &str, section: SuffixSection) -> Result<Self, SuffixError> {
        check_sections(text)?;
        check_rules(text)?;
        let read = |text: &str| text.parse::<List>().map_err(|wrong| SuffixError::List(wrong.to_string()));
        let icann_part = text.split("// ===BEGIN PRIVATE DOMAINS===").next().unwrap_or(text);
        Ok(Self {
            icann: read(icann_part)?,
            all: (section == SuffixSection::All).then(|| read(text)).transpose()?,
            version: text
                .lines()
                .find_map(|line| line.strip_prefix("// VERSION: "))
                .map(|text| text.trim().to_owned()),
        })
    }

    /// What the list says of its own date, for the collection card of a report.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The site a host belongs to. A host that is itself a public suffix, or an address, is a
    /// site of its own.
    #[must_use]
    pub fn site_of(&self, host: &Host) -> Site {
        Site(self.registrable(host).unwrap_or_else(|| host.clone()))
    }

    /// The registrable domain of a host: none for addresses and public suffixes.
    #[must_use]
    pub fn registrable(&self, host: &Host) -> Option<Host> {
        if host.ip().is_some() {
            return None;
        }
        let domain = self.all.as_ref().unwrap_or(&self.icann).domain(host.as_str().as_bytes())?;
        std::str::from_utf8(domain.as_bytes()).ok().and_then(Host::from_domain)
    }

    /// Whether a name is a suffix that registries run (the ICANN section has a rule for it).
    #[must_use]
    pub fn is_icann_suffix(&self, name: &Host) -> bool {
        self.icann.suffix(name.as_str().as_bytes()).is_some_and(|suffix| {
            suffix.typ() == Some(Type::Icann) && suffix.as_bytes() == name.as_str().as_bytes()
        })
    }
}

fn check_sections(text: &str) -> Result<(), SuffixError> {
    if !text.contains("// ===BEGIN ICANN DOMAINS===") {
        return Err(SuffixError::NoIcannSection);
    }
    if !text.contains("// ===END ICANN DOMAINS===") {
        return Err(SuffixError::CutShort("ICANN"));
    }
    if text.contains("// ===BEGIN PRIVATE DOMAINS===") && !text.contains("// ===END PRIVATE DOMAINS===") {
        return Err(SuffixError::CutShort("PRIVATE"));
    }
    Ok(())
}

fn check_rules(text: &str) -> Result<(), SuffixError> {
    for (index, line) in text.lines().enumerate() {
        let rule = line.split_whitespace().next().unwrap_or("");
        if rule.is_empty() || rule.starts_with("//") {
            continue;
        }
        let name = rule.strip_prefix('!').unwrap_or(rule);
        let sound = name.split('.').all(|label| {
            label == "*"
                || (!label.is_empty()
                    && label.chars().all(|c| c.is_alphanumeric() || c == '-' || !c.is_ascii()))
        });
        if !sound {
            let value = rule.chars().take(60).collect();
            return Err(SuffixError::Line { line: index + 1, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = include_str!("../../data/public_suffix_list.dat");
    const VECTORS: &str = include_str!("../../tests/data/public_suffix_vectors.txt");

    fn suffixes(section: SuffixSection) -> Suffixes {
        Suffixes::parse(LIST, section).unwrap()
    }

    fn site(list: &Suffixes, host: &str) -> String {
        list.site_of(&Host::parse(host).unwrap()).to_string()
    }

    /// `checkPublicSuffix('a', 'b');` or `checkPublicSuffix('a', null);`
    fn vectors() -> impl Iterator<Item = (Option<String>, Option<String>)> {
        VECTORS.lines().filter_map(|line| line.strip_prefix("checkPublicSuffix(")).map(|line| {
            let (name, domain) = line.trim_end_matches(");").split_once(", ").unwrap();
            let text = |part: &str| (part != "null").then(|| part.trim_matches('\'').to_owned());
            (text(name), text(domain))
        })
    }

    #[test]
    fn the_official_vectors_hold() {
        let list = suffixes(SuffixSection::All);
        let mut seen = 0;
        for (name, expected) in vectors() {
            let registrable = name
                .as_deref()
                .and_then(|name| Host::parse(name).ok())
                .and_then(|host| list.registrable(&host));
            let expected = expected.map(|name| Host::parse(&name).unwrap());
            assert_eq!(registrable, expected, "{name:?}");
            seen += 1;
        }
        assert!(seen >= 77, "{seen} vectors");
    }

    #[test]
    fn the_private_section_divides_only_when_chosen() {
        assert_eq!(site(&suffixes(SuffixSection::Icann), "x.github.io"), "github.io");
        assert_eq!(site(&suffixes(SuffixSection::All), "x.github.io"), "x.github.io");
        assert_eq!(site(&suffixes(SuffixSection::All), "github.io"), "github.io");
    }

    #[test]
    fn suffixes_and_addresses_are_sites_of_their_own() {
        let list = suffixes(SuffixSection::Icann);
        assert_eq!(site(&list, "co.ke"), "co.ke");
        assert_eq!(site(&list, "www.shop.co.ke"), "shop.co.ke");
        assert_eq!(site(&list, "192.0.2.7"), "192.0.2.7");
        assert!(list.is_icann_suffix(&Host::parse("co.ke").unwrap()));
        assert!(!list.is_icann_suffix(&Host::parse("qq").unwrap()));
    }

    #[test]
    fn a_corrupt_list_is_refused_with_its_line() {
        let wrong = |text: &str| Suffixes::parse(text, SuffixSection::Icann).err().unwrap().to_string();
        let list =
            |rule: &str| format!("// ===BEGIN ICANN DOMAINS===\nke\n{rule}\n// ===END ICANN DOMAINS===\n");
        assert_eq!(wrong("ke\n"), "no line '// ===BEGIN ICANN DOMAINS===': this is not a Public Suffix List");
        assert_eq!(
            wrong("// ===BEGIN ICANN DOMAINS===\nke\n"),
            "the list is cut short: no line '// ===END ICANN DOMAINS==='"
        );
        assert_eq!(
            wrong(&list("co..ke")),
            "line 3: 'co..ke' is not a suffix rule (expected a domain name such as 'co.ke', '*.ck' or '!www.ck')"
        );
        assert!(wrong(&list("<html>")).starts_with("line 3: '<html>'"));
    }

    #[test]
    fn the_list_tells_its_date() {
        assert_eq!(suffixes(SuffixSection::Icann).version(), Some("2026-10-22_08-36-41_UTC"));
    }
}
