//! `--probe-scripts`: estimates what the rule of one query URL per script hides, without changing the survey
//! itself.

use ccsurvey::analysis::overview::Overview;
use ccsurvey::analysis::{Curves, Recorded, Sampling};
use ccsurvey::records::{ExchangeRow, SiteRow};
use ccsurvey::settings::Settings;
use ccsurvey::survey::Summary;

use crate::common::{Space, Surveyed, assert_same_rows};

#[test]
fn probes_leave_levels_and_links_alone_are_accounted_for_and_bound_what_was_hidden() {
    let space = Space::serve("scripts_answer_one_query_each");
    let plain = space.survey(space.settings());
    let before = space.accesses().len();
    let probed = space.survey(Settings { probe_scripts: 1.0, ..space.settings() });
    let sent_requests = space.accesses().len() - before;

    let (plain_tables, tables) = (plain.tables(), probed.tables());
    assert_same_rows(&tables.levels, &plain_tables.levels, "levels");
    assert_same_rows(&tables.links, &plain_tables.links, "links");
    let requests = |surveyed: &Surveyed| -> Vec<_> {
        let curves = Curves::measure(&Recorded::load(&surveyed.dir()).unwrap(), &Sampling::default());
        curves.levels.iter().map(|level| level.requests).collect()
    };
    assert_eq!(requests(&probed), requests(&plain), "a curve has no probes");
    let by_level = |surveyed: &Surveyed| -> Vec<_> {
        Summary::read(&surveyed.dir()).unwrap().levels.iter().map(|level| level.requests).collect()
    };
    assert_eq!(by_level(&probed), by_level(&plain));
    let sites: Vec<SiteRow> = probed.rows();
    let probes: Vec<ExchangeRow> = probed.rows::<ExchangeRow>();
    let probes: Vec<_> = probes.iter().filter(|row| row.purpose == "probe").collect();
    assert!(probes.len() >= 10, "{} probes", probes.len());
    assert!(probes.iter().all(|row| row.depth.is_none() && row.url.contains(['?', ';'])));
    let counted = |field: fn(&SiteRow) -> u64| sites.iter().map(field).sum::<u64>();
    assert_eq!(counted(|site| site.probe_requests), probes.len() as u64);
    assert_eq!(counted(|site| site.requests), sent_requests as u64, "every request is accounted for");

    let estimate = Overview::load(&probed.dir()).unwrap().kept_back.probes.expect("there are probes");
    assert_eq!(estimate.requests, probes.len() as u64);
    let whole = space.survey(Settings { queries_per_script: 1000, ..space.settings() }).tables();
    let hidden = whole.links.len().saturating_sub(plain_tables.links.len()) as f64;
    let bound = estimate.external_urls.high * estimate.withheld as f64;
    assert!(
        hidden <= bound.max(1.0) * 1.5 + 5.0,
        "{hidden} external URLs were hidden, at most {bound} estimated"
    );
    assert!(Overview::load(&plain.dir()).unwrap().kept_back.probes.is_none());
}
