use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde::de::IgnoredAny;

use super::play::{Order, Policy, PolicyPoint, PolicyRun, observe, play_auto, prices as tried_prices};
use super::recorded_graph::{RecordedGraph, SiteTree};
use super::regression::{self, Sample};
use crate::exchange::Depth;
use crate::walk::yields::{
    FACTORS, MOST_DEPTHS, Price, Rates, Scale, SeenPage, Weights, path_yields, url_words,
};

/// The trained rates.
#[derive(Debug)]
pub struct TrainedRates {
    /// The rates, with the price of each coverage.
    pub rates: Rates,
    /// The number of words that change the expected finds.
    pub words: usize,
}

/// The least number of trees of a word: an eighth of all, within these bounds. Rarer words say something about
/// these trees, and nothing about others: by cross-validation on the packages that `reports/adaptive` is tuned
/// on, twelve trees come to the same coverages with 0.96 of the requests of five, and no words at all with
/// 0.97.
const MIN_TREES: std::ops::RangeInclusive<usize> = 5..=12;
const SHARE_OF_TREES: usize = 8;
/// A depth with fewer pages takes its rate from the depth above, multiplied by [`DECAY`].
const MIN_PAGES: f64 = 200.0;
const DECAY: f64 = 0.8;
/// The prior of a rate: the number of finds that a rate of 1 starts with.
const PRIOR_OF_SITE: f64 = 1.0;
const PRIOR_OF_WORD: f64 = 3.0;
/// The weight of a page one level below.
const DEEPER_WEIGHT: f64 = 0.5;
/// The number of rounds in which depths and words are fitted in turn. After this number, the rates change by
/// less than a hundredth.
const ROUNDS: usize = 24;
/// The shares of the hosts for which prices are computed.
const COVERAGES: [f64; 9] = [0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99];

/// The parts into which the trees are divided: what is learned on all others is judged on each.
const FOLDS: usize = 4;

/// Trains rates on surveys that were walked to `deepest`, and finds the price of a request for each coverage:
/// at this price each of the surveys reaches the coverage, by rates that were trained without the tree.
#[must_use]
pub fn train(graphs: &[RecordedGraph], deepest: u16) -> TrainedRates {
    let trees: Vec<&SiteTree> = graphs.iter().flat_map(|graph| &graph.trees).collect();
    // The mean yields that a tree is judged by are those of the other trees: of its own, the fit would trust
    // them too much.
    let of_others: Vec<Arc<Rates>> =
        (0..FOLDS).map(|fold| Arc::new(without_weights(&others(&trees, fold)))).collect();
    let samples: Vec<Vec<Sample>> = trees
        .par_iter()
        .enumerate()
        .map(|(at, tree)| observed_samples(tree, &of_others[at % FOLDS], deepest))
        .collect();
    let samples: Vec<&[Sample]> = samples.iter().map(Vec::as_slice).collect();
    let without: Vec<Arc<Rates>> = of_others
        .iter()
        .enumerate()
        .map(|(fold, rates)| {
            let mut rates = Rates::clone(rates);
            rates.weights = weights(&others(&samples, fold));
            Arc::new(rates)
        })
        .collect();
    let mut rates = without_weights(&trees);
    rates.learned_from = graphs.iter().map(|graph| graph.source.clone()).collect();
    rates.weights = weights(&samples);
    rates.prices = prices(graphs, &without, deepest);
    TrainedRates { words: rates.own.by_word.len(), rates }
}

/// What a request may be worth in the fit: a few hubs with a hundred hosts each would otherwise decide it.
const MOST_WORTH: f32 = 5.0;

/// All but those of a fold.
fn others<T: Copy>(all: &[T], fold: usize) -> Vec<T> {
    all.iter().enumerate().filter(|(at, _)| at % FOLDS != fold).map(|(_, one)| *one).collect()
}

