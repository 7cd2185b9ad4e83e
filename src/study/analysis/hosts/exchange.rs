use std::ops::Deref;

use polars::prelude::{DataFrame, PolarsResult};

use super::super::tables::{columns, key};

columns! {
    /// The values of an exchange that say something of its host.
    #[derive(Default)]
    ExchangeColumns => ExchangeFields {
        number: u32 = 0,
        attempt: u32 = 0,
        url: str = "",
        host: str = "",
        address: str,
        depth: u32,
        purpose: str = "",
        started: time = 0,
        status: u32,
        failure: str,
        charset: str,
        language: str,
        title: str,
        location: str,
        http_version: str,
        tls_version: str,
        tls_error: str,
        server: str,
        powered_by: str,
        challenge: str,
        hsts: str,
        certificate_issuer: str,
        certificate_from: time,
        certificate_until: time,
        certificate_names: str,
        aliases: str,
        addresses: str,
        has_ipv6: bool,
        robots: str,
        sitemaps: str,
        generator: str,
        cms: str,
        cms_evidence: str,
        content: str,
        content_evidence: str,
        text_language: str,
        total_ms: f64,
        unchanged_bytes: u64,
    }
}

/// Passes each exchange to `take`, with the site of its tree.
pub(super) fn each_exchange(
    frame: &DataFrame,
    mut take: impl FnMut(&str, &TreeExchange<'_>),
) -> PolarsResult<()> {
    let columns = ExchangeColumns::from_frame(frame)?;
    let (sites, seeds) = (frame.column("site")?.str()?, frame.column("seed")?.u32()?);
    for row in 0..frame.height() {
        let Some((site, seed)) = sites.get(row).zip(seeds.get(row)) else { continue };
        let fields = columns.fields(row);
        take(site, &TreeExchange { tree: (key(site), seed), fields });
    }
    Ok(())
}

/// An exchange and the tree that it belongs to.
pub(super) struct TreeExchange<'a> {
    pub tree: (u64, u32),
    pub fields: ExchangeFields<'a>,
}

impl<'a> Deref for TreeExchange<'a> {
    type Target = ExchangeFields<'a>;

    fn deref(&self) -> &Self::Target {
        &self.fields
    }
}
