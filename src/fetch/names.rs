use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{Name, RData, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use tokio::time::{Instant, timeout};

use super::FetchError;
use super::gate::addresses_in;
use crate::address::Host;
use crate::exchange::Failure;

/// How often a question is tried again before it counts as unanswered (RFC 9520 §3.1 wants at
/// most two retries).
const RETRIES: u8 = 1;

/// Asks name servers for the addresses of a host.
///
/// Names are absolute: no search list, no `/etc/hosts`. One server is asked at a time,
/// the quicker ones first, over UDP, and over TCP when its answer was truncated. CNAMEs are
/// followed.
pub(super) struct Names {
    resolver: TokioResolver,
    patience: Duration,
}

/// What a look-up brought, and until when it holds by the TTLs of the records.
pub(super) struct Found {
    pub addresses: Result<Vec<IpAddr>, Failure>,
    pub until: Option<Instant>,
    /// The names that the host is an alias of (CNAME), one after another.
    pub aliases: Vec<Host>,
}

impl Found {
    pub(super) fn nothing(failure: Failure) -> Self {
        Self { addresses: Err(failure), until: None, aliases: Vec::new() }
    }
}

impl Names {
    pub(super) fn new(server: Option<SocketAddr>, patience: Duration) -> Result<Self, FetchError> {
        let servers = match server {
            Some(server) => vec![name_server(server)],
            None => system_servers()?,
        };
        let config = ResolverConfig::from_name_servers(servers);
        let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        options.attempts = RETRIES.into();
        options.timeout = patience / (1 + u32::from(RETRIES));
        options.num_concurrent_reqs = 1;
        options.use_hosts_file = ResolveHosts::Never;
        // The pins of the fetcher are the cache.
        options.cache_size = 0;
        let resolver = builder.build().map_err(|error| FetchError::Dns(error.to_string()))?;
        Ok(Self { resolver, patience })
    }

    /// The IPv4 addresses, or the IPv6 addresses if there is none: one query for most hosts.
    pub(super) async fn look_up(&self, host: &Host) -> Found {
        let Some(name) = absolute(host) else { return Found::nothing(Failure::DnsNxdomain) };
        let both = async {
            match self.ask(&name, RecordType::A).await {
                Found { addresses: Err(Failure::DnsNoAddress), .. } => {
                    self.ask(&name, RecordType::AAAA).await
                }
                found => found,
            }
        };
        timeout(self.patience, both).await.unwrap_or_else(|_| Found::nothing(Failure::DnsTimeout))
    }

    /// The IPv6 addresses of a host that has IPv4 ones.
    pub(super) async fn look_up_v6(&self, host: &Host) -> Found {
        let Some(name) = absolute(host) else { return Found::nothing(Failure::DnsNxdomain) };
        let asking = self.ask(&name, RecordType::AAAA);
        timeout(self.patience, asking).await.unwrap_or_else(|_| Found::nothing(Failure::DnsTimeout))
    }

    async fn ask(&self, name: &Name, kind: RecordType) -> Found {
        match self.resolver.lookup(name.clone(), kind).await {
            Ok(found) => {
                let addresses = addresses_in(found.answers());
                let aliases = found.answers().iter().filter_map(|record| match &record.data {
                    RData::CNAME(alias) => Host::parse(&alias.0.to_ascii()).ok(),
                    _ => None,
                });
                let aliases = aliases.collect();
                let addresses = if addresses.is_empty() { Err(Failure::DnsNoAddress) } else { Ok(addresses) };
                Found { addresses, until: Some(found.valid_until().into()), aliases }
            }
            Err(error) => Found::nothing(failure_of(&error)),
        }
    }
}

fn absolute(host: &Host) -> Option<Name> {
    Name::from_ascii(format!("{host}.")).ok()
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
