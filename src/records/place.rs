use maxminddb::{LookupResult, PathElement};
use serde::Deserialize;

/// Where a server stands in the world and in the network, as far as the databases know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeoLocation {
    /// ISO 3166-1 in two capital letters.
    pub country: Option<String>,
    /// The number of the autonomous system.
    pub asn: Option<u32>,
    /// The organisation that runs the autonomous system.
    pub as_org: Option<String>,
}

type Path = &'static [&'static str];

/// `GeoLite2`, `GeoIP2` and DB-IP nest the country; flat databases have a code, some of them under
/// `country` itself. The country where an address is *registered* is not where its server stands.
const COUNTRY: &[Path] = &[&["country", "iso_code"], &["country_code"], &["country"]];

const ASN: &[Path] =
    &[&["autonomous_system_number"], &["traits", "autonomous_system_number"], &["asn"], &["as_number"]];

const AS_ORG: &[Path] = &[
    &["autonomous_system_organization"],
    &["traits", "autonomous_system_organization"],
    &["as_name"],
    &["as_org"],
];

/// The longest organisation name that is kept, in characters.
const MAX_ORGANISATION: usize = 200;

/// A number, or text such as `AS64500`.
#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(u64),
    Text(String),
}

impl GeoLocation {
    /// What one record of a database tells; values of an unknown form are not known.
    pub(super) fn of<S: AsRef<[u8]>>(record: &LookupResult<'_, S>) -> Self {
        Self {
            country: COUNTRY.iter().find_map(|path| country_code(&value::<String, S>(record, path)?)),
            asn: ASN.iter().find_map(|path| system_number(value(record, path)?)),
            as_org: AS_ORG.iter().find_map(|path| organisation(&value::<String, S>(record, path)?)),
        }
    }

    /// Whether no database knows anything of it.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// What is not known here is taken from another database.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.country.is_some() && self.asn.is_some() && self.as_org.is_some() {
            return self;
        }
        let other = other();
        Self {
            country: self.country.or(other.country),
            asn: self.asn.or(other.asn),
            as_org: self.as_org.or(other.as_org),
        }
    }
}

fn value<'a, T: Deserialize<'a>, S: AsRef<[u8]>>(record: &LookupResult<'a, S>, path: Path) -> Option<T> {
    let path: Vec<PathElement<'_>> = path.iter().map(|key| PathElement::Key(key)).collect();
    record.decode_path(&path).ok().flatten()
}

fn country_code(text: &str) -> Option<String> {
    let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| text.to_ascii_uppercase())
}

/// 0 is reserved and stands for no system (RFC 7607).
fn system_number(found: NumberOrText) -> Option<u32> {
    let number = match found {
        NumberOrText::Number(number) => u32::try_from(number).ok()?,
        NumberOrText::Text(text) => {
            let digits = text.strip_prefix("AS").or_else(|| text.strip_prefix("as")).unwrap_or(&text);
            digits.parse().ok()?
        }
    };
    (number != 0).then_some(number)
}

fn organisation(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_ORGANISATION).collect())
}
