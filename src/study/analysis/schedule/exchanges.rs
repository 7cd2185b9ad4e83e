use std::collections::HashMap;
use std::net::IpAddr;

/// The exchanges of a survey in compact form: 24 bytes each, so ten million take 240 MB.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    /// Tree by tree, in request order within each tree.
    pub(super) list: Vec<ScheduledExchange>,
    /// In the order in which the survey began the trees.
    pub(super) trees: Vec<TreeSpan>,
    /// For every tree and depth, the number of exchanges of the tree in the levels down to that depth.
    pub(super) level_ends: Vec<u32>,
    pub(super) servers: Vec<MeasuredServer>,
}

/// The attributes of an exchange that a schedule depends on. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScheduledExchange {
    /// [`NO_SERVER`] if the exchange reached none: `total` is then the time of the DNS lookup.
    pub server: u32,
    /// Bytes in both directions.
    pub bytes: u32,
    /// The time to open the connection, with TLS; 0 on a connection that was kept alive.
    pub handshake: f32,
    /// Below 0 without a response.
    pub first_byte: f32,
    pub total: f32,
    /// The pause before it that the server requested (Crawl-delay or Retry-After), in hundredths of a second.
    pub requested_pause: u16,
    pub depth: u8,
    pub marks: u8,
}

pub(super) const NO_SERVER: u32 = u32::MAX;
/// Marks of an exchange, one bit each.
pub(super) const TROUBLE: u8 = 1;
pub(super) const TIMED_OUT: u8 = 2;
pub(super) const UNREAD: u8 = 4;
pub(super) const UNCLEAR: u8 = 8;

/// The location of the exchanges of a tree in [`Exchanges`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeSpan {
    /// The number of the tree among the site trees of the survey.
    pub tree: u32,
    pub first: usize,
    pub first_end: usize,
    pub levels: u16,
    /// The index of the tree that found it, in the order of the survey.
    pub parent: Option<u32>,
}

/// A server with the measurements of the survey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredServer {
    /// The address of the server.
    pub address: IpAddr,
    /// The least round-trip time in seconds; infinite if none was measured.
    pub(super) rtt: f32,
    /// Bytes received in responses long enough to measure; `transfer` is the seconds they took.
    pub(in crate::analysis) bytes: f64,
    pub(in crate::analysis) transfer: f64,
}

impl ScheduledExchange {
    pub(super) fn is_trouble(&self) -> bool {
        self.marks & TROUBLE != 0
    }

    pub(super) fn is_unclear(&self) -> bool {
        self.marks & UNCLEAR != 0
    }

    /// Seconds from the first byte of the response to the last.
    pub(super) fn transfer(&self) -> f64 {
        if self.first_byte < 0.0 {
            return 0.0;
        }
        (f64::from(self.total) - f64::from(self.handshake) - f64::from(self.first_byte)).max(0.0)
    }

    pub(super) fn is_unread(&self) -> bool {
        self.marks & UNREAD != 0
    }

    pub(super) fn timed_out(&self) -> bool {
        self.marks & TIMED_OUT != 0
    }
}

impl MeasuredServer {
    pub(in crate::analysis) fn new(address: IpAddr) -> Self {
        Self { address, rtt: f32::INFINITY, bytes: 0.0, transfer: 0.0 }
    }

    /// The least measured round-trip time, in seconds.
    pub(super) fn rtt(&self) -> Option<f64> {
        self.rtt.is_finite().then_some(f64::from(self.rtt))
    }

    /// The rate of its responses, in bits per second: the part of its link that its other users left.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        (self.transfer > 0.0 && self.bytes > 0.0).then(|| self.bytes * 8.0 / self.transfer)
    }
}

impl Exchanges {
    /// The servers by number.
    #[must_use]
    pub fn servers(&self) -> &[MeasuredServer] {
        &self.servers
    }

    /// The server of the first exchange of each site tree, by the number of the tree.
    #[must_use]
    pub fn home_servers(&self, trees: usize) -> Vec<Option<&MeasuredServer>> {
        let mut homes = vec![None; trees];
        for span in &self.trees {
            let first = self.list.get(span.first).filter(|_| self.up_to(span, u16::MAX) > 0);
            let server = first.and_then(|exchange| self.servers.get(exchange.server as usize));
            if let Some(home) = homes.get_mut(span.tree as usize) {
                *home = server;
            }
        }
        homes
    }

    /// The survey as if it had made only some of these exchanges, with a single level. `keep` gets the tree
    /// and the index of the exchange within the tree.
    pub(in crate::analysis) fn only(&self, keep: impl Fn(u32, usize) -> bool) -> Self {
        let (mut list, mut trees, mut level_ends) =
            (Vec::new(), Vec::with_capacity(self.trees.len()), Vec::new());
        // The rows of a large tree may be in several pieces, which are in order.
        let mut rows_before: HashMap<u32, usize> = HashMap::new();
        for span in &self.trees {
            let (first, first_end) = (list.len(), level_ends.len());
            let all = &self.list[span.first..span.first + self.up_to(span, u16::MAX) as usize];
            let before = rows_before.entry(span.tree).or_default();
            let rows = (*before..).zip(all);
            list.extend(rows.filter(|(row, _)| keep(span.tree, *row)).map(|(_, scheduled)| *scheduled));
            *before += all.len();
            level_ends.push(u32::try_from(list.len() - first).unwrap_or(u32::MAX));
            trees.push(TreeSpan { first, first_end, levels: 1, ..*span });
        }
        Self { list, trees, level_ends, servers: self.servers.clone() }
    }

    /// The number of exchanges of a tree in its levels down to `depth`.
    pub(super) fn up_to(&self, span: &TreeSpan, depth: u16) -> u32 {
        let level_ends = &self.level_ends[span.first_end..span.first_end + usize::from(span.levels)];
        level_ends.get(usize::from(depth)).or(level_ends.last()).copied().unwrap_or(0)
    }
}
