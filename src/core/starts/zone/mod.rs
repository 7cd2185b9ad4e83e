//! Zone files: the names below a zone that have NS records.

mod generate;
#[cfg(test)]
mod tests;

use super::error::StartError;
use crate::address::{CountryDomains, Host};
use generate::{NO_RANGE, range_of, with_number};

/// Zone files (RFC 1035 §5.1), read for one purpose: the names below the zone that have NS records.
///
/// Each name is returned as often as it occurs. Only the owner, class and type of a record are kept, so that
/// a zone of any size is read in little memory; hickory-proto's reader keeps a whole zone, and stops at the
/// first record type that it does not know.
///
/// Beyond the RFC: `$TTL` (RFC 2308 §4) and times such as `1h30m`, as name servers accept them. Different
/// from the RFC: a quoted string ends with its line, because an unclosed one would otherwise swallow the rest
/// of the zone. BIND's `$GENERATE` is carried out; included files are not read.
#[derive(Debug, Default)]
pub(super) struct Zone {
    /// The origin of relative names: absolute, in lower case.
    origin: Option<String>,
    /// The owner of the previous record, for records that begin with a blank.
    owner: Option<Owner>,
    /// The owner of the SOA record.
    apex: Option<String>,
    /// Names below these domains are complete if there is no origin, with or without a dot at the end.
    countries: Option<CountryDomains>,
    entry: ZoneRecord,
    depth: u32,
}

/// The owner of a record, or why it has none.
type Owner = Result<String, String>;

/// The part of a record or directive that has been read.
#[derive(Debug, Default)]
struct ZoneRecord {
    line: u64,
    lines: u32,
    begins_blank: bool,
    words: Vec<String>,
}

/// The entry that a line of a zone file ends.
#[derive(Debug, PartialEq)]
pub(super) enum ZoneItem {
    /// An NS record below the zone: its owner without the last dot.
    Delegation(String),
    /// Such records made by a directive: their owners.
    Generated(Vec<String>),
    /// Another record below the zone that does not belong to DNSSEC alone: its owner without the last dot.
    Name(String),
    Bad {
        line: u64,
        value: String,
        why: String,
    },
    /// A directive for records that are not read.
    Unread {
        line: u64,
        value: String,
        why: String,
    },
    Other,
}

/// Owner, time, class, type, and one more for the arguments of directives.
const MOST_WORDS: usize = 6;
/// A name of 255 octets, each written as `\DDD`.
const MOST_WORD_BYTES: usize = 1024;
/// No record has this many lines: a parenthesis was forgotten.
const MOST_LINES: u32 = 1000;

/// The maximum number of records that one directive may make.
const MOST_GENERATED: u64 = 65_536;

const CLASSES: [&str; 5] = ["IN", "CH", "HS", "CS", "ANY"];
const TYPES: [&str; 31] = [
    "SOA",
    "NS",
    "A",
    "AAAA",
    "MX",
    "CNAME",
    "DNAME",
    "TXT",
    "DS",
    "DNSKEY",
    "RRSIG",
    "NSEC",
    "NSEC3",
    "NSEC3PARAM",
    "SRV",
    "CAA",
    "PTR",
    "NAPTR",
    "TLSA",
    "ZONEMD",
    "CDS",
    "CDNSKEY",
    "HINFO",
    "LOC",
    "SSHFP",
    "HTTPS",
    "SVCB",
    "SPF",
    "RP",
    "WKS",
    "MINFO",
];
/// Record types made by the zone's signer; NSEC3 is for names that are no hosts.
const SIGNED: [&str; 9] =
    ["DS", "DNSKEY", "RRSIG", "NSEC", "NSEC3", "NSEC3PARAM", "ZONEMD", "CDS", "CDNSKEY"];
const DIRECTIVES: [&str; 4] = ["$ORIGIN", "$TTL", "$INCLUDE", "$GENERATE"];

impl Zone {
    pub(super) fn for_countries(countries: Option<CountryDomains>) -> Self {
        Self { countries, ..Self::default() }
    }

