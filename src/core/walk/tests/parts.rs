//! Between its parts in rounds a tree may wait for days, and each part begins with all that is on record: it
//! must lead to the same requests, although robots.txt grew old meanwhile and says something else now.

use proptest::prelude::*;

use super::laws::any_web;
use super::*;

/// A part in a round: its price, how many requests it may send, and the hours after the part before it.
type Part = (f64, usize, u64);

struct Recorded {
    request: Request,
    response: Response,
    content: Content,
}

/// Walks all parts, and in each first what the parts before it recorded.
fn walk_in_parts(webs: &[Web], parts: &[Part]) -> (Tree, Vec<Request>) {
    let mut recorded = Vec::new();
    let mut now = SystemTime::UNIX_EPOCH;
    let settings = WalkSettings::default().in_rounds(auto::rates());
    for (part, (_, _, hours)) in parts.iter().enumerate() {
        now += Duration::from_secs(3600 * hours);
        let is_last = part + 1 == parts.len();
        let tree =
            walk_part(&settings, &webs[part % webs.len()], &parts[..=part], now, &mut recorded, is_last);
        if let Some(tree) = tree {
            return (tree, recorded.into_iter().map(|it| it.request).collect());
        }
    }
    panic!("the last part ends the walk")
}

fn walk_part(
    settings: &WalkSettings,
    web: &Web,
    parts: &[Part],
    now: SystemTime,
    recorded: &mut Vec<Recorded>,
    is_last: bool,
) -> Option<Tree> {
    let mut walk = start("http://a.ke/", settings.clone(), "");
    let mut upcoming = parts.iter();
    let (mut sent, mut until) = (0, 0);
    loop {
        if sent == until {
            walk.end_round();
        }
        let next = recorded.get(sent).map(|it| it.request.clone());
        walk.expect_recorded(next.clone().map_or(OnRecord::Nothing, OnRecord::Requested));
        match walk.poll(now) {
            Step::Request(request, _) => {
                if let Some(next) = next {
                    assert_eq!(request, next, "request {sent}");
                } else {
                    let (mut response, content) = web.response(&request);
                    response.started = now;
                    recorded.push(Recorded { request: request.clone(), response, content });
                }
                walk.begin(&request);
                let Recorded { response, content, .. } = &recorded[sent];
                walk.handle(request.number, response.clone(), content.clone());
                sent += 1;
            }
            Step::Wait => panic!("nothing is in flight"),
            Step::RoundOver => match upcoming.next() {
                Some((price, requests, _)) => {
                    until = sent + requests;
                    walk.next_round(*price);
                }
                None if is_last => walk.end_rounds(),
                None => return None,
            },
            Step::Done => return Some(walk.conclude().0),
        }
    }
}

/// Webs that differ in the robots.txt of two hosts.
fn any_webs() -> impl Strategy<Value = Vec<Web>> {
    let robots = prop_oneof![
        Just(ServedPage::Status(404)),
        Just(ServedPage::Gone),
        Just(ServedPage::Robots("User-agent: *\nDisallow: /1\nDisallow: /2\n".to_owned())),
        Just(ServedPage::Robots("User-agent: *\nDisallow: /3\n".to_owned())),
        Just(ServedPage::To("http://a.ke/robots.txt".to_owned())),
        Just(ServedPage::To("http://img.a.ke/robots.txt".to_owned())),
    ];
    let both = prop::collection::vec(prop::array::uniform2(robots), 1..4);
    (any_web(), both).prop_map(|(web, robots)| {
        let with_rules = robots.into_iter().map(|[main, images]| {
            Web(web.0.clone())
                .serve("http://a.ke/robots.txt", main)
                .serve("http://img.a.ke/robots.txt", images)
        });
        with_rules.collect()
    })
}

proptest! {
    #[test]
    fn a_walk_in_parts_sends_again_what_is_on_record(
        webs in any_webs(),
        parts in prop::collection::vec((0.01f64..4.0, 0usize..9, 0u64..50), 1..9),
    ) {
        let (tree, requested) = walk_in_parts(&webs, &parts);
        let requests: u64 = tree.sum(|level| level.requests) + tree.robots.requests;
        prop_assert_eq!(requests, requested.len() as u64);
        prop_assert!(requests <= parts.iter().map(|part| part.1 as u64).sum());
    }
}
