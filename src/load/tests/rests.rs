use proptest::prelude::*;

use super::*;

/// What is seen of two exchanges, the second so many seconds after the first has ended.
fn seen(pace: &Pace, first: &Answer, gap: f64, crawl_delay: Option<Duration>) -> Vec<&'static str> {
    let mut load = Load::new(pace.clone(), None, SharedBudget::default(), MOST);
    let mut watch = Watch::new(Seen::default(), None, 0);
    let second = answer(first.ended() + Duration::from_secs_f64(gap), 0.1);
    for (answer, delay) in [(first, None), (&second, crawl_delay)] {
        load.recall(server(1), Purpose::Page, answer);
        let state = load.state_of(server(1)).unwrap();
        watch.note_rest(pace, (server(1), Purpose::Page, answer), delay, state);
    }
    let ShortRests { slow, link, trouble, retry_after, crawl_delay } = watch.seen().short_rests.clone();
    let all = [
        ("slow", slow),
        ("link", link),
        ("trouble", trouble),
        ("retry_after", retry_after),
        ("crawl_delay", crawl_delay),
    ];
    all.into_iter().filter(|(_, count)| count.times == 1).map(|(what, _)| what).collect()
}

#[test]
fn an_exchange_that_begins_before_the_server_has_had_its_rest_is_seen_with_the_reason() {
    let pace = Pace { link_share: None, ..Pace::default() };
    let nothing: [&str; 0] = [];
    assert_eq!(seen(&pace, &answer(at(0.0), 4.0), 19.9, None), ["slow"]);
    assert_eq!(seen(&pace, &answer(at(0.0), 4.0), 20.0, None), nothing);
    assert_eq!(seen(&pace, &answer(at(0.0), 0.1), 0.5, None), nothing, "the least pause is judged elsewhere");
    assert_eq!(seen(&pace, &busy(at(0.0), None), 3.9, None), ["trouble"]);
    assert_eq!(seen(&pace, &busy(at(0.0), Some(30)), 29.9, None), ["retry_after"]);
    assert_eq!(seen(&pace, &answer(at(0.0), 0.1), 9.9, Some(Duration::from_secs(10))), ["crawl_delay"]);
    let of_link = Pace { link_share: Some(0.01), factor: 0.0, ..Pace::default() };
    // All the time that the answer took to come is that of its link as long as no rate is known.
    let mut came = answer(at(0.0), 1.0);
    came.timings.first_byte = Some(Duration::from_millis(500));
    assert_eq!(seen(&of_link, &came, 49.9, None), ["link"]);
    assert_eq!(seen(&of_link, &came, 50.1, None), nothing);
}

proptest! {
    #[test]
    fn whatever_servers_answer_what_is_permitted_is_never_seen_as_too_soon(
        answers in prop::collection::vec((1_u64..40_000, any::<bool>(), prop::option::of(0_u64..900), prop::option::of(0_u64..300)), 1..60)
    ) {
        let (pace, mut load, mut watch) = (Pace::default(), load(), Watch::new(Seen::default(), None, 0));
        let mut now = at(0.0);
        for (took, is_busy, retry_after, crawl_delay) in answers {
            let delay = crawl_delay.map(Duration::from_secs);
            let permit = loop {
                match load.permit(now, server(1), &site("a.ke"), delay) {
                    Turn::Go(permit) => break permit,
                    Turn::At(free) => now = free,
                    Turn::GivenUp => return Ok(()),
                    turn => panic!("{turn:?}"),
                }
            };
            let mut answer = answer(now, took as f64 / 1000.0);
            answer.timings.first_byte = Some(answer.timings.total / 2);
            if is_busy {
                answer.status = Some(503);
                answer.head.retry_after = retry_after.map(Duration::from_secs);
            }
            load.settle(permit, Purpose::Page, &answer);
            let state = load.state_of(server(1)).unwrap();
            watch.note_rest(&pace, (server(1), Purpose::Page, &answer), delay, state);
            now = answer.ended();
        }
        prop_assert_eq!(&watch.seen().short_rests, &ShortRests::default());
    }
}
