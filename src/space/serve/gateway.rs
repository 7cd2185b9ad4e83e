use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustls::server::Acceptor;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;
use tokio_rustls::{LazyConfigAcceptor, StartHandshake};

use super::access::{Access, AccessLog};
use super::connection::{Connection, IDLE, now_us};
use super::link::ServerLinks;
use super::tls::TlsHosts;
use crate::{Handshake, Web};

/// Connections served at once; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;
/// The first byte of a TLS handshake (RFC 8446 §5.1), and of no HTTP request.
const TLS_HANDSHAKE: u8 = 0x16;

/// The gateway that plays all Web servers of a world: HTTP, HTTPS and tunnels to both on one port.
pub(crate) struct Gateway {
    pub world: Arc<dyn Web>,
    pub log: AccessLog,
    pub links: ServerLinks,
    pub hosts: TlsHosts,
    pub stop: watch::Receiver<bool>,
    pub connections: AtomicU64,
    /// Number of requests to each server that bans clients.
    pub turn_counts: Mutex<HashMap<IpAddr, u32>>,
}

impl Gateway {
    /// Accepts connections until the stop signal.
    pub(crate) async fn run(self: Arc<Self>, listener: TcpListener) {
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut stop = self.stop.clone();
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stop.wait_for(|stopped| *stopped) => return,
            };
            // No file descriptors left, or the connection is gone already: the next accept may succeed.
            let Ok((stream, _)) = accepted else { continue };
            let gateway = Arc::clone(&self);
            tokio::spawn(async move {
                let mut stop = gateway.stop.clone();
                tokio::select! {
                    // An error on a connection ends only that connection.
                    _ = gateway.serve(stream) => {}
                    _ = stop.wait_for(|stopped| *stopped) => {}
                }
                drop(permit);
            });
        }
    }

    async fn serve(&self, mut tcp: TcpStream) -> io::Result<()> {
        tcp.set_nodelay(true)?;
        let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let mut tunnel = None;
        loop {
            match first_byte(&tcp).await? {
                None => return Ok(()),
                Some(TLS_HANDSHAKE) => return self.serve_tls(tcp, number, tunnel).await,
                Some(_) => {}
            }
            match self.serve_requests(Connection::new(tcp, number, 1)).await? {
                Some((stream, host)) => (tcp, tunnel) = (stream, Some(host)),
                None => return Ok(()),
            }
        }
    }

    /// Serves a client that starts TLS. `tunnel` is the host of the enclosing tunnel, for a client that sends
    /// no server name.
    async fn serve_tls(&self, mut tcp: TcpStream, number: u64, tunnel: Option<String>) -> io::Result<()> {
        let arrival_us = now_us();
        let start = timeout(IDLE, LazyConfigAcceptor::new(Acceptor::default(), &mut tcp)).await??;
        let sni_host = start.client_hello().server_name().map(str::to_ascii_lowercase);
        let host = sni_host.or(tunnel).unwrap_or_default();
        let server = self.world.server(&host);
        let access = Access {
            address: server.map(|server| server.address),
            arrival_us,
            connection: number,
            is_https: true,
            host: host.clone(),
            ..Access::default()
        };
        if let (Some(server), Handshake::Acts(acts)) = (server, self.world.handshake(&host)) {
            drop(start);
            return self.perform_and_close(Connection::new(tcp, number, 0), &server, &acts, access).await;
        }
        match self.shake_hands(start, &host).await {
            Ok(stream) => self.serve_requests(Connection::new(stream, number, 0)).await.map(|_| ()),
            Err(error) => {
                self.log.note(Access { end_us: now_us(), ..access });
                Err(error)
            }
        }
    }

    /// The handshake is delayed by one round trip for TCP and one for TLS 1.3; 1.2 is no slower here.
    async fn shake_hands<'a>(
        &self,
        start: StartHandshake<&'a mut TcpStream>,
        host: &str,
    ) -> io::Result<TlsStream<&'a mut TcpStream>> {
        let server = self.world.server(host);
        let (Some(server), Handshake::Certificate(kind)) = (server, self.world.handshake(host)) else {
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        self.links.wait(server.round_trip * 2).await;
        let config = self.hosts.config(host, kind)?;
        timeout(IDLE, start.into_stream(config)).await?
    }
}

/// The first byte from a client; none if it closes the connection or sends nothing for too long.
async fn first_byte(tcp: &TcpStream) -> io::Result<Option<u8>> {
    let mut byte = [0];
    match timeout(IDLE, tcp.peek(&mut byte)).await {
        Ok(Ok(1..)) => Ok(Some(byte[0])),
        Ok(Err(error)) => Err(error),
        Ok(Ok(0)) | Err(_) => Ok(None),
    }
}
