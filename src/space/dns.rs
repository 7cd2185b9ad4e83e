use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{DNSClass, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use super::{Lookup, Web};

/// Time to live of every record, in seconds: an hour, as hosts commonly have.
const TTL: u32 = 3600;
/// Tries to find a port that is free for UDP and TCP alike.
const PORT_TRIES: usize = 20;

/// The name server of a world: A records of its hosts, `NXDOMAIN` and `SERVFAIL` where the world
/// says so, and an empty answer for other types.
pub(super) struct NameServer {
    udp: UdpSocket,
    tcp: TcpListener,
}

impl NameServer {
    /// Binds UDP and TCP to the same port, chosen freely if `address` has port 0.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            let udp = UdpSocket::bind(address).await?;
            match TcpListener::bind(udp.local_addr()?).await {
                Ok(tcp) => return Ok(Self { udp, tcp }),
                Err(wrong) if address.port() != 0 || tries >= PORT_TRIES => return Err(wrong),
                Err(_) => tries += 1,
            }
        }
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Answers until dropped.
    pub async fn run(self, world: Arc<dyn Web>) {
        tokio::join!(serve_udp(&self.udp, &*world), serve_tcp(&self.tcp, &world));
    }
}

async fn serve_udp(socket: &UdpSocket, world: &dyn Web) {
    let mut buffer = [0; 4096];
    loop {
        // An error here is about an answer sent before, which its receiver did not want.
        let Ok((length, peer)) = socket.recv_from(&mut buffer).await else { continue };
        if let Some(answer) = answer(world, &buffer[..length]) {
            let _ = socket.send_to(&answer, peer).await;
        }
    }
}

async fn serve_tcp(listener: &TcpListener, world: &Arc<dyn Web>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let world = Arc::clone(world);
        // A client that goes away ends its own connection and nothing else.
        tokio::spawn(async move { serve_connection(stream, &*world).await });
    }
}

/// RFC 1035 §4.2.2: two bytes of length before each message.
async fn serve_connection(mut stream: TcpStream, world: &dyn Web) -> io::Result<()> {
    loop {
        let mut query = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut query).await?;
        let Some(answer) = answer(world, &query) else { return Ok(()) };
        stream.write_u16(u16::try_from(answer.len()).unwrap_or(u16::MAX)).await?;
        stream.write_all(&answer).await?;
    }
}

/// The answer to a query; none to what is not a query.
fn answer(world: &dyn Web, bytes: &[u8]) -> Option<Vec<u8>> {
    let request = Message::from_vec(bytes).ok()?;
    if request.metadata.message_type != MessageType::Query {
        return None;
    }
    let mut response = Message::response(request.metadata.id, request.metadata.op_code);
    response.metadata.recursion_desired = request.metadata.recursion_desired;
    response.metadata.recursion_available = true;
    response.metadata.authoritative = true;
    response.metadata.response_code = match request.queries.as_slice() {
        [query] if request.metadata.op_code == OpCode::Query => {
            response.add_query(query.clone());
            look_up(world, query, &mut response)
        }
        _ => ResponseCode::NotImp,
    };
    response.to_vec().ok()
}

fn look_up(world: &dyn Web, query: &Query, response: &mut Message) -> ResponseCode {
    let name = query.name().to_ascii().to_ascii_lowercase();
    match world.lookup(name.trim_end_matches('.')) {
        Lookup::NoSuchName => ResponseCode::NXDomain,
        Lookup::ServerFailure => ResponseCode::ServFail,
        Lookup::Silence => ResponseCode::ServFail,
        Lookup::Found(records) => {
            if query.query_type() == RecordType::A
                && query.query_class() == DNSClass::IN
                && let Some(address) = records.v4
            {
                response.add_answer(Record::from_rdata(query.name().clone(), TTL, RData::A(A(address))));
            }
            ResponseCode::NoError
        }
    }
}
