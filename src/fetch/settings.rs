use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::exchange::LONGEST_PAUSE;
use crate::settings;

/// How a request is sent and its response read. Earlier responses of the server decide which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// With current TLS and the HTTP library.
    #[default]
    Usual,
    /// The server refuses our TLS: it only receives a ClientHello of the old kind, which reveals the TLS that
    /// it supports.
    OldTls,
    /// The HTTP library cannot read the server's responses: this one is read without it.
    WithoutLibrary,
}

/// The settings of exchanges. The defaults are the polite ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Names the survey and a place to complain; sent with every request.
    pub user_agent: String,
    /// The name server to query; without it, those of the system.
    pub dns: Option<SocketAddr>,
    /// The destination of every connection whatever the address and port, for virtual Webs.
    pub gateway: Option<SocketAddr>,
    /// Allows loopback, private and other special addresses.
    pub permit_special_addresses: bool,
    /// Makes an invalid certificate a failure instead of a note in the response.
    pub refuse_bad_certificates: bool,
    /// The number of decoded bytes that are read of a page; the rest of a longer one is left.
    pub max_body: u64,
    /// How long each phase may take.
    pub timeouts: Timeouts,
    /// How long an exchange may pause in total because the rate of the survey is used up. The exchange may
    /// take longer by as much.
    pub pause_allowance: Duration,
    /// Files with additional root certificates (PEM).
    pub extra_roots: Vec<PathBuf>,
    /// The number of connections to one server address that are kept alive: as many as may be in use at once.
    pub connections_per_address: usize,
    /// The shortest pause between two exchanges with a server address.
    pub shortest_pause: Duration,
}

/// How long each phase of an exchange may take.
///
/// They limit how long a dead server holds up its site, not the load on the server. Shorter ones lose servers
/// behind slow links (a satellite round trip takes 0.6 s, one with losses several).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// From the DNS query for a host to its address, both record types.
    pub dns: Duration,
    /// To a TCP connection; a typical system sends four SYNs in 10 s.
    pub connect: Duration,
    /// From the TCP connection to the end of the TLS handshake.
    pub tls: Duration,
    /// From the request to the complete head of the response.
    pub first_byte: Duration,
    /// Between two pieces of a body.
    pub idle: Duration,
    /// From the start of the exchange to its end.
    pub whole: Duration,
}

/// The number of bytes read of a robots.txt: the 500 KiB that RFC 9309 §2.5 wants parsed, and one more byte
/// that shows whether the file is longer.
pub(super) const ROBOTS_BYTES: u64 = 500 * 1024 + 1;

impl Default for Settings {
    fn default() -> Self {
        Self {
            user_agent: concat!("ccsurvey/", env!("CARGO_PKG_VERSION")).to_owned(),
            ..Self::from(&settings::Settings::default())
        }
    }
}

impl From<&settings::Settings> for Settings {
    fn from(settings: &settings::Settings) -> Self {
        Self {
            user_agent: settings.user_agent(),
            dns: settings.dns,
            gateway: settings.gateway,
            permit_special_addresses: settings.permit_special_addresses,
            refuse_bad_certificates: settings.refuse_bad_certificates,
            max_body: settings.max_body.0,
            timeouts: Timeouts {
                dns: settings.dns_timeout.0,
                connect: settings.connect_timeout.0,
                tls: settings.tls_timeout.0,
                first_byte: settings.first_byte_timeout.0,
                idle: settings.idle_timeout.0,
                whole: settings.exchange_timeout.0,
            },
            // A budget of busy time is set with the time-out of an exchange in mind.
            pause_allowance: match settings.rate {
                Some(_) if !settings.budgets.limits_busy_time() => LONGEST_PAUSE,
                _ => Duration::ZERO,
            },
            extra_roots: settings.ca.clone(),
            connections_per_address: settings.per_address as usize,
            shortest_pause: settings.min_delay.0,
        }
    }
}

impl Settings {
    /// The longest time that an exchange can take.
    #[must_use]
    pub fn longest_exchange(&self) -> Duration {
        self.timeouts.whole + self.pause_allowance
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Settings::default().timeouts
    }
}

/// Why no fetcher can be made from these settings.
///
/// Once it is made there are no errors: whatever happens during an exchange is part of its response.
#[allow(missing_docs, reason = "each message says what is wrong, and the fields are what it names")]
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("cannot read root certificates from '{path}': {source}")]
    RootsUnreadable { path: PathBuf, source: io::Error },
    #[error("'{path}' contains no usable root certificate in PEM form")]
    NoRoots { path: PathBuf },
    #[error("the user agent '{0}' is not valid in a header")]
    UserAgent(String),
    #[error("cannot find the system's name servers (give one with --dns): {0}")]
    SystemResolvers(String),
    #[error("cannot set up the DNS client: {0}")]
    Dns(String),
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    #[error("cannot set up the HTTP client: {0}")]
    Http(#[from] reqwest::Error),
}
