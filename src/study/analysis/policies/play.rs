use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;

use rayon::prelude::*;

use super::memories::Memories;
use super::recorded_graph::{RecordedGraph, SiteTree};
use crate::exchange::Depth;
use crate::roster::{RoundPlan, RoundPlanner, TreeBetweenRounds};
use crate::walk::yields::{Appraiser, FEATURES, Finder, LEAST_REQUESTS, Rates, UrlCandidate, UrlKind};

/// A rule for how deep and how far sites are walked.
#[derive(Clone, Debug)]
pub enum Policy {
    /// To this depth.
    Depth(u16),
    /// To this depth, and at most this number of pages per site.
    Pages(u16, u64),
    /// Until this number of consecutive pages named no host that is new in the tree. The first pages, as many
    /// as `--depth auto` requests in any case, never end the walk.
    Quiet(u64),
    /// The rule of `--depth auto`, with a price in new external hosts per request.
    Auto(Arc<Rates>, f64),
    /// The same rule with the memories of an earlier survey of the sites: `--focus`.
    Focus(Arc<Rates>, f64, Arc<Memories>),
    /// The rule of `--budget`, with the number of requests of the whole survey.
    Budget(Arc<Rates>, u64),
}

/// The requests and the finds of a policy, tree by tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyRun {
    pub(super) trees: Vec<TreeRun>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TreeRun {
    /// The number of requests, robots.txt included.
    pub requests: u64,
    /// External hosts by number, each once.
    pub hosts: Vec<u32>,
}

/// The load and the coverage of a policy on a recorded graph, as shares of those of the survey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicyPoint {
    /// Requests, as a share of those of the survey.
    pub load: f64,
    /// Distinct external hosts, as a share of those of the survey.
    pub coverage: f64,
}

/// For each page of each tree, whether a policy fetched it; none for a tree that got no request.
pub(in crate::analysis) type Fetched = Vec<Option<Vec<bool>>>;

/// The prices at which `--depth auto` is tried: from one host per request down to one host per some two
/// thousand requests, and zero.
pub fn prices() -> impl Iterator<Item = f64> {
    const PRICES: i32 = 34;
    const NEXT: f64 = 0.8;
    (0..PRICES).map(|step| NEXT.powi(step)).chain([0.0])
}

impl RecordedGraph {
    /// Plays a policy on every tree, to depth `deepest` at most.
    #[must_use]
    pub fn play(&self, policy: &Policy, deepest: u16) -> PolicyRun {
        self.trace(policy, deepest).0
    }

    /// As [`Self::play`], and also returns which pages the policy fetched.
    pub(in crate::analysis) fn trace(&self, policy: &Policy, deepest: u16) -> (PolicyRun, Fetched) {
        let traced = |mut walk: PolicyWalk<'_>| {
            let fetched = std::mem::take(&mut walk.fetched);
            let run = walk.result();
            let was_sent = run.requests > 0;
            (run, was_sent.then_some(fetched))
        };
        let (trees, fetched) = match policy {
            Policy::Budget(_, budget) => {
                let walks: Vec<_> = self.trees.iter().map(|tree| PolicyWalk::new(tree, policy)).collect();
                spend(walks, *budget, deepest).into_par_iter().map(traced).unzip()
            }
            _ => self.trees.par_iter().map(|tree| traced(play(tree, policy, deepest))).unzip(),
        };
        (PolicyRun { trees }, fetched)
    }

    /// The requests and the finds of the survey itself.
    #[must_use]
    pub fn recorded_run(&self) -> PolicyRun {
        let full_run = |tree: &SiteTree| {
            let hosts: HashSet<u32> = tree.pages.iter().flat_map(|page| &page.hosts).copied().collect();
            TreeRun { requests: tree.requests(), hosts: hosts.into_iter().collect() }
        };
        PolicyRun { trees: self.trees.iter().map(full_run).collect() }
    }
}

