use std::net::IpAddr;

use super::Host;

/// Names and networks whose owners do not want to be surveyed: never contacted, whatever leads
/// there. A name covers what is below it.
///
/// ```
/// use ccsurvey::address::{Host, OptOut};
/// let list = OptOut::parse("# by mail, 2026-11-02\nexample.ke\n41.90.0.0/16\n").unwrap();
/// assert!(list.has_host(&Host::parse("www.example.ke").unwrap()));
/// assert!(list.has_address("41.90.7.7".parse().unwrap()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptOut {
    hosts: Vec<Host>,
    networks: Vec<(IpAddr, u8)>,
}

/// The line of an opt-out file that cannot be obeyed. It is an error and not skipped, for a
/// promise to leave somebody alone must not fail on a typing mistake.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "line {line}: '{value}' is neither a host name nor a network (expected for example 'example.ke', '41.90.0.7' or '41.90.0.0/16')"
)]
pub struct OptOutError {
    pub line: usize,
    pub value: String,
}

impl OptOut {
    /// Reads one host name, address or network a line; `#` begins a comment.
    ///
    /// # Errors
    /// Names the first line that is none of these.
    pub fn parse(text: &str) -> Result<Self, OptOutError> {
        let mut list = Self::default();
        for (index, line) in text.lines().enumerate() {
            let value = line.split('#').next().unwrap_or("").trim();
            if value.is_empty() {
                continue;
            }
            let wrong = || OptOutError { line: index + 1, value: value.to_owned() };
            if let Some(network) = parse_network(value) {
                list.networks.push(network);
            } else {
                let name = value.strip_prefix("*.").unwrap_or(value);
                let host = Host::parse(name).map_err(|_| wrong())?;
                if value.contains('/') || host.ip().is_some() {
                    return Err(wrong());
                }
                list.hosts.push(host);
            }
        }
        Ok(list)
    }

    #[must_use]
    pub fn has_host(&self, host: &Host) -> bool {
        self.hosts.iter().any(|name| host.is_at_or_below(name))
            || host.ip().is_some_and(|ip| self.has_address(ip))
    }

    #[must_use]
    pub fn has_address(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|(network, prefix)| match (network, address) {
            (IpAddr::V4(network), IpAddr::V4(ip)) => {
                same_prefix(u32::from(*network).into(), u32::from(ip).into(), *prefix, 32)
            }
            (IpAddr::V6(network), IpAddr::V6(ip)) => {
                same_prefix(u128::from(*network), u128::from(ip), *prefix, 128)
            }
            _ => false,
        })
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
    fn a_bad_line_is_an_error_with_its_number() {
        for (text, line, value) in
            [("a.ke\nb..ke", 2, "b..ke"), ("41.0.0.0/33", 1, "41.0.0.0/33"), ("\n\na.ke/x", 3, "a.ke/x")]
        {
            assert_eq!(OptOut::parse(text), Err(OptOutError { line, value: value.to_owned() }));
        }
    }
}
