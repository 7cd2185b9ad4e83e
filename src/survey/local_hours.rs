use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::address::{Site, usual_offset};
use crate::records::Geo;
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
        self.quiet?.waking(now + AHEAD, self.offset_minutes(address, site), address)
    }

    /// How far a server's clock is ahead of UTC: by the country where it stands, if a database tells it, or the country
    /// of the site's domain, or else not at all.
    pub(super) fn offset_minutes(&self, address: IpAddr, site: &Site) -> i32 {
        let country = self.geo.lookup(address).country;
        let of_site = || usual_offset(site.as_str().rsplit('.').next().unwrap_or_default());
        country.as_deref().and_then(usual_offset).or_else(of_site).unwrap_or_default()
    }
}
