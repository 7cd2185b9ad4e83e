use std::net::IpAddr;

use super::calendar::is_day;
use super::{Host, server_at};

/// Names, networks and autonomous systems whose owners do not want to be surveyed. A survey never contacts
/// them, whatever link or redirect leads there. A name covers all names below it.
///
/// ```
/// use ccsurvey_address::{Host, OptOut};
/// let list = OptOut::parse("# complaints\nexample.ke 2026-11-02\n41.90.0.0/16\nAS64500\n").unwrap();
/// assert!(list.has_host(&Host::parse("www.example.ke").unwrap()));
/// assert!(list.has_address("41.90.7.7".parse().unwrap()));
/// assert!(list.has_system(64500));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptOut {
    entries: Vec<OptOutEntry>,
    hosts: Vec<Host>,
    networks: Vec<(IpAddr, u8)>,
    systems: Vec<u32>,
}

/// One line of the list: the name, network or system that opted out, and the date if the line has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptOutEntry {
    /// In canonical form: `example.ke`, `41.90.0.0/16`, `AS64500`.
    pub who: String,
    /// Date in the form `2026-11-02`.
    pub date: Option<String>,
    /// Line number, from 1.
    pub line: usize,
}

/// A line of an opt-out file that cannot be obeyed. It is an error and is not skipped: a typing mistake must
/// not break the promise not to contact a server.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "line {line}: '{value}' is not {expected} (expected for example 'example.ke', '41.90.0.7', '41.90.0.0/16' or 'AS64500', optionally followed by a date such as 2026-11-02)"
)]
pub struct OptOutError {
    /// Line number, from 1.
    pub line: usize,
    /// The invalid text.
    pub value: String,
    /// What was expected instead.
    pub expected: &'static str,
}

/// Number of characters of a line that an error quotes.
const MAX_SHOWN_CHARS: usize = 100;

impl OptOut {
    /// Reads one host name, address, network or autonomous system per line, with an optional date after it;
    /// `#` begins a comment.
    ///
    /// # Errors
    /// Names the first line that is none of these.
    pub fn parse(text: &str) -> Result<Self, OptOutError> {
        let (list, errors) = Self::parse_valid_lines(text);
        errors.into_iter().next().map_or(Ok(list), Err)
    }

    /// Reads the valid lines of a list and reports the invalid ones: for a list that was changed while it is
    /// in force, where dropping a valid line would break a promise.
    #[must_use]
    pub fn parse_valid_lines(text: &str) -> (Self, Vec<OptOutError>) {
        let (mut list, mut errors) = (Self::default(), Vec::new());
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let mut words = line.split('#').next().unwrap_or("").split_whitespace();
            let Some(who) = words.next() else { continue };
            let date = words.next();
            errors.extend(list.add(index + 1, who, date, words.next()).err());
        }
        (list, errors)
    }

    fn add(
        &mut self,
        line: usize,
        who: &str,
        date: Option<&str>,
        extra_word: Option<&str>,
    ) -> Result<(), OptOutError> {
        let invalid = |value: &str, expected| {
            let value = value.chars().take(MAX_SHOWN_CHARS).collect();
            OptOutError { line, value, expected }
        };
        if let Some(date) = date.filter(|date| !is_day(date)) {
            return Err(invalid(date, "a date"));
        }
        if let Some(extra_word) = extra_word {
            return Err(invalid(extra_word, "a comment, which begins with #"));
        }
        let invalid_subject = || invalid(who, "a host name, a network or an autonomous system");
        let who = if let Some((address, prefix)) = parse_network(who) {
            let is_one = !who.contains('/');
            self.networks.push(if is_one { server_network(address) } else { (address, prefix) });
            if is_one { address.to_string() } else { format!("{address}/{prefix}") }
        } else if let Some(digits) = system_digits(who) {
            let system: u32 = digits.parse().map_err(|_| invalid_subject())?;
            self.systems.push(system);
            format!("AS{system}")
        } else {
            let host = Host::parse(who.strip_prefix("*.").unwrap_or(who)).map_err(|_| invalid_subject())?;
            if !is_requestable(&host) {
                return Err(invalid_subject());
            }
            self.hosts.push(host.clone());
            host.to_string()
        };
        self.entries.push(OptOutEntry { who, date: date.map(ToOwned::to_owned), line });
        Ok(())
    }

    /// The entries, in the order of their lines.
    #[must_use]
    pub fn entries(&self) -> &[OptOutEntry] {
        &self.entries
    }

    /// This list joined with another one.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self {
            entries: [self.entries.as_slice(), &other.entries].concat(),
            hosts: [self.hosts.as_slice(), &other.hosts].concat(),
            networks: [self.networks.as_slice(), &other.networks].concat(),
            systems: [self.systems.as_slice(), &other.systems].concat(),
        }
    }

    /// Whether the host, or a name above it, opted out.
    #[must_use]
    pub fn has_host(&self, host: &Host) -> bool {
        self.hosts.iter().any(|name| host.is_at_or_below(name))
            || host.ip().is_some_and(|ip| self.has_address(ip))
    }

    /// Whether an address may not be contacted, because of itself or of the server behind it ([`server_at`]).
    #[must_use]
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| is_in(*network, server_at(address)) || is_in(*network, address))
    }

    /// Whether the autonomous system opted out.
    #[must_use]
    pub fn has_system(&self, number: u32) -> bool {
        self.systems.contains(&number)
    }

    /// Whether any line names an autonomous system.
    #[must_use]
    pub fn names_systems(&self) -> bool {
        !self.systems.is_empty()
    }

    /// The first line that names an autonomous system: it can be obeyed only with a database of autonomous
    /// systems.
    #[must_use]
    pub fn first_system(&self) -> Option<&OptOutEntry> {
        self.entries.iter().find(|entry| system_digits(&entry.who).is_some())
    }
}

