use std::collections::BTreeMap;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::SiteView;
use crate::analysis::overview::tally::{NamedCount, Tally};
use crate::analysis::tables::group::software_family;

/// The software of servers, and the encodings and languages of pages.
///
/// A front page is the first successful response (2xx, or unchanged since an earlier survey) at depth 0 of a
/// site tree. A page is a response that was read for links.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Technology {
    /// By the header `Server`, without version.
    pub software: Vec<Software>,
    /// Addresses that responded.
    pub servers: u64,
    /// Site trees whose start URL got a response.
    pub site_trees: u64,
    /// Responses with a status.
    pub answers: u64,
    /// Front pages.
    pub front_pages: u64,
    /// Pages that were read for links.
    pub pages: u64,
    /// Responses by HTTP version.
    pub http_versions: Vec<NamedCount>,
    /// Front pages by TLS version, or `not encrypted`.
    pub encryption: Vec<NamedCount>,
    /// Encrypted front pages by certificate: `valid`, or the error.
    pub certificates: Vec<NamedCount>,
    /// Pages by `Content-Encoding`, or `not compressed`.
    pub compression: Vec<NamedCount>,
    /// Pages by the encoding that `Content-Type` declares and the encoding in which they were read.
    pub charsets: Vec<Charset>,
    /// Front pages by declared language, without region, or `not declared`.
    pub languages: Vec<NamedCount>,
}

/// A family of server software.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Software {
    /// The product without version, or `not stated`.
    pub name: String,
    /// Servers that report it.
    pub servers: u64,
    /// Site trees whose start URL got a response from it.
    pub site_trees: u64,
}

/// Pages by declared and used encoding, by their WHATWG names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Charset {
    /// The declared encoding, or `not declared` or `unknown name`.
    pub declared: String,
    /// The encoding in which the pages were read.
    pub used: String,
    /// Pages with this combination.
    pub pages: u64,
}

/// A front page over http.
const NOT_ENCRYPTED: &str = "not encrypted";
/// A certificate that is valid for its name.
const VALID: &str = "valid";
/// A page without `Content-Encoding`.
const NOT_COMPRESSED: &str = "not compressed";
/// A front page without a language.
const NO_LANGUAGE: &str = "not declared";
/// A page without a charset in its header.
const NOT_DECLARED: &str = "not declared";
/// A charset that the Encoding Standard does not know.
const UNKNOWN_CHARSET: &str = "unknown name";
/// A server without the header `Server`, or a response without an HTTP version.
const NOT_STATED: &str = "not stated";

#[derive(Default)]
pub(in crate::analysis::overview) struct TechnologyMaker {
    technology: Technology,
    server_tally: Tally,
    tree_tally: Tally,
    http_versions: Tally,
    encryption: Tally,
    certificates: Tally,
    compression: Tally,
    languages: Tally,
    charsets: BTreeMap<(&'static str, &'static str), u64>,
    has_front_page: bool,
}

pub(in crate::analysis::overview) const SERVERS: &[&str] = &["server"];

impl TechnologyMaker {
    pub(in crate::analysis::overview) fn add_servers(&mut self, frame: &DataFrame) -> PolarsResult<()> {
        for server in frame.column("server")?.str()?.iter() {
            self.technology.servers += 1;
            self.server_tally.add(family(server));
        }
        Ok(())
    }

    pub(in crate::analysis::overview) fn add_site(&mut self, site: &SiteView<'_>) {
        // A tree without an address got no response.
        if site.address.is_some() {
            self.technology.site_trees += 1;
            self.tree_tally.add(family(site.server));
        }
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        if exchange.status.is_some() {
            self.technology.answers += 1;
            self.http_versions.add(exchange.http_version.unwrap_or(NOT_STATED));
        }
        self.has_front_page &= !exchange.is_first;
        if exchange.is_front_page() && !self.has_front_page {
            self.has_front_page = true;
            self.add_front_page(exchange);
        }
        if let Some(used) = exchange.charset {
            self.add_page(exchange, used);
        }
    }