fn without_weights(trees: &[&SiteTree]) -> Rates {
    let vocabulary = Vocabulary::from_trees(trees);
    let samples: Vec<_> = trees.par_iter().map(|tree| samples(tree, &vocabulary)).collect();
    let own = fit(&samples, &vocabulary, |sample| sample.own, |_| 1.0);
    let below = fit(&samples, &vocabulary, |sample| sample.hosts, |sample| sample.requests);
    Rates::new(Vec::new(), own, below)
}

fn weights(samples: &[&[Sample]]) -> Weights {
    let fitted = |target| regression::fit(samples, target).map(rounded);
    Weights { own: fitted(|sample| sample.own), worth: fitted(|sample| sample.worth.min(MOST_WORTH)) }
}

/// The pages of a tree as they were when they were requested, in each order. A large site says more than a
/// small one, but not in proportion to its pages, which are alike.
fn observed_samples(tree: &SiteTree, rates: &Arc<Rates>, deepest: u16) -> Vec<Sample> {
    let mut samples = Vec::new();
    for order in [Order::Found, Order::Best] {
        let observed = observe(tree, rates, order, deepest);
        let weight = 1.0 / (observed.len().max(1) as f32).sqrt();
        let is_settled = |at: u32| observed[at as usize].features.is_none();
        let pages: Vec<SeenPage> = observed
            .iter()
            .map(|page| SeenPage {
                finder: page.found_at.filter(|finder| !is_settled(*finder)),
                requests: u32::try_from(tree.pages[page.page as usize].requests).unwrap_or(u32::MAX),
                hosts: page.hosts as f32,
            })
            .collect();
        for (page, worth) in observed.iter().zip(path_yields(&pages)) {
            let Some(features) = page.features else { continue };
            let features = features.map(|feature| feature as f32);
            samples.push(Sample { features, own: page.hosts as f32, worth, weight });
        }
    }
    samples
}

/// The words that have rates, each with its number.
struct Vocabulary {
    words: Vec<String>,
    numbers: HashMap<String, u32>,
}

/// A page with its finds and its cost.
struct TrainingPage {
    depth: usize,
    words: Vec<u32>,
    /// The new external hosts of the page itself.
    own: f64,
    /// The new external hosts of the page and of the pages found below it. Each level down counts half.
    hosts: f64,
    /// The requests for these pages, counted in the same way.
    requests: f64,
}

impl Vocabulary {
    fn from_trees(trees: &[&SiteTree]) -> Self {
        let mut trees_of: HashMap<String, u32> = HashMap::new();
        for tree in trees {
            let tree_words: HashSet<String> =
                tree.pages.iter().flat_map(|page| url_words(&page.url)).collect();
            tree_words.into_iter().for_each(|word| *trees_of.entry(word).or_default() += 1);
        }
        let min_trees = (trees.len() / SHARE_OF_TREES).clamp(*MIN_TREES.start(), *MIN_TREES.end());
        let is_common = |(_, trees): &(String, u32)| *trees as usize >= min_trees;
        let mut words: Vec<String> = trees_of.into_iter().filter(is_common).map(|(word, _)| word).collect();
        words.sort_unstable();
        let numbers = words.iter().cloned().zip(0..).collect();
        Self { words, numbers }
    }
}

/// A page that has been reached.
#[derive(Clone, Copy)]
struct ReachedPage {
    page: u32,
    depth: Depth,
    /// The index of the page that led to it, and its weight for that page.
    found_by: Option<(usize, f64)>,
}

