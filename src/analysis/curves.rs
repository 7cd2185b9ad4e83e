use serde::Serialize;

use super::{Estimate, Kind, LoadUnit, Recorded, Sampling, Trees};

/// Load and coverage against depth, over all site trees of a survey.
#[derive(Clone, Debug, Serialize)]
pub struct Curves {
    /// Site trees that these are the curves of.
    pub trees: u64,
    /// How the intervals were computed.
    pub sampling: Sampling,
    /// From depth 0 to the deepest level that any tree was walked to.
    pub levels: Vec<CurveLevel>,
}

/// What levels 0 to `depth` cost and brought.
#[derive(Clone, Debug, Serialize)]
pub struct CurveLevel {
    pub depth: u16,
    pub pages: u64,
    pub requests: u64,
    /// On the wire, both ways.
    pub bytes: u64,
    pub busy_ms: f64,
    /// External URLs, hosts and sites, each counted once in every site tree.
    pub found: [u64; 3],
    /// External URLs, hosts, sites and server addresses, each counted once in the survey.
    pub known: [u64; 4],
    /// Load up to this level as a share of all load: requests, bytes, busy time.
    pub load: [Estimate; 3],
    /// Pair coverage: the sum over site trees of external URLs, hosts and sites, as a share of all.
    pub pair: [Estimate; 3],
    /// Union coverage: distinct external URLs, hosts, sites and addresses as a share of all that are known.
    pub union: [Estimate; 4],
    /// Server addresses first known from this level alone, for every 1,000 requests that it cost.
    pub new_servers_per_1000_requests: Option<f64>,
}

impl CurveLevel {
    #[must_use]
    pub fn load(&self, unit: LoadUnit) -> Estimate {
        self.load[unit as usize]
    }

    /// Pair coverage; none for addresses, which belong to the survey and not to a tree.
    #[must_use]
    pub fn pair(&self, kind: Kind) -> Option<Estimate> {
        self.pair.get(kind as usize).copied()
    }

    #[must_use]
    pub fn union(&self, kind: Kind) -> Estimate {
        self.union[kind as usize]
    }
}

impl Curves {
    /// Draws the curves of a survey.
    #[must_use]
    pub fn of(recorded: &Recorded, sampling: &Sampling) -> Self {
        let totals = totals(&recorded.trees);
        let last = totals.last().cloned().unwrap_or_default();
        let known = |depth| Kind::ALL.map(|kind| recorded.known.counts(kind).up_to(depth));
        let all_known = Kind::ALL.map(|kind| recorded.known.counts(kind).total());
        let (mut levels, mut before) = (Vec::new(), (0, 0));
        for (depth, total) in (0..).zip(totals) {
            let known = known(depth);
            let addresses = known[Kind::Addresses as usize];
            let fresh = (addresses - before.0, total.requests - before.1);
            levels.push(CurveLevel {
                depth,
                pages: total.pages,
                requests: total.requests,
                bytes: total.bytes,
                busy_ms: total.busy_ms,
                found: total.found,
                known,
                load: [
                    point(total.requests as f64, last.requests as f64),
                    point(total.bytes as f64, last.bytes as f64),
                    point(total.busy_ms, last.busy_ms),
                ],
                pair: std::array::from_fn(|kind| point(total.found[kind] as f64, last.found[kind] as f64)),
                union: std::array::from_fn(|kind| point(known[kind] as f64, all_known[kind] as f64)),
                new_servers_per_1000_requests: (fresh.1 > 0)
                    .then(|| fresh.0 as f64 * 1000.0 / fresh.1 as f64),
            });
            before = (addresses, total.requests);
        }
        Self { trees: recorded.trees.len() as u64, sampling: *sampling, levels }
    }
}

/// Cumulative sums over all trees.
#[derive(Clone, Default)]
struct Total {
    pages: u64,
    requests: u64,
    bytes: u64,
    busy_ms: f64,
    found: [u64; 3],
}

fn totals(trees: &Trees) -> Vec<Total> {
    let mut totals = vec![Total::default(); usize::from(trees.deepest()) + 1];
    for tree in 0..trees.len() {
        for (depth, level) in trees.levels(tree).iter().enumerate() {
            if totals.len() <= depth {
                totals.resize(depth + 1, Total::default());
            }
            let total = &mut totals[depth];
            total.pages += u64::from(level.pages);
            total.requests += u64::from(level.requests);
            total.bytes += level.bytes;
            total.busy_ms += level.busy_ms;
            let found = [level.urls, level.hosts, level.sites];
            for (sum, new) in total.found.iter_mut().zip(found) {
                *sum += u64::from(new);
            }
        }
    }
    for depth in 1..totals.len() {
        let above = totals[depth - 1].clone();
        totals[depth].add(&above);
    }
    totals
}

impl Total {
    fn add(&mut self, above: &Self) {
        self.pages += above.pages;
        self.requests += above.requests;
        self.bytes += above.bytes;
        self.busy_ms += above.busy_ms;
        for (sum, above) in self.found.iter_mut().zip(above.found) {
            *sum += above;
        }
    }
}

fn point(part: f64, whole: f64) -> Estimate {
    let value = if whole > 0.0 { part / whole } else { 0.0 };
    Estimate { value, low: value, high: value }
}
