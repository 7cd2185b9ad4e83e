use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::bans::Bans;
use super::entry::{ListedUrl, UrlState, UrlStates};
use super::failures::Failures;
use super::in_flight::InFlight;
use super::origins::Origins;
use super::origins::entrance::EntranceAttempts;
use super::origins::mirrors::Mirrors;
use super::settings::auto::Auto;
use super::step::{Known, OnRecord};
use super::traps::echoes::Echoes;
use super::traps::evidence::TrapEvidence;
use super::tree::counts::TreeCounts;
use super::tree::listing::Listing;
use super::tree::probe::Probes;
use super::{External, LevelCount, WalkSettings};
use crate::address::{OptOuts, Scope, ScriptKey, UrlList, WebUrl};
use crate::exchange::{Depth, Entrance, Outcome};

/// The walk of one site, from its start URL to its [`Tree`](super::Tree).
///
/// The driver's loop: `poll`; on [`Step::Request`](super::Step::Request) either `begin` and send the request,
/// or `end` the walk; pass every response to `handle`; on [`Step::Done`](super::Step::Done), `conclude`.
pub struct Walk {
    pub(super) settings: Arc<WalkSettings>,
    pub(super) scope: Scope,
    pub(super) opt_out: Arc<OptOuts>,
    pub(super) origins: Origins,
    pub(super) entering: EntranceAttempts,
    pub(super) bans: Bans,
    /// The state of every internal URL found.
    pub(super) known: UrlStates,
    pub(super) scripts: HashMap<ScriptKey, u32>,
    pub(super) depth: Depth,
    /// The level that is being walked, in the order its URLs were found.
    pub(super) list: Listing,
    /// The next level: the links of this level's pages, in the order found.
    pub(super) found: UrlList,
    pub(super) pending: InFlight,
    pub(super) ending: Option<Outcome>,
    /// The outcome, if no server that delivered pages responds to us any more; the walk ends when nothing
    /// more is on record.
    pub(super) turned_away: Option<Outcome>,
    pub(super) failures: Failures,
    pub(super) quiet_levels: u16,
    pub(super) opted_out: bool,
    pub(super) recorded: OnRecord,
    /// A recorded request that is not in the list of the level.
    pub(super) unlisted: Option<ListedUrl>,
    /// The time of the last poll.
    pub(super) now: SystemTime,
    pub(super) moved: bool,
    pub(super) is_full: bool,
    pub(super) counts: TreeCounts,
    pub(super) evidence: TrapEvidence,
    pub(super) echoes: Echoes,
    pub(super) mirrors: Mirrors,
    pub(super) probes: Probes,
    pub(super) auto: Option<Auto>,
}

impl Walk {
    /// A walk from `start`; `known` is what earlier trees of the site have reached.
    #[must_use]
    pub fn new(
        settings: Arc<WalkSettings>,
        scope: Scope,
        opt_out: Arc<OptOuts>,
        start: WebUrl,
        known: Known,
    ) -> Self {
        let auto = settings.auto_depth.as_ref().map(Auto::new);
        let mut states: UrlStates = known.pages.into_iter().map(|key| (key, UrlState::Earlier)).collect();
        states.insert(start.page_key(), UrlState::Listed);
        Self {
            entering: EntranceAttempts::new(settings.entrances, &scope, &start),
            counts: TreeCounts::new(settings.max_urls),
            settings,
            scope,
            opt_out,
            origins: Origins::default(),
            bans: Bans::default(),
            known: states,
            scripts: known.scripts,
            depth: Depth(0),
            list: [ListedUrl { entrance: Some(Entrance::Offered), ..ListedUrl::new(start) }]
                .into_iter()
                .collect(),
            found: UrlList::default(),
            pending: InFlight::default(),
            ending: None,
            turned_away: None,
            failures: Failures::default(),
            quiet_levels: 0,
            opted_out: false,
            recorded: OnRecord::Nothing,
            unlisted: None,
            now: SystemTime::UNIX_EPOCH,
            moved: false,
            is_full: false,
            evidence: TrapEvidence::default(),
            echoes: Echoes::default(),
            mirrors: Mirrors::default(),
            probes: Probes::default(),
            auto,
        }
    }

    /// The level that is being walked.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The number of requests that are not merged yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// The number of requests so far: the number of the next one.
    #[must_use]
    pub fn request_count(&self) -> u32 {
        self.pending.request_count()
    }

    /// Says what is on record for the next request. A host that was requested then and has opted out since is
    /// let through for it: its response is on record and nothing will be sent.
    pub fn expect_recorded(&mut self, next: OnRecord) {
        self.recorded = next;
    }

    /// The time until which the robots.txt for a URL is valid: the next request must not be sent later.
    #[must_use]
    pub fn rules_valid_until(&self, url: &WebUrl) -> Option<SystemTime> {
        self.origins.valid_until(url, self.pending.request_count())
    }

    /// The external URLs found so far, in the order found.
    #[must_use]
    pub fn externals(&self) -> &[External] {
        &self.counts.externals
    }

    pub(super) fn level(&mut self) -> &mut LevelCount {
        self.counts.level(self.depth)
    }
}
