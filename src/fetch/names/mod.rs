//! Looks hosts up: from a name to its addresses of one family, with the aliases on the way.
//!
//! hickory's resolver follows aliases and chooses among name servers. This room sends each query and reads
//! each response itself ([`transport`]), as leniently as the systems on which browsers run ([`message`]).
//! Caching the addresses of hosts, and choosing among them, is up to the room above.

mod message;
mod transport;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::Resolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use tokio::time::{Instant, timeout};

use self::transport::Transport;
use super::FetchError;
use super::gate::addresses_in;
use crate::address::Host;
use crate::exchange::Failure;

/// How often a query is repeated before it counts as unanswered (RFC 9520 §3.1 wants at most two retries).
const RETRIES: u8 = 1;

/// Queries name servers for the addresses of a host.
///
/// Names are absolute: no search list, no `/etc/hosts`. One server is queried at a time, the quicker ones
/// first, over UDP, and over TCP when its response was truncated. CNAMEs are followed.
#[derive(Clone)]
pub(super) struct Names {
    resolver: Resolver<Transport>,
    time_limit: Duration,
}

/// The two address families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    fn record_type(self) -> RecordType {
        match self {
            Self::V4 => RecordType::A,
            Self::V6 => RecordType::AAAA,
        }
    }
}

/// The result of a look-up of one family, and until when it is valid by the TTLs of the records.
#[derive(Clone)]
pub(super) struct LookupResult {
    pub addresses: Result<Vec<IpAddr>, Failure>,
    pub until: Option<Instant>,
    /// The names of which the host is an alias (CNAME), one after another.
    pub aliases: Vec<Host>,
}

impl LookupResult {
    pub(super) fn from_failure(failure: Failure) -> Self {
        Self { addresses: Err(failure), until: None, aliases: Vec::new() }
    }
}

impl Names {
    pub(super) fn new(server: Option<SocketAddr>, time_limit: Duration) -> Result<Self, FetchError> {
        let servers = match server {
            Some(server) => vec![name_server(server)],
            None => system_servers()?,
        };
        let config = ResolverConfig::from_name_servers(servers);
        let mut builder = Resolver::builder_with_config(config, Transport::default());
        let options = builder.options_mut();
        options.attempts = RETRIES.into();
        options.timeout = time_limit / (1 + u32::from(RETRIES));
        options.num_concurrent_reqs = 1;
        options.use_hosts_file = ResolveHosts::Never;
        // The pins of the fetcher are the cache.
        options.cache_size = 0;
        let resolver = builder.build().map_err(|error| FetchError::Dns(error.to_string()))?;
        Ok(Self { resolver, time_limit })
    }

    /// The addresses of one family.
    pub(super) async fn look_up(&self, host: &Host, family: Family) -> LookupResult {
        let Some(name) = absolute(host) else { return LookupResult::from_failure(Failure::DnsNxdomain) };
        let pending = self.query(&name, family.record_type());
        timeout(self.time_limit, pending)
            .await
            .unwrap_or_else(|_| LookupResult::from_failure(Failure::DnsTimeout))
    }

    async fn query(&self, name: &Name, kind: RecordType) -> LookupResult {
        match self.resolver.lookup(name.clone(), kind).await {
            Ok(found) => {
                let addresses = addresses_in(found.answers());
                let aliases = found.answers().iter().filter_map(|record| match &record.data {
                    RData::CNAME(alias) => host_of(&alias.0),
                    _ => None,
                });
                let aliases = aliases.collect();
                let addresses = if addresses.is_empty() { Err(Failure::DnsNoAddress) } else { Ok(addresses) };
                LookupResult { addresses, until: Some(found.valid_until().into()), aliases }
            }
            Err(error) => LookupResult::from_failure(failure_of(&error)),
        }
    }
}

/// DNS allows any byte in a label (RFC 2181 §11), and zones have names such as `-a.ke` and `a+b.ke`;
/// hickory's parser for text rejects them.
fn absolute(host: &Host) -> Option<Name> {
    Name::from_labels(host.as_str().split('.').map(str::as_bytes)).ok()
}

fn host_of(name: &Name) -> Option<Host> {
    let labels: Option<Vec<&str>> = name.iter().map(|label| str::from_utf8(label).ok()).collect();
    Host::parse(&labels?.join(".")).ok()
}

fn failure_of(error: &NetError) -> Failure {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => Failure::DnsNxdomain,
            _ => Failure::DnsNoAddress,
        },
        NetError::Timeout | NetError::Busy => Failure::DnsTimeout,
        _ => Failure::DnsServfail,
    }
}

fn name_server(server: SocketAddr) -> NameServerConfig {
    let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()]
        .into_iter()
        .map(|mut connection| {
            connection.port = server.port();
            connection
        })
        .collect();
    NameServerConfig::new(server.ip(), true, connections)
}

fn system_servers() -> Result<Vec<NameServerConfig>, FetchError> {
    let (config, _) = read_system_conf().map_err(|error| FetchError::SystemResolvers(error.to_string()))?;
    let (_, _, servers) = config.into_parts();
    if servers.is_empty() {
        return Err(FetchError::SystemResolvers("none is configured".to_owned()));
    }
    Ok(servers)
}
