//! The software behind a site, as its pages and header fields show it.
//!
//! The rules are in `data/site-software.toml`; `rules` reads them. Header fields are read by
//! [`SiteSoftware::from_fields`]. The room `page` collects the generators and the references of a page and
//! passes them to [`SiteSoftware::from_generators`] and [`SiteSoftware::from_references`].
//! [`SiteSoftware::preferred`] joins what both found. Nothing here fails; software without a rule is none.

mod rules;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub(crate) use rules::Reference;
use rules::{RULES, Rules};

/// A content management system, site builder, shop, wiki or forum, and the reason to say so.
///
/// ```
/// use ccsurvey_core::exchange::SiteSoftware;
/// let field = ("X-Generator", &b"Drupal 10 (https://www.drupal.org)"[..]);
/// let software = SiteSoftware::from_fields([field].into_iter()).unwrap();
/// assert_eq!(software.name, "Drupal");
/// assert_eq!(software.evidence, "field: x-generator: Drupal 10 (https://www.drupal.org)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteSoftware {
    /// As its maker spells it: `WordPress`. Plugins and themes count as the software that they extend.
    pub name: String,
    /// Where and what was seen: `generator: WordPress 6.4.2`, `field: x-generator: Drupal 10`,
    /// `path: /wp-content/`, `host: cdn.shopify.com`.
    pub evidence: String,
}

/// The evidence that takes precedence over header fields.
const BY_GENERATOR: &str = "generator: ";
/// The limit on a field's value in the evidence, in characters.
const MAX_VALUE_CHARS: usize = 100;

impl SiteSoftware {
    /// The software that header fields show. If several do, the first in the order of the rules.
    #[must_use]
    pub fn from_fields<'a>(fields: impl Iterator<Item = (&'a str, &'a [u8])>) -> Option<Self> {
        let matches = fields.filter_map(|(name, value)| {
            let (rule, mark) = RULES.fields.rule_for(name, value)?;
            // The value of a cookie belongs to a visitor.
            let shown = if mark.is_value_shown { printable(value) } else { mark.value.as_str().into() };
            Some((rule, format!("field: {}: {shown}", mark.name)))
        });
        matches.min_by_key(|(rule, _)| *rule).map(|(rule, evidence)| Self::found(rule, evidence))
    }

    /// The software that the generators of a page name. The generator of a plugin shows the software that it
    /// extends, unless another generator names that itself.
    pub(crate) fn from_generators<'a>(generators: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let by = |rule_for: fn(&Rules, &str) -> Option<usize>| {
            let mut found = generators.clone().filter_map(|text| Some((rule_for(&RULES, text)?, text)));
            found.next().map(|(rule, text)| Self::found(rule, format!("{BY_GENERATOR}{text}")))
        };
        by(Rules::by_generator).or_else(|| by(Rules::by_plugin))
    }

    /// The software that the references of a page show. A file of a known kind of path counts on the page's
    /// own host, a host of a site builder where the page loads a script or a style from it.
    pub(crate) fn from_references<'a>(references: impl Iterator<Item = Reference<'a>>) -> Option<Self> {
        let matches = references.filter_map(|reference| RULES.references.rule_for(reference));
        let found = matches.min_by_key(|(rule, _)| *rule);
        found.map(|(rule, evidence)| Self::found(rule, evidence))
    }

    fn found(rule: usize, evidence: String) -> Self {
        Self { name: RULES.name(rule).to_owned(), evidence }
    }

    /// Of what a page and the fields of its response show: a generator, else the fields, else the page.
    #[must_use]
    pub fn preferred(by_page: Option<Self>, by_fields: Option<Self>) -> Option<Self> {
        match by_page {
            Some(software) if software.evidence.starts_with(BY_GENERATOR) => Some(software),
            by_page => by_fields.or(by_page),
        }
    }
}

/// A field's value as text on one line.
fn printable(value: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(value);
    let visible = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    visible.take(MAX_VALUE_CHARS).collect::<String>().into()
}

#[cfg(test)]
mod tests;
