use std::net::SocketAddr;

use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use openssl::ssl::{Ssl, SslConnector, SslMethod, SslOptions, SslVerifyMode, SslVersion};
use reqwest::{Body, Request, Response};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tokio_openssl::SslStream;

use super::connect::Notes;
use super::failure::of_http;
use super::settings::Timeouts;
use super::tls::Spoken;
use crate::address::Host;
use crate::exchange::Failure;

/// A way to a server whose TLS is too old for the other lines, over OpenSSL at its lowest level.
///
/// Certificates are not looked at: such a server has no valid one, and nothing secret is sent.
pub(super) struct OldLine {
    server: SocketAddr,
    host: Host,
    timeouts: Timeouts,
    /// The connection that is kept alive.
    open: Mutex<Option<Open>>,
}

struct Open {
    sender: SendRequest<Body>,
    spoken: Spoken,
}

impl OldLine {
    pub(super) fn new(server: SocketAddr, host: &Host, timeouts: Timeouts) -> Self {
        Self { server, host: host.clone(), timeouts, open: Mutex::default() }
    }

    pub(super) async fn execute(&self, request: Request, notes: &Notes) -> Result<Response, Failure> {
        let mut request = http::Request::<Body>::try_from(request).map_err(|_| Failure::BadHttp)?;
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        *request.uri_mut() = target.parse().map_err(|_| Failure::BadHttp)?;
        let kept = self.open.lock().await.take().filter(|open| open.sender.is_ready());
        let mut open = match kept {
            Some(open) => open,
            None => self.connect(notes).await?,
        };
        let answered = open.sender.send_request(request).await;
        let mut response =
            answered.map_err(|error| of_http(&error).unwrap_or(Failure::Reset))?.map(Body::wrap);
        response.extensions_mut().insert(open.spoken.clone());
        *self.open.lock().await = Some(open);
        Ok(response.into())
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
            Ok(connected) => connected.map_err(|error| super::old_tls::of_connecting(&error))?,
            Err(_) => return Err(Failure::ConnectTimeout),
        };
        notes.note(|moments| moments.hello = Some(Instant::now()));
        let ssl = client(&self.host).map_err(|_| Failure::TlsHandshake)?;
        let mut stream = SslStream::new(ssl, stream).map_err(|_| Failure::TlsHandshake)?;
        match timeout(self.timeouts.tls, std::pin::Pin::new(&mut stream).connect()).await {
            Ok(shaken) => shaken.map_err(|_| Failure::TlsHandshake)?,
            Err(_) => return Err(Failure::TlsTimeout),
        }
        let spoken = Spoken(spoken(stream.ssl()).into());
        let chain = stream.ssl().peer_cert_chain();
        let bytes = chain.into_iter().flatten().filter_map(|it| it.to_der().ok()).map(|der| der.len() as u64);
        let bytes = bytes.sum();
        notes.note(|moments| moments.certificate_bytes = Some(bytes));
        let connection = Builder::new().handshake(TokioIo::new(stream)).await;
        let (sender, connection) = connection.map_err(|_| Failure::Reset)?;
        tokio::spawn(connection);
        Ok(Open { sender, spoken })
    }
}

/// All that OpenSSL still has: TLS 1.0 to 1.2, every suite, keys of any size, renegotiation of any kind.
fn client(host: &Host) -> Result<Ssl, openssl::error::ErrorStack> {
    let mut builder = SslConnector::builder(SslMethod::tls_client())?;
    builder.set_verify(SslVerifyMode::NONE);
    builder.set_cipher_list("ALL:@SECLEVEL=0")?;
    builder.set_min_proto_version(Some(SslVersion::TLS1))?;
    builder.set_max_proto_version(Some(SslVersion::TLS1_2))?;
    builder.set_options(SslOptions::ALLOW_UNSAFE_LEGACY_RENEGOTIATION);
    let named = host.ip().is_none();
    let connector = builder.build().configure()?.verify_hostname(false).use_server_name_indication(named);
    connector.into_ssl(host.as_str())
}

/// Version and cipher suite.
fn spoken(ssl: &openssl::ssl::SslRef) -> String {
    let version = if ssl.version2() == Some(SslVersion::TLS1) { "TLSv1.0" } else { ssl.version_str() };
    let suite = ssl.current_cipher().and_then(|suite| suite.standard_name());
    suite.map_or(version.to_owned(), |suite| format!("{version} {suite}"))
}