/// The samples of the pages of a tree, breadth first.
fn samples(tree: &SiteTree, vocabulary: &Vocabulary) -> Vec<TrainingPage> {
    let mut order: Vec<ReachedPage> = Vec::new();
    let mut known: Vec<bool> = tree.pages.iter().map(|page| page.is_entrance()).collect();
    let entrances = (0..).zip(&tree.pages).filter(|(_, page)| page.is_entrance());
    order.extend(entrances.map(|(page, _)| ReachedPage { page, depth: Depth(0), found_by: None }));
    let (mut samples, mut index): (Vec<TrainingPage>, usize) = (Vec::new(), 0);
    let (mut hosts, mut below): (HashSet<u32>, Vec<_>) = (HashSet::new(), Vec::new());
    // Redirects add no depth: their targets come before the pages of the level below.
    while index < order.len() || !below.is_empty() {
        if index == order.len() {
            order.append(&mut below);
        }
        let ReachedPage { page, depth, .. } = order[index];
        let page = &tree.pages[page as usize];
        let before = hosts.len();
        hosts.extend(&page.hosts);
        let own = (hosts.len() - before) as f64;
        let numbers = &vocabulary.numbers;
        samples.push(TrainingPage {
            depth: usize::from(depth.0),
            words: url_words(&page.url).iter().filter_map(|word| numbers.get(word)).copied().collect(),
            own,
            hosts: own,
            requests: page.requests as f64,
        });
        if let Some(target) = page.redirect
            && !std::mem::replace(&mut known[target as usize], true)
        {
            order.push(ReachedPage { page: target, depth, found_by: Some((index, 1.0)) });
        }
        for target in &page.links {
            if !std::mem::replace(&mut known[*target as usize], true) {
                below.push(ReachedPage {
                    page: *target,
                    depth: depth.next(),
                    found_by: Some((index, DEEPER_WEIGHT)),
                });
            }
        }
        index += 1;
    }
    for (index, reached) in order.iter().enumerate().rev() {
        if let Some((finder, share)) = reached.found_by {
            let (hosts, requests) = (samples[index].hosts, samples[index].requests);
            samples[finder].hosts += share * hosts;
            samples[finder].requests += share * requests;
        }
    }
    samples
}

/// Fits the rates by depth and by word to the finds of the pages, with a separate factor for each site: a
/// Poisson regression in which depths and words are fitted in turn.
fn fit(
    trees: &[Vec<TrainingPage>],
    vocabulary: &Vocabulary,
    found: impl Fn(&TrainingPage) -> f64,
    exposure: impl Fn(&TrainingPage) -> f64,
) -> Scale {
    let depths = 1 + trees.iter().flatten().map(|sample| sample.depth).max().unwrap_or_default();
    let mut by_depth = vec![1.0; depths];
    let mut by_word = vec![1.0; vocabulary.words.len()];
    for round in 0..ROUNDS {
        let mut depth_sums = vec![(0.0, 0.0); depths];
        let mut word_sums = vec![(0.0, 0.0); by_word.len()];
        for tree in trees {
            let alone: Vec<f64> =
                tree.iter().map(|sample| exposure(sample) * factor(&sample.words, &by_word)).collect();
            let site = site_factor(tree, &alone, &by_depth, &found);
            for (sample, alone) in tree.iter().zip(alone) {
                let by_site = if sample.depth == 0 { exposure(sample) } else { alone * site };
                let found = found(sample);
                depth_sums[sample.depth].0 += found;
                depth_sums[sample.depth].1 += by_site;
                if sample.depth > 0 {
                    for word in &sample.words {
                        word_sums[*word as usize].0 += found;
                        word_sums[*word as usize].1 += by_site * by_depth[sample.depth];
                    }
                }
            }
        }
        if round % 2 == 0 {
            for (rate, (found, expected)) in by_depth.iter_mut().zip(depth_sums) {
                *rate = (0.05 + found) / (0.5 + expected);
            }
        } else {
            for (rate, (found, expected)) in by_word.iter_mut().zip(word_sums) {
                // Half of the step: words occur together in URLs, and all of them move at once.
                let step = (PRIOR_OF_WORD + found) / (PRIOR_OF_WORD + expected);
                *rate = (*rate * step.sqrt()).clamp(*FACTORS.start(), *FACTORS.end());
            }
        }
    }
    let mut pages = vec![0.0; depths];
    trees.iter().flatten().for_each(|sample| pages[sample.depth] += 1.0);
    for depth in 1..depths {
        if pages[depth] < MIN_PAGES {
            by_depth[depth] = by_depth[depth - 1] * DECAY;
        }
    }
    let is_significant = |(_, rate): &(String, f64)| (0.98..1.02).contains(rate).eq(&false);
    let words = vocabulary.words.iter().cloned().zip(by_word.into_iter().map(rounded));
    let by_word: BTreeMap<String, f64> = words.filter(is_significant).collect();
    Scale { by_depth: by_depth.into_iter().take(MOST_DEPTHS).map(rounded).collect(), by_word }
}

