use std::cmp::Reverse;

/// What is known of a site tree when the next round is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeBetweenRounds {
    /// Its number in the survey.
    pub number: u64,
    /// No entrance has brought a page so far.
    pub is_entering: bool,
    /// The number of URLs that are requested whatever their expected yield.
    pub certain: u32,
    /// The expected yields of the other URLs that wait, the greatest first.
    pub scores: Vec<f32>,
}

impl TreeBetweenRounds {
    /// A tree in which nothing waits.
    #[must_use]
    pub fn nothing(number: u64) -> Self {
        Self { number, is_entering: false, certain: 0, scores: Vec::new() }
    }
}

/// The next round of a survey with a budget: which trees send requests, and how many.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundPlan {
    /// The number of new external hosts that a request must be expected to bring.
    pub price: f64,
    /// The number of requests that each tree may send in this round, for those that may send any, in the
    /// order of the trees. The sum is never above what is left of the budget.
    pub allowances: Vec<(u64, u32)>,
    /// The round takes the best of all that waits, at whatever price.
    pub is_list: bool,
    /// The number of URLs that it is planned for, without entrances and those requested in any case.
    pub urls: u64,
    /// The sum of their expected yields.
    pub expected: f64,
    /// The number of requests for which something waits now: what trees may send beyond that is for what they
    /// find.
    pub useful: u64,
}

/// Plans the rounds of a survey that may send a number of requests in all: which of the URLs that wait, in
/// all its trees, are worth a request next.
///
/// **Entrances first.** A site that was never opened may bring anything, so its robots.txt and front page
/// come before all other URLs; so do the URLs that a walk requests in any case.
///
/// **Falling prices.** Then come URLs by their expected yield: a round takes those above a price, which is as
/// high as a twelfth of the budget allows, so that a survey has few rounds. In a round a tree may send more
/// requests than it has URLs above the price, as long as there is enough left: it then chooses anew from what
/// it finds. Before anything is known of the sites, many URLs are expected to bring the same: then each tree
/// gets its share of them, and stops when what it finds is worth less than the price.
///
/// **The list.** After a dozen rounds, or where little is left, the best of all trees are taken: by expected
/// yield, of equal ones first one of each tree, then a second one, and by the number of the tree.
#[derive(Clone, Copy, Debug)]
pub struct RoundPlanner {
    /// The number of requests that the survey may send.
    budget: u64,
}

/// The number of rounds in which the budget is to be spent. A round takes at least the budget divided by this
/// number, if as much waits.
const ROUNDS: u64 = 12;
/// A round in which many URLs are expected to bring the same takes at most this many times its part.
const SHARED_OUT: u64 = 2;
/// The price of a round in which nothing waits but sites to be opened.
const FIRST_PRICE: f64 = 1.0;
/// How many times as many requests as it has URLs above the price a tree may send, while less than half of
/// what is left goes to the round.
const FREEDOM: [u64; 3] = [4, 2, 1];
/// The number of requests that a site may need until a page comes, from what usually suffices (twice a
/// robots.txt, a redirect and a page, and another door) to the least (robots.txt and front page).
const ENTERING: [u64; 3] = [6, 4, 2];

/// Scores are counted by their upper bits: sign, exponent and seven bits of the mantissa.
const LOW_BITS: u32 = 16;
const BUCKETS: usize = 1 << LOW_BITS;

fn bucket(score: f32) -> usize {
    // The bits of numbers that are not negative have the order of the numbers.
    (score.max(0.0).to_bits() >> LOW_BITS) as usize
}

fn least_score(bucket: usize) -> f32 {
    f32::from_bits((bucket as u32) << LOW_BITS)
}

/// What waits in all trees.
struct Standing {
    entering: u64,
    certain: u64,
    /// The number of scores by bucket.
    scores: Vec<u64>,
}

impl Standing {
    fn new<E>(trees: impl Iterator<Item = Result<TreeBetweenRounds, E>>) -> Result<Self, E> {
        let mut standing = Self { entering: 0, certain: 0, scores: vec![0; BUCKETS] };
        for tree in trees {
            let tree = tree?;
            standing.entering += u64::from(tree.is_entering);
            standing.certain += u64::from(tree.certain);
            tree.scores.iter().for_each(|score| standing.scores[bucket(*score)] += 1);
        }
        Ok(standing)
    }

    /// The highest bucket at and above which this many scores lie, or all; with their number.
    fn lowest_bucket(&self, wanted: u64) -> (usize, u64) {
        let (mut above, mut lowest) = (0, BUCKETS);
        for (at, count) in self.scores.iter().enumerate().rev().filter(|(_, count)| **count > 0) {
            if above >= wanted {
                break;
            }
            above += count;
            lowest = at;
        }
        (lowest, above)
    }
}

impl RoundPlan {
    /// The mean expected yield of the URLs that it is planned for, if there are any.
    #[must_use]
    pub fn mean_expected(&self) -> Option<f64> {
        (self.urls > 0).then(|| self.expected / self.urls as f64)
    }
}

impl RoundPlanner {
    /// The round that would come if the survey, after its last round, might send this many requests more.
    ///
    /// # Errors
    /// Those of `trees`.
    pub fn further<E, I: Iterator<Item = Result<TreeBetweenRounds, E>>>(
        requests: u64,
        trees: impl Fn() -> Result<I, E>,
    ) -> Result<Option<RoundPlan>, E> {
        Self::new(requests).next(u32::MAX, 0, trees)
    }

