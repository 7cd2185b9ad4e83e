use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::cached::Cached;
use super::connect::request::Requests;
use super::connect::wire::{FRAMES, LARGEST_HANDSHAKE, READ_AHEAD};
use super::gate::{ChosenAddress, Gate};
use super::line::in_process::{Prefetched, UserDelays, Web};
use super::line::{Line, Lines, Opener};
use super::names::{Family, LookupResult, Names};
use super::pin::Pin;
use super::run::Exchange;
use super::run::body::{Meter, Unmetered};
use super::settings::{Manner, ROBOTS_BYTES};
use super::tls::Tls;
use super::tls::old_tls::greet;
use super::{Clock, FetchError, Settings};
use crate::address::{Host, MAX_URL_BYTES, OptOuts, WebUrl};
use crate::exchange::{Failure, NameLookup, Request, Response, Validators};

/// Locates servers and exchanges requests and responses with them. Cheap to clone: all clones share their
/// state.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use ccsurvey::address::{OptOuts, WebUrl};
/// # use ccsurvey::exchange::{Request, Depth, Purpose};
/// # use ccsurvey::fetch::{Clock, Fetcher, Settings};
/// # async fn front_page() -> Result<(), Box<dyn std::error::Error>> {
/// let fetcher = Fetcher::new(Settings::default(), Arc::new(OptOuts::default()), Clock::system())?;
/// let url = WebUrl::parse("http://example.ke/")?;
/// if let Ok(address) = fetcher.locate(url.host()).await.address {
///     let request = Request { number: 0, url, purpose: Purpose::Page, depth: Some(Depth(0)) };
///     let (response, page) = fetcher.fetch(&request, address, u64::MAX).await;
///     println!("{:?} {:?} {} bytes", response.status, response.failure, page.len());
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Fetcher {
    parts: Arc<FetcherParts>,
    max_exchange_bytes: u64,
}

struct FetcherParts {
    settings: Arc<Settings>,
    gate: Gate,
    clock: Clock,
    names: Directory,
    pins: Mutex<Cached<Host, Pin>>,
    lines: Lines,
    requests: Requests,
}

/// The source of a host's address.
enum Directory {
    Dns(Box<Names>),
    InProcess(Arc<dyn Web>),
    /// No look-ups: callers supply the addresses.
    Nobody,
}

/// The result of locating a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The address to which its exchanges go.
    pub address: Result<IpAddr, Failure>,
    /// The refused address, when all were refused.
    pub refused: Option<IpAddr>,
    /// How long DNS took; none when it was not queried.
    pub dns: Option<Duration>,
}

/// The largest number of pinned hosts; each takes about half a kilobyte.
const PINS: usize = 65_536;
/// Header fields other than URL and user agent, and our side of a handshake.
const REQUEST_OVERHEAD: u64 = 1024;

/// A request to the server at an address, with its limits.
struct FetchRequest<'a> {
    /// Validators of the version that is known already.
    known: &'a Validators,
    request: &'a Request,
    address: IpAddr,
    byte_limit: u64,
    meter: &'a dyn Meter,
}

impl Fetcher {
    /// Reads the root certificates and determines the name servers.
    ///
    /// # Errors
    /// When a setting cannot be applied: an unreadable root certificate, an invalid user agent, no name
    /// server.
    pub fn new(settings: Settings, opt_out: Arc<OptOuts>, clock: Clock) -> Result<Self, FetchError> {
        let names = Directory::Dns(Box::new(Names::new(settings.dns, settings.timeouts.dns)?));
        let opener = Opener::Sockets(Box::new(Tls::new(&settings, clock)?));
        Self::from_parts(settings, opt_out, clock, names, opener)
    }

