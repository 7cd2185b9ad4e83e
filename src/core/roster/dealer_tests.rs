use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;
use crate::address::{Host, Site};

fn site(number: u64) -> Site {
    Site::new(Host::parse(&format!("site{number}.ke")).unwrap())
}

fn tree(number: u64, size: Option<f64>) -> WaitingTree<u64> {
    WaitingTree {
        number,
        site: site(number),
        size,
        server: None,
        is_again: false,
        avoided: None,
        tree: number,
    }
}

fn agents(partition: Partition, capacities: &[f64], visit_slots: usize) -> Dealer<u64> {
    let mut dealer = Dealer::new(partition, 7);
    for capacity in capacities {
        dealer.join(AgentCapacity { places: visit_slots, capacity: *capacity });
    }
    dealer
}

/// Deals until no agent has room, and ends trees when nothing else can be done. Returns the agents in the
/// order of the trees.
fn deal_all(dealer: &mut Dealer<u64>) -> Vec<(u64, AgentNumber)> {
    let (mut dealt, mut walking) = (Vec::new(), Vec::new());
    loop {
        while let Some((agent, tree)) = dealer.deal() {
            dealt.push((tree, agent));
            walking.push(tree);
        }
        if walking.is_empty() {
            return dealt;
        }
        dealer.done(walking.remove(0));
    }
}

#[test]
fn by_size_beforehand_agents_have_work_in_proportion_to_their_capacity() {
    let mut dealer = agents(Partition::StaticSize, &[30.0, 10.0], 1);
    let sizes = [400.0, 100.0, 100.0, 100.0, 50.0, 50.0];
    dealer.plan((0..).zip(sizes).map(|(number, size)| (site(number), size)));
    (0..6).for_each(|number| dealer.offer(tree(number, Some(sizes[number as usize]))));
    let mut work = [0.0; 2];
    for (number, agent) in deal_all(&mut dealer) {
        work[agent as usize] += sizes[number as usize];
    }
    assert_eq!(work, [600.0, 200.0]);
}

#[test]
fn sites_of_unknown_size_are_shared_out_evenly_and_keep_their_agent() {
    let mut dealer = agents(Partition::StaticSize, &[1.0; 4], 1);
    (0..40).for_each(|number| dealer.offer(tree(number, None)));
    let first: HashMap<u64, AgentNumber> = deal_all(&mut dealer).into_iter().collect();
    assert!(
        (0..4).all(|agent| first.values().filter(|assigned| **assigned == agent).count() == 10),
        "{first:?}"
    );
    (0..40).rev().for_each(|number| dealer.offer(WaitingTree { is_again: true, ..tree(number, None) }));
    assert_eq!(deal_all(&mut dealer).into_iter().collect::<HashMap<_, _>>(), first);
}

#[test]
fn a_site_of_unknown_size_counts_as_the_mean_of_those_that_are_known() {
    let mut dealer = agents(Partition::StaticSize, &[1.0; 2], 9);
    dealer.plan([(site(0), 100.0)]);
    (0..3).for_each(|number| dealer.offer(tree(number, None)));
    let agents: HashMap<u64, AgentNumber> = deal_all(&mut dealer).into_iter().collect();
    assert_eq!([0, 1, 2].map(|number| agents[&number]), [0, 1, 0]);
}

#[test]
fn an_agent_that_rests_is_dealt_nothing_while_another_does_not_and_one_of_low_priority_what_is_left() {
    let mut dealer = agents(Partition::DynamicSize, &[1.0; 3], 2);
    let server = Some(std::net::IpAddr::from([41, 90, 0, 1]));
    dealer.offer(WaitingTree { server, ..tree(0, None) });
    let (first, _) = dealer.deal().unwrap();
    dealer.done(0);
    let others: Vec<AgentNumber> = (0..3).filter(|agent| *agent != first).collect();
    dealer.set_priority(first, Priority::Last);
    dealer.set_priority(others[0], Priority::Paused);
    assert_eq!(dealer.free_slots(), 2);
    (1..6).for_each(|number| dealer.offer(WaitingTree { server, ..tree(number, None) }));
    assert_eq!(dealer.free_slots(), 0);
    let mut dealt = || -> Vec<AgentNumber> {
        let agents = std::iter::from_fn(|| dealer.deal()).map(|(agent, _)| agent).collect();
        (0..6).for_each(|number| dealer.done(number));
        agents
    };
    // One tree finds no room, although the paused agent has some.
    assert_eq!(dealt(), [others[1], others[1], first, first]);
    assert_eq!(dealt(), [others[1]]);
    (0..3).for_each(|agent| dealer.set_priority(agent, Priority::Paused));
    dealer.offer(tree(6, None));
    assert!(dealer.deal().is_some(), "where all rest, none is passed over");
}

