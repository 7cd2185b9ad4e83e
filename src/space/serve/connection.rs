#![expect(clippy::disallowed_methods, reason = "the servers of a virtual Web space have clocks of their own")]

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::server::TlsStream;

use super::head::{MAX_HEAD_BYTES, end_of_head};

/// A connection on which nothing moves for so long is closed; longer than any polite delay.
pub(crate) const IDLE: Duration = Duration::from_mins(2);

/// What bytes come and go on: TCP, or TLS over it.
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

/// A connection of a client, as the requests on it come and are answered.
pub(crate) struct Connection<S> {
    pub stream: S,
    pub number: u64,
    /// Round trips that making the connection takes and that its first answer still has to wait for.
    pub trips_owed: u32,
    /// What has come and is not answered yet.
    buffer: Vec<u8>,
}

/// The head of a request, as it came.
pub(crate) struct Received {
    pub head: Vec<u8>,
    /// When its first byte had come, in µs since 1970.
    pub arrival_us: u64,
}

const HEAD_TOO_LARGE: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

impl<S: Stream> Connection<S> {
    pub(crate) fn new(stream: S, number: u64, trips_owed: u32) -> Self {
        Self { stream, number, trips_owed, buffer: Vec::with_capacity(4096) }
    }

    /// Waits for a whole head. None when the client is done, sends too much, or says nothing for
    /// too long.
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

    /// Takes whatever comes and says nothing, until the client goes or has said nothing for too long; whether it went.
    pub(crate) async fn ignore(&mut self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            match timeout(IDLE, self.stream.read(&mut bytes)).await {
                Ok(Ok(1..)) => {}
                ended => return ended.is_ok(),
            }
        }
    }

    /// Whether the client has closed or reset the connection, as the system knows it now: what the runtime knows is older.
    /// What the client has sent and nobody has read hides that; a client that has closed its side alone counts as gone.
    pub(crate) fn client_left(&self) -> bool {
        let Ok(same) = self.stream.tcp().as_fd().try_clone_to_owned() else { return false };
        match std::net::TcpStream::from(same).peek(&mut [0]) {
            Ok(bytes) => bytes == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Waits until something has come; it is not looked at.
    pub(crate) async fn wait_readable(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            return Ok(());
        }
        timeout(IDLE, self.stream.read_buf(&mut self.buffer)).await?.map(|_| ())
    }

    /// Closes the connection in the middle: over TLS without the alert that says that this is the end.
    pub(crate) async fn break_off(mut self) -> io::Result<()> {
        if S::IS_TLS { Ok(()) } else { self.stream.shutdown().await }
    }

    /// Closes the connection so that the client's next look at it is an error (RST).
    pub(crate) fn reset(self) -> io::Result<()> {
        self.stream.tcp().set_zero_linger()
    }
}

/// The time in µs since 1970.
pub(crate) fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