    /// A fetcher without DNS: it only contacts addresses that the caller supplies.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn without_names(
        settings: Settings,
        opt_out: Arc<OptOuts>,
        clock: Clock,
    ) -> Result<Self, FetchError> {
        let opener = Opener::Sockets(Box::new(Tls::new(&settings, clock)?));
        Self::from_parts(settings, opt_out, clock, Directory::Nobody, opener)
    }

    /// A fetcher that sends its requests to a Web in this process. It opens no socket; everything else works
    /// as over the network, by the runtime's clock, which may be virtual.
    ///
    /// # Errors
    /// When the user agent is not a valid header value.
    pub fn in_process(
        settings: Settings,
        opt_out: Arc<OptOuts>,
        clock: Clock,
        web: Arc<dyn Web>,
    ) -> Result<Self, FetchError> {
        let names = Directory::InProcess(web.clone());
        Self::from_parts(settings, opt_out, clock, names, Opener::InProcess(web))
    }

    fn from_parts(
        settings: Settings,
        opt_out: Arc<OptOuts>,
        clock: Clock,
        names: Directory,
        opener: Opener,
    ) -> Result<Self, FetchError> {
        let settings = Arc::new(settings);
        let max_exchange_bytes = max_exchange_bytes(&settings);
        let has_gateway = settings.gateway.is_some() || matches!(names, Directory::InProcess(_));
        let parts = FetcherParts {
            gate: Gate::new(opt_out, settings.permit_special_addresses, has_gateway),
            clock,
            names,
            pins: Mutex::new(Cached::with_capacity(PINS)),
            lines: Lines::new(opener, settings.clone()),
            requests: Requests::new(&settings.user_agent)?,
            settings,
        };
        Ok(Self { parts: Arc::new(parts), max_exchange_bytes })
    }

    /// The address to which a host's exchanges go: pinned, or looked up, chosen and checked.
    pub async fn locate(&self, host: &Host) -> Located {
        self.locate_excluding(host, &[]).await
    }

    /// Like [`Self::locate`] when some addresses are known to be dead: the next address that is not dead, or
    /// the first one again where there is none. IPv6 is used once all IPv4 addresses are dead.
    pub async fn locate_excluding(&self, host: &Host, dead: &[IpAddr]) -> Located {
        let parts = &*self.parts;
        let located = |ChosenAddress { address, refused }, dns| Located { address, refused, dns };
        if let Err(failure) = parts.gate.check_host(host) {
            return located(ChosenAddress { address: Err(failure), refused: host.ip() }, None);
        }
        if let Some(address) = host.ip() {
            return located(parts.gate.choose(&[address], &[]), None);
        }
        let lookup_start = Instant::now();
        let known = parts.pinned(host);
        let was_pinned = known.is_some();
        let pin = match known {
            Some(pin) => pin,
            None => parts.look_up(host).await,
        };
        if let Some(v6) = pin.v6_if_all_dead(dead) {
            v6.await;
        }
        let choice = pin.choose(&parts.gate, dead);
        if !was_pinned {
            parts.pin(host.clone(), pin);
        }
        located(choice, (!was_pinned).then(|| lookup_start.elapsed()))
    }

    /// What is known of a host's names and addresses, without a new look-up. Waits a little for a look-up of
    /// IPv6 addresses that is under way. None once the host has been dropped from the pins, and for an
    /// address.
    pub async fn name_lookup(&self, host: &Host) -> Option<NameLookup> {
        let pin = self.parts.pin_of(host)?;
        pin.await_v6().await;
        Some(pin.name_lookup())
    }

    /// Forgets a host's addresses, so that it is looked up again.
    pub fn forget(&self, host: &Host) {
        self.parts.pins.lock().remove(host);
    }

    /// One exchange with the server at `address`. Returns the response and the decoded body as far as it was
    /// kept.
    ///
    /// Sends nothing when the host or the address may not be contacted. Reading stops once `byte_limit` bytes
    /// have been received; data that cannot be stopped may exceed it by [`max_bytes_over_limit`], up to
    /// [`max_exchange_bytes`](Self::max_exchange_bytes). The caller fills in the DNS times.
    pub async fn fetch(&self, request: &Request, address: IpAddr, byte_limit: u64) -> (Response, Vec<u8>) {
        self.fetch_if_modified(&Validators::default(), request, address, byte_limit).await
    }

    /// Like [`Self::fetch`] for a page of which one version is known: a server that has no other version
    /// responds 304 without a body (RFC 9110 §15.4.5).
    pub async fn fetch_if_modified(
        &self,
        known: &Validators,
        request: &Request,
        address: IpAddr,
        byte_limit: u64,
    ) -> (Response, Vec<u8>) {
        self.fetch_with(Manner::Usual, known, request, address, byte_limit, &Unmetered).await
    }

    /// Like [`Self::fetch_if_modified`], in the manner that the server needs, and no faster than the meter
    /// allows.
    pub async fn fetch_with(
        &self,
        manner: Manner,
        known: &Validators,
        request: &Request,
        address: IpAddr,
        byte_limit: u64,
        meter: &dyn Meter,
    ) -> (Response, Vec<u8>) {
        let fetch_request = FetchRequest { known, request, address, byte_limit, meter };
        match manner {
            Manner::Usual => self.fetch_over(Lines::for_url, fetch_request).await,
            Manner::OldTls => (self.greet(request, address).await, Vec::new()),
            Manner::WithoutLibrary => self.fetch_over(Lines::without_library, fetch_request).await,
        }
    }

    async fn fetch_over(
        &self,
        line_to: fn(&Lines, IpAddr, &WebUrl) -> Arc<Line>,
        fetch_request: FetchRequest<'_>,
    ) -> (Response, Vec<u8>) {
        let FetchRequest { known, request, address, byte_limit, meter } = fetch_request;
        let parts = &*self.parts;
        // Taken before the opt-out check: an opt-out that arrives after the check falls within the exchange.
        let start = Instant::now();
        let unsent =
            |failure| (Response::not_sent(parts.clock.at(start), Some(address), failure, None), Vec::new());
        if let Err(failure) = parts.permits(&request.url, address) {
            return unsent(failure);
        }
        let address = address.to_canonical();
        let line = line_to(&parts.lines, address, &request.url);
        let connect_url = parts.lines.url(address, &request.url);
        let http_request = connect_url
            .and_then(|connect_url| parts.requests.make(&request.url, request.purpose, known, connect_url));
        let Some(mut http_request) = http_request else {
            tracing::error!(url = %request.url, "cannot send a request for this URL");
            return unsent(Failure::BadHttp);
        };
        line.prepare(&mut http_request);
        let exchange = Exchange {
            settings: &parts.settings,
            line: &line,
            address,
            url: &request.url,
            purpose: request.purpose,
            encrypted: request.url.is_https(),
            wire_limit: byte_limit.min(largest_limit(&parts.settings)),
            clock: parts.clock,
            meter,
        };
        let (response, body) = exchange.run(http_request, start).await;
        if response.failure.is_some_and(Failure::may_be_read_by_fallback) {
            parts.lines.note_odd(address, &request.url);
        }
        (response, body)
    }

    /// An exchange that only sends a ClientHello as old clients did, to find out which TLS the server
    /// supports. It brings no page; `tls_version` has the version and the cipher suite that the server chose.
    pub async fn greet(&self, request: &Request, address: IpAddr) -> Response {
        let parts = &*self.parts;
        let start = Instant::now();
        let started = parts.clock.at(start);
        let address = address.to_canonical();
        let host = request.url.host();
        if let Err(failure) = parts.permits(&request.url, address) {
            return Response::not_sent(started, Some(address), failure, None);
        }
        let server = parts.settings.gateway.unwrap_or(SocketAddr::new(address, request.url.port()));
        let mut response = Response::not_sent(started, Some(address), Failure::TlsHandshake, None);
        greet(&parts.settings, server, host).await.write_to(&mut response);
        response.timings.total = start.elapsed();
        response
    }

    /// Whether the URL may be requested at this address now: neither host nor address has opted out, and the
    /// address is not in a special range. A caller that lets agents send its requests checks here first.
    ///
    /// # Errors
    /// The reason why it may not be requested.
    pub fn permits(&self, url: &WebUrl, address: IpAddr) -> Result<(), Failure> {
        self.parts.permits(url, address)
    }

    /// The delay that the survey adds for a server's other users; known only for a Web in process.
    #[must_use]
    pub fn user_delays(&self, address: IpAddr) -> Option<UserDelays> {
        match &self.parts.names {
            Directory::Dns(_) | Directory::Nobody => None,
            Directory::InProcess(web) => web.user_delays(address),
        }
    }

    /// The result that a GET of this URL will have, for a Web in process that supports it
    /// ([`Web::prefetch`]).
    #[must_use]
    pub fn prefetch(&self, url: &WebUrl) -> Option<Prefetched> {
        match &self.parts.names {
            Directory::Dns(_) | Directory::Nobody => None,
            Directory::InProcess(web) => web.prefetch(url),
        }
    }

    /// Discards a prefetched result: the URL will not be requested now.
    pub fn forget_prefetched(&self, url: &WebUrl) {
        if let Directory::InProcess(web) = &self.parts.names {
            web.forget(url);
        }
    }

    /// The most bytes that one exchange can cost on the wire with these settings, as far as they are counted.
    /// A budget must have this much left before the exchange begins.
    #[must_use]
    pub const fn max_exchange_bytes(&self) -> u64 {
        self.max_exchange_bytes
    }

    /// The number of bytes that one exchange may transfer beyond its limit.
    #[must_use]
    pub fn max_bytes_over_limit(&self) -> u64 {
        max_bytes_over_limit(&self.parts.settings)
    }
}

