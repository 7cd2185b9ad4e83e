use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::draw::real;

/// A server of a virtual Web: what all hosts at one address share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Server {
    /// The address, which its hosts share.
    pub address: IpAddr,
    /// A second address of the same holder.
    pub v6: Option<Ipv6Addr>,
    /// The value of its header field `Server`.
    pub software: &'static str,
    /// The kind of link that connects it.
    pub uplink: Uplink,
    /// The round-trip time between the surveyor and the server.
    pub round_trip: Duration,
    /// Bandwidth of the server's link; infinite in worlds that take no time.
    pub bits_per_second: f64,
    /// Share of the link used by other users, averaged over the day.
    pub background: f64,
    /// How much higher than the average that use is at its peak, as a share of it; twelve hours later it is
    /// as much lower.
    pub day_swing: f64,
    /// The time of the peak, in seconds after midnight UTC.
    pub peak_second: f64,
    /// Mean time that the server works on a response to other users before its first byte.
    pub others_service: Duration,
    /// Mean size of the responses to other users, in bytes.
    pub others_bytes: f64,
    /// Mean square of that size.
    pub others_bytes_squared: f64,
    /// Whether pages are gzipped for clients that accept it.
    pub gzips: bool,
}

/// The link between a server and the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uplink {
    /// Outside the surveyed countries.
    Offshore,
    /// Inside, by cable.
    Onshore,
    /// Inside, by satellite.
    Satellite,
}

/// The smallest share of a link that is left to a newcomer.
const LEAST_LEFT: f64 = 0.01;
const DAY_SECONDS: f64 = 86_400.0;
/// The largest use of a link at its peak: users who find it slower come at another time.
const MOST_USE: f64 = 0.9;

impl Server {
    /// A server without a world: it has no other users and takes no time.
    #[must_use]
    pub fn alone_at(address: IpAddr) -> Self {
        Self {
            address,
            v6: None,
            software: "",
            uplink: Uplink::Offshore,
            round_trip: Duration::ZERO,
            bits_per_second: f64::INFINITY,
            background: 0.0,
            day_swing: 0.0,
            peak_second: 0.0,
            others_service: Duration::ZERO,
            others_bytes: 0.0,
            others_bytes_squared: 0.0,
            gzips: false,
        }
    }

    /// The server at a time of the day, in seconds after midnight UTC: its use follows a sine over the day
    /// and reaches nine tenths at most.
    ///
    /// ```
    /// use ccsurvey_space::Server;
    /// let campus = Server { background: 0.4, day_swing: 0.5, ..Server::alone_at([192, 0, 2, 1].into()) };
    /// let uses = [0.0, 21_600.0, 43_200.0].map(|second| campus.at_second_of_day(second).background);
    /// assert!(uses.iter().zip([0.6, 0.4, 0.2]).all(|(use_, told)| (use_ - told).abs() < 1e-12));
    /// ```
    #[must_use]
    pub fn at_second_of_day(self, second: f64) -> Self {
        if self.day_swing == 0.0 || self.background == 0.0 {
            return self;
        }
        let angle = (second - self.peak_second) / DAY_SECONDS * std::f64::consts::TAU;
        let headroom = (MOST_USE / self.background - 1.0).max(0.0);
        let background = self.background * (1.0 + self.day_swing.min(headroom) * angle.cos());
        Self { background, day_swing: 0.0, ..self }
    }

    /// The time to transfer `bytes` on the share of the link that the other users leave.
    ///
    /// ```
    /// use ccsurvey_space::Server;
    /// let link = Server::alone_at([192, 0, 2, 1].into());
    /// let slow = Server { bits_per_second: 8000.0, background: 0.5, ..link };
    /// assert_eq!(slow.transfer_time(1000).as_secs(), 2);
    /// ```
    #[must_use]
    pub fn transfer_time(&self, bytes: u64) -> Duration {
        Duration::try_from_secs_f64(real(bytes) / self.bytes_per_second()).unwrap_or(Duration::MAX)
    }

    /// The share of the link that the other users leave; at least one hundredth of the link.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bits_per_second / 8.0 * (1.0 - self.background).max(LEAST_LEFT)
    }
}
