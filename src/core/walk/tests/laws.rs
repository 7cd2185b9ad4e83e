use proptest::prelude::*;

use super::*;

/// A random site of up to 40 URLs on two hosts, some of them scripts, redirects, or gone.
pub(super) fn any_web() -> impl Strategy<Value = Web> {
    let name = |n: usize| match n % 8 {
        5 => format!("http://a.ke/s{}?q={n}", n % 3),
        6 => format!("http://img.a.ke/{n}"),
        7 => format!("http://b{n}.ke/"),
        _ => format!("http://a.ke/{n}"),
    };
    let served = (0u8..12, prop::collection::vec(0usize..40, 0..8));
    prop::collection::vec(served, 40).prop_map(move |all| {
        let mut web = Web::default();
        for (n, (kind, links)) in all.into_iter().enumerate() {
            let links: Vec<String> = links.into_iter().map(name).collect();
            let from = if n == 0 { "http://a.ke/".to_owned() } else { name(n) };
            web = match (kind, links.first()) {
                (0, Some(to)) if n > 0 => web.redirect(&from, to),
                (1, _) if n > 0 => web.serve(&from, ServedPage::Status(404)),
                (2, _) if n > 0 => web.serve(&from, ServedPage::Later),
                (3, _) if n > 0 => web.serve(&from, ServedPage::Gone),
                _ => web.page(&from, &links.iter().map(String::as_str).collect::<Vec<_>>()),
            };
        }
        web
    })
}

/// With a fixed depth, or as deep as the expected yield of pages is worth it.
fn any_rule() -> impl Strategy<Value = WalkSettings> {
    prop::option::of(0.05f64..4.0).prop_map(|price| {
        let levels = WalkSettings::default();
        price.map_or(levels.clone(), |price| levels.with_rates(auto::rates(), price))
    })
}

proptest! {
    #[test]
    fn a_walk_asks_nothing_twice_stays_in_scope_and_counts_every_url_once(
        web in any_web(),
        rule in any_rule(),
        depth in 0u16..6,
    ) {
        let (tree, requested) = walk(&web, WalkSettings { depth: Depth(depth), ..rule });
        let mut seen = HashMap::new();
        for request in &requested {
            prop_assert!(request.url.host().is_at_or_below(&Host::parse("a.ke").unwrap()));
            prop_assert!(request.depth.is_none_or(|at| at.0 <= depth));
            *seen.entry(request.url.as_str().to_owned()).or_insert(0) += 1;
        }
        for (url, times) in seen {
            let may_retry = matches!(web.0.get(&url), Some(ServedPage::Later));
            prop_assert!(times == 1 || (may_retry && times <= 3), "{url} {times}");
        }
        let requests: u64 = tree.sum(|level| level.requests) + tree.robots.requests;
        prop_assert_eq!(requests, requested.len() as u64);
        prop_assert_eq!(tree.sum(|level| level.external_urls), tree.externals.len() as u64);
    }

    #[test]
    fn a_tree_does_not_depend_on_how_many_questions_are_in_flight_or_which_answer_comes_first(
        web in any_web(),
        rule in any_rule(),
        parallel in 2usize..9,
        order in prop::collection::vec(any::<u8>(), 64),
    ) {
        let one = walk(&web, rule.clone());
        let mut turn = 0;
        let many = drive_in_order(start("http://a.ke/", rule, ""), &web, parallel, |flying| {
            turn += 1;
            usize::from(order[turn % order.len()]) % flying.len()
        });
        prop_assert_eq!(one, many);
    }

    #[test]
    fn a_tree_cut_at_a_depth_equals_a_walk_to_that_depth(
        web in any_web(),
        rule in any_rule(),
        depth in 0u16..5,
    ) {
        let (deep, _) = walk(&web, WalkSettings { depth: Depth(8), ..rule.clone() });
        let (cut, _) = walk(&web, WalkSettings { depth: Depth(depth), ..rule });
        let levels = usize::from(depth) + 1;
        let shared = levels.min(cut.levels.len());
        prop_assert_eq!(&deep.levels[..shared], &cut.levels[..shared]);
        let within = |tree: &Tree| tree.externals.iter().filter(|e| e.depth.0 <= depth).cloned().collect::<Vec<_>>();
        prop_assert_eq!(within(&deep), within(&cut));
    }
}
