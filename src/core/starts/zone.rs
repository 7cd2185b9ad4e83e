use super::error::StartError;
use crate::address::{CountryDomains, Host};

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

const NO_RANGE: &str =
    "invalid $GENERATE: expected a range such as 1-9 or 0-8/2, an owner with $, and a type";

/// The numbers of `start-stop` or `start-stop/step`, and their count.
fn range_of(text: &str) -> Option<(impl Iterator<Item = u32> + use<>, u64)> {
    let (range, step) = text.split_once('/').unwrap_or((text, "1"));
    let (start, stop) = range.split_once('-')?;
    let (start, stop, step): (u32, u32, u32) = (start.parse().ok()?, stop.parse().ok()?, step.parse().ok()?);
    if start > stop || step == 0 {
        return None;
    }
    let count = u64::from((stop - start) / step) + 1;
    Some(((start..=stop).step_by(step as usize), count))
}

/// The owner that `$GENERATE` makes for a number, as in BIND: `$` is the number, `${offset,width,base}`
/// another format of it, and `$$` or `\$` a dollar sign.
fn with_number(owner: &str, number: u32) -> Option<String> {
    let mut generated = String::new();
    let mut rest = owner;
    while let Some(at) = rest.find(['$', '\\']) {
        generated.push_str(&rest[..at]);
        let following = &rest[at + 1..];
        rest = if rest[at..].starts_with('\\') {
            let escaped = following.chars().next()?;
            if escaped != '$' {
                generated.push('\\');
            }
            generated.push(escaped);
            &following[escaped.len_utf8()..]
        } else if let Some(following) = following.strip_prefix('$') {
            generated.push('$');
            following
        } else if let Some(form) = following.strip_prefix('{') {
            let (form, following) = form.split_once('}')?;
            generated.push_str(&formatted(number, form)?);
            following
        } else {
            generated.push_str(&number.to_string());
            following
        };
    }
    generated.push_str(rest);
    Some(generated)
}

/// Formats a number as `offset[,width[,base]]` says.
fn formatted(number: u32, form: &str) -> Option<String> {
    let mut parts = form.split(',');
    let offset: i64 = parts.next()?.parse().ok()?;
    let width: usize = parts.next().unwrap_or("0").parse().ok()?;
    let base = parts.next().unwrap_or("d");
    let value = u64::try_from(i64::from(number) + offset).ok()?;
    if width > crate::address::MAX_NAME_BYTES || parts.next().is_some() {
        return None;
    }
    Some(match base {
        "d" => format!("{value:0width$}"),
        "o" => format!("{value:0width$o}"),
        // Host names have no capitals.
        "x" | "X" => format!("{value:0width$x}"),
        "n" | "N" => nibbles(value, width),
        _ => return None,
    })
}