fn parse_network(text: &str) -> Option<(IpAddr, u8)> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let width = if address.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.map_or(Some(width), |text| text.parse().ok().filter(|bits| *bits <= width))?;
    Some((address, prefix))
}

/// The network that consists of the server at this address ([`server_at`]).
fn server_network(address: IpAddr) -> (IpAddr, u8) {
    let server = server_at(address);
    (server, if server.is_ipv4() { 32 } else { 128 })
}

/// The digits of a number such as `AS64500`, in upper or lower case.
fn system_digits(text: &str) -> Option<&str> {
    let (letters, digits) = text.split_at_checked(2)?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (letters.eq_ignore_ascii_case("as") && is_number).then_some(digits)
}

/// Whether a server can have this name. A URL may contain other names, but in this list those are lines with
/// a comma after the name, or patterns: they would protect no server.
fn is_requestable(host: &Host) -> bool {
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    host.ip().is_none() && host.as_str().contains('.') && host.as_str().bytes().all(is_sound)
}

fn is_in((network, prefix): (IpAddr, u8), address: IpAddr) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(ip)) => {
            same_prefix(u32::from(network).into(), u32::from(ip).into(), prefix, 32)
        }
        (IpAddr::V6(network), IpAddr::V6(ip)) => same_prefix(network.into(), ip.into(), prefix, 128),
        _ => false,
    }
}