impl FetcherParts {
    /// Looks a host up. It waits for the IPv6 response only where there is no IPv4 address.
    async fn look_up(&self, host: &Host) -> Pin {
        match &self.names {
            Directory::Dns(names) => {
                let v6 = {
                    let (names, host, gate) = (names.clone(), host.clone(), self.gate.clone());
                    LookupResult::begin(async move { names.look_up(&host, Family::V6).await.limited(&gate) })
                };
                let v4 = names.look_up(host, Family::V4).await.limited(&self.gate);
                if v4.addresses.is_err() {
                    v6.clone().await;
                }
                Pin::new(v4, Some(v6))
            }
            Directory::Nobody => {
                let found =
                    LookupResult { addresses: Err(Failure::DnsServfail), until: None, aliases: Vec::new() };
                Pin::new(found, None)
            }
            Directory::InProcess(web) => {
                let lookup = web.look_up(host);
                let time_limit = self.settings.timeouts.dns;
                tokio::time::sleep(lookup.took.min(time_limit)).await;
                let has_timed_out = lookup.took >= time_limit;
                let addresses = if has_timed_out { Err(Failure::DnsTimeout) } else { lookup.addresses };
                let until = Some(Instant::now() + lookup.lifetime);
                let aliases = lookup.aliases;
                Pin::new(LookupResult { addresses, until, aliases }.limited(&self.gate), None)
            }
        }
    }