/// A tree at the server of this number.
fn at_server(number: u64, server: u8) -> WaitingTree<u64> {
    WaitingTree { server: Some(std::net::IpAddr::from([41, 90, 0, server])), ..tree(number, None) }
}

/// Acts like a survey that checks now and then whether its trees are better elsewhere.
fn rebalance(dealer: &mut Dealer<u64>, trees: &HashMap<u64, u8>) -> usize {
    let mut moved = 0;
    while let Some(number) = (0..trees.len() as u64).find(|number| dealer.is_better_elsewhere(*number)) {
        dealer.done(number);
        dealer.offer(WaitingTree { is_again: true, ..at_server(number, trees[&number]) });
        dealer.deal().unwrap();
        moved += 1;
        assert!(moved < 1000, "trees move for ever");
    }
    moved
}

#[test]
fn agents_walk_at_as_many_servers_each_and_trees_of_a_server_stay_together() {
    let mut dealer = agents(Partition::DynamicSize, &[1.0; 3], 64);
    // One server has a third of all trees.
    let servers: Vec<u8> = (0..45).map(|number| if number % 3 == 0 { 0 } else { number }).collect();
    (0..).zip(&servers).for_each(|(number, server)| dealer.offer(at_server(number, *server)));
    let mut server_agents = HashMap::<u8, HashSet<AgentNumber>>::new();
    while let Some((agent, tree)) = dealer.deal() {
        server_agents.entry(servers[tree as usize]).or_default().insert(agent);
    }
    assert!(server_agents.values().all(|agents| agents.len() == 1), "{server_agents:?}");
    let servers = dealer.servers();
    assert!(servers.iter().max().unwrap() - servers.iter().min().unwrap() <= 1, "{servers:?}");
}

#[test]
fn an_agent_that_joins_later_gets_its_part_of_what_is_walked_already() {
    let mut dealer = agents(Partition::DynamicSize, &[1.0; 2], 64);
    let trees: HashMap<u64, u8> = (0..60).map(|number| (number, number as u8)).collect();
    (0..60).for_each(|number| dealer.offer(at_server(number, trees[&number])));
    while dealer.deal().is_some() {}
    assert_eq!(dealer.servers(), [30, 30]);
    assert_eq!(rebalance(&mut dealer, &trees), 0);
    dealer.join(AgentCapacity { places: 64, capacity: 1.0 });
    let moved = rebalance(&mut dealer, &trees);
    let servers = dealer.servers();
    assert!(servers.iter().max().unwrap() <= &(2 * servers.iter().min().unwrap() + 2), "{servers:?}");
    assert!(moved <= 20, "{moved}");
}

proptest! {
    /// Whatever the capacities, and whatever is over already: no agent has more than twice as much to do as
    /// another one with room.
    #[test]
    fn no_agent_has_twice_as_many_servers_for_its_capacity_as_another(
        capacities in prop::collection::vec(1_u32..4, 2..5),
        is_done in prop::collection::vec(any::<bool>(), 1..120),
    ) {
        let capacities: Vec<f64> = capacities.into_iter().map(f64::from).collect();
        let mut dealer = agents(Partition::DynamicSize, &capacities, 200);
        let trees: HashMap<u64, u8> = (0..is_done.len() as u64).map(|number| (number, number as u8)).collect();
        (0..trees.len() as u64).for_each(|number| dealer.offer(at_server(number, trees[&number])));
        while dealer.deal().is_some() {}
        (0..).zip(is_done).filter(|(_, is_done)| *is_done).for_each(|(number, _)| dealer.done(number));
        rebalance(&mut dealer, &trees);
        let per_agent: Vec<(f64, f64)> = dealer.servers().into_iter().map(|servers| servers as f64).zip(capacities).collect();
        for (one, capacity) in &per_agent {
            for (other, other_capacity) in &per_agent {
                prop_assert!(one / capacity <= 2.0 * (other + 1.0) / other_capacity, "{per_agent:?}");
            }
        }
    }
}

