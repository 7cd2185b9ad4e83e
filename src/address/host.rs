use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A host of a Web URL: a domain name in lower-case punycode without trailing dot,
/// or an IP address (IPv6 in brackets, as in a URL). Its copies share one text: the links of a site are of few hosts.
///
/// ```
/// use ccsurvey::address::Host;
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
const MAX_NAME_BYTES: usize = 253;
/// RFC 1035 §2.3.4: a label has at most 63 octets.
const MAX_LABEL_BYTES: usize = 63;

impl Host {
    /// Reads a host as WHATWG URLs do (lower case, punycode, IPv4 forms).
    ///
    /// # Errors
    /// When the text is not a host, has an empty label, or is longer than DNS allows.
    pub fn parse(text: &str) -> Result<Self, HostError> {
        let wrong = || HostError(text.to_owned());
        let parsed = ::url::Host::parse(text.trim_end_matches('.')).map_err(|_| wrong())?;
        match parsed {
            ::url::Host::Domain(name) => Self::from_domain(&name).ok_or_else(wrong),
            ::url::Host::Ipv4(ip) => Ok(Self::from_ip(ip.into())),
            ::url::Host::Ipv6(ip) => Ok(Self::from_ip(ip.into())),
        }
    }

    pub(super) fn from_domain(name: &str) -> Option<Self> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let sound = !name.is_empty()
            && name.len() <= MAX_NAME_BYTES
            && name.split('.').all(|label| !label.is_empty() && label.len() <= MAX_LABEL_BYTES);
        sound.then(|| Self(name.to_ascii_lowercase().into()))
    }

    /// The host that an IP address is by itself.
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

    /// The address, when this host is one.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        self.0.trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    /// Whether this host is `ancestor` or stands below it, label by label:
    /// `notexample.com` is not below `example.com`.
    #[must_use]
    pub fn is_at_or_below(&self, ancestor: &Host) -> bool {
        self == ancestor
            || (self.ip().is_none()
                && self.0.strip_suffix(ancestor.as_str()).is_some_and(|rest| rest.ends_with('.')))
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

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
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
    }
}
