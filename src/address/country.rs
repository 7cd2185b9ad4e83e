use super::{Host, Suffixes};

/// The surveyed country domains: `ke`, `tz`, `xn--fiqs8s`, also below the top level (`or.ke`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountryDomains(Vec<Host>);

/// Why a text is not a list of country domains.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CountryError {
    /// The list of domains is empty.
    #[error("no country domain given (expected for example 'ke' or 'ke,tz,ug')")]
    None,
    /// The name is not one under which a registry registers names.
    #[error(
        "'{0}' is not a country domain: the Public Suffix List has no such registry suffix (expected for example 'ke' or 'or.ke')"
    )]
    Unknown(String),
}

impl CountryDomains {
    /// Reads names such as `ke` or `.ke`, each of which must be a suffix of a registry.
    ///
    /// # Errors
    /// When a name is not in the ICANN section of the suffix list, or when there is no name.
    pub fn parse<'a>(
        names: impl IntoIterator<Item = &'a str>,
        suffixes: &Suffixes,
    ) -> Result<Self, CountryError> {
        let mut domains = Vec::new();
        for text in Self::canonical(names) {
            match Host::parse(&text) {
                Ok(domain) if suffixes.is_icann_suffix(&domain) => domains.push(domain),
                _ => return Err(CountryError::Unknown(text)),
            }
        }
        if domains.is_empty() { Err(CountryError::None) } else { Ok(Self(domains)) }
    }

    /// The names in canonical form, each once: `.KE` becomes `ke`. A name that is not a host stays as it is,
    /// so that [`CountryDomains::parse`] can report it.
    pub fn canonical<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut written = Vec::new();
        for text in names.into_iter().map(str::trim).filter(|text| !text.is_empty()) {
            let host = Host::parse(text.trim_start_matches('.'));
            let name = host.map_or_else(|_| text.to_owned(), |host| host.to_string());
            if !written.contains(&name) {
                written.push(name);
            }
        }
        written
    }

    /// The country domain that contains a host.
    #[must_use]
    pub fn domain_of(&self, host: &Host) -> Option<&Host> {
        self.0.iter().find(|domain| host.is_at_or_below(domain))
    }

    /// All country domains, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = &Host> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::super::SuffixSection;
    use super::*;

    fn parse(text: &str) -> Result<CountryDomains, CountryError> {
        let list =
            Suffixes::parse(include_str!("../../data/public_suffix_list.dat"), SuffixSection::Icann).unwrap();
        CountryDomains::parse(text.split(','), &list)
    }

    #[test]
    fn hosts_are_found_by_label() {
        let countries = parse("ke, .tz,中国").unwrap();
        let domain_of_name =
            |name: &str| countries.domain_of(&Host::parse(name).unwrap()).map(ToString::to_string);
        assert_eq!(domain_of_name("www.a.co.ke").as_deref(), Some("ke"));
        assert_eq!(domain_of_name("例.中国").as_deref(), Some("xn--fiqs8s"));
        assert_eq!(domain_of_name("ke.com"), None);
        assert_eq!(domain_of_name("stoke"), None);
        assert_eq!(countries.iter().map(Host::as_str).collect::<Vec<_>>(), ["ke", "tz", "xn--fiqs8s"]);
    }

    #[test]
    fn names_are_written_as_hosts_are_each_once() {
        let written = CountryDomains::canonical([" .KE", "", "ke", "Or.Ke", "中国", "a b"]);
        assert_eq!(written, ["ke", "or.ke", "xn--fiqs8s", "a b"]);
    }

    #[test]
    fn an_unknown_country_domain_is_named() {
        assert_eq!(parse("ke,kx"), Err(CountryError::Unknown("kx".into())));
        assert_eq!(parse("example.ke"), Err(CountryError::Unknown("example.ke".into())));
        assert_eq!(parse(" , "), Err(CountryError::None));
    }
}
