use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hickory_resolver::proto::op::{Message, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

/// A name server on loopback with the records that a test needs.
pub(crate) struct TestNameServer {
    pub address: SocketAddr,
    query_log: Arc<Mutex<Vec<String>>>,
}

/// Its response to a query.
pub(crate) enum DnsReply {
    Addresses(&'static [&'static str]),
    Alias(&'static str, &'static [&'static str]),
    Code(ResponseCode),
    /// Over UDP a truncated response; over TCP the addresses.
    OverTcp(&'static [&'static str]),
    /// Over UDP the response ends within its last record; over TCP it is whole.
    Cut(&'static [&'static str]),
    /// Addresses, followed by a record that ends early.
    BrokenBehind(&'static [&'static str]),
    /// Addresses if the query has no options, else this code.
    WithoutOptions(&'static [&'static str], ResponseCode),
    Garbage,
    Silence,
}

type Zone = fn(&str, RecordType) -> DnsReply;

const TTL_SECONDS: u32 = 3600;

impl TestNameServer {
    pub(crate) async fn serving(zone: Zone) -> Self {
        let (udp, tcp, address) = loop {
            let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = udp.local_addr().unwrap();
            if let Ok(tcp) = TcpListener::bind(address).await {
                break (udp, tcp, address);
            }
        };
        let query_log = Arc::<Mutex<Vec<String>>>::default();
        let (udp_log, tcp_log) = (query_log.clone(), query_log.clone());
        tokio::spawn(async move {
            let mut packet = [0; 1500];
            while let Ok((length, client)) = udp.recv_from(&mut packet).await {
                if let Some(reply) = response(&packet[..length], zone, &udp_log, false) {
                    udp.send_to(&reply, client).await.unwrap();
                }
            }
        });
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = tcp.accept().await {
                let length = stream.read_u16().await.unwrap();
                let mut packet = vec![0; length.into()];
                stream.read_exact(&mut packet).await.unwrap();
                let reply = response(&packet, zone, &tcp_log, true).unwrap();
                stream.write_u16(u16::try_from(reply.len()).unwrap()).await.unwrap();
                stream.write_all(&reply).await.unwrap();
            }
        });
        Self { address, query_log }
    }

    /// The queries, as `name type`, with `tcp` for those over TCP.
    pub(crate) fn query_log(&self) -> Vec<String> {
        self.query_log.lock().clone()
    }
}

fn response(packet: &[u8], zone: Zone, query_log: &Mutex<Vec<String>>, tcp: bool) -> Option<Vec<u8>> {
    let question = Message::from_vec(packet).unwrap();
    let query = question.queries[0].clone();
    let (name, kind) = (query.name().clone(), query.query_type());
    let suffix = if tcp { " tcp" } else { "" };
    query_log.lock().push(format!("{name} {kind}{suffix}"));
    let mut reply = Message::response(question.metadata.id, question.metadata.op_code);
    reply.add_query(query);
    match zone(&name.to_string(), kind) {
        DnsReply::Addresses(addresses) => add(&mut reply, &name, kind, addresses),
        DnsReply::OverTcp(addresses) if tcp => add(&mut reply, &name, kind, addresses),
        DnsReply::OverTcp(_) => reply.metadata.truncation = true,
        DnsReply::Cut(addresses) => {
            add(&mut reply, &name, kind, addresses);
            let mut bytes = reply.to_vec().unwrap();
            if !tcp {
                bytes.truncate(bytes.len() - 2);
            }
            return Some(bytes);
        }
        DnsReply::BrokenBehind(addresses) => {
            add(&mut reply, &name, kind, addresses);
            let mut bytes = reply.to_vec().unwrap();
            bytes[11] = 1;
            bytes.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 9, 0, 77, 1]);
            return Some(bytes);
        }
        DnsReply::Alias(target, addresses) => {
            let labels = target.trim_end_matches('.').split('.').map(str::as_bytes);
            let target = Name::from_labels(labels).unwrap();
            let alias = RData::CNAME(CNAME(target.clone()));
            reply.add_answer(Record::from_rdata(name, TTL_SECONDS, alias));
            add(&mut reply, &target, kind, addresses);
        }
        DnsReply::WithoutOptions(_, code) if question.edns.is_some() => reply.metadata.response_code = code,
        DnsReply::WithoutOptions(addresses, _) => add(&mut reply, &name, kind, addresses),
        DnsReply::Code(code) => reply.metadata.response_code = code,
        DnsReply::Garbage => return Some([&packet[..2], b"\x81\x80garbage"].concat()),
        DnsReply::Silence => return None,
    }
    Some(reply.to_vec().unwrap())
}

fn add(reply: &mut Message, name: &Name, kind: RecordType, addresses: &[&str]) {
    for address in addresses {
        let data = match address.parse().unwrap() {
            IpAddr::V4(ip) => RData::A(A(ip)),
            IpAddr::V6(ip) => RData::AAAA(AAAA(ip)),
        };
        if data.record_type() == kind {
            reply.add_answer(Record::from_rdata(name.clone(), TTL_SECONDS, data));
        }
    }
}
