use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use parking_lot::Mutex;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use reqwest::{Request, Response};
use tokio::time::{Instant, sleep, sleep_until};

use super::idle::keep_alive_time;
use crate::address::{Host, WebUrl};
use crate::exchange::{Certificate, Failure, Purpose, RECEIVE_WINDOW, TlsError};
use crate::fetch::Settings;
use crate::fetch::connect::Notes;
use crate::fetch::connect::wire::READ_AHEAD;
use crate::fetch::decode::Identity;
use crate::fetch::tls::{CertificateCheck, SpokenVersion};

/// A Web in this process, which takes the place of the network.
///
/// It responds at once and states how long the response would have taken; the waiting is done here, by the
/// runtime's clock.
pub trait Web: Send + Sync {
    /// Looks a host up in DNS.
    fn look_up(&self, host: &Host) -> LookupResponse;

    /// The result of a request, and how long it takes.
    fn respond(&self, web_request: &WebRequest<'_>) -> WebResponse;

    /// The delay that the requests so far add for a server's other users; none where the server has no other
    /// users.
    fn user_delays(&self, address: IpAddr) -> Option<UserDelays>;

    /// The result of a GET of this URL, computed ahead of the request by whichever thread has time. It is
    /// kept until the request is sent, or until it is clear that the request will not be sent
    /// ([`Web::forget`]). None where it is not a whole response, or the Web does not support it.
    fn prefetch(&self, _url: &WebUrl) -> Option<Prefetched> {
        None
    }

    /// Discards a prefetched result: its request will not be sent now.
    fn forget(&self, _url: &WebUrl) {}
}

/// The result of a request that has not been sent yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetched {
    /// The HTTP status.
    pub status: u16,
    /// The header field.
    pub content_type: Option<String>,
    /// Without content encoding.
    pub body: Bytes,
}

/// The result of a DNS look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupResponse {
    /// The addresses in any order, or the reason why there are none.
    pub addresses: Result<Vec<IpAddr>, Failure>,
    /// The names of which the host is an alias (CNAME), one after another.
    pub aliases: Vec<Host>,
    /// How long the result is valid.
    pub lifetime: Duration,
    /// How long the name server takes to respond.
    pub took: Duration,
}

/// A request as a server sees it.
#[derive(Clone, Copy, Debug)]
pub struct WebRequest<'a> {
    /// The requested URL.
    pub url: &'a WebUrl,
    /// Distinguishes GET from HEAD.
    pub purpose: Purpose,
    /// `If-None-Match`, as sent (RFC 9110 §13.1).
    pub if_none_match: Option<&'a str>,
    /// `If-Modified-Since`, as sent.
    pub if_modified_since: Option<&'a str>,
    /// The request is the first on a new connection.
    pub opens_connection: bool,
}

/// The result of a request, and how long it takes.
#[derive(Clone, Debug)]
pub struct WebResponse {
    /// Time to a TCP connection; zero on one kept alive.
    pub connect: Duration,
    /// Time for the TLS handshake after it, with `https`.
    pub tls: Duration,
    /// The certificate that the server sends in the handshake; none when it does not support TLS.
    pub sent_certificate: Option<SentCertificate>,
    /// The result once the connection is ready.
    pub outcome: ConnectionOutcome,
}

/// A certificate as a survey records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentCertificate {
    /// Length of the whole chain.
    pub bytes: u64,
    /// What it says.
    pub contents: Option<Certificate>,
    /// Why it is not valid for the host.
    pub defect: Option<TlsError>,
}

/// The result of a request on a connection that is ready.
#[derive(Clone, Debug)]
pub enum ConnectionOutcome {
    /// The connection is closed after this time.
    Closed(Duration),
    /// Nothing ever arrives.
    Silence,
    /// An HTTP response.
    Response {
        /// From the request to the head of the response.
        first_byte: Duration,
        /// The HTTP status.
        status: u16,
        /// Header fields, in order.
        fields: Vec<(&'static str, String)>,
        /// As transferred.
        body: Vec<u8>,
        /// The whole body without content encoding, where the Web has it available.
        identity: Option<Bytes>,
        /// The connection ends after this number of bytes of the body.
        cut_after: Option<usize>,
        /// The rate at which the body arrives.
        bytes_per_second: f64,
    },
}

/// The delays of a server's other users in the hours in which it is surveyed, on average over their requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserDelays {
    /// Capacity of the server's link.
    pub bits_per_second: f64,
    /// The number of their requests in these hours.
    pub requests: u64,
    /// Their delay without the survey.
    pub without: UserDelay,
    /// Their delay with the survey; none when the load exceeds the capacity of the server in one of the
    /// hours, and waits grow without end.
    pub with: Option<UserDelay>,
    /// How much longer their responses took in the worst of these hours, as a share. Only hours with more
    /// than a hundred of their requests count. Infinite where waits grew without end.
    pub worst_hour: Option<f64>,
}