fn factor(words: &[u32], by_word: &[f64]) -> f64 {
    let factor: f64 = words.iter().map(|word| by_word[*word as usize]).product();
    factor.clamp(*FACTORS.start(), *FACTORS.end())
}

/// The ratio of the finds of a site to the finds that its pages make expect.
fn site_factor(
    tree: &[TrainingPage],
    alone: &[f64],
    by_depth: &[f64],
    found: impl Fn(&TrainingPage) -> f64,
) -> f64 {
    let below_start = || tree.iter().zip(alone).filter(|(sample, _)| sample.depth > 0);
    let expected: f64 = below_start().map(|(sample, alone)| alone * by_depth[sample.depth]).sum();
    let found: f64 = below_start().map(|(sample, _)| found(sample)).sum();
    (PRIOR_OF_SITE + found) / (PRIOR_OF_SITE + expected)
}

/// Rounds to four digits, because people read the file, too.
fn rounded(rate: f64) -> f64 {
    format!("{rate:.3e}").parse().unwrap_or(rate)
}

fn prices(graphs: &[RecordedGraph], without: &[Arc<Rates>], deepest: u16) -> Vec<Price> {
    let full_runs: Vec<PolicyRun> =
        graphs.iter().map(|graph| graph.play(&Policy::Depth(deepest), deepest)).collect();
    // The graph on which a price finds the least decides, because the next survey may be like that one.
    let mean_point = |points: &[PolicyPoint]| PolicyPoint {
        load: points.iter().map(|point| point.load).sum::<f64>() / points.len().max(1) as f64,
        coverage: points.iter().map(|point| point.coverage).fold(1.0, f64::min),
    };
    let mut trials: Vec<(f64, PolicyPoint)> = Vec::new();
    for price in tried_prices() {
        let mut before = 0;
        let points = graphs.iter().zip(&full_runs).map(|(graph, full_run)| {
            let numbered = graph.trees.par_iter().enumerate();
            let run = numbered
                .map(|(at, tree)| play_auto(tree, &without[(before + at) % FOLDS], price, deepest))
                .collect();
            before += graph.trees.len();
            PolicyRun { trees: run }.point(full_run)
        });
        trials.push((price, mean_point(&points.collect::<Vec<_>>())));
    }
    COVERAGES.into_iter().filter_map(|coverage| between(&trials, coverage)).collect()
}

/// The price of a coverage, interpolated between two prices that were tried; the first price if that is
/// enough.
fn between(trials: &[(f64, PolicyPoint)], coverage: f64) -> Option<Price> {
    let index = trials.iter().position(|(_, point)| point.coverage >= coverage)?;
    let after = trials[index];
    let before = index.checked_sub(1).map_or(after, |before| trials[before]);
    let fraction =
        (coverage - before.1.coverage) / (after.1.coverage - before.1.coverage).max(f64::MIN_POSITIVE);
    let fraction = fraction.clamp(0.0, 1.0);
    let interpolate = |from: f64, to: f64| from + fraction * (to - from);
    Some(Price {
        coverage,
        price: rounded(interpolate(before.0, after.0)),
        load: rounded(interpolate(before.1.load, after.1.load)),
        passed_over: IgnoredAny,
    })
}
