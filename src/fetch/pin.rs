use std::net::IpAddr;
use std::slice;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::time::{Instant, timeout};

use super::gate::{ChosenAddress, Gate, MOST_ADDRESSES};
use super::names::LookupResult;
use crate::address::Host;
use crate::exchange::{Failure, NameLookup};

/// The known addresses of a host, for as long as they are valid.
///
/// Both families are looked up at the same time. IPv6 is only waited for where it is needed: where there is
/// no IPv4 address, or none that is alive. Otherwise its result is added when it arrives.
#[derive(Clone)]
pub(super) struct Pin {
    /// IPv4; for a Web in process, all addresses that it returns.
    first: LookupResult,
    v6: Option<V6Lookup>,
    pub until: Instant,
}

/// A look-up of IPv6 addresses, finished or under way.
pub(super) type V6Lookup = Shared<BoxFuture<'static, LookupResult>>;

/// The number of addresses kept per family, the smallest; the first few are tried.
const KEPT_ADDRESSES: usize = 16;
/// The shortest time that a host stays pinned. A walk with polite pauses sends a few requests a minute: a
/// shorter TTL, made for balancing visitors, would double the load on name servers for no benefit.
const SHORTEST_PIN: Duration = Duration::from_mins(5);
/// The longest time that a host stays pinned. RFC 8767 §4 caps TTLs at a week; a survey has no use for more
/// than a day.
const LONGEST_PIN: Duration = Duration::from_hours(24);
/// How long a failed look-up is cached (RFC 9520 §3.2: at least 1 s, at most 5 min).
const FAILURE_PIN: Duration = Duration::from_mins(1);

/// Name servers answer for both families at the same time. One that is silent about IPv6 must not hold up its
/// hosts.
const V6_WAIT: Duration = Duration::from_secs(2);

impl Pin {
    /// Makes a pin from the first result. Where it has no addresses, the look-up of the other family has been
    /// waited for.
    pub(super) fn new(first: LookupResult, v6: Option<V6Lookup>) -> Self {
        let now = Instant::now();
        let lifetime = |until: Option<Instant>| {
            let lifetime = until.map_or(SHORTEST_PIN, |until| until.saturating_duration_since(now));
            lifetime.clamp(SHORTEST_PIN, LONGEST_PIN)
        };
        let mut pin = Self { first, v6, until: now };
        pin.until += match (&pin.first.addresses, pin.v6()) {
            (Ok(_), _) => lifetime(pin.first.until),
            // The name server may have IPv4 addresses again soon.
            (Err(failure), Some(LookupResult { addresses: Ok(_), .. })) if is_unknown(*failure) => {
                SHORTEST_PIN
            }
            (Err(_), Some(LookupResult { addresses: Ok(_), until, .. })) => lifetime(*until),
            (Err(_), _) => FAILURE_PIN,
        };
        pin
    }

    /// The result of the IPv6 look-up, once it is there.
    fn v6(&self) -> Option<&LookupResult> {
        self.v6.as_ref().and_then(Shared::peek)
    }

    /// Waits for the result of the IPv6 look-up, if one is under way, for [`V6_WAIT`] at most.
    pub(super) async fn await_v6(&self) {
        if let Some(v6) = self.v6.clone() {
            let _late = timeout(V6_WAIT, v6).await.is_err();
        }
    }

    /// What is known of the host's names and addresses so far. A Web in process returns both families at
    /// once.
    pub(super) fn name_lookup(&self) -> NameLookup {
        let found = |lookup: &LookupResult| lookup.addresses.clone().unwrap_or_default();
        let v6_addresses = self.v6().map(found).unwrap_or_default();
        let has_ipv6 = match (&self.v6, self.v6()) {
            (None, _) => Some(found(&self.first).iter().any(IpAddr::is_ipv6)),
            (Some(_), None) => None,
            (_, Some(LookupResult { addresses: Err(failure), .. })) if is_unknown(*failure) => None,
            (_, Some(_)) => Some(!v6_addresses.is_empty()),
        };
        let mut aliases: Vec<String> = Vec::new();
        for alias in self.aliases().map(Host::as_str) {
            if !aliases.iter().any(|known| known == alias) {
                aliases.push(alias.to_owned());
            }
        }
        NameLookup { aliases, addresses: [found(&self.first), v6_addresses].concat(), has_ipv6 }
    }

    /// The names of which the host is an alias, by either family. If one of these names opts out, the host is
    /// not contacted.
    pub(super) fn aliases(&self) -> impl Iterator<Item = &Host> {
        slice::from_ref(&self.first).iter().chain(self.v6()).flat_map(|found| &found.aliases)
    }

    /// The look-up of IPv6, if further addresses are needed because all others are dead.
    pub(super) fn v6_if_all_dead(&self, dead: &[IpAddr]) -> Option<V6Lookup> {
        let is_dead = self.first.addresses.as_ref().is_ok_and(|first_addresses| {
            first_addresses.len() < MOST_ADDRESSES
                && first_addresses.iter().all(|address| dead.contains(address))
        });
        self.v6.clone().filter(|_| is_dead)
    }

    /// The address to be contacted. An opt-out takes effect at once, even if the pin is older.
    pub(super) fn choose(&self, gate: &Gate, dead: &[IpAddr]) -> ChosenAddress {
        let failed = |failure| ChosenAddress { address: Err(failure), refused: None };
        if let Some(failure) = self.aliases().find_map(|alias| gate.check_host(alias).err()) {
            return failed(failure);
        }
        let v6 = self.v6().map(|found| &found.addresses);
        match (&self.first.addresses, v6) {
            (Ok(first), Some(Ok(v6))) if self.v6_if_all_dead(dead).is_some() => {
                gate.choose(&[&first[..], v6].concat(), dead)
            }
            (Ok(first), _) => gate.choose(first, dead),
            // As in getaddrinfo, the failure of one family does not hide the other.
            (Err(failure), Some(Ok(v6))) => match gate.choose(v6, dead) {
                ChosenAddress { address: Err(Failure::NoRoute), .. } if is_unknown(*failure) => {
                    failed(*failure)
                }
                choice => choice,
            },
            (Err(Failure::DnsNoAddress), Some(Err(failure))) => failed(*failure),
            (Err(failure), _) => failed(*failure),
        }
    }
}

/// Whether the host may have addresses in spite of this failure.
fn is_unknown(failure: Failure) -> bool {
    matches!(failure, Failure::DnsTimeout | Failure::DnsServfail)
}

impl LookupResult {
    /// Keeps the smallest addresses; those that may be contacted come first.
    pub(super) fn limited(mut self, gate: &Gate) -> Self {
        if let Ok(addresses) = &mut self.addresses {
            addresses.iter_mut().for_each(|address| *address = address.to_canonical());
            addresses.sort_by_cached_key(|address| (gate.check_address(*address).is_err(), *address));
            addresses.dedup();
            addresses.truncate(KEPT_ADDRESSES);
        }
        self
    }

    /// Begins a look-up of IPv6 addresses, which continues whether or not it is waited for.
    pub(super) fn begin(look_up: impl Future<Output = Self> + Send + 'static) -> V6Lookup {
        let lookup = look_up.boxed().shared();
        tokio::spawn(lookup.clone());
        lookup
    }
}