/// How long a user waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserDelay {
    /// The time until the server starts work on the request.
    pub wait: Duration,
    /// The time until the whole response is there: the wait, the work of the server, the transfer.
    pub response: Duration,
}

/// The client for one server of a Web in process, with the connection that is kept alive.
pub(in crate::fetch) struct VirtualLine {
    web: Arc<dyn Web>,
    connect: Duration,
    handshake: Duration,
    refuses_bad_certificates: bool,
    connection: KeptConnection,
}

/// The connection that was used last, while it is kept.
#[derive(Clone)]
struct KeptConnection {
    expires: Arc<Mutex<Option<Instant>>>,
    /// None if no connection is kept.
    time: Option<Duration>,
}

/// The TLS version of a Web in process.
const TLS: &str = "TLSv1.3";
/// A body arrives in stretches that take about this long, so that time-outs can fire while it arrives.
const STRETCH: Duration = Duration::from_secs(1);

impl VirtualLine {
    pub(in crate::fetch) fn new(web: Arc<dyn Web>, is_https: bool, settings: &Settings) -> Self {
        Self {
            web,
            connect: settings.timeouts.connect,
            handshake: settings.timeouts.tls,
            refuses_bad_certificates: settings.refuse_bad_certificates,
            connection: KeptConnection {
                expires: Arc::default(),
                time: keep_alive_time(is_https, settings.shortest_pause),
            },
        }
    }

    /// Closes the connection if it is idle.
    pub(in crate::fetch) fn hang_up(&self) {
        self.connection.take();
    }

    pub(in crate::fetch) async fn execute(
        &self,
        request: &Request,
        url: &WebUrl,
        purpose: Purpose,
        notes: &Notes,
        certificate_check: &CertificateCheck,
    ) -> Result<Response, Failure> {
        let opens_connection = !self.connection.take();
        let field = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let (if_none_match, if_modified_since) = (field(IF_NONE_MATCH), field(IF_MODIFIED_SINCE));
        let web_response = self.web.respond(&WebRequest {
            url,
            purpose,
            if_none_match,
            if_modified_since,
            opens_connection,
        });
        if opens_connection {
            let result = self.connect(&web_response, url.is_https(), notes, certificate_check).await;
            notes.note(|moments| match result {
                Ok(()) => moments.ready = Some(Instant::now()),
                Err(_) => moments.failed = true,
            });
            result?;
        }
        match web_response.outcome {
            ConnectionOutcome::Silence => std::future::pending().await,
            ConnectionOutcome::Closed(after) => {
                sleep(after).await;
                Err(Failure::Reset)
            }
            ConnectionOutcome::Response {
                first_byte,
                status,
                fields,
                body,
                identity,
                cut_after,
                bytes_per_second,
            } => {
                sleep(first_byte).await;
                // RFC 9112 §6.3: such a response ends with its head, and the connection can be used again.
                if matches!(status, 204 | 304) {
                    self.connection.keep();
                }
                let body = TimedBody {
                    rest: Bytes::from(body),
                    stretch: BodyStretch { start: Instant::now(), bytes: 0, received: 0 },
                    before_cut: cut_after.unwrap_or(usize::MAX),
                    bytes_per_second,
                    connection: (purpose != Purpose::Head).then(|| self.connection.clone()),
                };
                let response = Self::build_response(status, &fields, body, url.is_https());
                let mut response = response.ok_or(Failure::BadHttp)?;
                if let Some(identity) = identity {
                    response.extensions_mut().insert(Identity(identity));
                }
                Ok(response)
            }
        }
    }

