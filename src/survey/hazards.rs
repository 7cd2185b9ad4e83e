//! Rules broken on purpose, to see that it shows: in builds with the feature `hazards`, which no release has.
//!
//! `CCSURVEY_HAZARD` holds settings in TOML by which a survey acts in place of those that it promises; `CCSURVEY_DEAF`
//! names what it does not hear: `crawl-delay`, `retry-after`, `trouble`, `robots`. `CCSURVEY_ABORT_AT` is a URL: the process aborts when it
//! reads what that answers.

use std::time::Duration;

use serde::Deserialize;

use crate::address::WebUrl;
use crate::exchange::Answer;
use crate::settings::Settings;
use crate::walk::Content;

/// What a survey acts by.
pub(super) fn acting(promised: &Settings) -> Settings {
    let broken = || {
        let text = std::env::var("CCSURVEY_HAZARD").ok()?;
        let mut keys = toml::Table::try_from(promised).ok()?;
        keys.extend(text.parse::<toml::Table>().ok()?);
        Settings::deserialize(keys).ok()
    };
    broken().unwrap_or_else(|| promised.clone())
}

/// The Crawl-delay that is heard.
pub(super) fn crawl_delay(asked: Option<Duration>) -> Option<Duration> {
    asked.filter(|_| !is_deaf_to("crawl-delay"))
}

/// The answer as the load hears it.
pub(super) fn heard(answer: &Answer) -> Answer {
    let mut heard = answer.clone();
    if is_deaf_to("retry-after") {
        heard.head.retry_after = None;
    }
    if is_deaf_to("trouble") {
        (heard.status, heard.failure) = (Some(200), None);
    }
    heard
}

/// What an answer brought, as the walk hears it.
pub(super) fn content(content: Content) -> Content {
    match content {
        Content::Robots(_) if is_deaf_to("robots") => Content::Robots(Vec::new()),
        content => content,
    }
}

/// Ends the process at the answer that is marked.
pub(super) fn abort_at(url: &WebUrl) {
    if std::env::var_os("CCSURVEY_ABORT_AT").is_some_and(|marked| marked == url.as_str()) {
        std::process::abort();
    }
}

fn is_deaf_to(what: &str) -> bool {
    std::env::var("CCSURVEY_DEAF").is_ok_and(|deaf| deaf.split(',').any(|word| word == what))
}