    /// Takes the next line of the file.
    ///
    /// # Errors
    /// If the rest has no definite meaning: relative names without an origin, or an unclosed parenthesis.
    pub(super) fn take(&mut self, number: u64, line: &[u8]) -> Result<ZoneItem, StartError> {
        if self.depth == 0 {
            self.entry = ZoneRecord {
                line: number,
                begins_blank: line.first().is_some_and(u8::is_ascii_whitespace),
                ..ZoneRecord::default()
            };
        }
        self.entry.lines += 1;
        self.read_words(line);
        if self.depth > 0 {
            return if self.entry.lines < MOST_LINES { Ok(ZoneItem::Other) } else { Err(self.unclosed()) };
        }
        self.end_entry()
    }

    /// # Errors
    /// If a parenthesis is still open.
    pub(super) fn end(&self) -> Result<(), StartError> {
        if self.depth > 0 { Err(self.unclosed()) } else { Ok(()) }
    }

    /// The name of the zone, if the file gives it.
    pub(super) fn apex(&self) -> Option<&str> {
        self.apex.as_deref()
    }

    fn unclosed(&self) -> StartError {
        StartError::Zone {
            line: self.entry.line,
            why: "a parenthesis is opened here but not closed".to_owned(),
        }
    }

    /// Reads the words of a line, up to its comment; parentheses let a record continue on the next line.
    fn read_words(&mut self, line: &[u8]) {
        let mut rest = line;
        while let [first, after @ ..] = rest {
            match first {
                b';' => return,
                b'(' => self.depth = self.depth.saturating_add(1),
                b')' => self.depth = self.depth.saturating_sub(1),
                blank if blank.is_ascii_whitespace() => {}
                _ => {
                    let end = end_of_word(rest);
                    if self.entry.words.len() < MOST_WORDS {
                        let word = &rest[..end.min(MOST_WORD_BYTES)];
                        self.entry.words.push(String::from_utf8_lossy(word).into_owned());
                    }
                    rest = &rest[end..];
                    continue;
                }
            }
            rest = after;
        }
    }

    fn end_entry(&mut self) -> Result<ZoneItem, StartError> {
        let ZoneRecord { line, begins_blank, words, .. } = std::mem::take(&mut self.entry);
        let Some(first) = words.first() else { return Ok(ZoneItem::Other) };
        if !begins_blank && first.starts_with('$') {
            return self.direct(line, &words);
        }
        let rest = if begins_blank { &words[..] } else { &words[1..] };
        let kind = RecordKind::from_words(rest);
        if !begins_blank {
            self.owner = Some(self.complete(line, first, kind == RecordKind::Soa)?);
        }
        let bad = |value: &str, why: String| Ok(ZoneItem::Bad { line, value: value.to_owned(), why });
        let owner = match (&self.owner, kind) {
            (_, RecordKind::Other) => return Ok(ZoneItem::Other),
            (Some(Ok(owner)), RecordKind::Name) => return Ok(self.name(owner)),
            (_, RecordKind::Name) => return Ok(ZoneItem::Other),
            (_, RecordKind::None) => return bad(first, "not a resource record: it has no type".to_owned()),
            (None, _) => {
                return bad(first, "the record has no owner, and no record before it has one".to_owned());
            }
            (Some(Err(why)), _) => return bad(first, why.clone()),
            (Some(Ok(owner)), _) => owner.clone(),
        };
        if kind == RecordKind::Soa {
            self.origin.get_or_insert_with(|| owner.clone());
            // A zone below another one belongs to it; any other zone begins anew.
            if self.apex.as_deref().is_none_or(|apex| owner != apex && !is_below(&owner, apex)) {
                self.apex = Some(owner);
            }
            return Ok(ZoneItem::Other);
        }
        match self.above() {
            Some(apex) if owner == apex => Ok(ZoneItem::Other),
            Some(apex) if !is_below(&owner, apex) => bad(&owner, format!("not in the zone {apex}")),
            _ => Ok(ZoneItem::Delegation(relative_to_root(&owner))),
        }
    }

    /// The name above all others.
    pub(super) fn above(&self) -> Option<&str> {
        self.apex.as_deref().or(self.origin.as_deref())
    }

    fn name(&self, owner: &str) -> ZoneItem {
        let is_below = self.above().is_none_or(|apex| owner != apex && is_below(owner, apex));
        // `_dmarc` and the like have records and are no hosts.
        let is_host = is_below && !owner.starts_with(['_', '*']);
        if is_host { ZoneItem::Name(relative_to_root(owner)) } else { ZoneItem::Other }
    }

