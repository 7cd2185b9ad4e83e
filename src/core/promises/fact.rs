use std::net::IpAddr;
use std::time::Duration;

use crate::address::{Site, WebUrl};
use crate::exchange::{Purpose, Response};

/// Exchanges end within this time, time-outs and a late clock included: an exchange that ended earlier
/// overlaps with none that is reported later.
pub(super) const HORIZON: Duration = Duration::from_secs(600);

/// One exchange with a server, as an observer without access to permits sees it.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// Site of the tree that the request was sent for.
    pub site: &'a Site,
    /// Address of the server.
    pub address: IpAddr,
    /// Page, robots.txt or head.
    pub purpose: Purpose,
    /// The requested URL, if known; it identifies the target of a redirect.
    pub url: Option<&'a WebUrl>,
    /// When the request was sent, the response, and when it had arrived.
    pub response: &'a Response,
    /// The Crawl-delay in the host's robots.txt, if known.
    pub crawl_delay: Option<Duration>,
    /// Objections of the server's owner.
    pub objections: OwnerObjections,
}

/// Objections of owners that applied when an exchange began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnerObjections {
    /// The host, address, network or autonomous system had opted out.
    pub had_opted_out: bool,
    /// It was in quiet hours by the clock of the server.
    pub in_quiet_hours: bool,
}
