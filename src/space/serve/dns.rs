use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::IDLE;
use super::dns_answer::{Resolver, Transport};
use crate::Web;

/// Attempts to find a port that is free for both UDP and TCP.
const PORT_TRIES: usize = 20;
/// Connections served at once; further ones wait.
const MAX_CONNECTIONS: usize = 256;

/// The name server of a world, over UDP and TCP.
pub(crate) struct NameServer {
    udp: UdpSocket,
    tcp: TcpListener,
}

impl NameServer {
    /// Binds UDP and TCP to the same port; port 0 in `address` picks any free port.
    pub(crate) async fn bind(address: SocketAddr) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            let udp = UdpSocket::bind(address).await?;
            match TcpListener::bind(udp.local_addr()?).await {
                Ok(tcp) => return Ok(Self { udp, tcp }),
                Err(error) if address.port() != 0 || tries >= PORT_TRIES => return Err(error),
                Err(_) => tries += 1,
            }
        }
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Responds to queries until dropped.
    pub(crate) async fn run(self, world: Arc<dyn Web>) {
        let resolver = Arc::new(Resolver::new(world));
        tokio::join!(serve_udp(&self.udp, &resolver), serve_tcp(&self.tcp, &resolver));
    }
}

async fn serve_udp(socket: &UdpSocket, resolver: &Resolver) {
    let mut buffer = [0; 4096];
    loop {
        // An error here concerns an earlier response that its receiver rejected.
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else { continue };
        if let Some(answer) = resolver.respond(&buffer[..length], Transport::Udp) {
            let _ = socket.send_to(&answer, peer).await;
        }
    }
}

async fn serve_tcp(listener: &TcpListener, resolver: &Arc<Resolver>) {
    // An error on a connection ends only that connection. Dropping the set ends them all.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                let Ok((stream, _)) = accepted else { continue };
                let resolver = Arc::clone(resolver);
                connections.spawn(async move { serve_connection(stream, &resolver).await });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// RFC 1035 §4.2.2: two bytes of length before each message. If the world is silent on a query, the client
/// may send another one.
async fn serve_connection(mut stream: TcpStream, resolver: &Resolver) -> io::Result<()> {
    loop {
        let mut query = vec![0; usize::from(timeout(IDLE, stream.read_u16()).await??)];
        timeout(IDLE, stream.read_exact(&mut query)).await??;
        let Some(answer) = resolver.respond(&query, Transport::Tcp) else { continue };
        stream.write_u16(u16::try_from(answer.len()).unwrap_or(u16::MAX)).await?;
        stream.write_all(&answer).await?;
    }
}