/// The hexadecimal digits as labels, the last first; the dots between them count towards the width.
fn nibbles(value: u64, width: usize) -> String {
    let digits: Vec<char> = format!("{value:0least$x}", least = width.div_ceil(2)).chars().rev().collect();
    digits.iter().map(char::to_string).collect::<Vec<_>>().join(".")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The names below the zone, and the bad lines.
    type Read = (Vec<String>, Vec<(u64, String)>);

    fn read(text: &str) -> Result<Read, String> {
        let mut zone = Zone::default();
        let (mut names, mut errors) = (Vec::new(), Vec::new());
        let mut read = || -> Result<(), StartError> {
            for (number, line) in (1..).zip(text.lines()) {
                match zone.take(number, line.as_bytes())? {
                    ZoneItem::Delegation(name) => names.push(name),
                    ZoneItem::Generated(generated) => names.extend(generated),
                    ZoneItem::Bad { line, why, .. } | ZoneItem::Unread { line, why, .. } => {
                        errors.push((line, why));
                    }
                    ZoneItem::Name(_) | ZoneItem::Other => {}
                }
            }
            zone.end()
        };
        read().map_err(|error| error.to_string())?;
        Ok((names, errors))
    }

    fn names(text: &str) -> Vec<String> {
        let (names, errors) = read(text).unwrap();
        assert_eq!(errors, [], "{text}");
        names
    }

    // RFC 1035 §5.1, clause by clause.

    #[test]
    fn blank_lines_are_allowed_anywhere_with_or_without_comments() {
        assert_eq!(names("\n  \t\n; all of it\n  ; more\na.ke. NS x.\n\n"), ["a.ke"]);
    }

    #[test]
    fn origin_is_followed_by_a_name_and_resets_the_origin_for_relative_names() {
        assert_eq!(names("$ORIGIN ke.\na NS x\n$origin co\nb NS x\n"), ["a.ke", "b.co.ke"]);
    }

    #[test]
    fn a_record_that_begins_with_a_blank_has_the_last_owner() {
        assert_eq!(names("$ORIGIN ke.\na NS x\n  NS y\n\tIN NS z\n"), ["a.ke", "a.ke", "a.ke"]);
        assert_eq!(names("$ORIGIN ke.\na A 192.0.2.1\n\n ; nothing\n NS y\n"), ["a.ke"]);
    }

    #[test]
    fn time_and_class_stand_in_either_order_or_not_at_all() {
        for record in
            ["a.ke. NS x.", "a.ke. 60 NS x.", "a.ke. IN NS x.", "a.ke. 60 IN NS x.", "a.ke. IN 60 NS x."]
        {
            assert_eq!(names(record), ["a.ke"], "{record}");
        }
        assert_eq!(names("a.ke.\t1h30m\tin\tns\tx."), ["a.ke"]);
    }

    #[test]
    fn a_name_that_ends_in_a_dot_is_absolute_and_any_other_is_completed_by_the_origin() {
        assert_eq!(names("$ORIGIN ke.\na NS x\nb.ke. NS x\nB.Co NS x\n"), ["a.ke", "b.ke", "b.co.ke"]);
        assert_eq!(names("$ORIGIN .\na.ke NS x\n"), ["a.ke"]);
    }

    #[test]
    fn an_at_sign_that_stands_alone_is_the_origin() {
        assert_eq!(
            names("$ORIGIN ke.\n@ SOA a b 1 2 3 4 5\n@ NS x\n NS y\na NS x\n$ORIGIN b.ke.\n@ NS x\n"),
            ["a.ke", "b.ke"]
        );
    }

    #[test]
    fn a_backslash_takes_the_meaning_from_the_character_after_it() {
        assert_eq!(names("$ORIGIN ke.\n\\a NS x\n"), ["a.ke"]);
        let invalid = "a name with characters that a host name cannot contain".to_owned();
        assert_eq!(
            read("$ORIGIN ke.\na\\.b NS x\n\\@ NS x\na\\;b NS x\n").unwrap().1,
            [(2, invalid.clone()), (3, invalid.clone()), (4, invalid)]
        );
    }

    #[test]
    fn three_digits_after_a_backslash_are_an_octet() {
        assert_eq!(names("$ORIGIN ke.\n\\097\\066 NS x\n"), ["ab.ke"]);
        assert_eq!(read("$ORIGIN ke.\na\\046b NS x\n").unwrap().1.len(), 1);
    }

    #[test]
    fn parentheses_let_a_record_go_on_over_the_end_of_a_line() {
        let zone = "$ORIGIN ke.\n@ IN SOA ns ( hostmaster ; mail\n  2026010100 3600 ; times\n 900 (\n1 ) ) \na NS (\n x\n)\n";
        assert_eq!(names(zone), ["a.ke"]);
        assert_eq!(names("a.ke. (\nIN\nNS\nx. )\n"), ["a.ke"]);
    }

    #[test]
    fn a_semicolon_begins_a_comment_up_to_the_end_of_the_line() {
        assert_eq!(names("a.ke. NS x. ; b.ke. NS y.\n;c.ke. NS z.\nd.ke. NS;e\n"), ["a.ke", "d.ke"]);
    }

    #[test]
    fn in_a_quoted_string_nothing_is_special() {
        assert_eq!(names("$ORIGIN ke.\na TXT \"; ( \\\" \" \"(\"\nb NS x\n"), ["b.ke"]);
    }

    #[test]
    fn a_quoted_string_that_is_not_closed_ends_with_its_line() {
        assert_eq!(names("$ORIGIN ke.\na TXT \"not closed\nb NS x\n"), ["b.ke"]);
    }

    // How the records are used.

    #[test]
    fn only_names_below_the_zone_with_ns_records_are_taken() {
        let zone = "ke. 86400 IN SOA a. b. 1 2 3 4 5\nke. 86400 IN NS ns.ke.\na.ke. IN NS x.\na.ke. IN DS 1 2 3 AB\n\
                    ns.ke. IN A 192.0.2.1\nb.ke. CH NS x.\nke. 86400 IN SOA a. b. 1 2 3 4 5\n";
        assert_eq!(names(zone), ["a.ke"]);
        let other = "ke. SOA a. b. 1 2 3 4 5\na.tz. NS x.\nnotke. NS x.\n";
        assert_eq!(
            read(other).unwrap().1,
            [(2, "not in the zone ke.".to_owned()), (3, "not in the zone ke.".to_owned())]
        );
    }

    #[test]
    fn the_owner_of_the_soa_record_is_the_origin_where_none_is_told() {
        assert_eq!(names("$TTL 1d\nke. IN SOA a b 1 2 3 4 5\na IN NS x\n"), ["a.ke"]);
    }

    #[test]
    fn relative_names_without_an_origin_end_it() {
        assert_eq!(
            read("$TTL 1d\n@ IN SOA a b 1 2 3 4 5\n").unwrap_err(),
            "line 2: '@' is a relative name, but the zone's name is not known: put a line such as '$ORIGIN ke.' before the first name"
        );
        assert_eq!(
            read("a NS x\n").unwrap_err(),
            "line 1: 'a' is a relative name, but its origin is not known: put a line such as '$ORIGIN ke.' before the first name"
        );
    }

    #[test]
    fn a_parenthesis_without_end_ends_it() {
        let reported = "line 2: a parenthesis is opened here but not closed";
        assert_eq!(read("$ORIGIN ke.\na NS ( x\nb NS x\n").unwrap_err(), reported);
        assert_eq!(
            read(&format!("$ORIGIN ke.\na NS ( x\n{}", "b NS x\n".repeat(2000))).unwrap_err(),
            reported
        );
    }

    #[test]
    fn what_is_not_read_is_a_bad_line() {
        let zone = "$INCLUDE a.zone\n$GENERATE 1-9999999 h$.ke. NS x\n$WHAT\na.ke. 60\n$include\n";
        let (_, errors) = read(zone).unwrap();
        let reported: Vec<(u64, &str)> = errors.iter().map(|(line, why)| (*line, why.as_str())).collect();
        assert_eq!(
            reported,
            [
                (1, "the names in the file a.zone are not read: put them in place of this line"),
                (2, "it makes 9999999 names, but the limit is 65536: write them out"),
                (3, "not a zone file directive"),
                (4, "not a resource record: it has no type"),
                (5, "not a zone file directive"),
            ]
        );
    }

    // BIND 9's manual, *The $GENERATE Directive*.

    #[test]
    fn what_a_directive_makes_is_read_as_if_it_were_written_out() {
        let generated = |directive: &str| names(&format!("$ORIGIN ke.\n$GENERATE {directive}\n"));
        for (directive, expected) in [
            ("1-3 h$ NS x", ["h1.ke", "h2.ke", "h3.ke"]),
            ("0-4/2 h$.co 1h IN NS x$", ["h0.co.ke", "h2.co.ke", "h4.co.ke"]),
            ("8-10 h${0,3} IN NS x", ["h008.ke", "h009.ke", "h010.ke"]),
            ("8-10 h${-8,2,d}-$ NS x", ["h00-8.ke", "h01-9.ke", "h02-10.ke"]),
            ("9-11 ${0,0,x}h 60 NS x", ["9h.ke", "ah.ke", "bh.ke"]),
            ("7-9 h${0,2,o}.a.ke. NS x", ["h07.a.ke", "h10.a.ke", "h11.a.ke"]),
            ("1-3 ${0,3,n} NS x", ["1.0.ke", "2.0.ke", "3.0.ke"]),
            ("15-17 ${0,0,N} NS x", ["f.ke", "0.1.ke", "1.1.ke"]),
            ("1-3 $.\\097 NS x", ["1.a.ke", "2.a.ke", "3.a.ke"]),
        ] {
            assert_eq!(generated(directive), expected, "{directive}");
        }
        for no_names in ["1-254 $ A 192.0.2.$", "1-9 $ PTR h$", "1-9 $ CNAME $.x", "1-9 $ DS 1 2 3 AB"] {
            assert_eq!(generated(no_names), [""; 0], "{no_names}");
        }
        for range in [
            "1-3",
            "1-3 h$",
            "3-1 h$ NS x",
            "1-3/0 h$ NS x",
            "a-b h$ NS x",
            "1-3 h${1 NS x",
            "1-3 h${0,1,z} NS x",
            "1-3 h${-5} NS x",
            "1-3 h${0,999999999} NS x",
        ] {
            let (generated, reported) = read(&format!("$ORIGIN ke.\n$GENERATE {range}\n")).unwrap();
            assert_eq!((generated, reported), (Vec::new(), vec![(2, NO_RANGE.to_owned())]), "{range}");
        }
        let outside = "$ORIGIN ke.\n$GENERATE 1-2 h$.tz. NS x\n$GENERATE 1-2 h\\$$ NS x\n";
        let reported = vec![(2, "not in the zone ke.".to_owned())];
        assert_eq!(read(outside).unwrap(), (vec!["h$1.ke".to_owned(), "h$2.ke".to_owned()], reported));
        assert!(read("$GENERATE 1-2 h$ NS x\n").unwrap_err().contains("is a relative name"));
    }

    #[test]
    fn records_are_told_from_other_lines() {
        for line in
            ["ke.\t86400\tin\tsoa\ta. b. 1", "$TTL 1d", "$ORIGIN ke.", "a.ke. IN NS x.", "@ SOA a b 1"]
        {
            assert!(is_marked_entry(&[line.as_bytes()]), "{line}");
        }
        for line in ["a.ke", "a.ke # in ns", "1,a.ke", "domain NS count", "a.ke 7", "$5", "a.ke. NS"] {
            assert!(!is_marked_entry(&[line.as_bytes()]), "{line}");
        }
        assert!(is_entry(&[b"a.ke. NS x."]) && !is_entry(&[b"a.ke x NS y"]));
        for lines in
            [["ke. IN SOA (", "ns. host. 1 2 3 4 5 )"], ["ke. ( ; x", "IN SOA ns. host. 1 2 3 4 5 )"]]
        {
            assert!(is_marked_entry(&lines.map(str::as_bytes)), "{lines:?}");
        }
        assert!(!is_marked_entry(&[b"a.ke (", b"b.ke"]));
    }

    #[test]
    fn several_zones_in_one_file_are_read_each_as_its_own() {
        let zones = "ke. SOA a. b. 1 2 3 4 5\na.ke. NS x.\nco.ke. SOA a. b. 1 2 3 4 5\nco.ke. NS x.\nb.co.ke. NS x.\n\
                     c.ke. NS x.\ntz. SOA a. b. 1 2 3 4 5\nd.tz. NS x.\n";
        assert_eq!(names(zones), ["a.ke", "co.ke", "b.co.ke", "c.ke", "d.tz"]);
    }
}
