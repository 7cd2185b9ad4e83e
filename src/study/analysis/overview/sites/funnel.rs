use serde::Serialize;

use crate::analysis::Labels;
use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::SiteView;
use crate::analysis::overview::tally::{NamedCount, Tally};

/// How many sites of the country domains there are at each stage, from known to active. The unit is the site.
///
/// Parked sites are not told from others: that takes guesses at words and templates, and a wrong guess changes
/// the number that people quote. Sites with a single page, among which they are, are counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Funnel {
    /// Start URLs and link targets inside the surveyed country domains.
    pub known: u64,
    /// With a site tree that is done.
    pub surveyed: u64,
    /// An address was found.
    pub resolved: u64,
    /// At least one request was answered with a status.
    pub answered: u64,
    /// An entrance of the site, or what it redirects to inside the site, was answered with 2xx.
    pub front_page: u64,
    /// At least one page could be read.
    pub with_page: u64,
    /// Two pages or more could be read: active.
    pub active: u64,
    /// Why sites that were answered have no front page: by outcome of their walk.
    pub answered_without_front_page: Vec<NamedCount>,
    /// Surveyed sites outside the country domains; they are not counted above.
    pub outside: u64,
}

const RESOLVED: u8 = 1;
const ANSWERED: u8 = 2;
const FRONT_PAGE: u8 = 4;

#[derive(Default)]
pub(in crate::analysis::overview) struct FunnelMaker {
    sites: Vec<Stage>,
    outcomes: Labels,
}

/// How far a site came.
#[derive(Clone, Copy)]
struct Stage {
    reached: u8,
    /// The label of that of its first tree.
    outcome: u32,
    is_inside: bool,
}

impl FunnelMaker {
    pub(in crate::analysis::overview) fn add_site(&mut self, site: &SiteView<'_>) {
        if site.is_first {
            let outcome = self.outcomes.number(site.outcome);
            self.sites.push(Stage { reached: 0, outcome, is_inside: site.cctld.is_some() });
        }
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        let Some(stage) = self.sites.get_mut(exchange.site as usize) else { return };
        if exchange.address.is_some() {
            stage.reached |= RESOLVED;
        }
        if exchange.status.is_some() {
            stage.reached |= ANSWERED;
        }
        if exchange.is_front_page() {
            stage.reached |= FRONT_PAGE;
        }
    }

    /// `pages` are those of each site; `known_only_by_links` are sites without a tree.
    pub(in crate::analysis::overview) fn finish(self, pages: &[u32], known_only_by_links: u64) -> Funnel {
        let mut funnel = Funnel { known: known_only_by_links, ..Funnel::default() };
        let mut without_front_page = Tally::default();
        for (stage, &pages) in self.sites.iter().zip(pages) {
            if !stage.is_inside {
                funnel.outside += 1;
                continue;
            }
            let reached = |what| stage.reached & what != 0;
            funnel.known += 1;
            funnel.surveyed += 1;
            funnel.resolved += u64::from(reached(RESOLVED));
            funnel.answered += u64::from(reached(ANSWERED));
            funnel.front_page += u64::from(reached(FRONT_PAGE));
            funnel.with_page += u64::from(pages >= 1);
            funnel.active += u64::from(pages >= 2);
            if reached(ANSWERED) && !reached(FRONT_PAGE) {
                without_front_page.add(self.outcomes.name(stage.outcome));
            }
        }
        funnel.answered_without_front_page = without_front_page.finish();
        funnel
    }
}
