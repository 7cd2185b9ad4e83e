use std::future::{Ready, ready};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::once;
use hickory_resolver::config::{ConnectionConfig, ProtocolConfig};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::xfer::DnsHandle;
use hickory_resolver::proto::op::{DnsRequest, DnsResponse, Message, ResponseCode};
use hickory_resolver::{ConnectionProvider, PoolContext};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, timeout, timeout_at};

use super::message::read;

/// Sends the resolver's queries to name servers.
///
/// hickory's own transport shares a TCP connection among look-ups. When a server closes it after a response
/// (RFC 7766 §6.2.4 allows this), other look-ups fail. Over UDP that transport also rejects a response with
/// one malformed record anywhere, without trying TCP. Here each query has its own socket, and a response is
/// accepted if the part that is needed can be read ([`read`]).
#[derive(Clone, Default)]
pub(super) struct Transport(TokioRuntimeProvider);

/// A name server, over UDP or TCP.
#[derive(Clone, Debug)]
pub(super) struct NameServer {
    address: SocketAddr,
    is_tcp: bool,
    time_limit: Duration,
}

/// A datagram without a response is sent once more after this time. RFC 1035 §4.2.1 wants at least two to
/// five seconds; that is meant for distant servers, and the name servers of a survey are near.
const RESEND_AFTER: Duration = Duration::from_secs(1);
/// Above the 1232 bytes that hickory announces (the DNS flag day of 2020); a longer datagram is cut, and
/// treated as truncated.
const LONGEST_DATAGRAM: usize = 4096;

impl ConnectionProvider for Transport {
    type Conn = NameServer;
    type FutureConn = Ready<Result<NameServer, NetError>>;
    type RuntimeProvider = TokioRuntimeProvider;

    fn new_connection(
        &self,
        ip: IpAddr,
        config: &ConnectionConfig,
        context: &PoolContext,
    ) -> Result<Self::FutureConn, NetError> {
        let is_tcp = matches!(config.protocol, ProtocolConfig::Tcp);
        let address = SocketAddr::new(ip, config.port);
        Ok(ready(Ok(NameServer { address, is_tcp, time_limit: context.options.timeout })))
    }

    fn runtime_provider(&self) -> &TokioRuntimeProvider {
        &self.0
    }
}

impl DnsHandle for NameServer {
    type Response = Pin<Box<dyn Stream<Item = Result<DnsResponse, NetError>> + Send>>;
    type Runtime = TokioRuntimeProvider;

    fn send(&self, request: DnsRequest) -> Self::Response {
        let server = self.clone();
        let (query, _) = request.into_parts();
        Box::pin(once(async move { server.query(&query).await }))
    }
}

impl NameServer {
    /// Sends the query. A name server that does not support EDNS gets it once more without options (RFC 6891
    /// §7): some such servers report that they cannot read the query, others that they do not implement it.
    async fn query(&self, query: &Message) -> Result<DnsResponse, NetError> {
        let response = timeout(self.time_limit, async {
            let response = self.query_once(query).await?;
            let is_refused =
                matches!(response.metadata.response_code, ResponseCode::FormErr | ResponseCode::NotImp);
            if is_refused && query.edns.is_some() {
                let mut query_without_edns = query.clone();
                query_without_edns.edns = None;
                return self.query_once(&query_without_edns).await;
            }
            Ok(response)
        });
        let response = response.await.map_err(|_| NetError::Timeout)??;
        Ok(DnsResponse::from_message(response)?)
    }

    async fn query_once(&self, query: &Message) -> Result<Message, NetError> {
        let bytes = query.to_vec()?;
        let response =
            if self.is_tcp { self.over_tcp(query, &bytes).await } else { self.over_udp(query, &bytes).await };
        Ok(response?)
    }

    /// The socket is connected: datagrams from other addresses do not reach it, and a closed port is reported
    /// at once. The system picks its port at random.
    async fn over_udp(&self, query: &Message, bytes: &[u8]) -> io::Result<Message> {
        let any: IpAddr =
            if self.address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0)).await?;
        socket.connect(self.address).await?;
        let mut buffer = vec![0; LONGEST_DATAGRAM];
        socket.send(bytes).await?;
        let resend = Instant::now() + RESEND_AFTER;
        match timeout_at(resend, receive(&socket, query, &mut buffer)).await {
            Ok(received) => received,
            Err(_) => {
                socket.send(bytes).await?;
                receive(&socket, query, &mut buffer).await
            }
        }
    }

    async fn over_tcp(&self, query: &Message, bytes: &[u8]) -> io::Result<Message> {
        #[allow(clippy::disallowed_methods)] // The room that connects.
        let mut stream = TcpStream::connect(self.address).await?;
        // RFC 7766 §8: the length and the message in one write.
        let length = u16::try_from(bytes.len()).map_err(|_| ErrorKind::InvalidInput)?.to_be_bytes();
        stream.write_all(&[&length[..], bytes].concat()).await?;
        loop {
            let mut message = vec![0; stream.read_u16().await?.into()];
            stream.read_exact(&mut message).await?;
            if let Some(response) = read(&message, query) {
                return Ok(response);
            }
        }
    }
}

async fn receive(socket: &UdpSocket, query: &Message, buffer: &mut [u8]) -> io::Result<Message> {
    loop {
        let length = socket.recv(buffer).await?;
        if let Some(response) = read(&buffer[..length], query) {
            return Ok(response);
        }
    }
}
