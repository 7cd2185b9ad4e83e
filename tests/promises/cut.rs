//! Promise 8: the same survey cut at a depth equals a survey run to that depth.

use ccsurvey::address::WebUrl;
use ccsurvey::records::{ExchangeRow, LevelRow, SiteRow};
use ccsurvey::settings::{DepthRule, FeedBackRule, Settings};
use ccsurvey::space::FeedBack;

use crate::common::{Space, assert_same_rows};

#[test]
fn a_survey_to_depth_three_equals_the_depth_three_cut_of_one_to_depth_eight() {
    let deep_enough = include_str!("../../data/demo.toml").replace("count = 175", "count = 40");
    let space = Space::from_toml(&deep_enough);
    // All sites as start URLs: which sites are fed back depends on the depth.
    let start_urls: Vec<WebUrl> = space
        .truth(8, FeedBack::Link)
        .sites
        .iter()
        .map(|site| WebUrl::parse(&site.start_url).unwrap())
        .collect();
    let run = |depth, sites| {
        let settings = Settings {
            depth: DepthRule::Levels(depth),
            sites,
            feed_back: FeedBackRule::Off,
            ..space.settings()
        };
        space.survey_from(settings, &start_urls).tables()
    };
    let (shallow, deep) = (run(3, 64), run(8, 4));
    assert!(deep.levels.iter().any(|level| level.depth > 4 && level.pages > 0), "the world is deep enough");

    let cut = |levels: &[LevelRow]| levels.iter().filter(|row| row.depth <= 3).cloned().collect::<Vec<_>>();
    assert_same_rows(&cut(&shallow.levels), &cut(&deep.levels), "levels");
    assert!(shallow.levels.iter().filter(|row| row.depth == 4).all(|row| row.requests == 0));
    let links: Vec<_> = deep.links.iter().filter(|row| row.depth <= 3).cloned().collect();
    assert_same_rows(&shallow.links, &links, "links");

    // The shallow survey sent exactly the first requests of the deep one, in the same order.
    for site in &shallow.sites {
        let exchanges_of_tree = |rows: &[ExchangeRow]| {
            let of_tree = |row: &&ExchangeRow| row.site == site.site && row.seed == site.seed;
            rows.iter().filter(of_tree).cloned().collect::<Vec<_>>()
        };
        let (shallow_exchanges, deep_exchanges) =
            (exchanges_of_tree(&shallow.exchanges), exchanges_of_tree(&deep.exchanges));
        assert_same_rows(&shallow_exchanges, &deep_exchanges[..shallow_exchanges.len()], &site.site);
    }
    let cut_sites: Vec<SiteRow> = deep
        .sites
        .iter()
        .map(|site| {
            let levels = || {
                let of_tree = |row: &&LevelRow| row.site == site.site && row.seed == site.seed;
                deep.levels.iter().filter(of_tree).filter(|row| row.depth <= 3)
            };
            let is_same = |row: &&SiteRow| row.site == site.site && row.seed == site.seed;
            let shallow_site = shallow.sites.iter().find(is_same).unwrap();
            let continues_below = site.deepest.is_some_and(|deepest| deepest > 3) || site.outcome == "depth";
            SiteRow {
                outcome: if continues_below { "depth".to_owned() } else { site.outcome.clone() },
                deepest: site.deepest.map(|deepest| deepest.min(3)),
                pages: levels().map(|row| row.pages).sum(),
                external_urls: levels().map(|row| row.external_urls).sum(),
                external_hosts: levels().map(|row| row.external_hosts).sum(),
                external_sites: levels().map(|row| row.external_sites).sum(),
                // The exchanges above check these; URLs that are skipped below the cut are counted in the
                // shallow survey only.
                requests: shallow_site.requests,
                robots_requests: shallow_site.robots_requests,
                sent_bytes: shallow_site.sent_bytes,
                received_bytes: shallow_site.received_bytes,
                internal_urls: shallow_site.internal_urls,
                // The trap may have been detected below the cut.
                trap_pattern: shallow_site.trap_pattern.clone(),
                ..site.clone()
            }
        })
        .collect();
    assert_same_rows(&shallow.sites, &cut_sites, "sites");
}