    /// Plans for a survey that may send `budget` requests in all.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        Self { budget }
    }

    /// The next round, if requests are left and anything waits. Rounds are numbered from 1; `spent` is the
    /// number of requests that the survey has sent. `trees` reads all unfinished trees, in their order, and
    /// is called up to three times.
    ///
    /// # Errors
    /// Those of `trees`.
    pub fn next<E, I: Iterator<Item = Result<TreeBetweenRounds, E>>>(
        &self,
        round: u32,
        spent: u64,
        trees: impl Fn() -> Result<I, E>,
    ) -> Result<Option<RoundPlan>, E> {
        let left = self.budget.saturating_sub(spent);
        let standing = Standing::new(trees()?)?;
        let each_entering = ENTERING.into_iter().find(|each| standing.entering * each <= left / 2);
        let each_entering = each_entering.unwrap_or(ENTERING[ENTERING.len() - 1]);
        let first = standing.entering * each_entering + standing.certain;
        let for_scores = left.saturating_sub(first);
        let rounds_left = (ROUNDS + 1).saturating_sub(u64::from(round)).max(1);
        let wanted = (self.budget / ROUNDS).max(left / rounds_left).max(1);
        let (lowest, above) = standing.lowest_bucket(wanted);
        let is_list = above > for_scores && for_scores <= wanted;
        let (lowest, in_lowest, freedom) = if above <= for_scores {
            let freedom = FREEDOM.into_iter().find(|times| above * times <= for_scores / 2).unwrap_or(1);
            (lowest, u64::MAX, freedom)
        } else {
            let most = if is_list { for_scores } else { for_scores.min(SHARED_OUT * wanted) };
            let (lowest, above) = standing.lowest_bucket(most);
            let outside = above.saturating_sub(most);
            (lowest, standing.scores.get(lowest).map_or(0, |count| count.saturating_sub(outside)), 1)
        };
        let chosen = ChosenScores::new(lowest, in_lowest, trees()?)?;
        let (most, mut left, mut allowances) = (left, left, Vec::new());
        let (mut urls, mut expected, mut useful) = (0, 0.0, 0);
        for tree in trees()? {
            let tree = tree?;
            let entering = if tree.is_entering { each_entering } else { 0 };
            let scores = chosen.count(&tree);
            urls += scores;
            expected += tree.scores.iter().zip(0..scores).map(|(score, _)| f64::from(*score)).sum::<f64>();
            useful += entering + u64::from(tree.certain) + scores;
            let allowance = (entering + u64::from(tree.certain) + freedom * scores).min(left);
            left -= allowance;
            if allowance > 0 {
                allowances.push((tree.number, u32::try_from(allowance).unwrap_or(u32::MAX)));
            }
        }
        let price = match () {
            () if is_list => 0.0,
            () if lowest == BUCKETS => FIRST_PRICE,
            () => f64::from(least_score(lowest)),
        };
        let useful = useful.min(most);
        Ok((!allowances.is_empty()).then_some(RoundPlan {
            price,
            allowances,
            is_list,
            urls,
            expected,
            useful,
        }))
    }
}

/// The scores that a round takes: all above a bucket, and the best of that bucket.
struct ChosenScores {
    lowest: usize,
    /// The number of scores of that bucket that are taken from each tree; none if the whole bucket is taken.
    of_lowest: Option<Vec<(u64, u32)>>,
}

impl ChosenScores {
    fn new<E>(
        lowest: usize,
        in_lowest: u64,
        trees: impl Iterator<Item = Result<TreeBetweenRounds, E>>,
    ) -> Result<Self, E> {
        if in_lowest == u64::MAX {
            return Ok(Self { lowest, of_lowest: None });
        }
        let mut of_bucket: Vec<(Reverse<u32>, u32, u64)> = Vec::new();
        for tree in trees {
            let tree = tree?;
            let (mut last, mut rank) = (None, 0);
            for score in tree.scores.iter().filter(|score| bucket(**score) == lowest) {
                rank = if last.replace(score) == Some(score) { rank + 1 } else { 0 };
                of_bucket.push((Reverse(score.to_bits()), rank, tree.number));
            }
        }
        of_bucket.sort_unstable();
        of_bucket.truncate(usize::try_from(in_lowest).unwrap_or(usize::MAX));
        let mut counts: Vec<(u64, u32)> = Vec::new();
        let mut numbers: Vec<u64> = of_bucket.iter().map(|(.., number)| *number).collect();
        numbers.sort_unstable();
        for number in numbers {
            match counts.last_mut() {
                Some((last, count)) if *last == number => *count += 1,
                _ => counts.push((number, 1)),
            }
        }
        Ok(Self { lowest, of_lowest: Some(counts) })
    }

    /// The number of scores of a tree that are taken.
    fn count(&self, tree: &TreeBetweenRounds) -> u64 {
        let count = |is_taken: &dyn Fn(usize) -> bool| {
            tree.scores.iter().take_while(|score| is_taken(bucket(**score))).count() as u64
        };
        match &self.of_lowest {
            None => count(&|at| at >= self.lowest),
            Some(counts) => {
                let of_bucket = counts.binary_search_by_key(&tree.number, |(number, _)| *number);
                count(&|at| at > self.lowest) + of_bucket.map_or(0, |at| u64::from(counts[at].1))
            }
        }
    }
}