impl PolicyRun {
    /// The number of site trees.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// The number of requests, robots.txt included.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.trees.iter().map(|tree| tree.requests).sum()
    }

    /// The number of external hosts, each once.
    #[must_use]
    pub fn distinct_hosts(&self) -> u64 {
        self.trees.iter().flat_map(|tree| &tree.hosts).collect::<HashSet<_>>().len() as u64
    }

    /// The load and the coverage of this run, as shares of the run `full_run`.
    #[must_use]
    pub fn point(&self, full_run: &Self) -> PolicyPoint {
        let each = vec![1; self.trees.len()];
        self.weighted(full_run, &each)
    }

    /// As [`Self::point`], for a survey in which each tree occurs as often as `times` says, as in a draw with
    /// replacement.
    #[must_use]
    pub fn weighted(&self, full_run: &Self, times: &[u32]) -> PolicyPoint {
        let limit =
            full_run.trees.iter().flat_map(|tree| &tree.hosts).max().map_or(0, |host| *host as usize + 1);
        let count = |run: &Self| {
            let mut is_found = vec![false; limit];
            let (mut requests, mut hosts) = (0, 0_u64);
            for (tree, times) in run.trees.iter().zip(times).filter(|(_, times)| **times > 0) {
                requests += tree.requests * u64::from(*times);
                for host in &tree.hosts {
                    hosts += u64::from(!std::mem::replace(&mut is_found[*host as usize], true));
                }
            }
            (requests as f64, hosts as f64)
        };
        let ((requests, hosts), (all_requests, all_hosts)) = (count(self), count(full_run));
        PolicyPoint { load: requests / all_requests.max(1.0), coverage: hosts / all_hosts.max(1.0) }
    }
}

/// A page that a walk requested, for a training.
pub(super) struct ObservedPage {
    /// Its features when it was requested, unless it is requested in any case.
    pub features: Option<[f64; FEATURES]>,
    /// Which of the requested pages led to it.
    pub found_at: Option<u32>,
    pub page: u32,
    /// The number of external hosts, new in the tree, that it brought.
    pub hosts: u32,
}

/// The order in which a walk for a training requests the pages of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As they were found.
    Found,
    /// As `--depth auto` does.
    Best,
}

/// Walks a tree to its end and observes each page.
pub(super) fn observe(tree: &SiteTree, rates: &Arc<Rates>, order: Order, deepest: u16) -> Vec<ObservedPage> {
    let policy = Policy::Auto(rates.clone(), 0.0);
    let mut walk = PolicyWalk { order, observed: Some(Vec::new()), ..PolicyWalk::new(tree, &policy) };
    while walk.next_level(deepest) {}
    walk.observed.unwrap_or_default()
}

/// Walks a tree by `--depth auto`.
pub(super) fn play_auto(tree: &SiteTree, rates: &Arc<Rates>, price: f64, deepest: u16) -> TreeRun {
    play(tree, &Policy::Auto(rates.clone(), price), deepest).result()
}

fn play<'a>(tree: &'a SiteTree, policy: &'a Policy, deepest: u16) -> PolicyWalk<'a> {
    let mut walk = PolicyWalk::new(tree, policy);
    while walk.next_level(deepest) {}
    walk
}