#[test]
fn sites_are_given_out_in_turn() {
    let mut dealer = agents(Partition::Distributor, &[1.0; 3], 2);
    (0..6).for_each(|number| dealer.offer(tree(number, None)));
    let dealt: HashMap<u64, AgentNumber> =
        std::iter::from_fn(|| dealer.deal()).map(|(agent, tree)| (tree, agent)).collect();
    assert_eq!([0, 1, 2, 3, 4, 5].map(|number| dealt[&number]), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_site_has_its_agent_by_chance_whatever_else_is_offered_and_keeps_it_when_another_leaves() {
    let assigned = |numbers: &[u64], leaving: Option<AgentNumber>| {
        let mut dealer = agents(Partition::StaticRandom, &[1.0; 5], 3);
        leaving.iter().for_each(|agent| drop(dealer.leave(*agent)));
        numbers.iter().for_each(|number| dealer.offer(tree(*number, None)));
        deal_all(&mut dealer).into_iter().collect::<HashMap<_, _>>()
    };
    let numbers: Vec<u64> = (0..200).collect();
    let all = assigned(&numbers, None);
    let few = assigned(&numbers[150..], None);
    assert!(few.iter().all(|(number, agent)| all[number] == *agent));
    let without = assigned(&numbers, Some(3));
    assert!(without.iter().all(|(number, agent)| all[number] == *agent || all[number] == 3));
    let busiest =
        (0..5).map(|agent| all.values().filter(|assigned| **assigned == agent).count()).max().unwrap();
    assert!((40..60).contains(&busiest), "{busiest} of 200");
}

#[test]
fn who_competes_takes_as_much_as_it_has_room_for_and_who_is_given_in_turn_as_much_as_others() {
    let per_agent = |partition| {
        let mut dealer = agents(partition, &[1.0; 4], 10);
        (0..20).for_each(|number| dealer.offer(tree(number, None)));
        let mut count = [0; 4];
        while let Some((agent, _)) = dealer.deal() {
            count[agent as usize] += 1;
        }
        count.sort_unstable();
        count
    };
    assert_eq!(per_agent(Partition::Competition), [0, 0, 10, 10]);
    assert_eq!(per_agent(Partition::Distributor), [5, 5, 5, 5]);
}

#[test]
fn who_has_few_waiting_is_given_some_of_who_has_most() {
    let mut dealer = agents(Partition::Distributor, &[1.0; 2], 1);
    (0..8).for_each(|number| dealer.offer(tree(number, None)));
    // Agent 0 finishes its trees at once, agent 1 never finishes its first.
    let mut second_count = 0;
    while let Some((agent, tree)) = dealer.deal() {
        if agent == 0 {
            dealer.done(tree);
        } else {
            second_count += 1;
        }
    }
    assert_eq!(second_count, 1);
}

#[test]
fn trees_of_a_server_stay_with_their_agent_while_it_has_room() {
    for partition in [Partition::DynamicRandom, Partition::DynamicSize, Partition::Distributor] {
        let mut dealer = agents(partition, &[1.0; 5], 2);
        let server = Some([41, 90, 0, 1].into());
        let mut server_agents = Vec::new();
        for number in 0..20 {
            dealer.offer(WaitingTree { server: server.filter(|_| number % 2 == 0), ..tree(number, None) });
            let (agent, _) = dealer.deal().unwrap();
            server_agents.extend((number % 2 == 0).then_some(agent));
            dealer.done(number);
        }
        assert!(
            server_agents.iter().all(|agent| *agent == server_agents[0]),
            "{partition:?}: {server_agents:?}"
        );
        assert_eq!(dealer.handed_over(), 0);
        // Waiting trees are distributed evenly first.
        if partition == Partition::Distributor {
            continue;
        }
        (100..103).for_each(|number| dealer.offer(WaitingTree { server, ..tree(number, None) }));
        assert!((0..2).all(|_| dealer.deal().is_some_and(|(agent, _)| agent == server_agents[0])));
        assert!(dealer.deal().is_some_and(|(agent, _)| agent != server_agents[0]), "the first has no room");
        assert_eq!(dealer.handed_over(), 1);
        // Its agents leave: the next agent to join takes it over.
        (0..5).for_each(|agent| assert!(dealer.leave(agent).len() < 3));
        dealer.join(AgentCapacity { places: 1, capacity: 1.0 });
        dealer.offer(WaitingTree { server, ..tree(200, None) });
        assert_eq!((dealer.deal(), dealer.handed_over()), (Some((5, 200)), 2));
    }
}

/// An event for a dealer.
#[derive(Clone, Debug)]
enum DealerEvent {
    Offer,
    Done(prop::sample::Index),
    Join,
    Leave(prop::sample::Index),
}

fn events() -> impl Strategy<Value = Vec<DealerEvent>> {
    let event = prop_oneof![
        6 => Just(DealerEvent::Offer),
        4 => any::<prop::sample::Index>().prop_map(DealerEvent::Done),
        1 => Just(DealerEvent::Join),
        1 => any::<prop::sample::Index>().prop_map(DealerEvent::Leave),
    ];
    prop::collection::vec(event, 0..200)
}

proptest! {
    #[test]
    fn every_tree_is_walked_by_one_agent_at_a_time_none_has_more_than_its_places_and_none_is_idle(
        events in events(),
        partition in prop::sample::select(Partition::ALL.to_vec()),
        visit_slots in 1usize..4,
        seed in any::<u64>(),
    ) {
        let mut dealer = Dealer::new(partition, seed);
        let (mut present, mut next) = (Vec::new(), 0);
        let (mut walked, mut waiting) = (HashMap::<u64, AgentNumber>::new(), HashSet::new());
        for event in events {
            match event {
                DealerEvent::Offer => {
                    dealer.offer(tree(next, Some(f64::from(next as u32 % 7))));
                    waiting.insert(next);
                    next += 1;
                }
                DealerEvent::Done(choice) => {
                    let mut trees: Vec<u64> = walked.keys().copied().collect();
                    trees.sort_unstable();
                    if !trees.is_empty() {
                        let tree = trees[choice.index(trees.len())];
                        walked.remove(&tree);
                        dealer.done(tree);
                    }
                }
                DealerEvent::Join => present.push(dealer.join(AgentCapacity { places: visit_slots, capacity: 1.0 })),
                DealerEvent::Leave(choice) if !present.is_empty() => {
                    let agent = present.remove(choice.index(present.len()));
                    let left = dealer.leave(agent);
                    let mut expected: Vec<u64> = walked.iter().filter(|(_, assigned)| **assigned == agent).map(|(tree, _)| *tree).collect();
                    expected.sort_unstable();
                    prop_assert_eq!(&left, &expected);
                    for number in left {
                        walked.remove(&number);
                        dealer.offer(WaitingTree { is_again: true, ..tree(number, None) });
                        waiting.insert(number);
                    }
                }
                DealerEvent::Leave(_) => {}
            }
            while let Some((agent, tree)) = dealer.deal() {
                prop_assert!(present.contains(&agent) && waiting.remove(&tree));
                prop_assert_eq!(walked.insert(tree, agent), None);
            }
            let busy = |agent: &AgentNumber| walked.values().filter(|assigned| *assigned == agent).count();
            prop_assert!(present.iter().all(|agent| busy(agent) <= visit_slots));
            let is_dynamic = !matches!(partition, Partition::StaticRandom | Partition::StaticSize);
            if is_dynamic && present.iter().any(|agent| busy(agent) < visit_slots) {
                prop_assert!(waiting.is_empty(), "{:?} wait while an agent has room", waiting);
            }
        }
        // With one more agent than there was, all trees are walked in the end.
        dealer.join(AgentCapacity { places: visit_slots, capacity: 1.0 });
        walked.keys().for_each(|tree| dealer.done(*tree));
        let mut ended = 0;
        while let Some((_, tree)) = dealer.deal() {
            dealer.done(tree);
            ended += usize::from(waiting.remove(&tree));
        }
        prop_assert!(waiting.is_empty(), "{} walked, {:?} left", ended, waiting);
    }
}

#[test]
fn a_tree_goes_to_another_agent_than_the_one_that_it_avoids_if_one_has_room() {
    let mut dealer = Dealer::new(Partition::DynamicSize, 1);
    let [one, other] = [(); 2].map(|()| dealer.join(AgentCapacity { places: 1, capacity: 1.0 }));
    let server = Some(std::net::IpAddr::from([41, 90, 0, 1]));
    let offer = |dealer: &mut Dealer<u64>, number, avoided| {
        dealer.offer(WaitingTree { server, avoided, ..tree(number, None) });
    };
    offer(&mut dealer, 1, Some(other));
    assert_eq!(dealer.deal(), Some((one, 1)));
    dealer.done(1);
    // That agent was the last at this server.
    offer(&mut dealer, 2, Some(one));
    assert_eq!(dealer.deal(), Some((other, 2)));
    offer(&mut dealer, 3, Some(other));
    assert_eq!(dealer.deal(), Some((one, 3)));
    dealer.done(3);
    offer(&mut dealer, 4, Some(one));
    assert_eq!(dealer.deal(), Some((one, 4)), "the other one has no room");
}
