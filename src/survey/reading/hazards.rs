//! Breaks promises on purpose, to test that this shows. Only in builds with the feature `hazards`, which no
//! release has.
//!
//! - `CCSURVEY_HAZARD` holds settings in TOML that the survey follows instead of the settings that it
//!   promises.
//! - `CCSURVEY_DEAF` lists what the survey ignores: `crawl-delay`, `retry-after`, `trouble`, `robots`,
//!   `robots-status`, `opt-out`; or does not remember: `robots-first`, `once`.
//! - `CCSURVEY_ABORT_AT` is a URL: the process aborts when it reads the response of that URL.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::Deserialize;

use crate::address::{OptOuts, WebUrl};
use crate::exchange::{Purpose, Request, Response};
use crate::settings::Settings;
use crate::survey::journal::entry::ExchangeRecord;
use crate::walk::Content;

/// The settings that a survey follows.
pub(in crate::survey) fn settings_in_effect(promised: &Settings) -> Settings {
    let overridden = || {
        let text = std::env::var("CCSURVEY_HAZARD").ok()?;
        let mut keys = toml::Table::try_from(promised).ok()?;
        keys.extend(text.parse::<toml::Table>().ok()?);
        Settings::deserialize(keys).ok()
    };
    overridden().unwrap_or_else(|| promised.clone())
}

/// The Crawl-delay that the survey obeys.
pub(in crate::survey) fn crawl_delay(requested: Option<Duration>) -> Option<Duration> {
    requested.filter(|_| !ignores("crawl-delay"))
}

/// The response as `load` sees it.
pub(in crate::survey) fn response_for_load(response: &Response) -> Response {
    let mut record = response.clone();
    if ignores("retry-after") {
        record.head.retry_after = None;
    }
    if ignores("trouble") {
        (record.status, record.failure) = (Some(200), None);
    }
    record
}

/// A response and its content as the walk sees them.
pub(in crate::survey) fn response_for_walk(
    request: &Request,
    mut response: Response,
    content: Content,
) -> (Response, Content) {
    let stands_for_robots = request.purpose == Purpose::Page && request.depth.is_none();
    match content {
        Content::Robots(_) if ignores("robots") => (response, Content::Robots(Vec::new())),
        _ if stands_for_robots && ignores("robots-first") => (response, Content::Robots(Vec::new())),
        content => {
            if request.purpose == Purpose::Robots && ignores("robots-status") {
                (response.status, response.failure) = (response.status.map(|_| 404), None);
            }
            (response, content)
        }
    }
}

/// The request that replaces robots.txt: the front page.
pub(in crate::survey) fn before_robots(request: Request) -> Request {
    match request.url.join("/") {
        Ok(url) if ignores("robots-first") => Request { purpose: Purpose::Page, url, ..request },
        _ => request,
    }
}

/// The opt-outs that the survey obeys.
pub(in crate::survey) fn opt_outs(promised: Arc<OptOuts>) -> Arc<OptOuts> {
    if ignores("opt-out") { Arc::default() } else { promised }
}

/// Whether a delivered page is fetched once more, which happens the first time. This is called twice for each
/// result, and both calls return the same.
pub(in crate::survey) fn forgets(record: &ExchangeRecord) -> bool {
    static DELIVERED: Mutex<BTreeMap<u32, u8>> = Mutex::new(BTreeMap::new());
    if !ignores("once") || record.request.purpose != Purpose::Page || record.response.status != Some(200) {
        return false;
    }
    let mut delivered = DELIVERED.lock();
    let times = delivered.entry(record.request.number).or_default();
    *times = times.saturating_add(1);
    *times <= 2
}

/// Ends the process at the marked response.
pub(in crate::survey) fn abort_at(url: &WebUrl) {
    if std::env::var_os("CCSURVEY_ABORT_AT").is_some_and(|marked| marked == url.as_str()) {
        std::process::abort();
    }
}

fn ignores(what: &str) -> bool {
    std::env::var("CCSURVEY_DEAF").is_ok_and(|deaf| deaf.split(',').any(|word| word == what))
}
