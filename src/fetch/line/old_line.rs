use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use openssl::error::ErrorStack;
use openssl::ssl::{Ssl, SslContext, SslMethod, SslMode, SslOptions, SslRef, SslVerifyMode, SslVersion};
use reqwest::{Body, Request, Response};
use rustls::pki_types::CertificateDer;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_openssl::SslStream;

use super::client::MOST_FIELDS;
use super::failure::{of_http, of_io};
use super::idle::kept_for;
use crate::address::Host;
use crate::exchange::Failure;
use crate::fetch::Settings;
use crate::fetch::connect::Notes;
use crate::fetch::settings::Timeouts;
use crate::fetch::tls::old_tls::of_connecting;
use crate::fetch::tls::{Examiner, Spoken};

/// A way to a server whose TLS is too old for the other lines, over OpenSSL at its lowest level. Certificates are
/// judged as everywhere.
pub(in crate::fetch) struct OldLine {
    server: SocketAddr,
    host: Host,
    examiner: Examiner,
    timeouts: Timeouts,
    /// The connection that is kept alive.
    open: Arc<Mutex<Option<Open>>>,
    /// For how long; none: not at all.
    kept: Option<Duration>,
}

struct Open {
    sender: SendRequest<Body>,
    spoken: Spoken,
    used: Instant,
}

impl OldLine {
    pub(in crate::fetch) fn new(
        server: SocketAddr,
        host: &Host,
        examiner: Examiner,
        settings: &Settings,
    ) -> Self {
        let (timeouts, kept) = (settings.timeouts, kept_for(true, settings.shortest_pause));
        Self { server, host: host.clone(), examiner, timeouts, open: Arc::default(), kept }
    }

    /// Closes the connection if it is idle.
    pub(in crate::fetch) fn hang_up(&self) {
        self.take();
    }

    fn take(&self) -> Option<Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(in crate::fetch) async fn execute(
        &self,
        request: Request,
        notes: &Notes,
    ) -> Result<Response, Failure> {
        let mut request = http::Request::<Body>::try_from(request).map_err(|_| Failure::BadHttp)?;
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        *request.uri_mut() = target.parse().map_err(|_| Failure::BadHttp)?;
        let kept = self.take().filter(|open| open.sender.is_ready());
        let mut open = match kept {
            Some(open) => open,
            None => self.connect(notes).await?,
        };
        let answered = open.sender.send_request(request).await;
        let mut response =
            answered.map_err(|error| of_http(&error).unwrap_or(Failure::Reset))?.map(Body::wrap);
        response.extensions_mut().insert(open.spoken.clone());
        self.keep(open);
        Ok(response.into())
    }

    /// Keeps a connection alive, for as long as others are. One that is not kept ends with the response.
    fn keep(&self, mut open: Open) {
        let Some(time) = self.kept else { return };
        let used = Instant::now();
        open.used = used;
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(open);
        let kept = Arc::downgrade(&self.open);
        tokio::spawn(async move {
            sleep(time).await;
            if let Some(kept) = kept.upgrade() {
                kept.lock().unwrap_or_else(PoisonError::into_inner).take_if(|open| open.used == used);
            }
        });
    }

    async fn connect(&self, notes: &Notes) -> Result<Open, Failure> {
        notes.note(|moments| moments.begun = Some(Instant::now()));
        let opened = self.open_connection(notes).await;
        notes.note(|moments| match opened {
            Ok(_) => moments.ready = Some(Instant::now()),
            Err(_) => moments.failed = true,
        });
        opened
    }

