//! What `compare` says of two surveys is what the worlds know that changed between them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::simulate::simulate;

const WORLD: &str = include_str!("../worlds/hosts_tell_what_runs_them.toml");

/// The world some years later: more sites, more of them broken, more with TLS and HSTS.
const LATER: &[(&str, &str)] = &[
    ("\ncount = 60\n", "\ncount = 90\n"),
    ("\nno_dns_share = 0.05\n", "\nno_dns_share = 0.2\n"),
    ("\nshare = 0.7\n", "\nshare = 0.95\n"),
    ("\nhsts_share = 0.5\n", "\nhsts_share = 0.9\n"),
];

fn later() -> String {
    LATER.iter().fold(WORLD.to_owned(), |world, (before, after)| {
        assert!(world.contains(before), "{before}");
        world.replacen(before, after, 1)
    })
}

fn program(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Whether each site of a world has a server that responds.
fn responding(world: &Path) -> BTreeMap<String, bool> {
    let truth: Value = serde_json::from_str(&program(&["space", "truth", text(world), "--json"])).unwrap();
    let mut sites = BTreeMap::new();
    for host in truth["hosts"].as_array().unwrap() {
        let responds = ["http", "https"].iter().any(|door| {
            let door = host[door].as_str().unwrap();
            ["page", "redirect_https", "redirect", "client_error", "server_error"].contains(&door)
        });
        *sites.entry(host["site"].as_str().unwrap().to_owned()).or_default() |= responds;
    }
    sites
}

#[test]
fn births_and_deaths_are_those_of_the_worlds() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let [before, after] = [("before", WORLD.to_owned()), ("after", later())].map(|(name, world)| {
        let file = path(&format!("{name}.toml"));
        std::fs::write(&file, world).unwrap();
        assert!(simulate(&file, &path(name), &["--entrances", "all"]).status.success());
        responding(&file)
    });
    let was = |site: &String| before.get(site) == Some(&true);
    let born = after.iter().filter(|(site, responds)| **responds && !was(site)).count();
    let died = after.iter().filter(|(site, responds)| !**responds && was(site)).count();
    assert!(born > 15 && died > 3, "{born} born, {died} died");

    let [earlier, later] = [path("before"), path("after")];
    let compared = program(&["compare", text(&earlier), text(&later), "--json"]);
    let compared: Value = serde_json::from_str(&compared).unwrap();
    let sites = &compared[0]["sites"];
    let number = |name: &str| sites[name].as_u64().unwrap() as usize;
    assert_eq!(number("respond_before"), before.values().filter(|responds| **responds).count());
    assert_eq!(number("respond_after"), after.values().filter(|responds| **responds).count());
    assert_eq!((number("born"), number("died"), number("not_requested_again")), (born, died, 0));
    let hsts = compared[0]["shares"].as_array().unwrap().iter();
    let hsts = hsts.clone().find(|share| share["name"].as_str().unwrap().contains("HSTS")).unwrap();
    assert!(
        hsts["sites"]["gained"].as_u64() > Some(0) && hsts["sites"]["lost"].as_u64() == Some(0),
        "{hsts}"
    );
    assert!(compared[0]["unlike"].as_array().unwrap().is_empty());

    // A survey with itself: nothing changes. One to another depth: it says so.
    let same: Value =
        serde_json::from_str(&program(&["compare", text(&later), text(&later), "--json"])).unwrap();
    let sites = &same[0]["sites"];
    assert_eq!((sites["born"].as_u64(), sites["died"].as_u64()), (Some(0), Some(0)));
    assert!(same[0]["facts"].as_array().unwrap().iter().all(|fact| fact["changed"].as_u64() == Some(0)));
    let shallow = path("shallow");
    assert!(simulate(&path("after.toml"), &shallow, &["--depth", "1", "--sample", "0.5"]).status.success());
    let unlike = program(&["compare", text(&earlier), text(&shallow), text(&later), "--json"]);
    let unlike: Value = serde_json::from_str(&unlike).unwrap();
    assert_eq!(unlike.as_array().unwrap().len(), 2);
    let settings: Vec<&str> = unlike[0]["unlike"]
        .as_array()
        .unwrap()
        .iter()
        .map(|unlike| unlike["setting"].as_str().unwrap())
        .collect();
    assert_eq!(settings, ["sample", "depth", "entrances"]);
    let died_in_sample = unlike[0]["sites"]["died"].as_u64().unwrap() as usize;
    assert!(died_in_sample <= died, "{died_in_sample} of {died}: what was not requested is not dead");
    assert!(unlike[0]["sites"]["not_requested_again"].as_u64() > Some(10), "{unlike}");
    let page = folder.path().join("series.html");
    program(&["compare", text(&earlier), text(&shallow), text(&later), "-o", text(&page)]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("All surveys in turn") && page.contains("surveyed a sample of its start list"));
}
