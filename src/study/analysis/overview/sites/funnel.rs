use serde::Serialize;

use crate::analysis::Labels;
use crate::analysis::overview::exchange::ExchangeView;
use crate::analysis::overview::listed::SiteView;
use crate::analysis::overview::tally::{NamedCount, Tally};
use crate::exchange::Outcome;

/// The number of sites of the country domains at each stage, from known to active. The unit is the site.
///
/// Parked sites are not identified: that requires guesses about words and templates, and a wrong guess would
/// change the figure that people quote. They are counted among the sites with a single page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Funnel {
    /// Sites of start URLs and link targets inside the surveyed country domains.
    pub known: u64,
    /// Sites with a finished site tree, but for those that the budget of the survey did not reach.
    pub surveyed: u64,
    /// Sites with an address.
    pub resolved: u64,
    /// Sites that responded with a status to at least one request.
    pub answered: u64,
    /// Sites with a successful response (2xx, or unchanged since an earlier survey) at an entrance, or at the
    /// target of its redirect inside the site.
    pub front_page: u64,
    /// Sites with at least one page that could be read.
    pub with_page: u64,
    /// Sites with at least two pages that could be read: active sites.
    pub active: u64,
    /// Sites that responded and have no front page, by outcome of their first tree.
    pub answered_without_front_page: Vec<NamedCount>,
    /// Surveyed sites outside the country domains. They are not counted in the other fields.
    pub outside: u64,
}

const RESOLVED: u8 = 1;
const RESPONDED: u8 = 2;
const FRONT_PAGE: u8 = 4;
const TRIED: u8 = 8;

#[derive(Default)]
pub(in crate::analysis::overview) struct FunnelMaker {
    sites: Vec<Stage>,
    outcomes: Labels,
}

/// The stages that a site has reached.
#[derive(Clone, Copy)]
struct Stage {
    reached: u8,
    /// The label of the outcome of its first tree.
    outcome: u32,
    is_inside: bool,
}

impl FunnelMaker {
    pub(in crate::analysis::overview) fn add_site(&mut self, site: &SiteView<'_>) {
        if site.is_first {
            let outcome = self.outcomes.number(site.outcome);
            let may_be_unreached = site.outcome == Outcome::RequestBudget.as_str();
            let reached = if may_be_unreached { 0 } else { TRIED };
            self.sites.push(Stage { reached, outcome, is_inside: site.cctld.is_some() });
        }
    }

    pub(in crate::analysis::overview) fn add(&mut self, exchange: &ExchangeView<'_>) {
        let Some(stage) = self.sites.get_mut(exchange.site as usize) else { return };
        stage.reached |= TRIED;
        if exchange.address.is_some() {
            stage.reached |= RESOLVED;
        }
        if exchange.status.is_some() {
            stage.reached |= RESPONDED;
        }
        if exchange.is_front_page() {
            stage.reached |= FRONT_PAGE;
        }
    }

    /// Counts the stages. `pages` holds the number of pages of each site; `known_only_by_links` is the number
    /// of sites without a tree.
    pub(in crate::analysis::overview) fn finish(self, pages: &[u32], known_only_by_links: u64) -> Funnel {
        let mut funnel = Funnel { known: known_only_by_links, ..Funnel::default() };
        let mut without_front_page = Tally::default();
        for (stage, &pages) in self.sites.iter().zip(pages) {
            if !stage.is_inside {
                funnel.outside += 1;
                continue;
            }
            let reached = |flag| stage.reached & flag != 0;
            funnel.known += 1;
            funnel.surveyed += u64::from(reached(TRIED));
            funnel.resolved += u64::from(reached(RESOLVED));
            funnel.answered += u64::from(reached(RESPONDED));
            funnel.front_page += u64::from(reached(FRONT_PAGE));
            funnel.with_page += u64::from(pages >= 1);
            funnel.active += u64::from(pages >= 2);
            if reached(RESPONDED) && !reached(FRONT_PAGE) {
                without_front_page.add(self.outcomes.name(stage.outcome));
            }
        }
        funnel.answered_without_front_page = without_front_page.finish();
        funnel
    }
}
