use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::visit_slots::VisitSlots;
use super::*;
use crate::address::Neighbourhood;

const START: SystemTime = SystemTime::UNIX_EPOCH;

fn server(number: u8) -> std::net::IpAddr {
    [41, 90, 0, number].into()
}

fn limits(visits: usize) -> VisitLimits {
    VisitLimits::new(visits, 1, None)
}

/// Takes a tree from a queue that has any number of them.
fn take(roster: &mut Roster<u64>, number: u64) {
    assert_eq!(roster.poll(START), VisitStep::Take);
    roster.begin(number);
}

#[test]
fn a_visit_takes_a_place_at_its_server_and_in_its_neighbourhood() {
    let mut visit_slots = VisitSlots::new(&VisitLimits::new(9, 1, Some(2)));
    assert_eq!(visit_slots.take(server(1)), Ok(()));
    assert_eq!(visit_slots.take(server(1)), Err(VisitScope::Server(server(1))));
    assert_eq!(visit_slots.take(server(2)), Ok(()));
    let full = VisitScope::Neighbourhood(Neighbourhood::from_address(server(3)));
    assert_eq!(visit_slots.take(server(3)), Err(full));
    assert_eq!(visit_slots.take([41, 90, 1, 3].into()), Ok(()));
    visit_slots.leave(server(2));
    assert!(visit_slots.has_room(full));
    assert_eq!(visit_slots.take(server(3)), Ok(()));
}

#[test]
fn as_many_are_visited_as_may_be_and_no_tree_waits_when_all_are_done() {
    let mut roster = Roster::new(limits(2));
    assert!(roster.is_empty());
    take(&mut roster, 0);
    take(&mut roster, 1);
    assert_eq!(roster.poll(START), VisitStep::Wait(None));
    roster.leave(0, None);
    take(&mut roster, 2);
    roster.leave(1, None);
    roster.leave(2, None);
    assert!(roster.is_empty());
}

/// Tree 0 has the only slot at server 1; trees 1 and 2 wait for it.
fn with_two_parked() -> Roster<u64> {
    let mut roster = Roster::new(limits(9));
    take(&mut roster, 0);
    roster.enter(0, server(1)).unwrap();
    for number in [1, 2] {
        take(&mut roster, number);
        let full = roster.enter(number, server(1)).unwrap_err();
        roster.leave(number, Some(Requeue::Parked(number, full)));
    }
    roster
}

#[test]
fn a_tree_without_a_place_is_parked_until_a_visit_leaves_and_those_after_it_wait_their_turn() {
    let mut roster = with_two_parked();
    assert_eq!(roster.poll(START), VisitStep::Take, "neither may be visited");
    assert!(!roster.is_empty());
    roster.leave(0, None);
    assert_eq!(roster.poll(START), VisitStep::Begin(1));
    roster.enter(1, server(1)).unwrap();
    assert_eq!(roster.poll(START), VisitStep::Take, "the place is taken again");
    roster.leave(1, None);
    assert_eq!(roster.poll(START), VisitStep::Begin(2));
}

#[test]
fn a_tree_that_goes_elsewhere_leaves_the_place_it_was_woken_for_to_the_next() {
    let mut roster = with_two_parked();
    roster.leave(0, None);
    assert_eq!(roster.poll(START), VisitStep::Begin(1));
    // Its name leads to another server by now.
    roster.enter(1, server(2)).unwrap();
    roster.leave(1, None);
    assert_eq!(roster.poll(START), VisitStep::Begin(2));
}

#[test]
fn a_tree_is_not_parked_where_somebody_has_left_in_the_meantime() {
    let mut roster = Roster::new(limits(9));
    take(&mut roster, 0);
    roster.enter(0, server(1)).unwrap();
    take(&mut roster, 1);
    let full = roster.enter(1, server(1)).unwrap_err();
    roster.leave(0, None);
    roster.leave(1, Some(Requeue::Parked(1, full)));
    assert_eq!(roster.poll(START), VisitStep::Begin(1));
}

#[test]
fn a_tree_that_is_put_off_comes_back_when_it_is_due_and_before_any_other() {
    let mut roster = Roster::new(limits(9));
    let due = START + Duration::from_secs(600);
    take(&mut roster, 0);
    roster.enter(0, server(1)).unwrap();
    roster.leave(0, Some(Requeue::PutOff(0, due)));
    take(&mut roster, 1);
    roster.enter(1, server(1)).expect("who is put off has no place");
    roster.leave(1, Some(Requeue::Again(1)));
    assert_eq!(roster.next_due(), Some(due));
    assert_eq!(roster.poll(due - Duration::from_nanos(1)), VisitStep::Begin(1));
    assert_eq!(roster.poll(due), VisitStep::Begin(0));
    assert_eq!(roster.next_due(), None);
}

#[test]
fn no_tree_is_taken_while_too_many_wait() {
    let mut roster = Roster::new(VisitLimits { waiting: 2, ..limits(1) });
    let due = |number: u64| START + Duration::from_secs(600 + number);
    for number in [0, 1] {
        take(&mut roster, number);
        roster.leave(number, Some(Requeue::PutOff(number, due(number))));
    }
    assert_eq!(roster.poll(START), VisitStep::Wait(Some(due(0))));
    assert_eq!(roster.poll(due(0)), VisitStep::Begin(0));
}