fn same_prefix(one: u128, other: u128, prefix: u8, width: u8) -> bool {
    prefix == 0 || (one ^ other) >> (width - prefix) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_covers_what_is_below_it_and_nothing_else() {
        let list = OptOut::parse("*.Example.KE  # complaint 7\n").unwrap();
        assert!(list.has_host(&Host::parse("a.b.example.ke").unwrap()));
        assert!(list.has_host(&Host::parse("example.ke").unwrap()));
        assert!(!list.has_host(&Host::parse("notexample.ke").unwrap()));
        let list = OptOut::parse("xn--A.ke").unwrap();
        assert!(list.has_host(&Host::parse("www.xn--a.ke").unwrap()));
    }

    #[test]
    fn networks_cover_their_addresses_also_in_mapped_form() {
        let list = OptOut::parse("41.90.0.0/15\n2c0f:fe38::/32\n102.0.0.9\n0.0.0.0/0\n").unwrap();
        assert!(list.has_address("::ffff:41.91.1.1".parse().unwrap()));
        assert!(list.has_address("2c0f:fe38::77".parse().unwrap()));
        let list = OptOut::parse("102.0.0.9").unwrap();
        assert!(list.has_host(&Host::parse("102.0.0.9").unwrap()));
        assert!(!list.has_address("102.0.0.8".parse().unwrap()));
    }

    #[test]
    fn a_server_that_opted_out_is_left_alone_at_every_address_that_holds_its_own() {
        let is_covered =
            |list: &str, address: &str| OptOut::parse(list).unwrap().has_address(address.parse().unwrap());
        for address in ["64:ff9b::41.90.1.1", "2002:295a:101::7", "::ffff:41.90.1.1", "41.90.1.1"] {
            for list in ["41.90.0.0/15", "41.90.1.1", "64:ff9b::41.90.1.1", "2002:295a:101::9"] {
                assert!(is_covered(list, address), "{list}: {address}");
            }
        }
        for list in ["41.92.0.0/15", "64:ff9b::41.90.1.2"] {
            assert!(!is_covered(list, "64:ff9b::41.90.1.1"), "{list}");
        }
        assert!(is_covered("64:ff9b::/96", "64:ff9b::41.90.1.1") && !is_covered("64:ff9b::/96", "41.90.1.1"));
    }

    #[test]
    fn a_byte_order_mark_as_windows_writes_it_belongs_to_no_line() {
        for text in ["# complaints\n41.90.0.0/16", "41.90.0.0/16", "\n41.90.0.0/16\r\n"] {
            assert!(
                OptOut::parse(&format!("\u{feff}{text}")).unwrap().has_address([41, 90, 7, 7].into()),
                "{text}"
            );
        }
    }

    #[test]
    fn two_lists_together_leave_alone_whom_either_names() {
        let (one, other) =
            ("a.ke 2026-11-02\n41.90.0.0/16\nAS64500", "b.ke\n2c0f:fe38::/32\nAS64501\n102.0.0.9");
        let [one, other] = [one, other].map(|text| OptOut::parse(text).unwrap());
        for merged in [one.with(&other), other.with(&one)] {
            let (hosts, addresses) = (["a.ke", "www.b.ke"], ["41.90.7.7", "2c0f:fe38::1", "102.0.0.9"]);
            assert!(hosts.iter().all(|host| merged.has_host(&Host::parse(host).unwrap())));
            assert!(addresses.iter().all(|address| merged.has_address(address.parse().unwrap())));
            assert!(merged.has_system(64500) && merged.has_system(64501) && !merged.has_system(64502));
            assert_eq!(merged.entries().len(), 7);
        }
        let who = |list: &OptOut| list.entries().iter().map(|entry| entry.who.clone()).collect::<Vec<_>>();
        assert_eq!(who(&one.with(&other)), [who(&one), who(&other)].concat());
    }

    #[test]
    fn entries_are_kept_in_one_spelling_with_their_dates() {
        let list = OptOut::parse("*.A.ke 2026-11-02 # by mail\n\nas64500\t2026-11-10\n41.0.0.0/8").unwrap();
        let entries: Vec<_> = list
            .entries()
            .iter()
            .map(|entry| (entry.line, entry.who.as_str(), entry.date.as_deref()))
            .collect();
        assert_eq!(
            entries,
            [(1, "a.ke", Some("2026-11-02")), (3, "AS64500", Some("2026-11-10")), (4, "41.0.0.0/8", None)]
        );
        assert!(list.has_system(64500) && !list.has_system(6450));
        assert_eq!(list.first_system().map(|entry| entry.line), Some(3));
        assert!(OptOut::parse("asante.ke").unwrap().has_host(&Host::parse("asante.ke").unwrap()));
    }

    #[test]
    fn a_bad_line_is_an_error_with_its_number_and_the_others_still_hold() {
        let who = "a host name, a network or an autonomous system";
        for (text, line, value, expected) in [
            ("a.ke\nb..ke", 2, "b..ke", who),
            ("41.0.0.0/33", 1, "41.0.0.0/33", who),
            ("\n\na.ke/x", 3, "a.ke/x", who),
            ("AS99999999999", 1, "AS99999999999", who),
            ("AS-64500", 1, "AS-64500", who),
            ("asfoo", 1, "asfoo", who),
            ("a.ke,2026-11-02", 1, "a.ke,2026-11-02", who),
            ("a.ke, 2026-11-02", 1, "a.ke,", who),
            ("a,co,ke", 1, "a,co,ke", who),
            ("www.*.ke", 1, "www.*.ke", who),
            ("41.90.7.*", 1, "41.90.7.*", who),
            ("*", 1, "*", who),
            ("a.ke yesterday", 1, "yesterday", "a date"),
            ("a.ke 2026-13-01", 1, "2026-13-01", "a date"),
            ("a.ke 2026-11-02 by mail", 1, "by", "a comment, which begins with #"),
        ] {
            let error = OptOutError { line, value: value.to_owned(), expected };
            assert_eq!(OptOut::parse(text), Err(error), "{text}");
        }
        let (list, errors) = OptOut::parse_valid_lines("a.ke\nb..ke\nc.ke\nd.ke;");
        let lines: Vec<usize> = errors.iter().map(|error| error.line).collect();
        assert_eq!((list.entries().len(), lines), (2, vec![2, 4]));
        let (_, errors) = OptOut::parse_valid_lines(&"*".repeat(1 << 20));
        assert_eq!(errors[0].value.len(), MAX_SHOWN_CHARS);
    }
}
