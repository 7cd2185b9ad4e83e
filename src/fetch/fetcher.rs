use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::cached::Cached;
use super::connect::request::Requests;
use super::connect::wire::{FRAMES, LARGEST_HANDSHAKE, READ_AHEAD};
use super::gate::{ChosenAddress, Gate};
use super::line::in_process::{Prefetched, UserDelays, Web};
use super::line::{Line, Lines, Opener};
use super::manner::Manner;
use super::names::{Family, LookupResult, Names};
use super::pin::{KnownAddresses, Pin};
use super::run::Exchange;
use super::run::meter::{Meter, Unmetered};
use super::settings::ROBOTS_BYTES;
use super::tls::Tls;
use super::tls::old_tls::greet;
use super::{Clock, FetchError, Settings};
use crate::address::{Host, MAX_URL_BYTES, OptOuts, WebUrl};
use crate::exchange::{Failure, Request, Response, Validators};

/// Finds servers and puts questions to them. Cheap to clone: all clones are one.
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
    most_bytes: u64,
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

/// Where the address of a host comes from.
enum Directory {
    Dns(Box<Names>),
    InProcess(Arc<dyn Web>),
    /// From whoever says where to go.
    Nobody,
}

/// Where a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The address its exchanges go to.
    pub address: Result<IpAddr, Failure>,
    /// The address that was refused, when every one was.
    pub refused: Option<IpAddr>,
    /// How long DNS took; none when it was not asked.
    pub dns: Option<Duration>,
}

/// Hosts that are pinned at once; about half a kilobyte each.
const PINS: usize = 65_536;
/// Our fields beside URL and user agent, and our side of a handshake.
const REQUEST_OVERHEAD: u64 = 1024;

/// What is asked of the server at an address.
struct FetchRequest<'a> {
    /// The version that is known already.
    known: &'a Validators,
    request: &'a Request,
    address: IpAddr,
    byte_limit: u64,
    meter: &'a dyn Meter,
}

impl Fetcher {
    /// Reads the root certificates and finds the name servers.
    ///
    /// # Errors
    /// When a setting cannot be obeyed: an unreadable root certificate, a user agent that cannot
    /// be sent, no name server.
    pub fn new(settings: Settings, opt_out: Arc<OptOuts>, clock: Clock) -> Result<Self, FetchError> {
        let names = Directory::Dns(Box::new(Names::new(settings.dns, settings.timeouts.dns)?));
        let opener = Opener::Sockets(Box::new(Tls::new(&settings, clock)?));
        Self::with(settings, opt_out, clock, names, opener)
    }

