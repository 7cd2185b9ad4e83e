//! `--depth auto`: what it skips, what it is given, and that its tables depend on nothing else.

use std::path::Path;
use std::process::{Command, Output};

use ccsurvey::exchange::Class;
use ccsurvey::records::{ExchangeRow, LevelRow, Manifest, SiteRow};

use super::simulate::{simulate, summary_of};
use crate::common::{assert_same_tables, rows, timeless_tables};

/// Sites of many pages, of which few link to other sites.
const WORLD: &str = "profile = \"africa-2006\"\nseed = 3\n\n[sites]\ncount = 40\n";
const AUTO: [&str; 4] = ["--depth", "auto", "--coverage", "0.95"];

fn ccsurvey(arguments: &[&str], paths: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).args(paths).output().unwrap()
}

#[track_caller]
fn refusal(output: &Output, exit_code: i32) -> String {
    assert_eq!(output.status.code(), Some(exit_code), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn tables_are_the_same_however_many_sites_are_walked_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("world.toml");
    std::fs::write(&world, WORLD).unwrap();
    let [one, some, many] = ["1", "16", "256"].map(|sites| {
        let survey = folder.path().join(sites);
        let output = simulate(&world, &survey, &[&AUTO[..], &["--sites", sites]].concat());
        assert!(output.status.success(), "{output:?}");
        // This also checks that every URL is in one class and every request in the sums.
        timeless_tables(&survey)
    });
    let left_out: u64 = one.levels.iter().map(|level| level.classes[Class::Yield]).sum();
    assert!(left_out > 300, "{left_out}");
    assert!(one.sites.iter().any(|site| site.outcome == "yield"));
    assert_same_tables(&some, &one);
    assert_same_tables(&many, &one);
}

#[test]
fn it_asks_for_far_less_than_all_levels_and_finds_nearly_as_much() {
    let folder = tempfile::tempdir().unwrap();
    let (deep_folder, auto_folder) = (folder.path().join("deep"), folder.path().join("auto"));
    std::fs::create_dir(&deep_folder).unwrap();
    std::fs::create_dir(&auto_folder).unwrap();
    let (_, deep) = summary_of(WORLD, &deep_folder, &["--depth", "20", "--feed-back", "off"]);
    let flags = [&AUTO[..], &["--feed-back", "off"]].concat();
    let (survey, auto) = summary_of(WORLD, &auto_folder, &flags);
    let sum = |summary: &serde_json::Value, key: &str| {
        let levels = summary["levels"].as_array().unwrap();
        levels.iter().map(|level| level[key].as_f64().unwrap()).sum::<f64>()
    };
    assert!(sum(&auto, "requests") < 0.6 * sum(&deep, "requests"), "{auto:#} {deep:#}");
    assert!(sum(&auto, "external_hosts") > 0.95 * sum(&deep, "external_hosts"), "{auto:#} {deep:#}");
    // Each skipped URL of a tree was expected to bring something, but less than one host per page.
    for level in rows::<LevelRow>(&survey) {
        let (urls, hosts) = (level.classes[Class::Yield], level.expected_external_hosts.unwrap());
        assert!((urls == 0) == (hosts == 0.0) && hosts < urls as f64 + 1e-9, "{level:?}");
    }
    // Each site gets its dozen pages, if it has as many.
    for site in rows::<SiteRow>(&survey).iter().filter(|site| site.outcome == "yield") {
        let fetched: u64 = rows::<LevelRow>(&survey)
            .iter()
            .filter(|level| (&level.site, level.seed) == (&site.site, site.seed))
            .map(|level| level.classes[Class::Fetched])
            .sum();
        assert!(fetched >= 12, "{site:?}");
    }
}

#[test]
fn pages_left_out_are_probed_in_a_share_of_sites_outside_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("world.toml");
    std::fs::write(&world, WORLD).unwrap();
    let survey = |name: &str, flags: &[&str]| {
        let survey = folder.path().join(name);
        let output = simulate(&world, &survey, &[&AUTO[..], &["--feed-back", "off"], flags].concat());
        assert!(output.status.success(), "{output:?}");
        survey
    };
    let (plain, probed) = (survey("plain", &[]), survey("probed", &["--probe-depth", "1"]));
    assert_eq!(rows::<LevelRow>(&plain).len(), rows::<LevelRow>(&probed).len());
    let counted = |dir: &Path| {
        let level_key = |level: &LevelRow| {
            (level.site.clone(), level.depth, level.classes[Class::Fetched], level.classes[Class::Yield])
        };
        rows::<LevelRow>(dir).iter().map(level_key).collect::<Vec<_>>()
    };
    let (mut plain_levels, mut probed_levels) = (counted(&plain), counted(&probed));
    plain_levels.sort();
    probed_levels.sort();
    assert_eq!(plain_levels, probed_levels, "levels are as they were");
    let probes: Vec<ExchangeRow> =
        rows::<ExchangeRow>(&probed).into_iter().filter(|row| row.purpose == "probe").collect();
    assert!(probes.len() > 50 && probes.iter().all(|probe| probe.depth.is_none()), "{}", probes.len());
    let of_tree = |site: &str| probes.iter().filter(|probe| probe.site == site).count();
    assert!(probes.iter().all(|probe| of_tree(&probe.site) <= 20));
    let answered = probes.iter().filter(|probe| probe.left_out_urls.is_some());
    for probe in answered {
        let left_out: u64 = rows::<LevelRow>(&probed)
            .iter()
            .filter(|level| level.site == probe.site && level.seed == probe.seed)
            .map(|level| level.classes[Class::Yield])
            .sum();
        assert_eq!(probe.left_out_urls.map(u64::from), Some(left_out));
    }
    let report = folder.path().join("report.html");
    let output = ccsurvey(&["report"], &[&probed, Path::new("-o"), &report]);
    assert!(output.status.success(), "{output:?}");
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("Findings missed on pages of low expected yield"));
}

