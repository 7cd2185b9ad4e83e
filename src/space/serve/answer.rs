use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::access::Access;
use super::connection::{Connection, Received, Stream, now_us};
use super::gateway::Gateway;
use super::head::RequestHead;
use crate::web::WireResponse;
use crate::{Lookup, Reaction, Response, Server};

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// The text is for a person with a browser.
const MISDIRECTED: &[u8] =
    b"HTTP/1.1 421 Misdirected Request\r\nContent-Type: text/plain\r\nContent-Length: 44\r\n\
Connection: close\r\n\r\nThe virtual Web has no server for this host\n";
const TUNNEL: &[u8] = b"HTTP/1.1 200 Connection Established\r\n\r\n";
const NO_TUNNEL: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// A request that has no response yet.
struct PendingRequest<'a> {
    head: &'a RequestHead,
    /// None for a host without an address.
    server: Option<Server>,
    is_last: bool,
    access: Access,
}

/// What happens to the connection after a response.
pub(crate) enum ConnectionState {
    GoOn,
    Close,
    BreakOff,
    Reset,
}

impl Gateway {
    /// Responds to the requests of a connection until it ends, or until the client requests a tunnel: then
    /// returns the stream and the tunnel's host.
    pub(crate) async fn serve_requests<S: Stream>(
        &self,
        mut connection: Connection<S>,
    ) -> io::Result<Option<(S, String)>> {
        while let Some(received) = connection.read_head().await? {
            let Some(head) = RequestHead::parse(&received.head) else {
                connection.send(BAD_REQUEST).await?;
                break;
            };
            if head.is_for_a_tunnel() {
                if self.open_tunnel(&mut connection, &head.host).await? {
                    return Ok(Some((connection.stream, head.host)));
                }
                break;
            }
            match self.respond_to(&mut connection, &head, &received).await? {
                ConnectionState::GoOn => {}
                ConnectionState::Close => break,
                ConnectionState::BreakOff => return connection.break_off().await.map(|()| None),
                ConnectionState::Reset => return connection.reset().map(|()| None),
            }
        }
        connection.stream.shutdown().await.map(|()| None)
    }

    /// Only a plain connection may have a tunnel, and only to a host of the world. A proxy request is not
    /// logged as an access.
    async fn open_tunnel<S: Stream>(&self, connection: &mut Connection<S>, host: &str) -> io::Result<bool> {
        let is_allowed = !S::IS_TLS
            && matches!(self.world.lookup(host), Lookup::Found(_) | Lookup::Alias(_) | Lookup::Turns(_));
        connection.send(if is_allowed { TUNNEL } else { NO_TUNNEL }).await?;
        Ok(is_allowed)
    }

    async fn respond_to<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        head: &RequestHead,
        received: &Received,
    ) -> io::Result<ConnectionState> {
        let reaction = self.world.respond(S::IS_TLS, &head.host, &head.target);
        let server = self.world.server(&head.host);
        let access = access_from(connection, head, received, server.as_ref());
        // Request bodies are never read, so the connection cannot continue after one.
        let is_last = head.closes || head.body_bytes != Some(0);
        let request = PendingRequest { head, server, is_last, access };
        match reaction {
            Reaction::NoSuchHost => {
                let access = Access { status: Some(421), ..request.access };
                self.send(connection, None, MISDIRECTED, access).await.map(|()| ConnectionState::Close)
            }
            Reaction::Silence => {
                let client_left = connection.ignore().await;
                self.log.note(Access { end_us: now_us(), client_left, ..request.access });
                Ok(ConnectionState::Close)
            }
            Reaction::Refused => {
                self.log.note(Access { end_us: now_us(), ..request.access });
                Ok(ConnectionState::Close)
            }
            Reaction::Reset => {
                self.wait_before_response(connection, &request, Duration::ZERO).await;
                self.log.note(Access { end_us: now_us(), ..request.access });
                Ok(ConnectionState::Reset)
            }
            Reaction::Response(response) => self.respond(connection, request, response).await,
            Reaction::Acts(acts) => {
                let server = request.server.unwrap_or_else(|| Server::alone_at(Ipv4Addr::UNSPECIFIED.into()));
                let acts = self.acts_in_force(&server, acts);
                self.perform(connection, &server, &acts, request.access).await
            }
        }
    }

    async fn respond<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        request: PendingRequest<'_>,
        response: Response,
    ) -> io::Result<ConnectionState> {
        self.wait_before_response(connection, &request, response.service).await;
        let wire_response = WireResponse::new(response, &request.head.request_fields, request.is_last);
        let access = Access { status: Some(wire_response.status), ..request.access };
        self.send(connection, request.server.as_ref(), &wire_response.to_bytes(), access).await?;
        Ok(match (wire_response.is_cut, request.is_last) {
            (true, _) => ConnectionState::BreakOff,
            (false, true) => ConnectionState::Close,
            (false, false) => ConnectionState::GoOn,
        })
    }

    /// The delay before the first byte of a response: one round trip for the request, another for a new
    /// connection, and the service time.
    async fn wait_before_response<S>(
        &self,
        connection: &mut Connection<S>,
        request: &PendingRequest<'_>,
        service: Duration,
    ) {
        let round_trips = 1 + std::mem::take(&mut connection.pending_round_trips);
        let round_trip = request.server.map(|server| server.round_trip).unwrap_or_default();
        self.links.wait(round_trip * round_trips + service).await;
    }

    /// Writes a response piece by piece at the speed of the link, and logs the access.
    ///
    /// The access is logged before the last piece is sent. Otherwise the client might receive that piece and
    /// go on before this task runs again, and a pause would look shorter than it was.
    async fn send<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        server: Option<&Server>,
        bytes: &[u8],
        mut access: Access,
    ) -> io::Result<()> {
        let size = server.map_or(bytes.len(), |server| self.links.piece_bytes(server));
        let mut sent = Ok(());
        for piece in bytes.chunks(size.max(1)) {
            if let Some(server) = server {
                self.links.transfer(server, piece.len()).await;
            }
            access.sent_bytes += piece.len() as u64;
            if access.sent_bytes == bytes.len() as u64 {
                let client_left = connection.client_left();
                self.log.note(Access { end_us: now_us(), client_left, ..access.clone() });
            }
            sent = connection.send(piece).await;
            if sent.is_err() {
                break;
            }
        }
        if access.sent_bytes < bytes.len() as u64 {
            self.log.note(Access { end_us: now_us(), client_left: true, ..access });
        }
        sent
    }
}

/// The part of an access that is known before the response.
fn access_from<S: Stream>(
    connection: &Connection<S>,
    head: &RequestHead,
    received: &Received,
    server: Option<&Server>,
) -> Access {
    Access {
        address: server.map(|server| server.address),
        host: head.host.clone(),
        path: head.target.clone(),
        method: head.method.clone(),
        user_agent: head.user_agent.clone(),
        arrival_us: received.arrival_us,
        received_bytes: received.head.len() as u64,
        connection: connection.number,
        is_https: S::IS_TLS,
        ..Access::default()
    }
}