    /// The records of BIND's `$GENERATE range owner [time] [class] type data`.
    fn generate(&self, line: u64, words: &[String]) -> Result<ZoneItem, StartError> {
        let value = || words.join(" ");
        let bad = |why: String| Ok(ZoneItem::Bad { line, value: value(), why });
        let [_, range, owner, rest @ ..] = words else { return bad(NO_RANGE.to_owned()) };
        match RecordKind::from_words(rest) {
            RecordKind::Ns => {}
            RecordKind::Name | RecordKind::Other => return Ok(ZoneItem::Other),
            RecordKind::Soa | RecordKind::None => return bad(NO_RANGE.to_owned()),
        }
        let Some((numbers, count)) = range_of(range) else { return bad(NO_RANGE.to_owned()) };
        if count > MOST_GENERATED {
            let why = format!("it makes {count} names, but the limit is {MOST_GENERATED}: write them out");
            return Ok(ZoneItem::Unread { line, value: value(), why });
        }
        let mut names = Vec::new();
        for number in numbers {
            let Some(name) = with_number(owner, number) else { return bad(NO_RANGE.to_owned()) };
            match self.complete(line, &name, false)? {
                Ok(name) if self.above().is_none_or(|apex| is_below(&name, apex)) => {
                    names.push(relative_to_root(&name));
                }
                Ok(_) => return bad(format!("not in the zone {}", self.above().unwrap_or("."))),
                Err(why) => return bad(why),
            }
        }
        Ok(ZoneItem::Generated(names))
    }

    fn direct(&mut self, line: u64, words: &[String]) -> Result<ZoneItem, StartError> {
        let bad = |why: &str| Ok(ZoneItem::Bad { line, value: words.join(" "), why: why.to_owned() });
        match (words[0].to_ascii_uppercase().as_str(), words.get(1)) {
            ("$ORIGIN", Some(name)) => match self.complete(line, name, false)? {
                Ok(origin) => {
                    self.origin = Some(origin);
                    Ok(ZoneItem::Other)
                }
                Err(why) => Err(StartError::Zone { line, why: format!("$ORIGIN {name}: {why}") }),
            },
            ("$TTL", Some(_)) => Ok(ZoneItem::Other),
            ("$INCLUDE", Some(file)) => {
                let file = super::entry::excerpt(file);
                let file = file.escape_debug();
                let why =
                    format!("the names in the file {file} are not read: put them in place of this line");
                Ok(ZoneItem::Unread { line, value: words.join(" "), why })
            }
            ("$GENERATE", _) => self.generate(line, words),
            _ => bad("not a zone file directive"),
        }
    }

    /// Makes a name absolute, without escapes, in lower case.
    fn complete(&self, line: u64, name: &str, is_of_soa: bool) -> Result<Owner, StartError> {
        let origin = || {
            self.origin.clone().ok_or_else(|| {
                let what = if is_of_soa { "the zone's name" } else { "its origin" };
                let why = format!(
                    "'{}' is a relative name, but {what} is not known: put a line such as '$ORIGIN ke.' before the first name",
                    super::entry::excerpt(name)
                );
                StartError::Zone { line, why }
            })
        };
        if name == "@" {
            return origin().map(Ok);
        }
        let (plain, is_absolute) = match unescaped(name) {
            Ok(read) => read,
            Err(why) => return Ok(Err(why)),
        };
        if is_absolute {
            return Ok(Ok(plain));
        }
        // Programs that know the origin leave out the dot at the end.
        let is_whole = |countries: &CountryDomains| {
            let host = Host::parse(&plain).ok();
            host.is_some_and(|host| countries.domain_of(&host).is_some_and(|domain| *domain != host))
        };
        if self.origin.is_none() && self.countries.as_ref().is_some_and(is_whole) {
            return Ok(Ok(format!("{plain}.")));
        }
        Ok(Ok(match origin()?.as_str() {
            "." => format!("{plain}."),
            origin => format!("{plain}.{origin}"),
        }))
    }
}

/// The kind of an entry, as far as it matters here.
#[derive(Clone, Copy, PartialEq)]
enum RecordKind {
    Soa,
    Ns,
    /// Another type that does not belong to DNSSEC alone.
    Name,
    Other,
    None,
}