#[test]
fn rates_are_learned_from_a_deep_survey_and_gone_by_and_kept_with_the_survey() {
    let folder = tempfile::tempdir().unwrap();
    let deep = ["--depth", "20", "--feed-back", "off", "--record-links"];
    let (survey, _) = summary_of(WORLD, folder.path(), &deep);
    let rates = folder.path().join("rates.json");
    let output = ccsurvey(&["learn"], &[&survey, Path::new("-o"), &rates]);
    assert!(output.status.success(), "{output:?}");
    let learned: serde_json::Value = serde_json::from_slice(&std::fs::read(&rates).unwrap()).unwrap();
    assert_eq!(learned["learned_from"][0]["survey"], "survey");
    assert!(learned["prices"].as_array().unwrap().len() > 3, "{learned:#}");
    // Calendars are on many sites, and link to no other sites.
    let word_rate = |word: &str| learned["own"]["by_word"][word].as_f64().unwrap();
    assert!(word_rate("calendar") < 0.2, "{learned:#}");

    let world = folder.path().join("world.toml");
    let by_rates = folder.path().join("by-rates");
    let rates_flag = rates.to_str().unwrap();
    let flags = [&AUTO[..], &["--rates", rates_flag, "--feed-back", "off"]].concat();
    let output = simulate(&world, &by_rates, &flags);
    assert!(output.status.success(), "{output:?}");
    let stored_rates = std::fs::read(by_rates.join("rates.json")).unwrap();
    let manifest_rates = Manifest::load(&by_rates).unwrap().rates.unwrap();
    assert_eq!(manifest_rates.hash, format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&stored_rates)));
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&stored_rates).unwrap(), learned);

    // It sends the requests that these rates predicted, except those that the deep survey never sent.
    let output = ccsurvey(&["choose-depth", "--json", "--rates", rates_flag], &[&survey]);
    let advice: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let candidates = advice["comparison"]["candidates"].as_array().unwrap();
    let auto = candidates.iter().find(|candidate| candidate["flags"] == AUTO.join(" ")).unwrap();
    let estimate = auto["requests"].as_f64().unwrap();
    let sent = rows::<LevelRow>(&by_rates).iter().map(|level| level.requests as f64).sum::<f64>();
    assert!((estimate - sent).abs() < 0.05 * sent, "{sent} {estimate}");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("world.toml");
    std::fs::write(&world, WORLD).unwrap();
    let survey = folder.path().join("survey");
    let refusal_of = |flags: &[&str]| {
        let messages = refusal(&simulate(&world, &survey, flags), 2);
        assert!(!survey.exists(), "{flags:?}");
        messages
    };
    assert!(
        refusal_of(&["--coverage", "0.9"])
            .contains("--coverage has no effect with --depth 8: give --depth auto")
    );
    assert!(refusal_of(&["--depth", "auto", "--coverage", "90"]).contains("a share above 0 and up to 1"));
    assert!(refusal_of(&["--depth", "deep"]).contains("expected 0 to 1000 levels, or auto"));
    let rates = folder.path().join("rates.json");
    let refusal_with_rates = |text: &str| {
        std::fs::write(&rates, text).unwrap();
        refusal_of(&["--depth", "auto", "--rates", rates.to_str().unwrap()])
    };
    assert!(refusal_with_rates("{").contains("rates.json: EOF while parsing"));
    assert!(refusal_with_rates("{\"format\": 7}").contains("format is 7, expected 1 or 2: another version"));
    // An error that is found when the folder exists already leaves no folder.
    assert!(refusal_of(&["--depth", "auto", "--geo", "missing.mmdb"]).contains("missing.mmdb"));
    std::fs::remove_file(&rates).unwrap();
    assert!(refusal_of(&["--depth", "auto", "--rates", rates.to_str().unwrap()]).contains("rates.json"));

    // Nothing is learned from no data, or from a survey that kept no links.
    let output = simulate(&world, &survey, &["--depth", "2", "--feed-back", "off"]);
    assert!(output.status.success(), "{output:?}");
    let none = folder.path().join("none");
    let learn = |survey: &Path| refusal(&ccsurvey(&["learn"], &[survey, Path::new("-o"), &rates]), 2);
    let messages = learn(&survey);
    assert!(messages.contains("has no recorded page links: survey with --record-links"), "{messages}");
    learn(&none);
    assert!(!rates.exists());

    // Nor from levels of which most was skipped.
    let auto = folder.path().join("auto");
    let output = simulate(&world, &auto, &[&AUTO[..], &["--feed-back", "off", "--record-links"]].concat());
    assert!(output.status.success(), "{output:?}");
    let messages = learn(&auto);
    assert!(messages.contains("was surveyed with --depth auto"), "{messages}");
}
