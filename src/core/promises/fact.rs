use std::net::IpAddr;
use std::time::Duration;

use crate::address::{Site, WebUrl};
use crate::exchange::{Purpose, Response};

/// Exchanges end within so long, time-outs and a late clock included: what ended earlier overlaps with nothing
/// that is still to be told.
pub(super) const HORIZON: Duration = Duration::from_secs(600);

/// One exchange with a server, as somebody saw it who gave no permit for it.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// Of the tree for which was asked.
    pub site: &'a Site,
    /// Of the server.
    pub address: IpAddr,
    /// Page, robots.txt or head.
    pub purpose: Purpose,
    /// What was requested, where that is known: the target of a redirect is recognised by it.
    pub url: Option<&'a WebUrl>,
    /// When it was asked, what came, and when that had come.
    pub response: &'a Response,
    /// What the robots.txt of the host asks for, where that is known.
    pub crawl_delay: Option<Duration>,
    /// Of its owner.
    pub against: OwnerObjections,
}

/// Wishes of owners that stood against an exchange when it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnerObjections {
    /// The host, address, network or system.
    pub had_opted_out: bool,
    /// By the clock of the server.
    pub in_quiet_hours: bool,
}
