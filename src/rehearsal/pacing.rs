use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use crate::analysis::{EndedExchange, Pacing, ServerPause};
use crate::exchange::{Failure, Purpose, requests_pause, skips_body};
use crate::load::{Backoff, Bucket, Claim, Flow, Health, Observation, ServerLink, Symptom, symptom_of};
use crate::settings::{Pace, Settings};
use crate::survey::largest_exchange;

/// The random addition to a doubled pause, on average.
const USUAL_CHANCE: f64 = 0.5;

/// The pacing rule of surveys, for schedules that are only played.
pub struct SurveyPacing {
    pace: Pace,
    /// Health by server, with trees in place of their sites.
    servers: Vec<(Health<u32>, ServerLink)>,
    bucket: Option<Bucket>,
    claims: VecDeque<Claim>,
}

impl SurveyPacing {
    /// The rule under these settings, before the first request.
    #[must_use]
    pub fn from_settings(settings: &Settings) -> Self {
        Self {
            pace: Pace::from(settings),
            servers: Vec::new(),
            bucket: settings.rate.map(|rate| Bucket::new(rate.0, largest_exchange(settings))),
            claims: VecDeque::new(),
        }
    }
}

impl Pacing for SurveyPacing {
    fn is_trouble(&self, status: Option<u16>, failure: Option<Failure>) -> bool {
        symptom_of(status, failure) == Symptom::Trouble
    }

    fn is_unclear(&self, status: Option<u16>, failure: Option<Failure>) -> bool {
        symptom_of(status, failure) == Symptom::Unclear
    }

    fn is_unread(&self, purpose: &str, status: Option<u16>, media_type: Option<&str>) -> bool {
        let is_page = purpose == Purpose::Page.as_str();
        is_page && status.is_some_and(|status| skips_body(Purpose::Page, status, media_type))
    }

    fn requests_pause(&self, status: Option<u16>) -> bool {
        requests_pause(status)
    }

    fn pause_after(&mut self, server: usize, ended_exchange: &EndedExchange) -> ServerPause {
        if self.servers.len() <= server {
            self.servers.resize_with(server + 1, Default::default);
        }
        let (health, link) = &mut self.servers[server];
        let symptom = match ended_exchange {
            EndedExchange { is_trouble: true, .. } => Symptom::Trouble,
            EndedExchange { is_unclear: true, .. } => Symptom::Unclear,
            _ => Symptom::Sound,
        };
        let EndedExchange { tree: site, first_byte, .. } = ended_exchange;
        let ended = SystemTime::UNIX_EPOCH + ended_exchange.ended;
        let observation = Observation { site, ended, symptom, first_byte: *first_byte };
        let backoff = health.note(&self.pace, &observation, USUAL_CHANCE);
        let link = link.take(&Flow {
            hour: Flow::hour_at(ended_exchange.ended),
            bytes: ended_exchange.bytes,
            // The tables do not record how many bytes preceded the body: a forecast takes links for slightly
            // faster than the survey does.
            after_head: ended_exchange.bytes,
            first_byte: ended_exchange.first_byte,
            transfer: ended_exchange.transfer,
            is_unread: ended_exchange.is_unread,
        });
        let normal = health.pause_after(&self.pace, ended_exchange.response_time(), link, USUAL_CHANCE);
        let site_cool_down =
            health.cool_down_of(site).and_then(|hold| hold.until?.duration_since(ended).ok());
        ServerPause {
            normal,
            cool_down: if let Backoff::PutOff(time) = backoff { time } else { Duration::ZERO },
            site_cool_down: site_cool_down.unwrap_or_default(),
        }
    }

    fn reserve(&mut self, now: Duration) -> Result<(), Duration> {
        let Some(bucket) = &mut self.bucket else { return Ok(()) };
        let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.claims.push_back(bucket.begin(SystemTime::UNIX_EPOCH + now).map_err(since)?);
        Ok(())
    }

    fn release(&mut self, now: Duration, moved: u64) {
        // All claims are alike, because no exchange reads on here.
        if let (Some(bucket), Some(claim)) = (&mut self.bucket, self.claims.pop_front()) {
            bucket.end(SystemTime::UNIX_EPOCH + now, &claim, Some(moved));
        }
    }
}
