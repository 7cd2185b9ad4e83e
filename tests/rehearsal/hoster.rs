//! Many sites on one server: faults of some are not blamed on the others, which are surveyed.

use std::path::Path;

use ccsurvey::records::SiteRow;

use crate::common::rows;
use crate::simulate::summary_of;

/// All sites on one server, nearly half of them dead in ways that look as if the server were overloaded.
const HALF_DEAD: &str = "[sites]\ncount = 80\nmost_pages = 20\n[servers]\ngiants = 1\ngiants_share = 1.0\n\
                         [faults]\nno_dns_share = 0.0\nservfail_share = 0.0\ndns_silent_share = 0.0\n\
                         forbidden_share = 0.0\nmoved_share = 0.0\nreset_share = 0.2\nsilent_share = 0.05\n\
                         unavailable_share = 0.2\n[robots]\nmissing_share = 1.0\njunk_share = 0.0\nsome_share = 0.0\n\
                         all_share = 0.0\ncrawl_delay_share = 0.0\nunavailable_share = 0.0\nsilent_share = 0.0\n\
                         [dns]\nv6_only_share = 0.0\nboth_share = 0.0\n";

/// With both seeds, dead sites follow one another.
const SEEDS: [u32; 2] = [1, 4];

#[test]
fn dead_sites_do_not_cost_the_living_ones_of_their_server() {
    for seed in SEEDS {
        let folder = tempfile::tempdir().unwrap();
        survey_half_dead(seed, folder.path());
    }
}

fn survey_half_dead(seed: u32, folder: &Path) {
    // One after the other, so that the failures of a site come in a row.
    let (survey, summary) = summary_of(&format!("seed = {seed}\n{HALF_DEAD}"), folder, &["--sites", "1"]);
    assert!(summary["errors"]["reset"].as_u64() > Some(20), "{}", summary["errors"]);
    assert_eq!(summary["errors"]["given_up"].as_u64(), None, "{}", summary["errors"]);

    let trees = rows::<SiteRow>(&survey);
    let servers: std::collections::BTreeSet<_> =
        trees.iter().filter_map(|tree| tree.address.as_deref()).collect();
    assert_eq!(servers.len(), 1, "{servers:?}");
    let living = trees.iter().filter(|tree| tree.pages > 0).count();
    assert!((30..60).contains(&living), "{living} of {}", trees.len());
}
