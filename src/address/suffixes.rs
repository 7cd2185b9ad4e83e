use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use publicsuffix::{List, Psl, Type};
use serde::{Deserialize, Serialize};

use super::Host;

/// The unit of a survey: the registrable domain of a host (public suffix and one label), or the host itself
/// if it has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Site(Host);

impl Site {
    /// The site with this registrable domain.
    #[must_use]
    pub fn new(root: Host) -> Self {
        Self(root)
    }

    /// The registrable domain, or a host that is a site of its own.
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

/// Which sections of the Public Suffix List divide sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuffixSection {
    /// Suffixes of registries only: `x.github.io` belongs to the site `github.io`.
    #[default]
    Icann,
    /// Private suffixes too: `x.github.io` is a site.
    All,
}

/// Why a suffix list cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SuffixError {
    /// A line is not a rule.
    #[error(
        "line {line}: '{value}' is not a suffix rule (expected a domain name such as 'co.ke', '*.ck' or '!www.ck')"
    )]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The invalid text.
        value: String,
    },
    /// The list has section markers, but not those of the ICANN section.
    #[error("no line '// ===BEGIN ICANN DOMAINS===': the list is cut short, or is not a Public Suffix List")]
    NoIcannSection,
    /// A section marker is missing.
    #[error("the list is cut short: no line '// ===END {0} DOMAINS==='")]
    CutShort(&'static str),
    /// The library cannot read the list.
    #[error("the list cannot be read: {0}")]
    List(String),
}

/// The Public Suffix List, and the rule that assigns hosts to sites.
pub struct Suffixes {
    icann: List,
    /// Set if private suffixes divide sites, too.
    all: Option<List>,
    /// The last labels of the rules of registries.
    top_levels: HashSet<String>,
    version: Option<String>,
}

/// Markers that are put around a list without any: all its rules count as rules of registries.
const ICANN_MARKS: [&str; 2] = ["// ===BEGIN ICANN DOMAINS===\n", "\n// ===END ICANN DOMAINS===\n"];

impl Suffixes {
    /// Reads a list in the format of publicsuffix.org. All rules of a list without section markers, such as a
    /// hand-written one, count as rules of registries.
    ///
    /// # Errors
    /// Names the first line that is not a rule, or the section that is missing.
    pub fn parse(text: &str, section: SuffixSection) -> Result<Self, SuffixError> {
        let text = text.trim_start_matches('\u{feff}');
        check_rules(text)?;
        let text = &*with_section_marks(text);
        check_sections(text)?;
        let read = |text: &str| text.parse::<List>().map_err(|error| SuffixError::List(error.to_string()));
        let icann_part = text.split("// ===BEGIN PRIVATE DOMAINS===").next().unwrap_or(text);
        Ok(Self {
            icann: read(icann_part)?,
            all: (section == SuffixSection::All).then(|| read(text)).transpose()?,
            top_levels: top_levels(icann_part),
            version: text
                .lines()
                .find_map(|line| line.strip_prefix("// VERSION: "))
                .map(|text| text.trim().to_owned()),
        })
    }

    /// The version that the list states, for the collection card of a report.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The site of a host. A host that is itself a public suffix, or an address, is a site of its own.
    #[must_use]
    pub fn site_of(&self, host: &Host) -> Site {
        Site(self.registrable(host).unwrap_or_else(|| host.clone()))
    }

    /// The registrable domain of a host; `None` for addresses and public suffixes.
    #[must_use]
    pub fn registrable(&self, host: &Host) -> Option<Host> {
        if host.ip().is_some() {
            return None;
        }
        let domain = self.all.as_ref().unwrap_or(&self.icann).domain(host.as_str().as_bytes())?;
        std::str::from_utf8(domain.as_bytes()).ok().and_then(Host::from_domain)
    }

    /// Whether a name is a suffix of a registry: the ICANN section has a rule for it, or for all names below
    /// it (`*.np` is the only rule of Nepal).
    #[must_use]
    pub fn is_icann_suffix(&self, name: &Host) -> bool {
        let is_suffix = |name: &str| {
            self.icann.suffix(name.as_bytes()).is_some_and(|suffix| {
                suffix.typ() == Some(Type::Icann) && suffix.as_bytes() == name.as_bytes()
            })
        };
        is_suffix(name.as_str()) || is_suffix(&format!("{NO_LABEL}.{name}"))
    }

    /// Whether the last label of a host is a top-level domain, as far as the list's registries tell. An
    /// address has none.
    #[must_use]
    pub fn has_top_level(&self, host: &Host) -> bool {
        let last = host.as_str().rsplit('.').next().unwrap_or_default();
        host.ip().is_none() && self.top_levels.contains(last)
    }

    /// Adds the top-level domains of another list: a list of one country's suffixes has only one of its own.
    #[must_use]
    pub fn with_top_levels_of(mut self, other: &Self) -> Self {
        self.top_levels.extend(other.top_levels.iter().cloned());
        self
    }
}