/// Opens the walks whose turn has come: of a site that was not on the start list, when another tree has found
/// its host; of a further start URL of a site, when the tree before it has ended.
fn open_walks(walks: &mut [PolicyWalk<'_>], deepest: u16) {
    let closed: Vec<usize> = (0..walks.len()).filter(|number| !walks[*number].is_open).collect();
    if closed.is_empty() {
        return;
    }
    let found: HashSet<u32> = walks.iter().flat_map(|walk| walk.hosts.iter().copied()).collect();
    let names = walks.iter().enumerate().map(|(number, walk)| (&walk.tree.name, number));
    let by_name: HashMap<_, _> = names.collect();
    let may_open = |number: &usize| {
        let (site, seed) = &walks[*number].tree.name;
        let before = seed.checked_sub(1).and_then(|seed| by_name.get(&(site.clone(), seed)));
        let may_follow =
            before.is_none_or(|before| !walks[*before].is_open || walks[*before].has_ended(deepest));
        let found_by = &walks[*number].tree.found_by;
        may_follow && (found_by.is_empty() || found_by.iter().any(|host| found.contains(host)))
    };
    let mut opened: Vec<usize> = closed.into_iter().filter(may_open).collect();
    // Of a site, one tree at a time.
    opened.sort_by_key(|number| &walks[*number].tree.name);
    opened.dedup_by_key(|number| &walks[*number].tree.name.0);
    opened.into_iter().for_each(|number| walks[number].is_open = true);
}

/// Spends a budget of requests over the walks of a survey, in the rounds of `--budget`.
fn spend(mut walks: Vec<PolicyWalk<'_>>, budget: u64, deepest: u16) -> Vec<PolicyWalk<'_>> {
    let planner = RoundPlanner::new(budget);
    let mut before = (0, Vec::new());
    for walk in &mut walks {
        walk.is_open = walk.tree.found_by.is_empty() && walk.tree.name.1 == 0;
    }
    for round in 1.. {
        open_walks(&mut walks, deepest);
        let spent = walks.iter().map(PolicyWalk::requests_sent).sum();
        let between = |(number, walk): (usize, &PolicyWalk<'_>)| walk.between_rounds(number as u64, deepest);
        let waiting: Vec<_> = walks.par_iter().enumerate().map(between).collect();
        // A round in which nothing happened would be followed by the same one.
        let now = (spent, waiting);
        if now == before {
            break;
        }
        let trees = || Ok::<_, Infallible>(now.1.iter().cloned().map(Ok));
        let Ok(Some(RoundPlan { price, allowances, .. })) = planner.next(round, spent, trees) else { break };
        let mut parts = vec![0; walks.len()];
        for (number, allowance) in allowances {
            if let Some(part) = usize::try_from(number).ok().and_then(|number| parts.get_mut(number)) {
                *part = u64::from(allowance);
            }
        }
        let members = walks.par_iter_mut().zip(parts).filter(|(_, part)| *part > 0);
        members.for_each(|(walk, part)| walk.play_round(price, part, deepest));
        before = now;
    }
    // In trees where nothing waits any more.
    let mut left = budget.saturating_sub(walks.iter().map(PolicyWalk::requests_sent).sum());
    for walk in walks.iter_mut().filter(|walk| walk.has_begun) {
        let more = walk.requests.saturating_sub(walk.until).min(left);
        walk.until += more;
        left -= more;
    }
    walks
}

/// A page that waits to be fetched.
struct WaitingPage {
    page: u32,
    candidate: Option<UrlCandidate>,
    /// The page on which it was found, and when that was requested.
    finder: Option<Finder>,
    found_at: Option<u32>,
    /// The page is fetched whatever its expected yield.
    is_settled: bool,
}

impl WaitingPage {
    fn uncertain_candidate(&self) -> Option<&UrlCandidate> {
        self.candidate.as_ref().filter(|_| !self.is_settled)
    }
}

/// A walk of a policy through a recorded tree.
struct PolicyWalk<'a> {
    tree: &'a SiteTree,
    policy: &'a Policy,
    order: Order,
    observed: Option<Vec<ObservedPage>>,
    appraiser: Option<(Appraiser, &'a Rates)>,
    depth: Depth,
    known: Vec<bool>,
    fetched: Vec<bool>,
    /// By depth.
    waiting: Vec<Vec<WaitingPage>>,
    hosts: HashSet<u32>,
    /// Those for robots.txt included, which are sent as the walk begins.
    requests: u64,
    has_begun: bool,
    /// It may be walked: its site is known. Only a budget has to wait for that.
    is_open: bool,
    /// The number of requests at which the walk stops.
    until: u64,
    pages_requested: u64,
    quiet: u64,
}

impl<'a> PolicyWalk<'a> {
    fn new(tree: &'a SiteTree, policy: &'a Policy) -> Self {
        let appraiser = match policy {
            Policy::Auto(rates, price) => Some((Appraiser::new(rates.clone(), *price), rates.as_ref())),
            Policy::Budget(rates, _) => {
                Some((Appraiser::new(rates.clone(), f64::INFINITY).without_free_requests(), rates.as_ref()))
            }
            Policy::Focus(rates, price, memories) => {
                let appraiser = Appraiser::new(rates.clone(), *price);
                let appraiser = match memories.get(&tree.name.0) {
                    Some(memory) => appraiser.with_memory(memory.clone()),
                    None => appraiser,
                };
                Some((appraiser, rates.as_ref()))
            }
            _ => None,
        };
        let entrances = (0..).zip(&tree.pages).filter(|(_, page)| page.is_entrance());
        let entrance =
            |(page, _)| WaitingPage { page, candidate: None, finder: None, found_at: None, is_settled: true };
        let level: Vec<WaitingPage> = entrances.map(entrance).collect();
        let mut known = vec![false; tree.pages.len()];
        level.iter().for_each(|waiting| known[waiting.page as usize] = true);
        Self {
            tree,
            policy,
            order: Order::Best,
            observed: None,
            appraiser,
            depth: Depth(0),
            fetched: vec![false; known.len()],
            known,
            waiting: vec![level],
            hosts: HashSet::new(),
            requests: tree.robots,
            has_begun: !matches!(policy, Policy::Budget(..)),
            is_open: true,
            until: u64::MAX,
            pages_requested: 0,
            quiet: 0,
        }
    }

    fn result(self) -> TreeRun {
        TreeRun { requests: self.requests_sent(), hosts: self.hosts.into_iter().collect() }
    }

    /// The number of requests sent so far, those for robots.txt included. What goes beyond the part of a
    /// round is sent in the next one.
    fn requests_sent(&self) -> u64 {
        if self.has_begun { self.requests.min(self.until) } else { 0 }
    }

    /// Whether it was walked, and nothing waits any more.
    fn has_ended(&self, deepest: u16) -> bool {
        let waits = self.waiting.iter().take(usize::from(deepest) + 1).any(|level| !level.is_empty());
        self.is_open && self.has_begun && !waits
    }

    /// What waits, for the plan of the next round.
    fn between_rounds(&self, number: u64, deepest: u16) -> TreeBetweenRounds {
        let mut standing = TreeBetweenRounds::nothing(number);
        let Some((appraiser, _)) = self.appraiser.as_ref().filter(|_| self.is_open) else { return standing };
        standing.is_entering = !self.has_begun || !self.waiting[0].is_empty();
        // What lies too deep does not wait.
        for page in self.waiting.iter().take(usize::from(deepest) + 1).skip(1).flatten() {
            match page.uncertain_candidate() {
                Some(candidate) => standing.scores.push(appraiser.score(candidate)),
                None => standing.certain += 1,
            }
        }
        standing.scores.sort_by(|one, other| other.total_cmp(one));
        standing
    }

    /// Requests what is worth the price, level by level again and again, and sends at most this many
    /// requests.
    fn play_round(&mut self, price: f64, most_requests: u64, deepest: u16) {
        self.until = self.requests_sent() + most_requests;
        self.has_begun = true;
        if let Some((appraiser, _)) = &mut self.appraiser {
            appraiser.set_price(price);
        }
        let mut has_requested = true;
        while std::mem::take(&mut has_requested) {
            for depth in 0..=deepest {
                let sent = self.pages_requested;
                self.depth = Depth(depth);
                let is_over = self.walk_level();
                has_requested |= self.pages_requested > sent;
                if is_over {
                    return;
                }
            }
        }
    }

    /// Walks a level. Returns whether there is another.
    fn next_level(&mut self, deepest: u16) -> bool {
        if self.walk_level() {
            return false;
        }
        let deepest = match self.policy {
            Policy::Depth(depth) | Policy::Pages(depth, _) => deepest.min(*depth),
            _ => deepest,
        };
        self.depth = self.depth.next();
        self.depth <= Depth(deepest) && !self.level().is_empty()
    }

    /// Requests the pages of the level that are worth it; the others wait. Returns whether the policy ends
    /// the walk before that.
    fn walk_level(&mut self) -> bool {
        let mut waiting = std::mem::take(self.level());
        let mut is_over = false;
        while !waiting.is_empty() && !is_over {
            let chosen = match &self.appraiser {
                Some((appraiser, _)) if self.depth > Depth(0) && self.order == Order::Best => {
                    appraiser.choose(&mut waiting, self.pages_requested, WaitingPage::uncertain_candidate)
                }
                _ => waiting.len(),
            };
            if chosen == 0 {
                break;
            }
            let rest = waiting.split_off(chosen);
            let mut chosen = std::mem::replace(&mut waiting, rest).into_iter();
            while !self.is_over()
                && let Some(waiting_page) = chosen.next()
            {
                self.request(&waiting_page, &mut waiting);
            }
            is_over = !chosen.as_slice().is_empty();
            waiting.splice(0..0, chosen);
        }
        *self.level() = waiting;
        is_over
    }

    /// The pages that wait at the current level.
    fn level(&mut self) -> &mut Vec<WaitingPage> {
        self.level_at(self.depth)
    }

    fn level_at(&mut self, depth: Depth) -> &mut Vec<WaitingPage> {
        let at = usize::from(depth.0);
        if self.waiting.len() <= at {
            self.waiting.resize_with(at + 1, Vec::new);
        }
        &mut self.waiting[at]
    }

    /// Whether a policy with a bound on pages or requests has reached it.
    fn is_over(&self) -> bool {
        match self.policy {
            Policy::Pages(_, limit) => self.pages_requested >= *limit,
            Policy::Quiet(limit) => self.quiet >= *limit && self.pages_requested >= LEAST_REQUESTS,
            Policy::Budget(..) => self.requests >= self.until,
            Policy::Depth(_) | Policy::Auto(..) | Policy::Focus(..) => false,
        }
    }

    fn request(&mut self, waiting_page: &WaitingPage, waiting: &mut Vec<WaitingPage>) {
        let tree = self.tree;
        let page = &tree.pages[waiting_page.page as usize];
        self.requests += page.requests;
        self.fetched[waiting_page.page as usize] = true;
        self.pages_requested += 1;
        let before = self.hosts.len();
        self.hosts.extend(&page.hosts);
        let new = self.hosts.len() - before;
        self.quiet = if new > 0 { 0 } else { self.quiet + 1 };
        self.observe(waiting_page, new);
        if let (Some((appraiser, _)), Some(candidate)) = (&mut self.appraiser, &waiting_page.candidate) {
            appraiser.note(candidate, new as u64);
        }
        let found_at = self.observed.as_ref().and_then(|observed| u32::try_from(observed.len() - 1).ok());
        let finder =
            |links| waiting_page.candidate.as_ref().map(|candidate| Finder::new(candidate, new, links));
        if let Some(target) = page.redirect.filter(|target| !self.known[*target as usize]) {
            self.known[target as usize] = true;
            // Fetched in any case: the redirect was fetched for its target.
            let finder = finder(1);
            let candidate = self.candidate(target, self.depth, finder.as_ref());
            waiting.push(WaitingPage { page: target, candidate, finder, found_at, is_settled: true });
        }
        let mut found: Vec<u32> = Vec::new();
        for target in &page.links {
            if !std::mem::replace(&mut self.known[*target as usize], true) {
                found.push(*target);
            }
        }
        let finder = finder(found.len());
        for target in found {
            let candidate = self.candidate(target, self.depth.next(), finder.as_ref());
            let is_settled = self.tree.pages[target as usize].url.is_front_page();
            let page = WaitingPage { page: target, candidate, finder, found_at, is_settled };
            self.level_at(self.depth.next()).push(page);
        }
    }

    fn observe(&mut self, waiting_page: &WaitingPage, new: usize) {
        let (Some(observed), Some((appraiser, rates))) = (&mut self.observed, &self.appraiser) else {
            return;
        };
        let features = waiting_page.uncertain_candidate().map(|candidate| {
            let kind = UrlKind::from_url(&self.tree.pages[waiting_page.page as usize].url, rates);
            appraiser.features(candidate, &kind, self.depth, waiting_page.finder.as_ref())
        });
        observed.push(ObservedPage {
            features,
            found_at: waiting_page.found_at,
            page: waiting_page.page,
            hosts: u32::try_from(new).unwrap_or(u32::MAX),
        });
    }

    fn candidate(&self, page: u32, depth: Depth, finder: Option<&Finder>) -> Option<UrlCandidate> {
        let (appraiser, rates) = self.appraiser.as_ref().filter(|_| depth > Depth(0))?;
        let kind = UrlKind::from_url(&self.tree.pages[page as usize].url, rates);
        Some(appraiser.candidate(&kind, depth, finder))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::recorded_graph::GraphPage;
    use super::*;
    use crate::address::WebUrl;
    use crate::walk::yields::{RatesSource, Scale};

    /// A tree whose page `n` has links to the next `fan` ones, and the hosts of `pages[n]`; every third page
    /// takes two requests.
    fn tree(number: usize, (fan, robots): (u32, u64), pages: &[Vec<u32>]) -> SiteTree {
        let count = u32::try_from(pages.len()).unwrap();
        let page = |(at, hosts): (u32, &Vec<u32>)| GraphPage {
            url: WebUrl::parse(&format!("http://site{number}.ke/{at}")).unwrap(),
            // Only entrances are told by it.
            depth: Depth(u16::from(at > 0)),
            requests: 1 + u64::from(at % 3 == 2),
            redirect: None,
            links: (at * fan + 1..=(at + 1) * fan).filter(|target| *target < count).collect(),
            hosts: hosts.clone(),
        };
        let pages = (0..).zip(pages).map(page).collect();
        SiteTree { name: (format!("site{number}.ke"), 0), robots, pages, ..SiteTree::default() }
    }

    fn rates() -> Arc<Rates> {
        let scale = Scale { by_depth: vec![1.0], ..Scale::default() };
        Arc::new(Rates::new(Vec::new(), scale.clone(), scale))
    }

    fn graph(trees: Vec<SiteTree>) -> RecordedGraph {
        let source = RatesSource { survey: "deep".to_owned(), trees: trees.len() as u64, pages: 0, hosts: 0 };
        RecordedGraph { source, trees, unrecorded: 0 }
    }

    #[test]
    fn a_budget_opens_a_site_once_a_link_to_it_was_found_and_a_later_tree_after_the_one_before_it() {
        let first = || tree(0, (1, 1), &[vec![7], vec![8]]);
        let found = |host| SiteTree { found_by: vec![host], ..tree(1, (1, 1), &[vec![9]]) };
        let later = || SiteTree { name: ("site0.ke".to_owned(), 1), ..tree(0, (1, 1), &[vec![10]]) };
        let hosts = |trees: Vec<SiteTree>, budget| {
            graph(trees).play(&Policy::Budget(rates(), budget), 20).distinct_hosts()
        };
        // Nobody links to it.
        assert_eq!(hosts(vec![found(99), first()], 1000), 2);
        // It is found on the last page, and the later tree waits for that page, too.
        assert_eq!(hosts(vec![found(8), first()], 1000), 3);
        assert_eq!(hosts(vec![later(), first()], 3), 2);
        assert_eq!(hosts(vec![later(), first()], 1000), 3);
        // It takes the place of a tree before it to which no link was found.
        let unknown = SiteTree { found_by: vec![99], ..first() };
        assert_eq!(hosts(vec![later(), unknown], 1000), 1);
    }

    proptest! {
        #[test]
        fn a_budget_is_never_exceeded_and_a_large_one_takes_everything(
            sites in prop::collection::vec(((1_u32..4, 1_u64..4), prop::collection::vec(prop::collection::vec(0_u32..40, 0..3), 1..20)), 1..6),
            budget in 1_u64..120,
        ) {
            let trees: Vec<_> = (0..).zip(&sites).map(|(at, (fan, pages))| tree(at, *fan, pages)).collect();
            let (graph, rates) = (graph(trees), rates());
            let play = |budget| graph.play(&Policy::Budget(rates.clone(), budget), 20);
            let (run, full_run) = (play(budget), graph.recorded_run());
            prop_assert!(run.requests() <= budget, "{} of {budget}", run.requests());
            prop_assert!(run.requests() == budget.min(full_run.requests()), "{} of {budget}", run.requests());
            let whole = play(1000);
            prop_assert_eq!(whole.requests(), full_run.requests());
            prop_assert_eq!(whole.distinct_hosts(), full_run.distinct_hosts());
        }
    }
}
