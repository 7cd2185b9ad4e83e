use std::collections::BTreeMap;

use polars::prelude::{DataFrame, PolarsResult};
use serde::Serialize;

use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::SiteView;
use crate::analysis::overview::tally::{NamedCount, Tally};
use crate::analysis::tables::group::software_family;

/// What servers run and what pages are written in.
///
/// A front page is the first 2xx answer at depth 0 of a site tree; a page is one that was read for links.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Technology {
    /// By the header `Server` without version.
    pub software: Vec<Software>,
    /// Addresses that answered.
    pub servers: u64,
    /// That were answered.
    pub site_trees: u64,
    /// Exchanges with a status.
    pub answers: u64,
    /// That were answered with 2xx.
    pub front_pages: u64,
    /// That were read for links.
    pub pages: u64,
    /// Of answers.
    pub http_versions: Vec<NamedCount>,
    /// Of front pages: the version of TLS, or `not encrypted`.
    pub encryption: Vec<NamedCount>,
    /// Of encrypted front pages: `valid`, or what is wrong.
    pub certificates: Vec<NamedCount>,
    /// Of pages: `Content-Encoding`, or `not compressed`.
    pub compression: Vec<NamedCount>,
    /// Of pages: the encoding that `Content-Type` declares against the one the page was read in.
    pub charsets: Vec<Charset>,
    /// Of front pages: the language they say they are in, without region, or `not told`.
    pub languages: Vec<NamedCount>,
}

/// A family of server software.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Software {
    /// Without version, or `not told`.
    pub name: String,
    /// Servers that say so.
    pub servers: u64,
    /// Site trees whose start URL was answered so.
    pub site_trees: u64,
}

/// Pages by declared and used encoding, by their WHATWG names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Charset {
    /// `not declared` or `unknown name` where there is none.
    pub declared: String,
    /// In which the page was read.
    pub used: String,
    /// That were read so.
    pub pages: u64,
}

/// A front page by http.
const NOT_ENCRYPTED: &str = "not encrypted";
/// A certificate that is valid for its name.
const VALID: &str = "valid";
/// A page without `Content-Encoding`.
const NOT_COMPRESSED: &str = "not compressed";
/// A front page without a language.
const NO_LANGUAGE: &str = "not told";
/// A page without a charset in its header.
const NOT_DECLARED: &str = "not declared";
/// A charset that the Encoding Standard does not know.
const UNKNOWN_CHARSET: &str = "unknown name";
/// A server that does not say what it runs.
const UNTOLD: &str = "not told";

#[derive(Default)]
pub(in crate::analysis::overview) struct TechnologyMaker {
    technology: Technology,
    of_servers: Tally,
    of_trees: Tally,
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
            self.of_servers.add(family(server));
        }
        Ok(())
    }

    pub(in crate::analysis::overview) fn add_site(&mut self, site: &SiteView<'_>) {
        // Without an address nobody answered.
        if site.address.is_some() {
            self.technology.site_trees += 1;
            self.of_trees.add(family(site.server));
        }
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        if exchange.status.is_some() {
            self.technology.answers += 1;
            self.http_versions.add(exchange.http_version.unwrap_or(UNTOLD));
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
        self.languages.add(language.as_deref().filter(|told| !told.is_empty()).unwrap_or(NO_LANGUAGE));
    }

    fn add_page(&mut self, page: &ExchangeView<'_>, used: &str) {
        self.technology.pages += 1;
        let encoding = page.content_encoding.map(|encoding| encoding.trim().to_ascii_lowercase());
        let encoding = encoding.as_deref().filter(|told| !told.is_empty() && *told != "identity");
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
            software: software(self.of_servers, self.of_trees),
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
    header.map(software_family).filter(|name| !name.is_empty()).unwrap_or(UNTOLD)
}

/// The parameter `charset` (RFC 9110 §8.3.2).
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
