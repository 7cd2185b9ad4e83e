use std::net::SocketAddr;
use std::sync::Arc;

use bytes::BytesMut;
use futures_util::stream;
use http::Extensions;
use reqwest::header::{CONNECTION, HeaderValue};
use reqwest::{Method, Request, Response};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use url::Position;

use super::failure::from_handshake_error;
use crate::exchange::Failure;
use crate::fetch::connect::Notes;
use crate::fetch::raw::{Pieces, read_response};
use crate::fetch::settings::Timeouts;
use crate::fetch::tls::SpokenVersion;
use crate::fetch::tls::old_tls::from_connect_error;

/// A client for a server whose responses the HTTP library cannot read: each response comes over its own
/// connection and is read here.
pub(in crate::fetch) struct RawLine {
    server: SocketAddr,
    /// With the server name to send; none where the host is not a valid name for TLS.
    tls: Option<(Arc<ClientConfig>, Option<ServerName<'static>>)>,
    timeouts: Timeouts,
}

trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// The size of a read.
const BUFFER: usize = 8 * 1024;

impl RawLine {
    /// With TLS if a configuration is given, else without.
    pub(in crate::fetch) fn new(
        server: SocketAddr,
        tls: Option<(ClientConfig, Option<ServerName<'static>>)>,
        timeouts: Timeouts,
    ) -> Self {
        Self { server, tls: tls.map(|(config, name)| (Arc::new(config), name)), timeouts }
    }

    /// Asks the server to close the connection: otherwise a body that ends with the connection would not end.
    pub(in crate::fetch) fn prepare(request: &mut Request) {
        request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }

    pub(in crate::fetch) async fn execute(
        &self,
        request: Request,
        notes: &Notes,
    ) -> Result<Response, Failure> {
        notes.note(|moments| moments.connect_start = Some(Instant::now()));
        let connected_stream = self.connect(notes).await;
        notes.note(|moments| match connected_stream {
            Ok(_) => moments.ready = Some(Instant::now()),
            Err(_) => moments.failed = true,
        });
        let (mut connection, extensions) = connected_stream?;
        // A server may respond, and hang up, before it reads.
        if connection.write_all(&serialize(&request)).await.is_ok() {
            let _ = connection.flush().await;
        }
        read_response(pieces(connection), request.method() != Method::HEAD, extensions).await
    }

    async fn connect(&self, notes: &Notes) -> Result<(Box<dyn Connection>, Extensions), Failure> {
        #[allow(clippy::disallowed_methods)] // The room that connects.
        let connecting = TcpStream::connect(self.server);
        let stream = match timeout(self.timeouts.connect, connecting).await {
            Ok(connected) => connected.map_err(|error| from_connect_error(&error))?,
            Err(_) => return Err(Failure::ConnectTimeout),
        };
        let Some((config, name)) = &self.tls else { return Ok((Box::new(stream), Extensions::new())) };
        let Some(name) = name else { return Err(Failure::TlsHandshake) };
        notes.note(|moments| moments.tls_start = Some(Instant::now()));
        let handshake = TlsConnector::from(config.clone()).connect(name.clone(), stream);
        let stream = match timeout(self.timeouts.tls, handshake).await {
            Ok(result) => result.map_err(|error| from_handshake_error(&error, &notes.moments()))?,
            Err(_) => return Err(Failure::TlsTimeout),
        };
        let mut extensions = Extensions::new();
        if let Some(version) = stream.get_ref().1.protocol_version() {
            let is_old = version == ProtocolVersion::TLSv1_2;
            extensions.insert(SpokenVersion(if is_old { "TLSv1.2" } else { "TLSv1.3" }));
        }
        Ok((Box::new(stream), extensions))
    }
}

/// The request in the bytes that the HTTP library would write.
fn serialize(request: &Request) -> Vec<u8> {
    let target = &request.url()[Position::BeforePath..];
    let mut bytes = format!("{} {target} HTTP/1.1\r\n", request.method()).into_bytes();
    for (name, value) in request.headers() {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn pieces(connection: Box<dyn Connection>) -> Pieces {
    Box::pin(stream::unfold(Some(connection), |connection| async move {
        let mut connection = connection?;
        let mut buffer = BytesMut::with_capacity(BUFFER);
        match connection.read_buf(&mut buffer).await {
            Ok(0) => None,
            Ok(_) => Some((Ok(buffer.freeze()), Some(connection))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::connect::request::request_bytes;

    #[test]
    fn a_request_is_written_as_it_is_counted() {
        let mut request = Request::new(Method::GET, "http://a.ke/b%20c?q=|x".parse().unwrap());
        request.headers_mut().insert("host", HeaderValue::from_static("a.ke"));
        RawLine::prepare(&mut request);
        let bytes = serialize(&request);
        assert_eq!(bytes, b"GET /b%20c?q=|x HTTP/1.1\r\nhost: a.ke\r\nconnection: close\r\n\r\n");
        assert_eq!(bytes.len() as u64, request_bytes(&request));
    }
}