#[test]
fn a_visit_that_asks_elsewhere_leaves_its_place_to_those_who_wait_for_it() {
    let mut roster = with_two_parked();
    assert!(!roster.move_to(0, server(1)), "it is there");
    assert!(roster.move_to(0, server(2)));
    assert_eq!(roster.poll(START), VisitStep::Begin(1));
    roster.enter(1, server(1)).unwrap();
    // Back at a server whose slot is taken, it is a guest and has no slot to free.
    assert!(roster.move_to(0, server(1)));
    assert_eq!(roster.poll(START), VisitStep::Take, "tree 2 waits for tree 1");
    assert!(!roster.move_to(0, server(2)), "nobody waited for a guest");
    roster.leave(1, None);
    assert_eq!(roster.poll(START), VisitStep::Begin(2));
    roster.enter(2, server(1)).unwrap();
    roster.leave(2, None);
    roster.leave(0, None);
    assert!(roster.is_empty());
}

#[test]
fn a_tree_that_was_woken_and_goes_on_elsewhere_wakes_one_other_and_no_more() {
    let mut roster = with_two_parked();
    take(&mut roster, 3);
    let full = roster.enter(3, server(1)).unwrap_err();
    roster.leave(3, Some(Requeue::Parked(3, full)));
    roster.leave(0, None);
    assert_eq!(roster.poll(START), VisitStep::Begin(1));
    roster.enter(1, server(1)).unwrap();
    roster.move_to(1, server(2));
    assert_eq!(roster.poll(START), VisitStep::Begin(2));
    roster.enter(2, server(1)).unwrap();
    roster.leave(1, None);
    assert_eq!(roster.poll(START), VisitStep::Take, "tree 3 waits for tree 2");
}

/// The visits of a tree: the server of each, the server where it continues, and whether it is put off first.
type VisitPlan = Vec<(u8, Option<u8>, bool)>;

proptest! {
    /// Whatever happens, every tree is done in the end, and no limit is exceeded on the way.
    #[test]
    fn every_tree_is_done_in_the_end(
        plans in prop::collection::vec(prop::collection::vec((0_u8..3, prop::option::of(0_u8..3), any::<bool>()), 1..3), 1..40),
        visits in 1_usize..5,
        per_address in 1_u32..3,
        endings in prop::collection::vec(0_usize..5, 1..50),
    ) {
        let mut remaining: HashMap<u64, VisitPlan> = (0..).zip(plans).collect();
        let mut queue = 0..remaining.len() as u64;
        let mut roster = Roster::new(VisitLimits { waiting: 3, ..VisitLimits::new(visits, per_address, None) });
        let (mut now, mut visited, mut endings) = (START, Vec::<(u64, Option<u8>)>::new(), endings.into_iter().cycle());
        while !remaining.is_empty() {
            let due = loop {
                let number = match roster.poll(now) {
                    VisitStep::Begin(number) => number,
                    VisitStep::Take => match queue.next() {
                        Some(number) => {
                            roster.begin(number);
                            number
                        }
                        None => break roster.next_due(),
                    },
                    VisitStep::Wait(due) => break due,
                };
                let at = remaining[&number][0].0;
                match roster.enter(number, server(at)) {
                    Ok(()) => visited.push((number, Some(at))),
                    Err(full) => roster.leave(number, Some(Requeue::Parked(number, full))),
                }
            };
            prop_assert!(visited.len() <= visits);
            for at in 0..3 {
                let visit_count = visited.iter().filter(|visit| visit.1 == Some(at)).count();
                prop_assert!(visit_count <= per_address as usize);
            }
            let Some(ending) = endings.next() else { unreachable!("they go round") };
            if visited.is_empty() {
                prop_assert!(due.is_some(), "nobody is visited, nobody is due, and {} are left", remaining.len());
                now = due.unwrap_or(now);
                continue;
            }
            let index = ending % visited.len();
            let (number, at) = visited[index];
            if let Some(elsewhere) = remaining.get_mut(&number).and_then(|plan| plan[0].1.take())
                && at != Some(elsewhere)
            {
                // It sends requests to another server first, with a slot there if one is left.
                let visit_count = visited.iter().filter(|visit| visit.1 == Some(elsewhere)).count();
                visited[index].1 = (visit_count < per_address as usize).then_some(elsewhere);
                roster.move_to(number, server(elsewhere));
                continue;
            }
            visited.swap_remove(index);
            let plan = remaining.get_mut(&number).expect("only those that are left are visited");
            let (_, _, is_put_off) = plan.remove(0);
            let is_done = plan.is_empty();
            let until = now + Duration::from_secs(1 + number % 3);
            roster.leave(number, match (is_done, is_put_off) {
                (true, _) => None,
                (false, true) => Some(Requeue::PutOff(number, until)),
                (false, false) => Some(Requeue::Again(number)),
            });
            if is_done {
                remaining.remove(&number);
            }
        }
        prop_assert!(roster.is_empty());
    }
}
