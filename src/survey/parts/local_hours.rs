use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::address::{LocalClocks, Site};
use crate::promises::ServerLocation;
use crate::records::{Geo, GeoLocation};
use crate::settings::QuietHours;

/// The maximum time from the permit to the beginning of a connection.
const TO_CONNECT: Duration = Duration::from_secs(2);
/// Quiet hours are longer than this, so a server that is awake at both ends of such a span is awake in
/// between.
const STEP: Duration = Duration::from_secs(30);

/// The quiet hours of servers, in the local time of each server.
pub(in crate::survey) struct LocalHours {
    quiet: Option<QuietHours>,
    geo: Arc<Geo>,
    /// The maximum time from the permit to the first byte of a request. None of it may be in quiet hours.
    lead_time: Duration,
}

impl LocalHours {
    /// `handshakes` is the maximum time to establish a connection.
    pub(in crate::survey) fn new(quiet: Option<QuietHours>, geo: Arc<Geo>, handshakes: Duration) -> Self {
        Self { quiet, geo, lead_time: TO_CONNECT + handshakes }
    }

    /// When a request may next be sent to a server, if an exchange that begins now would be in its quiet
    /// hours.
    pub(in crate::survey) fn wake_time(
        &self,
        now: SystemTime,
        address: IpAddr,
        site: &Site,
    ) -> Option<SystemTime> {
        let (quiet, clocks) = (self.quiet?, self.clocks(address, site));
        let next = |after: &Duration| (*after < self.lead_time).then(|| (*after + STEP).min(self.lead_time));
        let mut span = std::iter::successors(Some(Duration::ZERO), next);
        span.find_map(|after| quiet.wake_time(now + after, &clocks, address))
    }

    /// The time until which an exchange avoids quiet hours, if it begins after `now` and not after `latest`,
    /// some seconds later.
    pub(in crate::survey) fn awake_until(
        &self,
        now: SystemTime,
        latest: SystemTime,
        address: IpAddr,
        site: &Site,
    ) -> SystemTime {
        let is_quiet_time = |time: &SystemTime| self.wake_time(*time, address, site).is_some();
        if ![now, latest].iter().any(is_quiet_time) {
            return latest;
        }
        let seconds = std::iter::successors(Some(now), |time| Some(*time + Duration::from_secs(1)));
        seconds.take_while(|time| *time < latest).find(is_quiet_time).unwrap_or(latest)
    }

    /// The local clocks of a server: those of its time zone if a database knows it, otherwise those of its
    /// country, of the country of the site's domain, or UTC.
    fn clocks(&self, address: IpAddr, site: &Site) -> LocalClocks {
        let GeoLocation { country, time_zone, .. } = self.geo.lookup(address);
        let from_zone = time_zone.as_deref().and_then(LocalClocks::from_zone);
        let from_country = || country.as_deref().and_then(LocalClocks::from_country);
        let of_site = || LocalClocks::from_country(domain_of(site));
        from_zone.or_else(from_country).or_else(of_site).unwrap_or_else(LocalClocks::utc)
    }

    /// The location of a server, for the judge.
    pub(in crate::survey) fn server_location(&self, address: IpAddr, site: &Site) -> ServerLocation {
        let GeoLocation { country, time_zone, .. } = self.geo.lookup(address);
        ServerLocation { time_zone, country, domain: domain_of(site).to_owned() }
    }
}

fn domain_of(site: &Site) -> &str {
    site.as_str().rsplit('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use proptest::prelude::*;

    use super::*;
    use crate::address::Host;
    use crate::promises::is_quiet;

    proptest! {
        /// Tests both ends of quiet hours: by the judge's rule, which is written independently, no request of
        /// a permit is in them.
        #[test]
        fn who_may_be_asked_is_asked_in_no_quiet_hours(
            day in 20_000u64..21_000,
            (from, lasts) in (0u64..24 * 60, 1u64..5),
            (at_end, before, later) in (prop::bool::ANY, 0u64..160_000, 0u64..=6),
            (handshakes, share, at_share) in (0u64..150, 0.0..1.0, 0.0..1.0),
        ) {
            let [begin, end] = [from, from + lasts].map(|minute| format!("{:02}:{:02}", minute / 60 % 24, minute % 60));
            let quiet: QuietHours = format!("{begin}-{end}").parse().unwrap();
            let hours = LocalHours::new(Some(quiet), Arc::new(Geo::open(&[]).unwrap()), Duration::from_secs(handshakes));
            let (address, site) = ([41, 90, 0, 1].into(), Site::new(Host::parse("example.com").unwrap()));
            let server = hours.server_location(address, &site);
            let edge = day * 24 * 60 + if at_end { from + lasts } else { from };
            let now = UNIX_EPOCH + Duration::from_secs(edge * 60) - Duration::from_millis(before);
            let quiet_at = |time: SystemTime| is_quiet(&quiet, time, &server);
            if hours.wake_time(now, address, &site).is_none() {
                prop_assert!(!quiet_at(now + Duration::from_secs(handshakes + 2).mul_f64(at_share)));
            }
            let awake = hours.awake_until(now, now + Duration::from_secs(later), address, &site);
            let span = awake.duration_since(now).unwrap();
            prop_assert!(span.is_zero() || !quiet_at(now + span.mul_f64(share)));
        }
    }
}
