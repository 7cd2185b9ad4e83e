#![expect(clippy::disallowed_methods, reason = "the servers of a virtual Web space have clocks of their own")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use super::access::{Access, AccessLog};
use super::head::{MAX_HEAD_BYTES, RequestHead, end_of_head};
use super::{Reaction, Response, Web};

/// Connections served at once; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 4096;
/// A connection without a request for so long is closed; longer than any polite delay.
const IDLE: Duration = Duration::from_mins(2);
/// Chunks are of this size, small enough that most pages have several.
const CHUNK_BYTES: usize = 1500;

/// What all connections share.
pub(super) struct Gateway {
    pub world: Arc<dyn Web>,
    pub log: AccessLog,
    /// Latencies are divided by this.
    pub speed: f64,
    pub stop: watch::Receiver<bool>,
    pub connections: AtomicU64,
}

impl Gateway {
    /// Accepts connections until told to stop.
    pub async fn run(self: Arc<Self>, listener: TcpListener) {
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut stop = self.stop.clone();
        loop {
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stop.wait_for(|stopped| *stopped) => return,
            };
            // Out of file descriptors or a connection that is gone already: the next may do.
            let Ok((stream, _)) = accepted else { continue };
            let gateway = Arc::clone(&self);
            tokio::spawn(async move {
                let mut stop = gateway.stop.clone();
                tokio::select! {
                    // A client that goes away ends its own connection and nothing else.
                    _ = gateway.serve(stream) => {}
                    _ = stop.wait_for(|stopped| *stopped) => {}
                }
                drop(permit);
            });
        }
    }

    async fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let mut connection = Connection { stream, number, buffer: Vec::with_capacity(4096) };
        while let Some((arrival_us, length)) = connection.read_head().await? {
            let head = connection.buffer[..length].to_vec();
            connection.buffer.drain(..length);
            let Some(head) = RequestHead::parse(&head) else {
                return connection.stream.write_all(BAD_REQUEST).await;
            };
            // A request body is read by nobody here; without its size the connection cannot go on.
            let body_bytes = head.body_bytes.filter(|bytes| *bytes == 0);
            let is_last = head.closes || body_bytes.is_none();
            let received = Received { arrival_us, bytes: length as u64 };
            if !self.answer(&mut connection, head, received, is_last).await? || is_last {
                return connection.stream.shutdown().await;
            }
        }
        Ok(())
    }

    /// Answers one request; false when the connection must be closed.
    async fn answer(
        &self,
        connection: &mut Connection,
        head: RequestHead,
        received: Received,
        is_last: bool,
    ) -> io::Result<bool> {
        let reaction = self.world.respond(false, &head.host, &head.target);
        let server = self.world.server(&head.host);
        let (status, bytes) = match &reaction {
            Reaction::Reset | Reaction::Silence => (None, Vec::new()),
            Reaction::NoSuchHost => (Some(421), MISDIRECTED.to_vec()),
            Reaction::Response(response) => {
                let round_trip = server.map(|server| server.round_trip).unwrap_or_default();
                let latency = (round_trip + response.service).div_f64(self.speed);
                if !latency.is_zero() {
                    tokio::time::sleep(latency).await;
                }
                (Some(response.status), to_wire(response, &head, is_last))
            }
        };
        // Taken before the last byte is handed over: afterwards the client may have it already and go on
        // before this task is run again, and a pause would look shorter than it was.
        let end_us = now_us();
        let written = connection.stream.write_all(&bytes).await;
        self.log.note(Access {
            address: server.map(|server| server.address),
            host: head.host,
            path: head.target,
            method: head.method,
            user_agent: head.user_agent,
            arrival_us: received.arrival_us,
            end_us,
            sent_bytes: bytes.len() as u64,
            received_bytes: received.bytes,
            status,
            connection: connection.number,
        });
        written.map(|()| matches!(reaction, Reaction::Response(_)))
    }
}

struct Connection {
    stream: TcpStream,
    number: u64,
    /// What has come and is not answered yet.
    buffer: Vec<u8>,
}

struct Received {
    arrival_us: u64,
    bytes: u64,
}

impl Connection {
    /// Waits for a whole head: when its first byte had come, and its length. None when the client
    /// is done, sends too much, or says nothing for too long.
    async fn read_head(&mut self) -> io::Result<Option<(u64, usize)>> {
        let mut arrival_us = (!self.buffer.is_empty()).then(now_us);
        loop {
            if let Some(length) = end_of_head(&self.buffer) {
                return Ok(Some((arrival_us.unwrap_or_else(now_us), length)));
            }
            if self.buffer.len() > MAX_HEAD_BYTES {
                self.stream.write_all(HEAD_TOO_LARGE).await?;
                return Ok(None);
            }
            let read = tokio::time::timeout(IDLE, self.stream.read_buf(&mut self.buffer)).await;
            match read {
                Ok(Ok(1..)) => arrival_us.get_or_insert_with(now_us),
                Ok(Err(wrong)) => return Err(wrong),
                Ok(Ok(0)) | Err(_) => return Ok(None),
            };
        }
    }
}

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const MISDIRECTED: &[u8] =
    b"HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const HEAD_TOO_LARGE: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// An answer as it goes over the wire.
fn to_wire(response: &Response, request: &RequestHead, is_last: bool) -> Vec<u8> {
    let is_known_method = matches!(request.method.as_str(), "GET" | "HEAD");
    let status = if is_known_method { response.status } else { 501 };
    let is_chunked = response.is_chunked && !request.is_http_1_0 && is_known_method;
    let location = response.location.as_ref().map_or(String::new(), |to| format!("Location: {to}\r\n"));
    let content_type =
        response.content_type.as_ref().map_or(String::new(), |is| format!("Content-Type: {is}\r\n"));
    let length = if is_chunked {
        "Transfer-Encoding: chunked".to_owned()
    } else {
        format!("Content-Length: {}", response.body.len())
    };
    let head = format!(
        "HTTP/1.1 {status} {}\r\nServer: {}\r\n{content_type}{location}{length}\r\nConnection: {}\r\n\r\n",
        reason(status),
        response.server,
        if is_last { "close" } else { "keep-alive" },
    );
    let mut wire = head.into_bytes();
    match (request.method.as_str(), is_chunked) {
        ("HEAD", _) => {}
        (_, true) => push_chunks(&response.body, &mut wire),
        (_, false) => wire.extend_from_slice(&response.body),
    }
    wire
}

fn push_chunks(body: &[u8], wire: &mut Vec<u8>) {
    for chunk in body.chunks(CHUNK_BYTES) {
        wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        wire.extend_from_slice(chunk);
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"0\r\n\r\n");
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        404 => "Not Found",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Answer",
    }
}

/// The time in µs since 1970.
fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