/// A label that no rule contains.
const NO_LABEL: &str = "-";

/// The list with section markers around it, if it has none.
fn with_section_marks(text: &str) -> Cow<'_, str> {
    if ["ICANN DOMAINS", "PRIVATE DOMAINS"].iter().any(|mark| text.contains(mark)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(ICANN_MARKS.join(text))
}

/// The last labels of rules, in canonical form.
fn top_levels(rules: &str) -> HashSet<String> {
    let rules = rules.lines().filter(|line| !line.starts_with("//"));
    let words = rules.filter_map(|line| line.split_whitespace().next());
    let labels: HashSet<&str> = words.filter_map(|rule| rule.rsplit('.').next()).collect();
    labels.into_iter().filter_map(|label| Host::parse(label).ok()).map(|label| label.to_string()).collect()
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
        let is_valid = name.split('.').all(|label| {
            label == "*"
                || (!label.is_empty()
                    && label.chars().all(|c| c.is_alphanumeric() || c == '-' || !c.is_ascii()))
        });
        if !is_valid {
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
        let mut vector_count = 0;
        for (name, expected) in vectors() {
            let registrable = name
                .as_deref()
                .and_then(|name| Host::parse(name).ok())
                .and_then(|host| list.registrable(&host));
            let expected = expected.map(|name| Host::parse(&name).unwrap());
            assert_eq!(registrable, expected, "{name:?}");
            vector_count += 1;
        }
        assert!(vector_count >= 77, "{vector_count} vectors");
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
        let refusal_of = |text: &str| Suffixes::parse(text, SuffixSection::Icann).err().unwrap().to_string();
        let list =
            |rule: &str| format!("// ===BEGIN ICANN DOMAINS===\nke\n{rule}\n// ===END ICANN DOMAINS===\n");
        assert_eq!(
            refusal_of("ke\n// ===END ICANN DOMAINS===\n"),
            "no line '// ===BEGIN ICANN DOMAINS===': the list is cut short, or is not a Public Suffix List"
        );
        assert!(refusal_of("// nothing\n").starts_with("the list cannot be read: "));
        assert!(refusal_of("<!doctype html>\n").starts_with("line 1: '<!doctype'"));
        assert_eq!(
            refusal_of("// ===BEGIN ICANN DOMAINS===\nke\n"),
            "the list is cut short: no line '// ===END ICANN DOMAINS==='"
        );
        assert_eq!(
            refusal_of(&list("co..ke")),
            "line 3: 'co..ke' is not a suffix rule (expected a domain name such as 'co.ke', '*.ck' or '!www.ck')"
        );
        assert!(refusal_of(&list("<html>")).starts_with("line 3: '<html>'"));
    }

    #[test]
    fn a_list_without_marks_of_sections_has_rules_of_registries() {
        for text in ["ke\nco.ke\n", "\u{feff}// mine\r\nke\r\nco.ke\r\n"] {
            for section in [SuffixSection::Icann, SuffixSection::All] {
                let list = Suffixes::parse(text, section).unwrap();
                assert_eq!(site(&list, "www.shop.co.ke"), "shop.co.ke");
                assert!(list.is_icann_suffix(&Host::parse("ke").unwrap()));
            }
        }
    }

    #[test]
    fn a_domain_with_rules_for_the_names_below_it_alone_is_a_suffix() {
        let list = suffixes(SuffixSection::Icann);
        for (name, is_suffix) in [
            ("np", true),
            ("mm", true),
            ("kobe.jp", true),
            ("ke", true),
            ("www.ck", false),
            ("a.np", true),
            ("a.ke", false),
        ] {
            assert_eq!(list.is_icann_suffix(&Host::parse(name).unwrap()), is_suffix, "{name}");
        }
    }

    #[test]
    fn top_level_domains_are_known_from_the_rules_of_registries() {
        let list = suffixes(SuffixSection::All);
        let knows = |list: &Suffixes, host: &str| list.has_top_level(&Host::parse(host).unwrap());
        for host in ["a.ke", "www.a.co.ke", "a.np", "xn--80aswg.xn--p1ai", "a.рф", "a.google", "ke", "a.中国"]
        {
            assert!(knows(&list, host), "{host}");
        }
        for host in [
            "page1.html",
            "2.5e-05",
            "a.example",
            "mx.mail.local",
            "ke.co.site0",
            "41.90.0.1",
            "[2001:db8::1]",
        ] {
            assert!(!knows(&list, host), "{host}");
        }
        let own = Suffixes::parse("ke\n", SuffixSection::Icann).unwrap();
        assert!(!knows(&own, "a.com"));
        assert!(knows(&own.with_top_levels_of(&list), "a.com"));
    }

    #[test]
    fn the_list_tells_its_date() {
        assert_eq!(suffixes(SuffixSection::Icann).version(), Some("2026-10-22_08-36-41_UTC"));
    }
}