    fn add_front_page(&mut self, page: &ExchangeView<'_>) {
        self.technology.front_pages += 1;
        self.encryption.add(page.tls_version.unwrap_or(NOT_ENCRYPTED));
        if page.tls_version.is_some() {
            self.certificates.add(page.tls_error.unwrap_or(VALID));
        }
        let language = page.language.and_then(|tag| tag.split(['-', '_', ',']).next());
        let language = language.map(|language| language.trim().to_ascii_lowercase());
        self.languages
            .add(language.as_deref().filter(|header_value| !header_value.is_empty()).unwrap_or(NO_LANGUAGE));
    }

    fn add_page(&mut self, page: &ExchangeView<'_>, used: &str) {
        self.technology.pages += 1;
        let encoding = page.content_encoding.map(|encoding| encoding.trim().to_ascii_lowercase());
        let encoding = encoding
            .as_deref()
            .filter(|header_value| !header_value.is_empty() && *header_value != "identity");
        self.compression.add(encoding.unwrap_or(NOT_COMPRESSED));
        let pair = (declared_charset(page.content_type), charset_name(used));
        *self.charsets.entry(pair).or_default() += 1;
    }

    pub(in crate::analysis::overview) fn finish(self) -> Technology {
        let mut charsets: Vec<Charset> = self
            .charsets
            .into_iter()
            .map(|((declared, used), pages)| Charset { declared: declared.into(), used: used.into(), pages })
            .collect();
        charsets.sort_by_key(|pair| std::cmp::Reverse(pair.pages));
        Technology {
            software: software(self.server_tally, self.tree_tally),
            http_versions: self.http_versions.finish(),
            encryption: self.encryption.finish(),
            certificates: self.certificates.finish(),
            compression: self.compression.finish(),
            languages: self.languages.finish(),
            charsets,
            ..self.technology
        }
    }
}

fn family(header: Option<&str>) -> &str {
    header.map(software_family).filter(|name| !name.is_empty()).unwrap_or(NOT_STATED)
}

/// The encoding in the parameter `charset` of `Content-Type` (RFC 9110 §8.3.2).
fn declared_charset(content_type: Option<&str>) -> &'static str {
    let parameters = content_type.into_iter().flat_map(|value| value.split([';', ',']).skip(1));
    let mut values = parameters.filter_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    values.next().map_or(NOT_DECLARED, charset_name)
}

fn charset_name(label: &str) -> &'static str {
    encoding_rs::Encoding::for_label(label.as_bytes()).map_or(UNKNOWN_CHARSET, encoding_rs::Encoding::name)
}

fn software(servers: Tally, trees: Tally) -> Vec<Software> {
    let mut families: BTreeMap<String, Software> = BTreeMap::new();
    let mut family = |name: String, add: &dyn Fn(&mut Software)| add(families.entry(name).or_default());
    for NamedCount { name, count } in servers.finish() {
        family(name, &|software| software.servers = count);
    }
    for NamedCount { name, count } in trees.finish() {
        family(name, &|software| software.site_trees = count);
    }
    let named = families.into_iter().map(|(name, software)| Software { name, ..software });
    let mut list: Vec<Software> = named.collect();
    list.sort_by(|a, b| {
        (b.servers.cmp(&a.servers)).then(b.site_trees.cmp(&a.site_trees)).then_with(|| a.name.cmp(&b.name))
    });
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_encoding_has_its_name_of_the_standard() {
        for (content_type, declared) in [
            (Some("text/html; charset=utf-8"), "UTF-8"),
            (Some("text/html;CHARSET=\"ISO-8859-1\""), "windows-1252"),
            (Some("text/html; charset=klingon"), UNKNOWN_CHARSET),
            (Some("text/html"), NOT_DECLARED),
            (None, NOT_DECLARED),
        ] {
            assert_eq!(declared_charset(content_type), declared, "{content_type:?}");
        }
    }
}