    fn pinned(&self, host: &Host) -> Option<Pin> {
        self.pin_of(host).filter(|pin| pin.until > Instant::now())
    }

    /// The last gate before any byte leaves.
    fn permits(&self, url: &WebUrl, address: IpAddr) -> Result<(), Failure> {
        self.gate.check_exchange(url, address)?;
        self.aliases_permitted(url.host())
    }

    fn aliases_permitted(&self, host: &Host) -> Result<(), Failure> {
        let pin = self.pin_of(host);
        pin.iter().flat_map(Pin::aliases).try_for_each(|alias| self.gate.check_host(alias))
    }

    fn pin_of(&self, host: &Host) -> Option<Pin> {
        self.pins.lock().get(host)
    }

    fn pin(&self, host: Host, pin: Pin) {
        self.pins.lock().insert(host, pin);
    }
}

/// The most bytes that one exchange can transfer: the largest limit, the bytes read ahead beyond it, and the
/// bytes we send.
#[must_use]
pub fn max_exchange_bytes(settings: &Settings) -> u64 {
    largest_limit(settings) + READ_AHEAD + FRAMES + sent_bytes(settings)
}

/// The number of bytes that one exchange may transfer beyond its limit, however small the limit is: a
/// handshake and a head, which arrive whole or not at all, or the bytes read ahead; and the bytes we send.
#[must_use]
pub fn max_bytes_over_limit(settings: &Settings) -> u64 {
    LARGEST_HANDSHAKE + READ_AHEAD + FRAMES + sent_bytes(settings)
}

/// The largest limit on received bytes: handshake, head and body.
fn largest_limit(settings: &Settings) -> u64 {
    LARGEST_HANDSHAKE + READ_AHEAD + settings.max_body.max(ROBOTS_BYTES)
}

fn sent_bytes(settings: &Settings) -> u64 {
    (MAX_URL_BYTES + settings.user_agent.len()) as u64 + REQUEST_OVERHEAD
}
