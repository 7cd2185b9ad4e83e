use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

use crate::Server;

/// The links of the servers: they make a response take as long as it would over a real link.
///
/// A link carries one piece at a time. The connections at an address queue their pieces in turn, so that each
/// gets its share. A fast link needs no timer.
pub(crate) struct ServerLinks {
    /// All times are divided by this factor.
    speed: f64,
    /// When the link of each address has carried all queued pieces.
    free_at: Mutex<HashMap<IpAddr, Instant>>,
}

/// The resolution of timers; shorter waits accumulate until they reach it.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
/// The target duration of a piece, in seconds of the clock: as often as a modem's buffer is emptied.
const PIECE_SECONDS: f64 = 0.02;
/// Bytes of the smallest and the largest piece: a packet on an old modem line, and a TLS record.
const SMALLEST_PIECE: usize = 256;
const LARGEST_PIECE: usize = 16 * 1024;
/// Links remembered before idle ones are forgotten.
const MOST_LINKS: usize = 4096;

impl ServerLinks {
    pub(crate) fn new(speed: f64) -> Self {
        Self { speed, free_at: Mutex::default() }
    }

    /// Waits for a span of world time.
    pub(crate) async fn wait(&self, time: Duration) {
        let time = time.div_f64(self.speed);
        if time >= SHORTEST_WAIT {
            sleep(time).await;
        }
    }

    /// The number of bytes to write at once.
    pub(crate) fn piece_bytes(&self, server: &Server) -> usize {
        let target_bytes = server.bytes_per_second() * self.speed * PIECE_SECONDS;
        // The cast saturates; the clamp handles a negative or absurd rate.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped below")]
        (target_bytes as usize).clamp(SMALLEST_PIECE, LARGEST_PIECE)
    }

    /// Waits until the link has carried these bytes after everything queued before.
    pub(crate) async fn transfer(&self, server: &Server, bytes: usize) {
        let time = server.transfer_time(bytes as u64).div_f64(self.speed);
        if time.is_zero() {
            return;
        }
        let (now, finish) = self.queue(server.address, time);
        if finish.duration_since(now) >= SHORTEST_WAIT {
            sleep_until(finish).await;
        }
    }

    /// The current time, and when the link will have carried everything queued, this included.
    fn queue(&self, address: IpAddr, time: Duration) -> (Instant, Instant) {
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if free_at.len() >= MOST_LINKS {
            free_at.retain(|_, free_at| *free_at > now);
        }
        let free_at = free_at.entry(address).or_insert(now);
        *free_at = (*free_at).max(now) + time;
        (now, *free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(bits_per_second: f64, background: f64) -> Server {
        Server { bits_per_second, background, ..Server::alone_at([41, 90, 0, 1].into()) }
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_take_their_time_on_what_others_leave_of_the_link() {
        let (links, start) = (ServerLinks::new(2.0), Instant::now());
        links.transfer(&server(16_000.0, 0.5), 1000).await;
        assert_eq!(start.elapsed(), Duration::from_millis(500));
    }

    #[tokio::test(start_paused = true)]
    async fn connections_at_an_address_share_its_link() {
        let (links, start) = (ServerLinks::new(1.0), Instant::now());
        let server = server(80_000.0, 0.0);
        let small = async {
            links.transfer(&server, 1000).await;
            start.elapsed()
        };
        let pieces = async {
            for _ in 0..3 {
                links.transfer(&server, 1000).await;
            }
            start.elapsed()
        };
        let (pieces, small) = tokio::join!(pieces, small);
        assert_eq!((small, pieces), (Duration::from_millis(200), Duration::from_millis(400)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_too_short_for_a_timer_is_owed_until_it_adds_up() {
        let (links, start, server) = (ServerLinks::new(1.0), Instant::now(), server(8e6, 0.0));
        for _ in 0..9 {
            links.transfer(&server, 100).await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        links.transfer(&server, 100).await;
        assert_eq!(start.elapsed(), Duration::from_millis(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_without_limit_and_no_distance_cost_nothing() {
        let (links, start) = (ServerLinks::new(1.0), Instant::now());
        let endless = server(f64::INFINITY, 0.0);
        links.transfer(&endless, 1 << 30).await;
        assert_eq!(links.piece_bytes(&endless), LARGEST_PIECE);
        links.wait(Duration::ZERO).await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(links.piece_bytes(&server(9600.0, 0.0)), SMALLEST_PIECE);
        assert_eq!(links.piece_bytes(&server(800_000.0, 0.0)), 2000);
    }
}