impl RecordKind {
    /// Time and class precede the type, in either order, and both may be omitted.
    fn from_words(words: &[String]) -> Self {
        let (mut class, mut has_time) = (None, false);
        for word in words.iter().take(3) {
            let upper = word.to_ascii_uppercase();
            if class.is_none() && CLASSES.contains(&upper.as_str()) {
                class = Some(upper);
            } else if !has_time && is_time(word) {
                has_time = true;
            } else {
                let is_internet = class.is_none_or(|class| class == "IN");
                return match upper.as_str() {
                    "SOA" if is_internet => Self::Soa,
                    "NS" if is_internet => Self::Ns,
                    kind if is_internet && TYPES.contains(&kind) && !SIGNED.contains(&kind) => Self::Name,
                    _ => Self::Other,
                };
            }
        }
        Self::None
    }
}

/// `3600`, or `1h30m` as name servers accept it.
fn is_time(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || "smhdwSMHDW".contains(c))
}

/// The end of the first word: at a blank, a parenthesis or a comment that is neither quoted nor escaped.
fn end_of_word(text: &[u8]) -> usize {
    let mut at = 0;
    let mut is_quoted = false;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => is_quoted = !is_quoted,
            b'(' | b')' | b';' if !is_quoted => return at,
            blank if blank.is_ascii_whitespace() && !is_quoted => return at,
            _ => {}
        }
        at += 1;
    }
    at.min(text.len())
}

/// A name without escapes, and whether it ends with a dot that is not escaped.
fn unescaped(name: &str) -> Result<(String, bool), String> {
    let invalid = || "a name with characters that a host name cannot contain".to_owned();
    let mut plain = String::with_capacity(name.len());
    let mut rest = name.chars();
    let mut is_absolute = false;
    while let Some(c) = rest.next() {
        is_absolute = c == '.';
        if c != '\\' {
            plain.extend(c.to_lowercase());
            continue;
        }
        let digits: String = rest.as_str().chars().take(3).collect();
        let character = if digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            rest.nth(2);
            digits.parse::<u8>().ok().map(char::from)
        } else {
            rest.next()
        };
        match character {
            Some(character) if character.is_ascii_alphanumeric() || matches!(character, '-' | '_') => {
                plain.push(character.to_ascii_lowercase());
            }
            // An escaped dot does not separate labels.
            _ => return Err(invalid()),
        }
    }
    Ok((plain, is_absolute))
}

fn relative_to_root(name: &str) -> String {
    name.trim_end_matches('.').to_owned()
}

fn is_below(name: &str, zone: &str) -> bool {
    zone == "." || name.strip_suffix(zone).is_some_and(|rest| rest.ends_with('.'))
}

/// Whether lines begin with a record or directive beyond doubt: the second word is a class, a time or SOA.
pub(super) fn is_marked_entry(lines: &[&[u8]]) -> bool {
    let words = first_entry(lines);
    let is_marked = |word: &String| {
        CLASSES[..4].contains(&word.to_ascii_uppercase().as_str())
            || is_time(word)
            || word.eq_ignore_ascii_case("SOA")
    };
    match words.first() {
        Some(first) if first.starts_with('$') => DIRECTIVES.contains(&first.to_ascii_uppercase().as_str()),
        Some(_) => words.get(1).is_some_and(is_marked) && is_record(&words),
        None => false,
    }
}

/// Whether lines begin with a record: an owner, a known type, and data.
pub(super) fn is_entry(lines: &[&[u8]]) -> bool {
    is_record(&first_entry(lines))
}

fn is_record(words: &[String]) -> bool {
    let type_index =
        words.iter().skip(1).take(3).position(|word| TYPES.contains(&word.to_ascii_uppercase().as_str()));
    type_index.is_some_and(|type_index| {
        let between = &words[1..=type_index];
        between.iter().all(|word| is_time(word) || CLASSES.contains(&word.to_ascii_uppercase().as_str()))
            && words.len() > type_index + 2
    })
}

/// The words of the first record, which continues on the next line while a parenthesis is open (RFC 1035
/// §5.1).
fn first_entry(lines: &[&[u8]]) -> Vec<String> {
    let mut zone = Zone::default();
    for line in lines {
        zone.read_words(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
        if zone.depth == 0 {
            break;
        }
    }
    zone.entry.words
}
