//! A world walked in process is the world that is served, and the same every time.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ccsurvey::records::{ExchangeRow, LevelRow, LinkRow, ServerRow, SiteRow};
use common::{Space, rows, same, same_tables, timeless_tables};

/// The pauses of `Space::settings`, as flags.
const QUICK: [&str; 10] = [
    "--contact",
    "https://survey.example/contact",
    "--min-delay",
    "0",
    "--delay-factor",
    "0",
    "--max-delay",
    "20ms",
    "--rate",
    "none",
];

fn world(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/worlds").join(format!("{name}.toml"))
}

fn simulate(world: &Path, dir: &Path, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    command.arg("simulate").arg(world).arg(dir).args(flags).output().unwrap()
}

#[track_caller]
fn simulated(world: &Path, dir: &Path, flags: &[&str]) {
    let output = simulate(world, dir, flags);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every row with its times, in an order of its own.
fn everything(dir: &Path) -> [Vec<String>; 5] {
    let sorted = |mut rows: Vec<String>| {
        rows.sort();
        rows
    };
    [
        sorted(rows::<SiteRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<LevelRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<LinkRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<ExchangeRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
        sorted(rows::<ServerRow>(dir).iter().map(|row| format!("{row:?}")).collect()),
    ]
}

#[test]
fn a_world_walked_in_process_has_the_tables_of_the_same_world_served() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "a_site_with_one_page",
        "a_small_country",
        "redirects_add_no_depth",
        "robots_keep_some_pages_back",
        "scripts_answer_one_query_each",
        "shared_hosting",
    ] {
        let space = Space::serve(name);
        let served = space.survey(space.settings());
        let dir = folder.path().join(name);
        simulated(&world(name), &dir, &QUICK);
        same_tables(&timeless_tables(&dir), &served.tables());
    }
}

#[test]
fn the_same_world_and_settings_make_the_same_tables_with_the_same_times() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    for dir in [&one, &other] {
        simulated(&world("a_small_country"), dir, &["--sites", "7"]);
    }
    for (one, other) in everything(&one).iter().zip(&everything(&other)) {
        same(one, other, "rows");
    }
}

#[test]
fn a_simulation_keeps_the_pauses_of_a_real_survey() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("survey");
    simulated(&world("shared_hosting"), &dir, &[]);
    let servers: Vec<ServerRow> = rows(&dir);
    assert_eq!(servers.len(), 2);
    for server in servers {
        assert!(server.smallest_gap_ms.is_some_and(|gap| gap >= 2000.0), "{server:?}");
        assert_eq!(server.most_parallel, 1);
    }
}

#[test]
fn a_simulation_is_not_resumed_and_asks_no_name_server() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("survey");
    simulated(&world("a_site_with_one_page"), &dir, &QUICK);
    let resume = Command::new(env!("CARGO_BIN_EXE_ccsurvey")).arg("resume").arg(&dir).output().unwrap();
    assert_eq!(resume.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&resume.stderr),
        format!(
            "ccsurvey: error: {} is a simulation, which has no state to go on from: run `ccsurvey simulate` again\n",
            dir.display()
        )
    );
    let other = folder.path().join("other");
    let asked = simulate(&world("a_site_with_one_page"), &other, &["--dns", "127.0.0.1:53"]);
    assert_eq!(asked.status.code(), Some(2));
    let said = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(said.contains("--dns is given, expected none: a simulation sends nothing"), "{said}");
    assert!(!other.exists());
}
