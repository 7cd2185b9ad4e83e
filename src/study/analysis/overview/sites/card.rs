use std::collections::HashSet;

use serde::Serialize;

use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::SiteView;
use crate::analysis::overview::method::file_name;
use crate::analysis::tables::key;
use crate::records::{Manifest, SurveyState, SurveyedWeb, Timestamp};
use crate::settings::Settings;

/// The collection card: the subject, time and vantage point of the survey, and its total cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Card {
    /// The country domains, as in the settings of the survey.
    pub country_domains: Vec<String>,
    /// The contact that servers were given.
    pub contact: Option<String>,
    /// The version of the program that began the survey.
    pub tool_version: String,
    /// Whether the survey is running, paused or finished.
    pub state: SurveyState,
    /// When the survey was begun.
    pub created: Timestamp,
    /// When the survey was finished; none before that.
    pub finished: Option<Timestamp>,
    /// The share of the start list's sites that was surveyed, and the seed of the draw; none if all were
    /// surveyed.
    pub sample: Option<(f64, u64)>,
    /// The vantage point of the survey.
    pub vantage: Vantage,
    /// The totals over the whole survey.
    pub totals: Totals,
    /// Requests that may have been sent and are not in the tables.
    pub unrecorded_exchanges: u64,
    /// The promises that the survey itself reported as broken.
    pub said_broken: Vec<String>,
}

/// The vantage point of a survey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Vantage {
    /// The name server that was used; none means the name servers of the system.
    pub dns: Option<String>,
    /// The Web that was surveyed: the real one, a world or a recorded survey (file name only).
    pub web: SurveyedWeb,
}

/// Finds and cost over the whole survey, from the finished trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// The user's start URLs that became site trees.
    pub start_urls: u64,
    /// Finished site trees.
    pub site_trees: u64,
    /// Distinct sites of the site trees.
    pub sites: u64,
    /// Pages read for links.
    pub pages: u64,
    /// Distinct hosts that were contacted.
    pub hosts_asked: u64,
    /// Requests that reached the network, robots.txt and redirects included.
    pub requests: u64,
    /// Requests for robots.txt among them.
    pub robots_requests: u64,
    /// Of the requests: probes, which belong to no level.
    pub probe_requests: u64,
    /// Attempts that reached no server: DNS failures, refused addresses.
    pub not_asked: u64,
    /// Bytes sent, heads and handshakes included.
    pub sent_bytes: u64,
    /// Bytes received on the wire.
    pub received_bytes: u64,
    /// Busy time of the servers, in milliseconds.
    pub busy_ms: f64,
    /// Connections opened to servers.
    pub connections: u64,
    /// The start of the first exchange.
    pub first_exchange: Option<Timestamp>,
    /// The end of the last exchange.
    pub last_exchange: Option<Timestamp>,
    /// From the first exchange to the end of the last, pauses between runs included.
    pub lasted_seconds: f64,
}

#[derive(Default)]
pub(in crate::analysis::overview) struct CardMaker {
    totals: Totals,
    hosts: HashSet<u64>,
    first: Option<i64>,
    last: Option<i64>,
}

impl CardMaker {
    pub(in crate::analysis::overview) fn add_site(&mut self, site: &SiteView<'_>) {
        self.totals.site_trees += 1;
        self.totals.sites += u64::from(site.is_first);
        self.totals.start_urls += u64::from(site.generation == 0);
        self.totals.pages = self.totals.pages.saturating_add(site.pages);
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        let totals = &mut self.totals;
        let Some(busy_ms) = exchange.total_ms else {
            totals.not_asked += 1;
            return;
        };
        totals.requests += 1;
        totals.robots_requests += u64::from(exchange.is_robots_request());
        totals.probe_requests += u64::from(exchange.is_probe());
        totals.sent_bytes += exchange.sent_bytes;
        totals.received_bytes += exchange.received_bytes;
        totals.busy_ms += busy_ms;
        totals.connections += u64::from(exchange.connections);
        self.hosts.insert(key(exchange.host));
        let (started, ended) = (exchange.started, exchange.ended());
        self.first = Some(self.first.map_or(started, |first| first.min(started)));
        self.last = Some(self.last.map_or(ended, |last| last.max(ended)));
    }

    pub(in crate::analysis::overview) fn finish(self, manifest: &Manifest) -> Card {
        let settings = Settings::recorded(&manifest.settings);
        let duration_us = self.first.zip(self.last).map_or(0, |(first, last)| last - first);
        Card {
            country_domains: settings.cctld,
            contact: settings.contact,
            tool_version: manifest.tool_version.clone(),
            state: manifest.state,
            created: manifest.created,
            finished: manifest.finished,
            sample: (settings.sample < 1.0).then_some((settings.sample, settings.seed)),
            vantage: Vantage {
                dns: settings.dns.map(|dns| dns.to_string()),
                web: match manifest.web() {
                    SurveyedWeb::Virtual(world) => SurveyedWeb::Virtual(file_name(&world)),
                    SurveyedWeb::Recorded(survey) => SurveyedWeb::Recorded(file_name(&survey)),
                    web => web,
                },
            },
            totals: Totals {
                hosts_asked: self.hosts.len() as u64,
                first_exchange: self.first.map(Timestamp),
                last_exchange: self.last.map(Timestamp),
                lasted_seconds: duration_us as f64 / 1e6,
                ..self.totals
            },
            unrecorded_exchanges: manifest.unrecorded_exchanges,
            said_broken: manifest.broken_promises.clone(),
        }
    }
}
