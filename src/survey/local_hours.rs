use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::address::{LocalClocks, Site};
use crate::promises::Whereabouts;
use crate::records::{Geo, GeoLocation};
use crate::settings::QuietHours;

/// From the permit to the first byte of a request so much time may pass at most, and it must not be in quiet hours.
const AHEAD: Duration = Duration::from_secs(2);

/// The quiet hours of servers, by the time where they stand.
pub(super) struct LocalHours {
    quiet: Option<QuietHours>,
    geo: Arc<Geo>,
}

impl LocalHours {
    pub(super) fn new(quiet: Option<QuietHours>, geo: Arc<Geo>) -> Self {
        Self { quiet, geo }
    }

    /// When a server may be asked again if an exchange that is begun now would be in its quiet hours.
    pub(super) fn waking(&self, now: SystemTime, address: IpAddr, site: &Site) -> Option<SystemTime> {
        self.quiet?.waking(now + AHEAD, &self.clocks(address, site), address)
    }

    /// Until when an exchange that is begun after `now` and not after `latest`, some seconds later, is in no quiet hours.
    pub(super) fn awake_until(
        &self,
        now: SystemTime,
        latest: SystemTime,
        address: IpAddr,
        site: &Site,
    ) -> SystemTime {
        let sleeps_at = |time: &SystemTime| self.waking(*time, address, site).is_some();
        // Quiet hours are longer than this span: who is awake at both of its ends is awake in between.
        if !sleeps_at(&latest) {
            return latest;
        }
        let seconds = std::iter::successors(Some(now), |time| Some(*time + Duration::from_secs(1)));
        seconds.take_while(|time| *time < latest).find(sleeps_at).unwrap_or(latest)
    }

    /// The clocks of a server: of the time zone where it stands, if a database tells it, or of the country, or of the
    /// country of the site's domain, or else of UTC.
    fn clocks(&self, address: IpAddr, site: &Site) -> LocalClocks {
        let GeoLocation { country, time_zone, .. } = self.geo.lookup(address);
        let of_zone = time_zone.as_deref().and_then(LocalClocks::of_zone);
        let of_country = || country.as_deref().and_then(LocalClocks::of_country);
        let of_site = || LocalClocks::of_country(domain_of(site));
        of_zone.or_else(of_country).or_else(of_site).unwrap_or_else(LocalClocks::utc)
    }

    /// Where a server stands, for who judges.
    pub(super) fn whereabouts(&self, address: IpAddr, site: &Site) -> Whereabouts {
        let GeoLocation { country, time_zone, .. } = self.geo.lookup(address);
        Whereabouts { time_zone, country, domain: domain_of(site).to_owned() }
    }
}

fn domain_of(site: &Site) -> &str {
    site.as_str().rsplit('.').next().unwrap_or_default()
}
