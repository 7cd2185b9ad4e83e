//! A response that kills the process that reads it costs a survey only that response.
//!
//! Only builds with the feature `hazards` can let a process die at a response.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use ccsurvey::records::{ExchangeRow, Manifest};

use crate::common::{Space, TimelessTables, assert_same_tables, timeless_tables};

/// Runs the program; it aborts when it reads the response of this URL.
fn ccsurvey(space: &Space, command: &str, dir: &Path, deadly: &str) -> ExitStatus {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
    program.arg(command).arg(dir).env("CCSURVEY_ABORT_AT", deadly);
    if command == "survey" {
        let start = dir.with_extension("start");
        std::fs::write(&start, space.world.start_urls().join("\n")).unwrap();
        program.arg("--start").arg(start);
        program.args(["--dns", &space.dns(), "--gateway", &space.gateway()]);
        let flags = "--cctld ke --contact https://survey.example/contact --sites 1 --min-delay 0 --delay-factor 0 \
                    --max-delay 5ms --harm none --rate none";
        program.args(flags.split_whitespace());
    }
    program.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap()
}

/// A page of the deepest level of a site, whose links lead nowhere else.
fn leaf(tables: &TimelessTables) -> &ExchangeRow {
    let is_last = |row: &ExchangeRow| {
        let level_count = |site: &str| tables.levels.iter().filter(|level| level.site == site).count();
        row.depth.is_some_and(|depth| usize::from(depth) + 1 == level_count(&row.site) && depth > 0)
    };
    let is_leaf = |row: &&ExchangeRow| row.external_links == Some(0) && row.purpose == "page" && is_last(row);
    tables.exchanges.iter().find(is_leaf).unwrap()
}

/// The tables of a survey that could not read the response to request `number` of `site`.
fn without_page(mut tables: TimelessTables, site: &str, number: u32) -> TimelessTables {
    let row = tables.exchanges.iter_mut().find(|row| row.site == site && row.number == number).unwrap();
    row.failure = Some("unreadable".to_owned());
    (row.charset, row.language, row.title, row.excluded_by) = (None, None, None, None);
    (row.body_hash, row.text_simhash, row.dropped_links) = (None, None, None);
    (row.internal_links, row.external_links) = (None, None);
    let depth = row.depth.unwrap();
    let level = tables.levels.iter_mut().find(|level| level.site == site && level.depth == depth).unwrap();
    level.pages -= 1;
    tables.sites.iter_mut().find(|row| row.site == site).unwrap().pages -= 1;
    tables
}

#[test]
fn a_page_at_which_the_process_dies_is_asked_for_twice_and_all_else_is_as_ever() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (undisturbed, deadly) = (folder.path().join("usual"), folder.path().join("deadly"));
    assert!(ccsurvey(&space, "survey", &undisturbed, "").success());
    let tables = timeless_tables(&undisturbed);
    let page = leaf(&tables);
    let (site, number, url) = (page.site.clone(), page.number, page.url.clone());
    let before = space.accesses().len();

    assert_eq!(ccsurvey(&space, "survey", &deadly, &url).code(), None, "the process died");
    assert!(ccsurvey(&space, "resume", &deadly, &url).success());

    assert_same_tables(&timeless_tables(&deadly), &without_page(tables, &site, number));
    let path = url.splitn(4, '/').nth(3).unwrap();
    let accesses = space.accesses().split_off(before);
    let page_requests =
        accesses.iter().filter(|access| url.contains(&access.host) && access.path[1..] == *path);
    assert_eq!(page_requests.count(), 2);
    let manifest = Manifest::load(&deadly).unwrap();
    assert_eq!((manifest.unrecorded_exchanges, manifest.broken_promises), (1, Vec::new()));
    assert_eq!(accesses.len(), before + 1);
    let log = std::fs::read_to_string(deadly.join("log.jsonl")).unwrap();
    assert!(log.lines().any(|line| line.contains("cannot be parsed") && line.contains(&url)));
}

#[test]
fn a_page_is_read_after_all_where_the_process_died_for_another_reason() {
    let space = Space::serve("a_small_country");
    let folder = tempfile::tempdir().unwrap();
    let (undisturbed, killed) = (folder.path().join("usual"), folder.path().join("killed"));
    assert!(ccsurvey(&space, "survey", &undisturbed, "").success());
    let tables = timeless_tables(&undisturbed);
    let url = leaf(&tables).url.clone();
    assert_eq!(ccsurvey(&space, "survey", &killed, &url).code(), None);
    assert!(ccsurvey(&space, "resume", &killed, "").success());
    assert_same_tables(&timeless_tables(&killed), &tables);
}
