use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

fn tree(number: u64, scores: &[f32]) -> TreeBetweenRounds {
    TreeBetweenRounds { number, is_entering: false, certain: 0, scores: scores.to_vec() }
}

fn entering(number: u64) -> TreeBetweenRounds {
    TreeBetweenRounds { is_entering: true, ..tree(number, &[]) }
}

/// The plan of the first round.
fn next(budget: u64, spent: u64, trees: &[TreeBetweenRounds]) -> Option<RoundPlan> {
    plan_of(1, budget, spent, trees)
}

fn plan_of(round: u32, budget: u64, spent: u64, trees: &[TreeBetweenRounds]) -> Option<RoundPlan> {
    let read = || Ok::<_, Infallible>(trees.iter().cloned().map(Ok));
    let Ok(plan) = RoundPlanner::new(budget).next(round, spent, read);
    plan
}

fn allowances(budget: u64, spent: u64, trees: &[TreeBetweenRounds]) -> Vec<(u64, u32)> {
    next(budget, spent, trees).map_or_else(Vec::new, |plan| plan.allowances)
}

#[test]
fn sites_that_were_never_opened_come_before_all_urls() {
    let trees = [tree(1, &[9.0; 8]), entering(2), entering(3)];
    assert_eq!(allowances(100, 95, &trees), [(1, 1), (2, 2), (3, 2)]);
    assert_eq!(allowances(100, 96, &trees), [(2, 2), (3, 2)]);
    assert_eq!(allowances(100, 97, &trees), [(2, 2), (3, 1)]);
    assert_eq!(next(100, 100, &trees), None);
    // With enough left, a site gets what it may need, and uses what is left of it.
    let plan = next(1000, 0, &[entering(1), entering(2)]).unwrap();
    assert_eq!((plan.allowances, plan.price, plan.is_list), (vec![(1, 6), (2, 6)], 1.0, false));
}

#[test]
fn the_price_falls_until_a_twelfth_of_the_budget_is_worth_it() {
    let trees = [tree(1, &[4.0, 2.0, 1.0, 0.5]), tree(2, &[3.0, 1.0, 0.25])];
    let plan = next(36, 0, &trees).unwrap();
    assert_eq!((plan.price, plan.is_list), (2.0, false), "three are worth 2 or more");
    assert_eq!(plan.allowances, [(1, 2 * 4), (2, 4)], "four times as many while there is enough left");
    let plan = next(36, 30, &trees).unwrap();
    assert_eq!(plan.allowances, [(1, 2), (2, 1)]);
    // If less waits than a twelfth, all of it is requested.
    assert_eq!(next(1200, 0, &trees).unwrap().price, 0.25);
}

#[test]
fn a_plan_says_what_its_urls_are_expected_to_bring_and_what_would_come_after_the_last() {
    let trees = [tree(1, &[4.0, 2.0, 1.0, 0.5]), tree(2, &[3.0, 1.0, 0.25]), entering(3)];
    let plan = next(36, 0, &trees).unwrap();
    assert_eq!((plan.urls, plan.expected, plan.mean_expected()), (3, 9.0, Some(3.0)));
    let read = || Ok::<_, Infallible>(trees.iter().cloned().map(Ok));
    let Ok(further) = RoundPlanner::further(7, read);
    let further = further.unwrap();
    assert_eq!((further.urls, further.expected, further.is_list), (5, 11.0, true));
    assert_eq!(further.allowances, [(1, 3), (2, 2), (3, 2)]);
    assert_eq!(further.useful, 7);
    // Trees may send more than waits, for what they find.
    let long = [tree(1, &[1.0; 60]), tree(2, &[1.0; 40])];
    let Ok(further) = RoundPlanner::further(1000, || Ok::<_, Infallible>(long.iter().cloned().map(Ok)));
    let further = further.unwrap();
    assert_eq!(
        (further.allowances.iter().map(|(_, requests)| requests).sum::<u32>(), further.useful),
        (400, 100)
    );
    let Ok(nothing) = RoundPlanner::further(7, || Ok::<_, Infallible>(std::iter::empty()));
    assert_eq!(nothing, None);
    assert_eq!(next(36, 0, &[entering(3)]).unwrap().mean_expected(), None);
}

