use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use super::parts::Parts;
use crate::address::{Site, usual_offset};

/// From the permit to the first byte of a request so much time may pass at most, and it must not be in quiet hours.
const AHEAD: Duration = Duration::from_secs(2);

/// When a server may be asked again if an exchange that is begun now would be in its quiet hours.
pub(super) fn waking(parts: &Parts, address: IpAddr, site: &Site) -> Option<SystemTime> {
    let quiet = parts.settings.quiet_hours?;
    quiet.waking(parts.now() + AHEAD, offset_minutes(parts, address, site), address)
}

/// Whether it was in the quiet hours of a server then, as they were promised.
pub(super) fn are_quiet(parts: &Parts, time: SystemTime, address: IpAddr, site: &Site) -> bool {
    let quiet = parts.judge().limits().quiet_hours;
    quiet.is_some_and(|quiet| quiet.over_at(time, offset_minutes(parts, address, site)).is_some())
}

/// How far a server's clock is ahead of UTC: by the country where it stands, if a database tells it, or the country
/// of the site's domain, or else not at all.
fn offset_minutes(parts: &Parts, address: IpAddr, site: &Site) -> i32 {
    let country = parts.geo.lookup(address).country;
    let of_site = || usual_offset(site.as_str().rsplit('.').next().unwrap_or_default());
    country.as_deref().and_then(usual_offset).or_else(of_site).unwrap_or_default()
}
