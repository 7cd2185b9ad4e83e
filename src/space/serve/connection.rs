#![expect(clippy::disallowed_methods, reason = "the servers of a virtual Web space have clocks of their own")]

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

use super::head::{MAX_HEAD_BYTES, end_of_head};

/// A connection idle for this long is closed; it is longer than any polite delay.
pub(crate) const IDLE: Duration = Duration::from_mins(2);

/// The stream of a connection: TCP, or TLS over TCP.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    const IS_TLS: bool;

    fn tcp(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    const IS_TLS: bool = false;

    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Stream for TlsStream<&mut TcpStream> {
    const IS_TLS: bool = true;

    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// A connection of a client, with the bytes received on it.
pub(crate) struct Connection<S> {
    pub stream: S,
    pub number: u64,
    /// Round trips of the connection setup that the first response still has to wait for.
    pub pending_round_trips: u32,
    /// Received bytes not parsed yet.
    buffer: Vec<u8>,
}

/// The head of a request, as received.
pub(crate) struct Received {
    pub head: Vec<u8>,
    /// When its first byte arrived, in µs since 1970.
    pub arrival_us: u64,
}

const HEAD_TOO_LARGE: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

impl<S: Stream> Connection<S> {
    pub(crate) fn new(stream: S, number: u64, pending_round_trips: u32) -> Self {
        Self { stream, number, pending_round_trips, buffer: Vec::with_capacity(4096) }
    }

    /// Reads a whole head. None if the client closes the connection, sends too much, or sends nothing for too
    /// long.
    pub(crate) async fn read_head(&mut self) -> io::Result<Option<Received>> {
        let mut arrival_us = (!self.buffer.is_empty()).then(now_us);
        loop {
            if let Some(length) = end_of_head(&self.buffer) {
                let head = self.buffer.drain(..length).collect();
                return Ok(Some(Received { head, arrival_us: arrival_us.unwrap_or_else(now_us) }));
            }
            if self.buffer.len() > MAX_HEAD_BYTES {
                self.send(HEAD_TOO_LARGE).await?;
                return Ok(None);
            }
            let read = timeout(IDLE, self.stream.read_buf(&mut self.buffer)).await;
            match read {
                Ok(Ok(1..)) => arrival_us.get_or_insert_with(now_us),
                Ok(Err(error)) => return Err(error),
                Ok(Ok(0)) | Err(_) => return Ok(None),
            };
        }
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        timeout(IDLE, sent).await?
    }

    /// Reads and discards everything until the client closes the connection or is idle for too long; whether
    /// it closed it.
    pub(crate) async fn ignore(&mut self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            match timeout(IDLE, self.stream.read(&mut bytes)).await {
                Ok(Ok(1..)) => {}
                ended => return ended.is_ok(),
            }
        }
    }

    /// Whether the client has closed or reset the connection, according to the operating system, whose state
    /// is newer than that of the runtime. Unread data from the client hides this. A client that has shut down
    /// only its sending side counts as gone.
    pub(crate) fn client_left(&self) -> bool {
        let Ok(socket) = self.stream.tcp().as_fd().try_clone_to_owned() else { return false };
        match std::net::TcpStream::from(socket).peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Waits until bytes arrive, without parsing them.
    pub(crate) async fn wait_readable(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            return Ok(());
        }
        timeout(IDLE, self.stream.read_buf(&mut self.buffer)).await?.map(|_| ())
    }

    /// Closes the connection in the middle of a response: over TLS without the close_notify alert.
    pub(crate) async fn break_off(mut self) -> io::Result<()> {
        if S::IS_TLS { Ok(()) } else { self.stream.shutdown().await }
    }

    /// Closes the connection so that the client's next operation on it fails (RST).
    pub(crate) fn reset(self) -> io::Result<()> {
        self.stream.tcp().set_zero_linger()
    }
}

/// The time in µs since 1970.
pub(crate) fn now_us() -> u64 {
    let unix_time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(unix_time.as_micros()).unwrap_or(u64::MAX)
}