#[test]
fn a_list_takes_the_best_of_all_trees_and_of_equal_ones_one_of_each_tree_first() {
    let trees = [tree(1, &[1.0, 0.5, 0.5]), tree(2, &[0.5, 0.5]), tree(3, &[2.0, 0.501])];
    let list = |left: u64| {
        let plan = next(1000, 1000 - left, &trees).unwrap();
        assert_eq!((plan.is_list, plan.price), (true, 0.0));
        plan.allowances
    };
    assert_eq!(list(1), [(3, 1)]);
    assert_eq!(list(2), [(1, 1), (3, 1)]);
    assert_eq!(list(3), [(1, 1), (3, 2)], "0.501 is above 0.5, though both are in one bucket");
    assert_eq!(list(4), [(1, 2), (3, 2)]);
    assert_eq!(list(5), [(1, 2), (2, 1), (3, 2)]);
    assert_eq!(list(6), [(1, 3), (2, 1), (3, 2)]);
    assert!(!next(1000, 1000 - 7, &trees).unwrap().is_list);
}

#[test]
fn where_nothing_is_known_yet_each_tree_gets_its_share_and_stops_at_the_price() {
    let trees: Vec<TreeBetweenRounds> = (0..10).map(|number| tree(number, &[0.5; 100])).collect();
    let plan = next(240, 0, &trees).unwrap();
    assert_eq!((plan.price, plan.is_list), (0.5, false));
    let each: Vec<u32> = plan.allowances.iter().map(|(_, requests)| *requests).collect();
    assert_eq!(each, [4; 10], "twice a twelfth of the budget");
    // As rounds are used up without requests, the part of each grows, and the last one spends the rest.
    let allowed = |round| {
        let plan = plan_of(round, 240, 0, &trees).unwrap();
        (plan.allowances.iter().map(|(_, requests)| requests).sum::<u32>(), plan.is_list)
    };
    assert_eq!(
        [1, 7, 11, 12, 13, 40].map(allowed),
        [(40, false), (80, false), (240, false), (240, true), (240, true), (240, true)]
    );
}

#[test]
fn what_is_requested_in_any_case_comes_before_what_is_expected_to_be_worth_it() {
    let trees = [tree(1, &[5.0]), TreeBetweenRounds { certain: 3, ..tree(2, &[]) }];
    assert_eq!(allowances(100, 97, &trees), [(2, 3)]);
    assert_eq!(allowances(100, 96, &trees), [(1, 1), (2, 3)]);
}

fn any_tree() -> impl Strategy<Value = TreeBetweenRounds> {
    let scores = prop::collection::vec(prop_oneof![0.0f32..3.0, Just(0.5), Just(0.0)], 0..12);
    (any::<bool>(), 0u32..3, scores).prop_map(|(is_entering, certain, mut scores)| {
        scores.sort_by(|one, other| other.total_cmp(one));
        TreeBetweenRounds { number: 0, is_entering, certain, scores }
    })
}

proptest! {
    #[test]
    fn allowances_never_exceed_what_is_left_and_a_round_uses_it_if_as_much_waits(
        mut trees in prop::collection::vec(any_tree(), 0..20),
        budget in 1u64..200,
        spent in 0u64..200,
    ) {
        (0..).zip(&mut trees).for_each(|(number, tree)| tree.number = number);
        let left = budget.saturating_sub(spent);
        let plan = next(budget, spent, &trees);
        let waiting: u64 = trees.iter().map(|tree| u64::from(tree.certain) + tree.scores.len() as u64).sum();
        let has_entering = trees.iter().any(|tree| tree.is_entering);
        prop_assert_eq!(plan.is_some(), left > 0 && (waiting > 0 || has_entering));
        let Some(plan) = plan else { return Ok(()) };
        let allowed: u64 = plan.allowances.iter().map(|(_, requests)| u64::from(*requests)).sum();
        prop_assert!(allowed <= left && plan.allowances.is_sorted_by_key(|(number, _)| *number));
        prop_assert!(!plan.is_list || allowed == left);
        if plan.is_list && !has_entering && trees.iter().all(|tree| tree.certain == 0) {
            let taken = |tree: &TreeBetweenRounds| {
                let allowance = plan.allowances.iter().find(|(number, _)| *number == tree.number);
                allowance.map_or(0, |(_, requests)| *requests as usize)
            };
            let best = trees.iter().flat_map(|tree| &tree.scores[..taken(tree)]).copied();
            let rest = trees.iter().flat_map(|tree| &tree.scores[taken(tree)..]).copied();
            prop_assert!(best.fold(f32::INFINITY, f32::min) >= rest.fold(0.0, f32::max));
        }
    }
}