    /// Looks up no names: it only goes to addresses that others tell.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn without_names(
        settings: Settings,
        opt_out: Arc<OptOuts>,
        clock: Clock,
    ) -> Result<Self, FetchError> {
        let opener = Opener::Sockets(Box::new(Tls::new(&settings, clock)?));
        Self::with(settings, opt_out, clock, Directory::Nobody, opener)
    }

    /// Puts its questions to a Web in this process. Nothing leaves it: no socket is opened, and all else
    /// is as over the network, by the runtime's clock, which may be a virtual one.
    ///
    /// # Errors
    /// When the user agent cannot stand in a header.
    pub fn in_process(
        settings: Settings,
        opt_out: Arc<OptOuts>,
        clock: Clock,
        web: Arc<dyn Web>,
    ) -> Result<Self, FetchError> {
        let names = Directory::InProcess(web.clone());
        Self::with(settings, opt_out, clock, names, Opener::InProcess(web))
    }

    fn with(
        settings: Settings,
        opt_out: Arc<OptOuts>,
        clock: Clock,
        names: Directory,
        opener: Opener,
    ) -> Result<Self, FetchError> {
        let settings = Arc::new(settings);
        let most_bytes = most_bytes(&settings);
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
        Ok(Self { parts: Arc::new(parts), most_bytes })
    }

    /// The address that a host's exchanges go to: pinned, or looked up, chosen and checked.
    pub async fn locate(&self, host: &Host) -> Located {
        self.locate_beyond(host, &[]).await
    }

    /// The same for who knows that some addresses are dead: the next one that is not, or the first again where there
    /// is none. IPv6 is asked for once all that there is of IPv4 is dead.
    pub async fn locate_beyond(&self, host: &Host, dead: &[IpAddr]) -> Located {
        let parts = &*self.parts;
        let located = |ChosenAddress { address, refused }, dns| Located { address, refused, dns };
        if let Err(failure) = parts.gate.host(host) {
            return located(ChosenAddress { address: Err(failure), refused: host.ip() }, None);
        }
        if let Some(address) = host.ip() {
            return located(parts.gate.choose(&[address], &[]), None);
        }
        let asked = Instant::now();
        let known = parts.pinned(host);
        let was_known = known.is_some();
        let pin = match known {
            Some(pin) => pin,
            None => parts.look_up(host).await,
        };
        if let Some(v6) = pin.beyond(dead) {
            v6.await;
        }
        let choice = pin.choose(&parts.gate, dead);
        if !was_known {
            parts.pin(host.clone(), pin);
        }
        located(choice, (!was_known).then(|| asked.elapsed()))
    }

    /// What is known of a host's addresses now, of both families, without a look-up: what a table of hosts is to be
    /// filled from. Nothing once it has been forgotten.
    #[must_use]
    pub fn known_addresses(&self, host: &Host) -> Option<KnownAddresses> {
        self.parts.pin_of(host).map(|pin| pin.addresses())
    }

    /// Forgets where a host is, so that it is looked up again.
    pub fn forget(&self, host: &Host) {
        self.parts.pins.lock().unwrap_or_else(PoisonError::into_inner).remove(host);
    }

    /// One exchange with the server at `address`, and the decoded body as far as it was kept.
    ///
    /// Nothing is sent when the host or the address may not be contacted. Reading stops once
    /// `byte_limit` bytes have been received; what cannot be stopped may exceed it by [`beyond_limit`], up to
    /// [`most_bytes`](Self::most_bytes). The times for DNS are the caller's to fill in.
    pub async fn fetch(&self, request: &Request, address: IpAddr, byte_limit: u64) -> (Response, Vec<u8>) {
        self.fetch_other_than(&Validators::default(), request, address, byte_limit).await
    }

    /// The same for a page of which a version is known: a server that has no other answers 304 without a body
    /// (RFC 9110 §15.4.5).
    pub async fn fetch_other_than(
        &self,
        known: &Validators,
        request: &Request,
        address: IpAddr,
        byte_limit: u64,
    ) -> (Response, Vec<u8>) {
        self.fetch_in(Manner::Usual, known, request, address, byte_limit, &Unmetered).await
    }

    /// The same in the manner that the server asks for, and no faster than the meter lets.
    pub async fn fetch_in(
        &self,
        manner: Manner,
        known: &Validators,
        request: &Request,
        address: IpAddr,
        byte_limit: u64,
        meter: &dyn Meter,
    ) -> (Response, Vec<u8>) {
        let wanted = FetchRequest { known, request, address, byte_limit, meter };
        match manner {
            Manner::Usual => self.fetch_over(Lines::to, wanted).await,
            Manner::OldTls => (self.greet(request, address).await, Vec::new()),
            Manner::WithoutLibrary => self.fetch_over(Lines::without_library, wanted).await,
        }
    }

    async fn fetch_over(
        &self,
        line_to: fn(&Lines, IpAddr, &WebUrl) -> Arc<Line>,
        wanted: FetchRequest<'_>,
    ) -> (Response, Vec<u8>) {
        let FetchRequest { known, request, address, byte_limit, meter } = wanted;
        let parts = &*self.parts;
        // Before it is looked whether the owner has opted out: who does so afterwards does so while it is under way.
        let begun = Instant::now();
        let not_asked =
            |failure| (Response::not_sent(parts.clock.at(begun), Some(address), failure, None), Vec::new());
        if let Err(failure) = parts.permits(&request.url, address) {
            return not_asked(failure);
        }
        let address = address.to_canonical();
        let line = line_to(&parts.lines, address, &request.url);
        let there = parts.lines.url(address, &request.url);
        let http_request =
            there.and_then(|there| parts.requests.make(&request.url, request.purpose, known, there));
        let Some(mut http_request) = http_request else {
            tracing::error!(url = %request.url, "a URL that cannot be sent");
            return not_asked(Failure::BadHttp);
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
        let (response, body) = exchange.run(http_request, begun).await;
        if response.failure.is_some_and(Failure::may_be_read_otherwise) {
            parts.lines.note_odd(address, &request.url);
        }
        (response, body)
    }

    /// An exchange in which a server is greeted as clients of old did, to learn which TLS it speaks. It brings no
    /// page; `tls_version` has what the server chose, and its cipher suite.
    pub async fn greet(&self, request: &Request, address: IpAddr) -> Response {
        let parts = &*self.parts;
        let begun = Instant::now();
        let started = parts.clock.at(begun);
        let address = address.to_canonical();
        let host = request.url.host();
        if let Err(failure) = parts.permits(&request.url, address) {
            return Response::not_sent(started, Some(address), failure, None);
        }
        let server = parts.settings.gateway.unwrap_or(SocketAddr::new(address, request.url.port()));
        let mut response = Response::not_sent(started, Some(address), Failure::TlsHandshake, None);
        greet(&parts.settings, server, host).await.fill(&mut response);
        response.timings.total = begun.elapsed();
        response
    }

    /// Whether the URL may be asked for at this address now: neither has opted out, and no address is special. Whoever has
    /// others ask looks here first.
    ///
    /// # Errors
    /// Says what stands against it.
    pub fn permits(&self, url: &WebUrl, address: IpAddr) -> Result<(), Failure> {
        self.parts.permits(url, address)
    }

    /// What a server's other users bear because of the survey; known of a Web in process only.
    #[must_use]
    pub fn user_delays(&self, address: IpAddr) -> Option<UserDelays> {
        match &self.parts.names {
            Directory::Dns(_) | Directory::Nobody => None,
            Directory::InProcess(web) => web.user_delays(address),
        }
    }

    /// What a GET of this URL will bring, of a Web in process that can tell ([`Web::prefetch`]).
    #[must_use]
    pub fn prefetch(&self, url: &WebUrl) -> Option<Prefetched> {
        match &self.parts.names {
            Directory::Dns(_) | Directory::Nobody => None,
            Directory::InProcess(web) => web.prefetch(url),
        }
    }

    /// The URL will not be asked for now.
    pub fn forget_prefetched(&self, url: &WebUrl) {
        if let Directory::InProcess(web) = &self.parts.names {
            web.forget(url);
        }
    }

    /// The most bytes one exchange can cost on the wire with these settings, as far as they are
    /// counted: what a budget must have left before the exchange begins.
    #[must_use]
    pub const fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// What one exchange may move beyond the limit that it is given.
    #[must_use]
    pub fn beyond_limit(&self) -> u64 {
        beyond_limit(&self.parts.settings)
    }
}

