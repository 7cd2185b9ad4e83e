use maxminddb::{LookupResult, PathElement};
use serde::Deserialize;

/// The country and the network of a server, as far as the databases have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeoLocation {
    /// ISO 3166-1, two capital letters.
    pub country: Option<String>,
    /// The number of the autonomous system.
    pub asn: Option<u32>,
    /// The organisation that runs the autonomous system.
    pub as_org: Option<String>,
    /// The IANA name of the time zone, such as `Europe/Berlin`; databases of cities have it.
    pub time_zone: Option<String>,
}

type Path = &'static [&'static str];

/// `GeoLite2`, `GeoIP2` and DB-IP nest the country. Flat databases have a code, some of them under `country`
/// itself. The country where an address is *registered* is not the location of its server.
const COUNTRY: &[Path] = &[&["country", "iso_code"], &["country_code"], &["country"]];

/// GeoLite2-City and GeoIP2 nest the time zone; IPinfo and IPLocate do not.
const TIME_ZONE: &[Path] = &[&["location", "time_zone"], &["time_zone"], &["timezone"]];

/// The layouts of GeoLite2, DB-IP and iptoasn, then flat and nested ones of other makers: IPinfo and IPLocate
/// have `asn`.
const ASN: &[Path] = &[
    &["autonomous_system_number"],
    &["traits", "autonomous_system_number"],
    &["asn"],
    &["as_number"],
    &["asn", "asn"],
    &["asn", "number"],
    &["as", "number"],
    &["as", "asn"],
    &["as"],
];

const AS_ORG: &[Path] = &[
    &["autonomous_system_organization"],
    &["traits", "autonomous_system_organization"],
    &["as_name"],
    &["as_org"],
    &["as_organization"],
    &["asn_name"],
    &["asn_org"],
    &["asn", "name"],
    &["asn", "org"],
    &["asn", "organization"],
    &["as", "name"],
    &["as", "org"],
    &["as", "organization", "name"],
];

/// Names of organisations that are used only beside the number of a system: elsewhere `name` is that of a
/// country or a city. IPLocate has the longer name under `org`, IPinfo the only one under `name`; the lists
/// of IP2Location have it under `as`.
const AS_ORG_BESIDE_NUMBER: &[Path] =
    &[&["org"], &["organization"], &["organisation"], &["name"], &["as"], &["isp"]];

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
    /// Reads one record of a database. Values of an unknown form are ignored.
    pub(in crate::records) fn from_record<S: AsRef<[u8]>>(record: &LookupResult<'_, S>) -> Self {
        let text = |path: &Path| value::<String, S>(record, path);
        let organisation_at = |paths: &[Path]| paths.iter().find_map(|path| organisation(&text(path)?));
        let asn = ASN.iter().find_map(|path| system_number(value(record, path)?));
        let second_organisation = || asn.and_then(|_| organisation_at(AS_ORG_BESIDE_NUMBER));
        Self {
            country: COUNTRY.iter().find_map(|path| country_code(&text(path)?)),
            asn,
            as_org: organisation_at(AS_ORG).or_else(second_organisation),
            time_zone: TIME_ZONE.iter().find_map(text),
        }
    }

    /// Whether no database has anything on the address.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Fills in missing facts from another database.
    pub(in crate::records) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.country.is_some() && self.asn.is_some() && self.as_org.is_some() && self.time_zone.is_some() {
            return self;
        }
        let other = other();
        Self {
            country: self.country.or(other.country),
            asn: self.asn.or(other.asn),
            as_org: self.as_org.or(other.as_org),
            time_zone: self.time_zone.or(other.time_zone),
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

/// 0 is reserved and means no system (RFC 7607).
fn system_number(found: NumberOrText) -> Option<u32> {
    let number = match found {
        NumberOrText::Number(number) => u32::try_from(number).ok()?,
        NumberOrText::Text(text) => {
            let word = text.split_whitespace().next()?;
            without_mark(word).parse().ok()?
        }
    };
    (number != 0).then_some(number)
}

/// `AS64500` becomes `64500`.
fn without_mark(word: &str) -> &str {
    match word.split_at_checked(2) {
        Some((mark, digits)) if mark.eq_ignore_ascii_case("AS") => digits,
        _ => word,
    }
}

/// The name of an organisation, without a leading system number as in `AS64500 Example Networks`. A number
/// alone is not a name.
fn organisation(text: &str) -> Option<String> {
    let is_number = |word: &str| {
        let digits = without_mark(word);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let text = text.trim();
    let name = match text.split_once(char::is_whitespace) {
        Some((first, rest)) if first != without_mark(first) && is_number(first) => rest.trim(),
        None if is_number(text) => "",
        _ => text,
    };
    (!name.is_empty()).then(|| name.chars().take(MAX_ORGANISATION).collect())
}