    async fn connect(
        &self,
        web_response: &WebResponse,
        is_https: bool,
        notes: &Notes,
        certificate_check: &CertificateCheck,
    ) -> Result<(), Failure> {
        notes.note(|moments| moments.connect_start = Some(Instant::now()));
        sleep(web_response.connect.min(self.connect)).await;
        if web_response.connect >= self.connect {
            return Err(Failure::ConnectTimeout);
        }
        if !is_https {
            return Ok(());
        }
        notes.note(|moments| moments.tls_start = Some(Instant::now()));
        sleep(web_response.tls.min(self.handshake)).await;
        if web_response.tls >= self.handshake {
            return Err(Failure::TlsTimeout);
        }
        let sent_certificate = web_response.sent_certificate.as_ref().ok_or(Failure::TlsHandshake)?;
        // Virtual servers resume no session, not even over sockets.
        notes.note(|moments| moments.certificate_bytes = Some(sent_certificate.bytes));
        certificate_check.set(sent_certificate.defect);
        certificate_check.set_certificate(sent_certificate.contents.clone());
        if self.refuses_bad_certificates && sent_certificate.defect.is_some() {
            Err(Failure::TlsCertificate)
        } else {
            Ok(())
        }
    }

    fn build_response(
        status: u16,
        fields: &[(&'static str, String)],
        body: TimedBody,
        is_https: bool,
    ) -> Option<Response> {
        let mut headers = HeaderMap::with_capacity(fields.len());
        for (name, value) in fields {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            headers.append(name, HeaderValue::from_str(value).ok()?);
        }
        let body = if body.connection.is_some() {
            reqwest::Body::wrap_stream(stream::unfold(Some(body), TimedBody::next))
        } else {
            reqwest::Body::default()
        };
        let mut response = http::Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(status).ok()?;
        *response.headers_mut() = headers;
        if is_https {
            response.extensions_mut().insert(SpokenVersion(TLS));
        }
        Some(response.into())
    }
}

impl KeptConnection {
    /// Whether there is a connection to reuse; takes it.
    fn take(&self) -> bool {
        let mut expires = self.expires.lock();
        expires.take().is_some_and(|expires| expires > Instant::now())
    }

    /// The connection can be used again.
    fn keep(&self) {
        *self.expires.lock() = self.time.map(|time| Instant::now() + time);
    }
}

/// A body that is still arriving.
struct TimedBody {
    rest: Bytes,
    stretch: BodyStretch,
    before_cut: usize,
    bytes_per_second: f64,
    /// The connection to be marked as reusable; none where no body is read.
    connection: Option<KeptConnection>,
}

/// A part of a body that arrives in one go, if it is read as it arrives.
struct BodyStretch {
    start: Instant,
    bytes: usize,
    /// The number of these bytes that have arrived.
    received: usize,
}

impl TimedBody {
    /// The next piece and the remaining body; once all of it has been read, the connection can be reused.
    async fn next(this: Option<Self>) -> Option<(io::Result<Bytes>, Option<Self>)> {
        let mut this = this?;
        if this.before_cut == 0 {
            return Some((Err(io::ErrorKind::UnexpectedEof.into()), None));
        }
        if this.rest.is_empty() {
            if let Some(connection) = &this.connection {
                connection.keep();
            }
            return None;
        }
        let remaining = this.rest.len().min(this.before_cut);
        if this.stretch.received == this.stretch.bytes {
            this.stretch = BodyStretch {
                start: Instant::now(),
                bytes: remaining.min(this.bytes_in(STRETCH)),
                received: 0,
            };
        }
        let BodyStretch { start, bytes, received } = &mut this.stretch;
        // A server sends no more until the bytes already sent have been read.
        let piece = this.rest.split_to((*bytes - *received).min(RECEIVE_WINDOW as usize));
        *received += piece.len();
        this.before_cut -= piece.len();
        let seconds = *received as f64 / this.bytes_per_second;
        match Duration::try_from_secs_f64(seconds).ok().and_then(|took| start.checked_add(took)) {
            Some(due) => sleep_until(due).await,
            None => sleep(Duration::MAX).await,
        }
        Some((Ok(piece), Some(this)))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as wanted")]
    fn bytes_in(&self, time: Duration) -> usize {
        ((self.bytes_per_second * time.as_secs_f64()) as usize).clamp(1, READ_AHEAD as usize)
    }
}
