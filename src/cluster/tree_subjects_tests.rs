use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, UNIX_EPOCH};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::Login;
use super::bus::Bus;
use super::message::{Event, decode, encode};
use super::tree_subjects::{entries_up_to, fence};
use crate::fetch::Clock;

const SUBJECT: &str = "ccsurvey.x.tree.1";

/// A server of a cluster that compares the expected sequence of an entry with the entries that it has
/// applied: an entry that an agent published just before the first entry of another arrives ends up behind
/// that entry. Speaks as much of the NATS protocol as the survey needs here.
struct TestCluster {
    entries: Vec<Vec<u8>>,
    /// An entry that an agent has published and that is not applied yet.
    under_way: Option<Vec<u8>>,
    /// Numbers of subscriptions, by the start of the subject.
    subscriptions: HashMap<String, String>,
}

impl TestCluster {
    /// Serves one client; returns its own address.
    async fn serve(under_way: Event) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("nats://{}", listener.local_addr().unwrap());
        let under_way = Some(encode(&under_way).unwrap());
        let mut cluster = Self { entries: Vec::new(), under_way, subscriptions: HashMap::new() };
        tokio::spawn(async move {
            let (client, _) = listener.accept().await.unwrap();
            cluster.serve_client(BufReader::new(client)).await;
        });
        address
    }

    async fn serve_client(&mut self, mut client: BufReader<TcpStream>) {
        let info = br#"INFO {"version":"2.10.0","headers":true,"max_payload":1048576,"jetstream":true}"#;
        client.write_all(&[info, &b"\r\n"[..]].concat()).await.unwrap();
        let mut line = String::new();
        while client.read_line(&mut line).await.is_ok_and(|length| length > 0) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match *words.as_slice() {
                ["PING"] => client.write_all(b"PONG\r\n").await.unwrap(),
                ["SUB", subject, number] => {
                    self.subscriptions.insert(subject.trim_end_matches('*').to_owned(), number.to_owned());
                }
                ["PUB", _, reply, length] => self.response(&mut client, reply, "0", length).await,
                ["HPUB", _, reply, head, length] => self.response(&mut client, reply, head, length).await,
                _ => {}
            }
            line.clear();
        }
    }

    /// Reads what was published, and replies.
    async fn response(&mut self, client: &mut BufReader<TcpStream>, reply: &str, head: &str, length: &str) {
        let mut bytes = vec![0; length.parse::<usize>().unwrap() + 2];
        client.read_exact(&mut bytes).await.unwrap();
        let payload = &bytes[head.parse().unwrap()..bytes.len() - 2];
        let reply_text = match serde_json::from_slice::<serde_json::Value>(payload) {
            Ok(request) => self.entry_from(usize::try_from(request["seq"].as_u64().unwrap()).unwrap()),
            Err(_) => self.take(payload),
        };
        let (_, number) = self.subscriptions.iter().find(|(start, _)| reply.starts_with(*start)).unwrap();
        let message = format!("MSG {reply} {number} {}\r\n{reply_text}\r\n", reply_text.len());
        client.write_all(message.as_bytes()).await.unwrap();
    }

    fn take(&mut self, payload: &[u8]) -> String {
        self.entries.push(payload.to_vec());
        let sequence = self.entries.len();
        self.entries.extend(self.under_way.take());
        serde_json::json!({ "stream": "ccsurvey_x", "seq": sequence }).to_string()
    }

    fn entry_from(&self, sequence: usize) -> String {
        let response = match self.entries.get(sequence - 1) {
            Some(entry) => serde_json::json!({ "message": {
                "subject": SUBJECT, "seq": sequence, "data": base64(entry), "time": "2026-11-27T00:00:00Z",
            }}),
            None => {
                serde_json::json!({ "error": { "code": 404, "err_code": 10037, "description": "no message found" }})
            }
        };
        response.to_string()
    }
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group_bytes: &[u8]| {
        let bits =
            (0..3).fold(0, |bits, at| bits << 8 | u32::from(group_bytes.get(at).copied().unwrap_or(0)));
        let digit = |at: usize| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
        (0..4).map(|at| if at <= group_bytes.len() { digit(at) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn base64_is_that_of_the_standard() {
    let encoded = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|text| base64(text.as_bytes()));
    assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
}

#[tokio::test]
async fn what_slips_in_behind_the_first_fence_is_read() {
    let sending = Event::Sending { requested_at: UNIX_EPOCH + Duration::from_secs(5) };
    let bus = Bus::connect(&TestCluster::serve(sending.clone()).await, &Login::default()).await.unwrap();
    let fence = fence(&bus, SUBJECT, Clock::system(), &AtomicU64::new(0)).await.unwrap();
    let stream = bus.stream("x").await.unwrap();
    let entries = entries_up_to(&bus, &stream, SUBJECT, 0, fence).await.unwrap();
    let events: Vec<Event> = entries.iter().map(|entry| decode(&entry.payload).unwrap()).collect();
    assert_eq!(events, [Event::Fence, sending, Event::Fence]);
}
