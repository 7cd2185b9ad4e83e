use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A host of a Web URL: a domain name in lower-case punycode without trailing dot, or an IP address (IPv6 in
/// brackets, as in a URL). Its clones share one text, because the links of a site name few hosts.
///
/// ```
/// use ccsurvey_address::Host;
/// let host = Host::parse("WWW.Bücher.example.").unwrap();
/// assert_eq!(host.as_str(), "www.xn--bcher-kva.example");
/// assert!(host.is_at_or_below(&Host::parse("xn--bcher-kva.example").unwrap()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Host(Arc<str>);

/// Why a text is not a host.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{0}' is not a host name or IP address")]
pub struct HostError(pub String);

/// RFC 1035 §2.3.4: a name has at most 253 characters in its dotted form.
pub const MAX_NAME_BYTES: usize = 253;
/// RFC 1035 §2.3.4: a label has at most 63 octets.
pub const MAX_LABEL_BYTES: usize = 63;

impl Host {
    /// Reads a host as WHATWG URLs do (lower case, punycode, IPv4 forms).
    ///
    /// A name in ASCII is taken unchanged, even with an `xn--` label that does not decode or that IDNA
    /// forbids (`xn--a.ke`): DNS has such names.
    ///
    /// # Errors
    /// When the text is not a host, has an empty label, or is longer than DNS allows.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let invalid = || HostError(text.to_owned());
        let spelled = text.trim_end_matches('.');
        match ::url::Host::parse(spelled) {
            Ok(::url::Host::Domain(name)) => Self::from_domain(&name).ok_or_else(invalid),
            Ok(::url::Host::Ipv4(ip)) => Ok(Self::from_ip(ip.into())),
            Ok(::url::Host::Ipv6(ip)) => Ok(Self::from_ip(ip.into())),
            Err(_) => undecoded_name(spelled).and_then(|name| Self::from_domain(&name)).ok_or_else(invalid),
        }
    }

    /// Whether libraries that decode names refuse this one.
    #[must_use]
    pub fn is_undecoded(&self) -> bool {
        self.0.contains(PUNYCODE) && undecoded_name(&self.0).is_some()
    }

    pub(super) fn from_domain(name: &str) -> Option<Self> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let is_valid = !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && name.split('.').all(|label| !label.is_empty() && label.len() <= MAX_LABEL_BYTES);
        is_valid.then(|| Self(name.to_ascii_lowercase().into()))
    }

    /// The host of an IP address.
    #[must_use]
    pub fn from_ip(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self(ip.to_string().into()),
            IpAddr::V6(ip) => Self(format!("[{ip}]").into()),
        }
    }

    /// In canonical form: lower case, Punycode, addresses in the shortest spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address, if this host is one.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        self.0.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    /// Whether this host is `ancestor` or below it, compared label by label: `notexample.com` is not below
    /// `example.com`.
    #[must_use]
    pub fn is_at_or_below(&self, ancestor: &Host) -> bool {
        self == ancestor || (self.ip().is_none() && is_name_at_or_below(self.as_str(), ancestor.as_str()))
    }

    /// The host one label up, or none for a single label or an address.
    #[must_use]
    pub fn parent(&self) -> Option<Host> {
        if self.ip().is_some() {
            return None;
        }
        self.0.split_once('.').map(|(_, rest)| Self(rest.into()))
    }
}

/// Prefix of a label in Punycode (RFC 5890 §2.3.2.1).
const PUNYCODE: &str = "xn--";
/// A prefix of the same length that does not mark Punycode.
const NO_PUNYCODE: &str = "xx--";

/// A name in ASCII, in lower case, whose only defect is a label in Punycode that does not decode, or that
/// decodes to a text that IDNA forbids. The URL standard takes such a name unchanged (§3.3, domain to ASCII);
/// `url` 2.5.8 refuses it.
pub(super) fn undecoded_name(spelled: &str) -> Option<String> {
    let name: String = percent_decoded(spelled)?.to_ascii_lowercase();
    let with_prefix = |from: &str, to: &str, name: &str| {
        let labels = name.split('.').map(|label| match label.strip_prefix(from) {
            Some(rest) => format!("{to}{rest}"),
            None => label.to_owned(),
        });
        labels.collect::<Vec<_>>().join(".")
    };
    let without_punycode = with_prefix(PUNYCODE, NO_PUNYCODE, &name);
    let has_punycode = without_punycode != name && ::url::Host::parse(&name).is_err();
    (has_punycode && ::url::Host::parse(&without_punycode) == Ok(::url::Host::Domain(without_punycode)))
        .then_some(name)
}

