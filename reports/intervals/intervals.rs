//! Counts how often the intervals of small surveys hold the truth, which a large recorded world is taken for.
//!
//!     intervals curves WORLD-DIR NAME TREES RUNS           CSV on standard output
//!     intervals corrections WORLD-DIR NAME TREES RUNS      other ways to correct a share, beside the program's
//!     intervals unseen WORLD-DIR NAME TREES RUNS           what no tree of the survey showed
//!     intervals probes WORLD-DIR NAME TREES RUNS           what the rule on scripts hid (--probe-scripts 1)
//!     intervals left-out WORLD-DIR NAME TREES RUNS         what pages left out hid (--depth auto --probe-depth 1)
//!
//! Surveys of TREES site trees are drawn without replacement from the recorded one, from every country domain in
//! proportion. The truth for load rates and pair coverage is the ratio in the whole world; for union coverage,
//! which grows with the survey, it is the expectation for so many trees, exactly, by hypergeometric chances. A depth is
//! judged in surveys that go deeper: at the deepest level of a survey all is known by definition.
//!
//! A survey that is a large part of its world varies less around it than a survey of an endless country. So an interval holds
//! the truth if it still does when its ends have come nearer to what was measured by the square root of the part of the
//! world that was not drawn. Whether a share has an interval is counted apart: one that has none holds nothing.

use std::error::Error;
use std::path::Path;

use ccsurvey::analysis::overview::{Mean, ProbedTree};
use ccsurvey::analysis::{Curves, Estimate, Kind, Overview, Recorded, Sampling, Unseen};

use corrections::corrections;
use judged::{Outcome, figures};

mod corrections;
mod judged;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, dir, name, trees, runs] = arguments.as_slice() else {
        return Err(
            "usage: intervals curves|corrections|unseen|probes|left-out WORLD-DIR NAME TREES RUNS".into()
        );
    };
    let (trees, runs): (usize, u64) = (trees.parse()?, runs.parse()?);
    println!(
        "world,what,reading,of,trees,runs,depth,truth,mean,above,error,corrected,corrected_above,corrected_error,\
         printed,contained,low,high"
    );
    let world = Recorded::load(Path::new(dir))?;
    match what.as_str() {
        "curves" => curves(&world, name, trees, runs),
        "corrections" => corrections(&world, name, trees, runs),
        "unseen" => unseen(&world, name, trees, runs),
        "probes" => {
            let probes = Overview::load(Path::new(dir))?.kept_back.probes;
            probed(&probes.ok_or("no script was probed")?.trees, name, trees, runs);
        }
        "left-out" => {
            let probes = Overview::load(Path::new(dir))?.kept_back.left_out;
            probed(&probes.ok_or("no page left out was probed")?.trees, name, trees, runs);
        }
        _ => return Err(format!("{what}: expected curves, corrections, unseen, probes or left-out").into()),
    }
    Ok(())
}

fn curves(world: &Recorded, name: &str, trees: usize, runs: u64) {
    let mut figures = figures(world, trees, usize::from(world.trees.deepest()) + 1);
    let left = not_drawn(world, trees);
    for run in 0..runs {
        let survey = world.sample(trees, 1000 + run);
        let curves = Curves::measure(&survey, &sampling(run));
        figures.iter_mut().for_each(|figure| figure.judge(&curves, left));
    }
    figures.iter().for_each(|figure| figure.print(&format!("{name},curves"), trees));
}

/// By how much nearer to the world surveys of so many trees are than those of an endless country.
fn not_drawn(world: &Recorded, trees: usize) -> f64 {
    (1.0 - trees as f64 / world.trees.len() as f64).max(0.0).sqrt()
}

/// Three questions: whether the interval holds all there is in the world, whether its low end is no more than that
/// (which it claims), and whether it holds what surveys estimate on average (which chance alone keeps it from).
fn unseen(world: &Recorded, name: &str, trees: usize, runs: u64) {
    let estimates: Vec<Unseen> =
        (0..runs).map(|run| Unseen::estimate(&world.sample(trees, 1000 + run), &sampling(run))).collect();
    for (place, kind) in Kind::ALL.into_iter().enumerate() {
        let of_kind: Vec<Estimate> = estimates.iter().map(|unseen| unseen.kinds[place].all).collect();
        let all = world.known.counts(kind).total() as f64;
        let mean = of_kind.iter().map(|all| all.value).sum::<f64>() / runs as f64;
        let bounds = of_kind.iter().map(|found| Estimate { high: found.high.max(all), ..*found }).collect();
        for (reading, truth, estimates) in
            [("all", all, of_kind.clone()), ("at_least", all, bounds), ("on_average", mean, of_kind)]
        {
            let mut outcome = Outcome::default();
            estimates.iter().for_each(|estimate| outcome.add(*estimate, truth, 1.0));
            outcome.print(&format!("{name},unseen,{reading},{}", kind.word()), trees, 0, truth);
        }
    }
}

/// What the URLs that a tree kept back would have brought.
type Brought = fn(&ProbedTree) -> f64;

fn probed(all: &[ProbedTree], name: &str, trees: usize, runs: u64) {
    let figures: [(&str, Brought); 2] = [("urls", |tree| tree.urls), ("hosts", |tree| tree.hosts)];
    for (word, brought) in figures {
        let truth = Mean::ratio(all, brought).value;
        let mut outcome = Outcome::default();
        for run in 0..runs {
            let Mean { value, low, high } = Mean::ratio(&drawn(all, trees, run), brought);
            outcome.add(Estimate::between(low, value, high), truth, 1.0);
        }
        outcome.print(&format!("{name},probes,mean,{word}"), trees, 0, truth);
    }
}

/// So many trees without replacement: those whose numbers, scrambled, are least (SplitMix64).
fn drawn(all: &[ProbedTree], trees: usize, run: u64) -> Vec<ProbedTree> {
    let scrambled = |tree: usize| {
        let mut mixed = (run << 32 | tree as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|tree| scrambled(*tree));
    order.iter().take(trees).map(|tree| all[*tree]).collect()
}

fn sampling(seed: u64) -> Sampling {
    Sampling { seed, ..Sampling::default() }
}
