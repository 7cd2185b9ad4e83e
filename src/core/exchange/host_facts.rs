use std::net::IpAddr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::SiteSoftware;

/// What an exchange shows of its host, besides the page. Walks do not use it; it goes into tables.
///
/// Every field is none where the exchange did not show it, so that the default takes one zero byte a field in
/// a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// `Strict-Transport-Security`, as sent (RFC 6797). Over http it has no effect, and is not kept.
    pub hsts: Option<String>,
    /// `X-Powered-By`, as sent.
    pub powered_by: Option<String>,
    /// The software behind the site, as header fields show it.
    pub software: Option<SiteSoftware>,
    /// The certificate of the connection, with a robots.txt.
    pub certificate: Option<Certificate>,
    /// The result of looking the host up, with a robots.txt.
    pub lookup: Option<NameLookup>,
}

/// What a server's certificate says, valid or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// The organisation that issued it or, if it names none, the common name of the issuer.
    pub issuer: Option<String>,
    /// The time from which it is valid; none where it cannot be read.
    pub valid_from: Option<SystemTime>,
    /// The last moment at which it is valid.
    pub valid_until: Option<SystemTime>,
    /// The first host names for which it is valid, in its order; at most [`Certificate::MAX_NAMES`].
    pub names: Vec<String>,
}

impl Certificate {
    /// Certificates of content delivery networks have a hundred names of strangers.
    pub const MAX_NAMES: usize = 10;
}

/// The addresses of a host, and the names of which it is an alias.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameLookup {
    /// The canonical names (CNAME) in the order in which they lead from the host to its addresses.
    pub aliases: Vec<String>,
    /// IPv4 and IPv6, each family sorted.
    pub addresses: Vec<IpAddr>,
    /// Whether the host has an IPv6 address; none while the name server has not responded, or if it failed.
    pub has_ipv6: Option<bool>,
}