/// The percent-decoded host; `None` if it is not all ASCII.
fn percent_decoded(spelled: &str) -> Option<String> {
    let mut decoded = String::with_capacity(spelled.len());
    let mut rest = spelled;
    while let Some((before, after)) = rest.split_once('%') {
        decoded.push_str(before);
        let digit = |at: usize| after.chars().nth(at).and_then(|digit| digit.to_digit(16));
        let byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
        decoded.push(char::from(byte));
        rest = &after[2..];
    }
    decoded.push_str(rest);
    decoded.is_ascii().then_some(decoded)
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The rule of [`Host::is_at_or_below`] for names in canonical form that are read from tables or pages.
#[must_use]
pub fn is_name_at_or_below(name: impl AsRef<[u8]>, ancestor: impl AsRef<[u8]>) -> bool {
    let below = name.as_ref().strip_suffix(ancestor.as_ref());
    below.is_some_and(|below| below.is_empty() || below.ends_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> Host {
        Host::parse(text).unwrap()
    }

    #[test]
    fn names_are_compared_by_label() {
        assert!(host("a.example.com").is_at_or_below(&host("example.com")));
        assert!(host("example.com").is_at_or_below(&host("example.com")));
        assert!(!host("notexample.com").is_at_or_below(&host("example.com")));
        assert!(!host("example.com").is_at_or_below(&host("a.example.com")));
    }

    #[test]
    fn names_lose_case_trailing_dot_and_script() {
        assert_eq!(host("ExAmple.KE.").as_str(), "example.ke");
        assert_eq!(host("日本語.jp").as_str(), "xn--wgv71a119e.jp");
    }

    #[test]
    fn an_address_is_a_host_of_its_own() {
        assert_eq!(host("[2001:db8::1]").ip(), Some("2001:db8::1".parse().unwrap()));
        assert_eq!(host("0x7f.1").as_str(), "127.0.0.1");
        assert!(!host("10.0.0.1").is_at_or_below(&host("1.ke")));
        assert_eq!(host("10.0.0.1").parent(), None);
    }

    #[test]
    fn what_dns_cannot_carry_is_refused() {
        for text in ["", ".", "a..b", "exa mple", &"a.".repeat(200), &format!("{}.ke", "x".repeat(64))] {
            assert!(Host::parse(text).is_err(), "{text}");
        }
        for text in [
            "xn--a..ke",
            "xn--a b.ke",
            "xn--a.1",
            "xn--a/b",
            &format!("xn--{}.ke", "0".repeat(60)),
            "xn--a%00.ke",
        ] {
            assert!(Host::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_in_ascii_that_does_not_decode_is_what_it_is() {
        for (text, name) in [
            ("xn--a.ke", "xn--a.ke"),
            ("XN--0.KE.", "xn--0.ke"),
            ("xn--1ug.ke", "xn--1ug.ke"),
            ("www.xn--zn7c.ke", "www.xn--zn7c.ke"),
            ("xn--fx-3s9cx68e-jpnet", "xn--fx-3s9cx68e-jpnet"),
            ("%78n--A.ke", "xn--a.ke"),
            ("xn--.ke", "xn--.ke"),
            ("xn--a_b.ke", "xn--a_b.ke"),
            ("xn--a.xn--bcher-kva.ke", "xn--a.xn--bcher-kva.ke"),
        ] {
            assert_eq!(host(text).as_str(), name, "{text}");
            assert!(host(text).is_undecoded(), "{text}");
        }
        for text in ["a.ke", "xn--bcher-kva.ke", "xx--a.ke", "10.0.0.1", "[::1]"] {
            assert!(!host(text).is_undecoded(), "{text}");
        }
    }

    #[test]
    fn a_name_in_letters_that_idna_forbids_is_refused() {
        for text in ["xn--a.日本", "\u{ad}xn--a.ke", "ｘn--a.ke", "a\u{200d}b.ke", "xn--\u{fffd}.ke"] {
            assert!(Host::parse(text).is_err(), "{text}");
        }
    }
}
