use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use crate::draw::real;

/// A server of a virtual Web space: what is the same for all the hosts at one address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Server {
    /// Of the server; its hosts share it.
    pub address: IpAddr,
    /// Its second address, in the hands of the same holder.
    pub v6: Option<Ipv6Addr>,
    /// Its header field `Server`.
    pub software: &'static str,
    /// Through which link it is reached.
    pub uplink: Uplink,
    /// From the surveyor to the server and back.
    pub round_trip: Duration,
    /// Of the server's link; infinite in worlds that take no time.
    pub bits_per_second: f64,
    /// Share of the link that other users take, on average over the day.
    pub background: f64,
    /// By how much of that their use is more at its peak, and less twelve hours later.
    pub day_swing: f64,
    /// When it is at its peak: seconds after midnight, UTC.
    pub peak_second: f64,
    /// Mean time that the server works before the first byte of an answer to them.
    pub others_service: Duration,
    /// Mean size of what the other users fetch, in bytes.
    pub others_bytes: f64,
    /// Mean square of that size.
    pub others_bytes_squared: f64,
    /// Answers pages gzipped when the client accepts it.
    pub gzips: bool,
}

/// How a server hangs on the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uplink {
    /// Outside the surveyed countries.
    Offshore,
    /// Inside, on a cable.
    Onshore,
    /// Inside, on a satellite.
    Satellite,
}

/// The share of a link that is left to a newcomer, at the least.
const LEAST_LEFT: f64 = 0.01;
const DAY_SECONDS: f64 = 86_400.0;
/// A link is used by so much at its peak, at the most: who finds it slower comes at another time.
const MOST_USE: f64 = 0.9;

impl Server {
    /// A server without a world around it: nobody else uses it, and it takes no time.
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

    /// The server as it is at a time of the day, in seconds after midnight, UTC: its use goes up and down like a sine
    /// over the day, up to nine tenths.
    ///
    /// ```
    /// use ccsurvey_space::Server;
    /// let campus = Server { background: 0.4, day_swing: 0.5, ..Server::at([192, 0, 2, 1].into()) };
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

    /// How long so many bytes take on what the other users leave of the link.
    ///
    /// ```
    /// use ccsurvey_space::Server;
    /// let slow = Server { bits_per_second: 8000.0, background: 0.5, ..Server::at([192, 0, 2, 1].into()) };
    /// assert_eq!(slow.transfer_time(1000).as_secs(), 2);
    /// ```
    #[must_use]
    pub fn transfer_time(&self, bytes: u64) -> Duration {
        Duration::try_from_secs_f64(real(bytes) / self.bytes_per_second()).unwrap_or(Duration::MAX)
    }

    /// What the other users leave of the link; however much they use, a hundredth is left.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        self.bits_per_second / 8.0 * (1.0 - self.background).max(LEAST_LEFT)
    }
}
