use std::io;
use std::time::Duration;

use super::super::access::Access;
use super::super::answer::After;
use super::super::connection::{Connection, Stream, now_us};
use super::super::gateway::Gateway;
use super::act::Act;

/// Between the bytes of a server that drips.
const DRIP: Duration = Duration::from_secs(1);

impl Gateway {
    /// Plays the acts of a hostile server on a connection, and notes the access: before the last bytes are
    /// handed over, as for other answers.
    pub(in crate::space) async fn perform<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        acts: &[Act],
        access: Access,
    ) -> io::Result<After> {
        let (acts, last) = match acts.split_last() {
            Some((Act::Send(bytes), before)) => (before, bytes.as_slice()),
            _ => (acts, [].as_slice()),
        };
        let mut sent_bytes = 0;
        let played = self.play(connection, acts, &mut sent_bytes).await;
        if played.is_ok() {
            sent_bytes += last.len() as u64;
        }
        let status = acts.first().map_or_else(
            || status_in(last),
            |act| match act {
                Act::Send(bytes) => status_in(bytes),
                _ => None,
            },
        );
        self.log.note(Access { end_us: now_us(), sent_bytes, status, ..access });
        let after = played?;
        connection.send(last).await?;
        Ok(after)
    }

    /// As [`perform`](Self::perform), on a connection that ends with it.
    pub(in crate::space) async fn act_out<S: Stream>(
        &self,
        mut connection: Connection<S>,
        acts: &[Act],
        access: Access,
    ) -> io::Result<()> {
        match self.perform(&mut connection, acts, access).await? {
            After::Reset => connection.reset(),
            After::GoOn | After::Close | After::BreakOff => connection.break_off().await,
        }
    }

    async fn play<S: Stream>(
        &self,
        connection: &mut Connection<S>,
        acts: &[Act],
        sent_bytes: &mut u64,
    ) -> io::Result<After> {
        for act in acts {
            let (bytes, times): (&[u8], u64) = match act {
                Act::Send(bytes) => (bytes, 1),
                Act::Repeat(bytes, times) => (bytes, *times),
                Act::Drip(byte) => (std::slice::from_ref(byte), Act::WITHOUT_END),
                Act::Hear => {
                    connection.hear().await?;
                    continue;
                }
                Act::Stall => {
                    connection.ignore().await;
                    return Ok(After::Close);
                }
                Act::Close => return Ok(After::Close),
                Act::Reset => return Ok(After::Reset),
            };
            for _ in 0..times {
                connection.send(bytes).await?;
                *sent_bytes += bytes.len() as u64;
                if matches!(act, Act::Drip(_)) {
                    self.links.wait(DRIP).await;
                }
            }
        }
        Ok(After::GoOn)
    }
}

/// The status in an answer's first line, where there is one.
fn status_in(answer: &[u8]) -> Option<u16> {
    std::str::from_utf8(answer.get(..12)?).ok()?.strip_prefix("HTTP/1.1 ")?.parse().ok()
}