impl FetcherParts {
    /// Looks a host up. IPv6 is waited for only where there is no IPv4 address.
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
                let told = web.look_up(host);
                let patience = self.settings.timeouts.dns;
                tokio::time::sleep(told.took.min(patience)).await;
                let is_late = told.took >= patience;
                let addresses = if is_late { Err(Failure::DnsTimeout) } else { told.addresses };
                let until = Some(Instant::now() + told.lifetime);
                Pin::new(LookupResult { addresses, until, aliases: Vec::new() }.limited(&self.gate), None)
            }
        }
    }

    fn pinned(&self, host: &Host) -> Option<Pin> {
        self.pin_of(host).filter(|pin| pin.until > Instant::now())
    }

    /// The last gate before any byte leaves.
    fn permits(&self, url: &WebUrl, address: IpAddr) -> Result<(), Failure> {
        self.gate.exchange(url, address)?;
        self.aliases_permitted(url.host())
    }

    fn aliases_permitted(&self, host: &Host) -> Result<(), Failure> {
        let pin = self.pin_of(host);
        pin.iter().flat_map(Pin::aliases).try_for_each(|alias| self.gate.host(alias))
    }

    fn pin_of(&self, host: &Host) -> Option<Pin> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner).get(host)
    }

    fn pin(&self, host: Host, pin: Pin) {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner).insert(host, pin);
    }
}

/// The most that one exchange can move: all that its limit may be, what is read ahead of it, and our own part.
#[must_use]
pub fn most_bytes(settings: &Settings) -> u64 {
    largest_limit(settings) + READ_AHEAD + FRAMES + sent_bytes(settings)
}

/// What one exchange may move beyond the limit that it is given, however small that is: a handshake and a head, which
/// come whole or not at all, or what is read ahead; and our own part.
#[must_use]
pub fn beyond_limit(settings: &Settings) -> u64 {
    LARGEST_HANDSHAKE + READ_AHEAD + FRAMES + sent_bytes(settings)
}

/// Handshake, head and body.
fn largest_limit(settings: &Settings) -> u64 {
    LARGEST_HANDSHAKE + READ_AHEAD + settings.max_body.max(ROBOTS_BYTES)
}

fn sent_bytes(settings: &Settings) -> u64 {
    (MAX_URL_BYTES + settings.user_agent.len()) as u64 + REQUEST_OVERHEAD
}
