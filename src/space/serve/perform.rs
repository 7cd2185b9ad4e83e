use std::io;
use std::sync::PoisonError;
use std::time::Duration;

use super::access::Access;
use super::answer::ConnectionState;
use super::connection::{Connection, Stream, now_us};
use super::gateway::Gateway;
use crate::web::{Act, Server};

/// The time between the bytes of [`Act::Drip`].
const DRIP: Duration = Duration::from_secs(1);
/// Bytes that are sent after the access is logged: one packet.
const LAST_BYTES: usize = 1024;

impl Gateway {
    /// Plays the acts of a hostile server on a connection and logs the access, before the last bytes are
    /// sent, as for other responses.
    pub(crate) async fn perform<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        server: &Server,
        acts: &[Act],
        access: Access,
    ) -> io::Result<ConnectionState> {
        let status = if let Some(Act::Send(bytes)) = acts.first() { status_in(bytes) } else { None };
        let (acts, last) = match acts.split_last() {
            Some((Act::Send(bytes), before)) => (before, bytes.as_slice()),
            _ => (acts, [].as_slice()),
        };
        let (most, last) = last.split_at(last.len().saturating_sub(LAST_BYTES));
        let mut sent_bytes = 0;
        let result: io::Result<ConnectionState> = async {
            let after = self.run_acts(connection, server, acts, &mut sent_bytes).await?;
            self.transfer(connection, server, most, &mut sent_bytes).await?;
            sent_bytes += last.len() as u64;
            Ok(after)
        }
        .await;
        let client_left = result.is_err() || connection.client_left();
        self.log.note(Access { end_us: now_us(), sent_bytes, status, client_left, ..access });
        let after = result?;
        connection.send(last).await?;
        Ok(after)
    }

    /// The acts in force: [`Act::Turn`] replaces them after some number of requests.
    pub(crate) fn acts_in_force(&self, server: &Server, acts: Vec<Act>) -> Vec<Act> {
        let mut acts = acts.into_iter();
        match acts.next() {
            Some(Act::Turn(after, acts_in_force)) => {
                let mut turn_counts = self.turn_counts.lock().unwrap_or_else(PoisonError::into_inner);
                let requests = turn_counts.entry(server.address).or_default();
                *requests += 1;
                if *requests > after { acts_in_force } else { acts.collect() }
            }
            first => first.into_iter().chain(acts).collect(),
        }
    }

    /// Like [`perform`](Self::perform), but closes the connection afterwards.
    pub(crate) async fn perform_and_close<S: Stream>(
        &self,
        mut connection: Connection<S>,
        server: &Server,
        acts: &[Act],
        access: Access,
    ) -> io::Result<()> {
        match self.perform(&mut connection, server, acts, access).await? {
            ConnectionState::Reset => connection.reset(),
            ConnectionState::GoOn | ConnectionState::Close | ConnectionState::BreakOff => {
                connection.break_off().await
            }
        }
    }

    async fn run_acts<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        server: &Server,
        acts: &[Act],
        sent_bytes: &mut u64,
    ) -> io::Result<ConnectionState> {
        for act in acts {
            match act {
                Act::Send(bytes) => self.transfer(connection, server, bytes, sent_bytes).await?,
                Act::Repeat(bytes, times) => {
                    for _ in 0..*times {
                        self.transfer(connection, server, bytes, sent_bytes).await?;
                    }
                }
                Act::Drip(byte) => loop {
                    self.transfer(connection, server, &[*byte], sent_bytes).await?;
                    self.links.wait(DRIP).await;
                },
                // `acts_in_force` has applied it already.
                Act::Turn(..) => {}
                Act::Hear => connection.wait_readable().await?,
                Act::Stall => {
                    let client_closed = connection.ignore().await;
                    return if client_closed {
                        Err(io::ErrorKind::ConnectionAborted.into())
                    } else {
                        Ok(ConnectionState::Close)
                    };
                }
                Act::Close => return Ok(ConnectionState::Close),
                Act::Reset => return Ok(ConnectionState::Reset),
            }
        }
        Ok(ConnectionState::GoOn)
    }

    /// Writes piece by piece, at the speed of the server's link.
    async fn transfer<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        server: &Server,
        bytes: &[u8],
        sent_bytes: &mut u64,
    ) -> io::Result<()> {
        for piece in bytes.chunks(self.links.piece_bytes(server)) {
            self.links.transfer(server, piece.len()).await;
            connection.send(piece).await?;
            *sent_bytes += piece.len() as u64;
        }
        Ok(())
    }
}

/// The status in the first line of a response, if there is one.
fn status_in(response: &[u8]) -> Option<u16> {
    std::str::from_utf8(response.get(..12)?).ok()?.strip_prefix("HTTP/1.1 ")?.parse().ok()
}