    async fn open_connection(&self, notes: &Notes) -> Result<Open, Failure> {
        #[allow(clippy::disallowed_methods)] // The room that connects.
        let connecting = TcpStream::connect(self.server);
        let stream = match timeout(self.timeouts.connect, connecting).await {
            Ok(connected) => connected.map_err(|error| of_connecting(&error))?,
            Err(_) => return Err(Failure::ConnectTimeout),
        };
        notes.note(|moments| moments.hello = Some(Instant::now()));
        let ssl = client(&self.host).map_err(|_| Failure::TlsHandshake)?;
        let mut stream = SslStream::new(ssl, stream).map_err(|_| Failure::TlsHandshake)?;
        match timeout(self.timeouts.tls, Pin::new(&mut stream).connect()).await {
            Ok(shaken) => shaken.map_err(|error| of_handshake(&error, notes))?,
            Err(_) => return Err(Failure::TlsTimeout),
        }
        if !self.examiner.accepts(&chain(stream.ssl())) {
            return Err(Failure::TlsCertificate);
        }
        let spoken = Spoken(spoken(stream.ssl()).into());
        let connection = Builder::new()
            .http09_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .max_headers(MOST_FIELDS)
            .handshake(TokioIo::new(stream))
            .await;
        let (sender, connection) = connection.map_err(|_| Failure::Reset)?;
        tokio::spawn(connection);
        Ok(Open { sender, spoken, used: Instant::now() })
    }
}

/// All that OpenSSL still has and a browser ever spoke: TLS 1.0 to 1.2, every suite with a certificate, keys of any
/// size, servers that know no safe renegotiation; but none is renegotiated with, for its bytes could not be counted.
fn client(host: &Host) -> Result<Ssl, ErrorStack> {
    let mut builder = SslContext::builder(SslMethod::tls_client())?;
    // The examiner looks at what was shown.
    builder.set_verify(SslVerifyMode::NONE);
    builder.set_cipher_list("ALL:!aNULL:@SECLEVEL=0")?;
    builder.set_min_proto_version(Some(SslVersion::TLS1))?;
    builder.set_max_proto_version(Some(SslVersion::TLS1_2))?;
    builder.set_options(
        SslOptions::ALL
            | SslOptions::ALLOW_UNSAFE_LEGACY_RENEGOTIATION
            | SslOptions::NO_RENEGOTIATION
            | SslOptions::NO_COMPRESSION,
    );
    builder
        .set_mode(SslMode::AUTO_RETRY | SslMode::ACCEPT_MOVING_WRITE_BUFFER | SslMode::ENABLE_PARTIAL_WRITE);
    let mut ssl = Ssl::new(&builder.build())?;
    if host.ip().is_none() {
        ssl.set_hostname(host.as_str())?;
    }
    Ok(ssl)
}

/// OpenSSL's number of its own TLS (`ERR_LIB_SSL`), and of its reasons: the version that the server chose is none of
/// ours, and what is added to the number of an alert that came.
const SSL_LIBRARY: i32 = 20;
const UNSUPPORTED_PROTOCOL: i32 = 258;
const ALERT: i32 = 1000;
const ALERT_PROTOCOL_VERSION: i32 = ALERT + 70;
const LAST_ALERT: i32 = ALERT + 255;

/// Why no handshake came about: the server is older still, as far as it says so.
fn of_handshake(error: &openssl::ssl::Error, notes: &Notes) -> Failure {
    if let Some(error) = error.io_error() {
        return of_io(error.kind(), &notes.moments());
    }
    let causes = error.ssl_error().map(ErrorStack::errors).unwrap_or_default();
    let reason = causes.iter().find(|cause| cause.library_code() == SSL_LIBRARY).map(|it| it.reason_code());
    match reason {
        Some(UNSUPPORTED_PROTOCOL | ALERT_PROTOCOL_VERSION) => Failure::TlsTooOld,
        Some(ALERT..=LAST_ALERT) => Failure::TlsAlert,
        _ => Failure::TlsHandshake,
    }
}

/// The certificates that the server showed, its own first.
fn chain(ssl: &SslRef) -> Vec<CertificateDer<'static>> {
    let shown = ssl.peer_cert_chain().into_iter().flatten();
    shown.filter_map(|certificate| certificate.to_der().ok()).map(CertificateDer::from).collect()
}

/// Version and cipher suite.
fn spoken(ssl: &SslRef) -> String {
    let version = if ssl.version2() == Some(SslVersion::TLS1) { "TLSv1.0" } else { ssl.version_str() };
    let suite = ssl.current_cipher().and_then(|suite| suite.standard_name());
    suite.map_or(version.to_owned(), |suite| format!("{version} {suite}"))
}
