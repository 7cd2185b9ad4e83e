use std::net::IpAddr;
use std::sync::Arc;

use foldhash::HashMap;

use crate::address::{Host, WebUrl};
use crate::exchange::{Class, Purpose, Response};

/// The number of refusals in a row after which a ban is suspected: the number that issue 37 names. One
/// forbidden folder can bring as many refusals in a row on a level; the check tells the two cases apart.
const SUSPICIOUS: u32 = 20;
/// Once a server has banned one of its hosts, this number of refusals in a row shows that it refuses another
/// one, too.
const SUSPICIOUS_OF_FURTHER_HOSTS: u32 = 5;

/// Whether the servers of a site turn the survey away.
///
/// A server that delivered pages and then refuses request after request has either banned us, or the requests
/// are for a part of the site that it refuses to everybody. To find out, a page that it delivered before is
/// requested once more (the *check*). If the page comes, the next check is due after twice as many refusals
/// in the same row.
///
/// Refusals in a row are counted per host, because other hosts of the server may be sound, and per server,
/// because each of its hosts may have few pages. The server of a host is the address at which the host was
/// first met: a name may have several addresses, and the responses may alternate between them.
#[derive(Default)]
pub(super) struct Bans {
    servers: HashMap<IpAddr, BanRecord>,
    hosts: HashMap<Host, HostBans>,
    check: Option<PendingCheck>,
}

/// The refusals of one host or one server.
struct BanRecord {
    /// The page that was delivered last.
    delivered: Option<Arc<WebUrl>>,
    refusals_in_a_row: u32,
    /// The number of refusals in a row at which the next check is due.
    checked_at: u32,
}

struct HostBans {
    server: IpAddr,
    record: BanRecord,
    /// The last response refused, requested a pause or reported a server error; or the connection was closed.
    was_failing: bool,
    /// The class of the host's URLs that are no longer requested.
    closed: Option<Class>,
}

struct PendingCheck {
    host: Host,
    server: IpAddr,
    url: Arc<WebUrl>,
}

impl Default for BanRecord {
    fn default() -> Self {
        Self { delivered: None, refusals_in_a_row: 0, checked_at: SUSPICIOUS }
    }
}

impl BanRecord {
    /// Takes in a response and returns whether a ban is now suspected.
    fn note(&mut self, response: &Response) -> bool {
        if response.is_refused() {
            self.refusals_in_a_row = self.refusals_in_a_row.saturating_add(1);
            return self.refusals_in_a_row >= self.checked_at;
        }
        if response.status.is_some_and(serves) {
            (self.refusals_in_a_row, self.checked_at) = (0, SUSPICIOUS);
        }
        false
    }

    /// The check found no ban.
    fn double_threshold(&mut self) {
        self.checked_at = self.refusals_in_a_row.saturating_mul(2).max(SUSPICIOUS);
    }
}

impl Bans {
    /// Takes in the result of a request for a page, in the order of the requests.
    pub(super) fn note(&mut self, url: &WebUrl, response: &Response) {
        if !response.was_sent() {
            return;
        }
        let host = match self.hosts.get_mut(url.host()) {
            Some(host) => host,
            None => {
                let Some(server) = response.address else { return };
                let record =
                    HostBans { server, record: BanRecord::default(), was_failing: false, closed: None };
                self.hosts.entry(url.host().clone()).or_insert(record)
            }
        };
        let server = self.servers.entry(host.server).or_default();
        host.was_failing =
            response.is_refused() || response.status.is_some_and(|status| status == 429 || status >= 500);
        if ![host.record.note(response), server.note(response)].contains(&true) {
            return;
        }
        let (server_address, refusals) = (host.server, host.record.refusals_in_a_row);
        if let Some(page) = self.page_to_check(url.host(), server_address) {
            self.check = Some(PendingCheck { host: url.host().clone(), server: server_address, url: page });
        } else if refusals >= SUSPICIOUS_OF_FURTHER_HOSTS && self.has_banned(server_address) {
            // It delivered no page that could be checked.
            self.close(url.host());
        }
    }

    /// A page that the host delivered, or else one of another host of its server that still gets requests.
    fn page_to_check(&self, host: &Host, server: IpAddr) -> Option<Arc<WebUrl>> {
        let is_open = |page: &&Arc<WebUrl>| self.closed(page.host()).is_none();
        let own = self.hosts.get(host).and_then(|host| host.record.delivered.as_ref());
        let last = || self.servers.get(&server).and_then(|server| server.delivered.as_ref());
        let any = || {
            let server_hosts = self.hosts.values().filter(|host| host.server == server);
            server_hosts
                .filter_map(|host| host.record.delivered.as_ref())
                .filter(is_open)
                .min_by_key(|url| url.as_str())
        };
        let page = own.filter(is_open).or_else(|| last().filter(is_open)).or_else(any);
        page.map(Arc::clone)
    }

