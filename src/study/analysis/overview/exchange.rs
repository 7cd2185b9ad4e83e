use polars::prelude::{DataFrame, PolarsResult};

use super::super::tables::columns;
use super::listed::ListedTrees;
use super::names::Names;
use crate::address::server_named;
use crate::exchange::Purpose;
use crate::load::{IN_FLIGHT, LEAST_BYTES, SHORTEST};
use crate::promises::TreeRequest;

/// A row of the table of exchanges.
pub(super) struct ExchangeView<'a> {
    pub site: u32,
    /// The number of the tree within its site.
    pub seed: u32,
    /// Whether the previous row belonged to another tree. The rows of a tree are adjacent, in request order.
    pub is_first: bool,
    pub url: &'a str,
    /// The number of the address in [`Names`].
    pub address: Option<u32>,
    pub address_text: Option<&'a str>,
    pub host: &'a str,
    pub depth: Option<u32>,
    pub purpose: &'a str,
    /// Microseconds since 1970.
    pub started: i64,
    pub status: Option<u32>,
    pub failure: Option<&'a str>,
    pub content_type: Option<&'a str>,
    pub content_encoding: Option<&'a str>,
    pub charset: Option<&'a str>,
    pub language: Option<&'a str>,
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub dns_ms: Option<f64>,
    pub connect_ms: Option<f64>,
    pub tls_ms: Option<f64>,
    pub first_byte_ms: Option<f64>,
    pub total_ms: Option<f64>,
    pub http_version: Option<&'a str>,
    pub tls_version: Option<&'a str>,
    pub tls_error: Option<&'a str>,
    pub body_hash: Option<&'a str>,
    pub text_simhash: Option<&'a str>,
    pub last_modified: Option<&'a str>,
    /// The sign of a challenge or a block page that was delivered instead of the requested page.
    pub challenge: Option<&'a str>,
    pub connections: u32,
    /// Set only for probes of scripts.
    pub withheld_urls: Option<u32>,
    /// Set only for probes of pages left out for their yield.
    pub left_out_urls: Option<u32>,
    pub new_external_urls: Option<u32>,
    pub new_external_hosts: Option<u32>,
    /// The size of the whole page or file when it was last transferred. Set if it has not changed since an
    /// earlier survey.
    pub unchanged_bytes: Option<u64>,
    /// The number of the attempt at this request. Attempts after the first follow one without a response.
    pub attempt: u32,
    /// The agent that sent the request; none if the survey process itself sent it.
    pub agent: Option<&'a str>,
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

columns! {
    ExchangeColumns {
        started: time,
        seed: u32,
        url: str,
        host: str,
        address: str,
        depth: u32,
        purpose: str,
        status: u32,
        failure: str,
        content_type: str,
        content_encoding: str,
        charset: str,
        language: str,
        sent_bytes: u64,
        received_bytes: u64,
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
        challenge: str,
        connections: u32,
        withheld_urls: u32,
        left_out_urls: u32,
        new_external_urls: u32,
        new_external_hosts: u32,
        unchanged_bytes: u64,
        attempt: u32,
        agent: str,
    }
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
            take(&ExchangeView { is_first, address: last.1, ..columns.exchange(row, listed.get(tree).site) });
        }
        Ok(())
    }
}

impl<'f> ExchangeColumns<'f> {
    fn exchange(&self, row: usize, site: u32) -> ExchangeView<'f> {
        ExchangeView {
            site,
            seed: self.seed.get(row).unwrap_or_default(),
            is_first: false,
            address: None,
            address_text: self.address.get(row),
            url: self.url.get(row).unwrap_or(""),
            host: self.host.get(row).unwrap_or(""),
            depth: self.depth.get(row),
            purpose: self.purpose.get(row).unwrap_or(""),
            started: self.started.get(row).unwrap_or_default().clamp(-MAX_TIME, MAX_TIME),
            status: self.status.get(row),
            failure: self.failure.get(row),
            content_type: self.content_type.get(row),
            content_encoding: self.content_encoding.get(row),
            charset: self.charset.get(row),
            language: self.language.get(row),
            sent_bytes: self.sent_bytes.get(row).unwrap_or_default().min(MAX_BYTES),
            received_bytes: self.received_bytes.get(row).unwrap_or_default().min(MAX_BYTES),
            dns_ms: self.dns_ms.get(row),
            connect_ms: self.connect_ms.get(row),
            tls_ms: self.tls_ms.get(row),
            first_byte_ms: self.first_byte_ms.get(row),
            total_ms: self.total_ms.get(row),
            http_version: self.http_version.get(row),
            tls_version: self.tls_version.get(row),
            tls_error: self.tls_error.get(row),
            body_hash: self.body_hash.get(row),
            text_simhash: self.text_simhash.get(row),
            last_modified: self.last_modified.get(row),
            challenge: self.challenge.get(row),
            connections: self.connections.get(row).unwrap_or_default(),
            withheld_urls: self.withheld_urls.get(row),
            left_out_urls: self.left_out_urls.get(row),
            new_external_urls: self.new_external_urls.get(row),
            new_external_hosts: self.new_external_hosts.get(row),
            unchanged_bytes: self.unchanged_bytes.get(row).map(|bytes| bytes.min(MAX_BYTES)),
            attempt: self.attempt.get(row).unwrap_or_default(),
            agent: self.agent.get(row),
        }
    }
}
