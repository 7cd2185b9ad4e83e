use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::greeting::{
    CLOSE_NOTIFY, LONGEST_FLIGHT, PROTOCOL_VERSION, ServerFlight, describe_obsolete, hello,
    parse_server_flight,
};
use crate::address::Host;
use crate::exchange::{Failure, Response};
use crate::fetch::Settings;

/// The result of a ClientHello of the old kind.
#[derive(Debug, Default)]
pub(in crate::fetch) struct GreetingResult {
    pub failure: Option<Failure>,
    /// The version and the cipher suite that the server chose, if no current client uses them.
    pub version: Option<String>,
    sent: usize,
    received: usize,
    connect: Option<Duration>,
}

/// Sends a ClientHello, reads the version and the suite that the server chooses, and closes the connection:
/// it cannot carry a request.
pub(in crate::fetch) async fn greet(settings: &Settings, server: SocketAddr, host: &Host) -> GreetingResult {
    let start = Instant::now();
    let whole = start + settings.timeouts.whole;
    let mut result = GreetingResult::default();
    #[allow(clippy::disallowed_methods)] // The room that connects.
    let connecting = TcpStream::connect(server);
    let mut stream = match timeout_at(whole.min(start + settings.timeouts.connect), connecting).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            result.failure = Some(from_connect_error(&error));
            return result;
        }
        Err(_) => {
            result.failure = Some(Failure::ConnectTimeout);
            return result;
        }
    };
    let connected = Instant::now();
    result.connect = Some(connected - start);
    let deadline = whole.min(connected + settings.timeouts.tls);
    let outcome = timeout_at(deadline, result.read_hello(&mut stream, host)).await;
    let (failure, version) = outcome.unwrap_or((Failure::TlsTimeout, None));
    (result.failure, result.version) = (Some(failure), version);
    result
}

/// The failure of a TCP connection attempt.
pub(in crate::fetch) fn from_connect_error(error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::ConnectionRefused => Failure::ConnectRefused,
        ErrorKind::TimedOut => Failure::ConnectTimeout,
        _ => Failure::ConnectUnreachable,
    }
}

impl GreetingResult {
    async fn read_hello(&mut self, stream: &mut TcpStream, host: &Host) -> (Failure, Option<String>) {
        let hello = hello(host);
        if stream.write_all(&hello).await.is_err() {
            return (Failure::Reset, None);
        }
        self.sent = hello.len();
        let mut flight = Vec::new();
        loop {
            match parse_server_flight(&flight) {
                ServerFlight::More if flight.len() < LONGEST_FLIGHT => {}
                ServerFlight::Hello { version, suite } => {
                    self.send_close_notify(stream).await;
                    return match describe_obsolete(version, suite) {
                        Some(chosen) => (Failure::TlsTooOld, Some(chosen)),
                        None => (Failure::TlsHandshake, None),
                    };
                }
                ServerFlight::Alert(PROTOCOL_VERSION) => return (Failure::TlsTooOld, None),
                ServerFlight::Alert(_) => return (Failure::TlsAlert, None),
                ServerFlight::NotTls | ServerFlight::More => return (Failure::TlsHandshake, None),
            }
            match stream.read_buf(&mut flight).await {
                Ok(0) => return (Failure::TlsHandshake, None),
                Ok(bytes) => self.received += bytes,
                Err(_) => return (Failure::Reset, None),
            }
        }
    }

    async fn send_close_notify(&mut self, stream: &mut TcpStream) {
        if stream.write_all(&CLOSE_NOTIFY).await.is_ok() {
            self.sent += CLOSE_NOTIFY.len();
        }
    }

    /// Writes the result and its cost into a response.
    pub(in crate::fetch) fn write_to(self, response: &mut Response) {
        response.failure = self.failure;
        response.tls_version = self.version;
        response.wire.sent = self.sent as u64;
        response.wire.received = self.received as u64;
        response.wire.connections = u32::from(self.connect.is_some());
        response.timings.connect = self.connect;
    }
}