    fn has_banned(&self, server: IpAddr) -> bool {
        self.hosts.values().any(|host| host.server == server && host.closed == Some(Class::Refused))
    }

    fn close(&mut self, host: &Host) {
        if let Some(host) = self.hosts.get_mut(host) {
            host.closed.get_or_insert(Class::Refused);
        }
    }

    /// A page was delivered.
    pub(super) fn note_page(&mut self, url: &Arc<WebUrl>) {
        let Some(host) = self.hosts.get_mut(url.host()) else { return };
        host.record.delivered = Some(Arc::clone(url));
        if let Some(server) = self.servers.get_mut(&host.server) {
            server.delivered = Some(Arc::clone(url));
        }
    }

    /// The page to request once more, if a ban is suspected.
    pub(super) fn url_to_check(&self) -> Option<&Arc<WebUrl>> {
        self.check.as_ref().map(|check| &check.url)
    }

    /// Takes in the result of the check and returns whether hosts are closed to us from now on.
    pub(super) fn note_check(&mut self, response: &Response) -> bool {
        if !response.is_refused() {
            self.skip_check();
            return false;
        }
        let Some(PendingCheck { host, server: server_address, url }) = self.check.take() else {
            return false;
        };
        let is_refusing_all = self
            .servers
            .get(&server_address)
            .is_some_and(|server| server.refusals_in_a_row >= server.checked_at);
        // A page of another host is refused, too, and the server has served none of its hosts for as long.
        let is_of_server = *url.host() != host && is_refusing_all;
        for (name, record) in self.hosts.iter_mut().filter(|(_, record)| record.server == server_address) {
            let is_proven = *name == host || name == url.host();
            // A single refusal of another host may be for that URL alone.
            let refuses = record.record.refusals_in_a_row >= SUSPICIOUS_OF_FURTHER_HOSTS;
            if is_proven || refuses || is_of_server {
                record.closed.get_or_insert(Class::Refused);
            }
        }
        if let Some(server) = self.servers.get_mut(&server_address) {
            server.checked_at = server.refusals_in_a_row.saturating_add(SUSPICIOUS_OF_FURTHER_HOSTS);
        }
        true
    }

    /// There is no ban, or no way to find out: the page may no longer be requested.
    pub(super) fn skip_check(&mut self) {
        let Some(PendingCheck { host, server, .. }) = self.check.take() else { return };
        if let Some(host) = self.hosts.get_mut(&host) {
            host.record.double_threshold();
        }
        if let Some(server) = self.servers.get_mut(&server) {
            server.double_threshold();
        }
    }

    /// The survey has given up the servers of a host: returns the class of its URLs. If their responses were
    /// the trouble, the servers have turned us away.
    pub(super) fn give_up(&mut self, host: &Host) -> Class {
        let Some(host) = self.hosts.get_mut(host) else { return Class::Limit };
        *host.closed.get_or_insert(if host.was_failing { Class::Refused } else { Class::Limit })
    }

    /// The class of the URLs of a host that gets no more requests.
    pub(super) fn closed(&self, host: &Host) -> Option<Class> {
        self.hosts.get(host)?.closed
    }

    /// Whether a host that responded once has been given up after failures to connect.
    pub(super) fn has_given_up_host(&self) -> bool {
        self.hosts.values().any(|host| host.closed == Some(Class::Limit))
    }

    /// Whether some host still gets requests that has delivered pages, or that was met and does not refuse.
    pub(super) fn has_open_host(&self) -> bool {
        let may_deliver = |record: &BanRecord| {
            record.delivered.is_some() || record.refusals_in_a_row < SUSPICIOUS_OF_FURTHER_HOSTS
        };
        self.hosts.values().any(|host| host.closed.is_none() && may_deliver(&host.record))
    }

    /// Whether a ban would be suspected if this many more requests were refused.
    pub(super) fn may_be_suspected_after(&self, requests: usize) -> bool {
        let requests = u32::try_from(requests).unwrap_or(u32::MAX);
        let is_close =
            |record: &BanRecord| record.refusals_in_a_row.saturating_add(requests) >= record.checked_at;
        self.servers.values().chain(self.hosts.values().map(|host| &host.record)).any(is_close)
    }
}

/// Whether a status shows that a server serves us. Redirects are often made before a firewall looks; errors
/// and requests for a pause prove nothing.
fn serves(status: u16) -> bool {
    matches!(status, 200..=299 | 304 | 400..=428 | 430..=499)
}

/// Whether a request with this purpose can show a ban. robots.txt is often served where pages are not, and
/// the other way round; and a server may refuse HEAD and nothing else.
pub(super) fn counts_for_bans(purpose: Purpose) -> bool {
    purpose == Purpose::Page
}
