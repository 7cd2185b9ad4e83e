use std::ops::Deref;

use polars::prelude::{DataFrame, PolarsResult};

use super::super::tables::columns;
use super::listed::ListedTrees;
use super::names::Names;
use crate::address::server_named;
use crate::exchange::Purpose;
use crate::load::{IN_FLIGHT, LEAST_BYTES, SHORTEST};
use crate::promises::TreeRequest;

columns! {
    /// The values of a row of the table of exchanges.
    ExchangeColumns => ExchangeFields {
        /// Microseconds since 1970.
        started: time = 0,
        /// The number of the tree within its site.
        seed: u32 = 0,
        url: str = "",
        host: str = "",
        address: str,
        depth: u32,
        purpose: str = "",
        status: u32,
        failure: str,
        content_type: str,
        content_encoding: str,
        charset: str,
        language: str,
        sent_bytes: u64 = 0,
        received_bytes: u64 = 0,
        dns_ms: f64,
        connect_ms: f64,
        tls_ms: f64,
        first_byte_ms: f64,
        total_ms: f64,
        http_version: str,
        tls_version: str,
        tls_error: str,
        body_hash: str,
        text_simhash: str,
        last_modified: str,
        /// The sign of a challenge or a block page that was delivered instead of the requested page.
        challenge: str,
        connections: u32 = 0,
        /// Set only for probes of scripts.
        withheld_urls: u32,
        /// Set only for probes of pages left out for their yield.
        left_out_urls: u32,
        new_external_urls: u32,
        new_external_hosts: u32,
        /// The size of the whole page or file when it was last transferred. Set if it has not changed since
        /// an earlier survey.
        unchanged_bytes: u64,
        /// The number of the attempt at this request. Attempts after the first follow one without a response.
        attempt: u32 = 0,
        /// The agent that sent the request; none if the survey process itself sent it.
        agent: str,
    }
}

/// A row of the table of exchanges, with its place among the others.
pub(super) struct ExchangeView<'a> {
    pub site: u32,
    /// Whether the previous row belonged to another tree. The rows of a tree are adjacent, in request order.
    pub is_first: bool,
    /// The number of the address in [`Names`].
    pub address_number: Option<u32>,
    fields: ExchangeFields<'a>,
}

impl<'a> Deref for ExchangeView<'a> {
    type Target = ExchangeFields<'a>;

    fn deref(&self) -> &Self::Target {
        &self.fields
    }
}

impl ExchangeView<'_> {
    /// Whether the request reached a server.
    pub(super) fn reached_server(&self) -> bool {
        self.total_ms.is_some()
    }

    pub(super) fn is_page_request(&self) -> bool {
        self.purpose == Purpose::Page.as_str()
    }

    pub(super) fn is_robots_request(&self) -> bool {
        self.purpose == Purpose::Robots.as_str()
    }

    /// Of a sample that belongs to no level.
    pub(super) fn is_probe(&self) -> bool {
        self.purpose == Purpose::Probe.as_str()
    }

    /// The request in the form by which promises are judged.
    pub(super) fn tree_request(&self) -> Option<TreeRequest<'_>> {
        TreeRequest::from_columns(self.url, self.purpose, self.status(), self.failure)
    }

    pub(super) fn status(&self) -> Option<u16> {
        self.status.and_then(|status| u16::try_from(status).ok())
    }

    /// Whether the requested page or file exists: delivered now, or unchanged since an earlier survey.
    pub(super) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status)) || self.unchanged_bytes.is_some()
    }

    /// Whether a page was received and read for links.
    pub(super) fn was_parsed(&self) -> bool {
        self.charset.is_some()
    }

    pub(super) fn is_front_page(&self) -> bool {
        self.depth == Some(0) && self.is_page_request() && self.is_success()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.sent_bytes + self.received_bytes
    }

    /// The time from the first byte of the response to the last; none without a response.
    pub(super) fn transfer_ms(&self) -> Option<f64> {
        let handshake = self.connect_ms.unwrap_or_default() + self.tls_ms.unwrap_or_default();
        Some((self.total_ms? - handshake - self.first_byte_ms?).max(0.0))
    }

    /// Whether the rate of the server's link can be measured from this exchange. A short transfer qualifies
    /// only if it has at least twice the bytes that can arrive at once ([`IN_FLIGHT`]).
    pub(super) fn measures_link_rate(&self) -> bool {
        let bytes = self.bytes() as f64;
        let is_long = |ms: f64| ms >= SHORTEST * 1000.0 && bytes >= LEAST_BYTES;
        self.transfer_ms().is_some_and(|ms| is_long(ms) || bytes >= 2.0 * IN_FLIGHT)
    }

    /// The end of the exchange, in microseconds since 1970.
    pub(super) fn ended(&self) -> i64 {
        self.started.saturating_add(microseconds(self.total_ms.unwrap_or_default()))
    }
}

/// Damaged tables may hold any number. Differences of times up to this limit, in microseconds, do not
/// overflow …
const MAX_TIME: i64 = 1 << 60;
/// … nor do sums of bytes over all exchanges of a survey. No exchange moves 64 GiB.
const MAX_BYTES: u64 = 1 << 36;

/// Tables hold durations in milliseconds and points in time in microseconds.
pub(super) fn microseconds(ms: f64) -> i64 {
    ((ms * 1000.0).round() as i64).clamp(-MAX_TIME, MAX_TIME)
}

/// Reads the exchanges of listed trees, row by row.
#[derive(Default)]
pub(super) struct ExchangeReader {
    last_tree: Option<u32>,
}

impl ExchangeReader {
    pub(super) fn read(
        &mut self,
        frame: &DataFrame,
        listed: &ListedTrees,
        addresses: &mut Names,
        mut take: impl FnMut(&ExchangeView<'_>),
    ) -> PolarsResult<()> {
        let columns = ExchangeColumns::from_frame(frame)?;
        // Neighbouring rows mostly have the same server.
        let mut last: (Option<&str>, Option<u32>) = (None, None);
        for (row, tree) in listed.trees_of(frame)?.into_iter().enumerate() {
            let Some(tree) = tree else { continue };
            let is_first = self.last_tree.replace(tree) != Some(tree);
            let address = columns.address.get(row);
            if address != last.0 {
                last = (address, address.map(|address| addresses.number(&server_named(address))));
            }
            let fields = columns.fields(row).bounded();
            take(&ExchangeView { site: listed.get(tree).site, is_first, address_number: last.1, fields });
        }
        Ok(())
    }
}

impl ExchangeFields<'_> {
    fn bounded(self) -> Self {
        Self {
            started: self.started.clamp(-MAX_TIME, MAX_TIME),
            sent_bytes: self.sent_bytes.min(MAX_BYTES),
            received_bytes: self.received_bytes.min(MAX_BYTES),
            unchanged_bytes: self.unchanged_bytes.map(|bytes| bytes.min(MAX_BYTES)),
            ..self
        }
    }
}
