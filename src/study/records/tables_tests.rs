use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use polars::prelude::DataFrame;
use proptest::prelude::*;
use tempfile::TempDir;

use super::durable::steps;
use super::rows::samples::{segment, site};
use super::{
    ChangeRow, CurveRow, ExchangeRow, HostRow, LevelRow, LinkRow, PageLinkRow, RobotsRow, Row, SegmentRows,
    ServerRow, SiteRow, TableCount, Tables, read_frames, read_table, row_count, row_counts, write_table,
};

fn survey() -> (TempDir, Tables) {
    let dir = tempfile::tempdir().unwrap();
    let tables = Tables::open(dir.path()).unwrap();
    (dir, tables)
}

fn all<R: Row>(dir: &Path) -> Vec<R> {
    read_table(dir).unwrap().flat_map(Result::unwrap).collect()
}

fn all_rows(dir: &Path) -> SegmentRows {
    let required = SegmentRows {
        exchanges: all(dir),
        links: all(dir),
        sites: all(dir),
        levels: all(dir),
        ..SegmentRows::default()
    };
    if dir.join("tables/page_links").is_dir() {
        SegmentRows { page_links: all(dir), robots: all(dir), ..required }
    } else {
        required
    }
}

fn site_names(dir: &Path) -> Vec<String> {
    all::<SiteRow>(dir).into_iter().map(|row| row.site).collect()
}

fn listing(dir: &Path, table: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir.join("tables").join(table))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn joined(segments: &[SegmentRows]) -> SegmentRows {
    let mut all = SegmentRows::default();
    for segment in segments.iter().cloned() {
        all.append(segment);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn rows_of_every_table_come_back_as_they_were_written(
        segments in prop::collection::vec(segment(), 1..4),
        servers in prop::collection::vec(ServerRow::arbitrary(), 0..4),
    ) {
        let (dir, tables) = survey();
        tables.keep_pages().unwrap();
        for (number, segment) in (0..).zip(&segments) {
            tables.write(number, segment).unwrap();
        }
        write_table(dir.path(), &servers).unwrap();
        prop_assert_eq!(all_rows(dir.path()), joined(&segments));
        prop_assert_eq!(all::<ServerRow>(dir.path()), servers);
    }

    #[test]
    fn joining_segments_changes_no_row_and_no_order(
        segments in prop::collection::vec(segment(), 1..6),
        max_rows in 0..12usize,
    ) {
        let (dir, tables) = survey();
        tables.keep_pages().unwrap();
        for (number, segment) in (0..).zip(&segments) {
            tables.write(number, segment).unwrap();
        }
        tables.compact(max_rows).unwrap();
        prop_assert_eq!(all_rows(dir.path()), joined(&segments));
        tables.discard_after(Some(segments.len() as u64 - 1)).unwrap();
        prop_assert_eq!(all_rows(dir.path()), joined(&segments));
        prop_assert!(!dir.path().join(".compact").exists());
    }
}

#[test]
fn the_first_segment_has_the_columns_of_every_table() {
    let (dir, tables) = survey();
    tables.write(7, &SegmentRows::default()).unwrap();
    tables.write(8, &site("b.ke", 0)).unwrap();
    tables.write(9, &site("c.ke", 2)).unwrap();
    assert_eq!(listing(dir.path(), "links"), ["000007.parquet", "000009.parquet"]);
    assert_eq!(listing(dir.path(), "sites"), ["000007.parquet", "000008.parquet", "000009.parquet"]);
    assert_eq!(row_count(dir.path(), "links").unwrap(), TableCount { rows: 2, files: 2 });
}

#[test]
fn columns_stand_in_the_file_as_in_the_dictionary() {
    let (dir, tables) = survey();
    tables.keep_pages().unwrap();
    tables.write(0, &site("a.ke", 1)).unwrap();
    write_table::<ServerRow>(dir.path(), &[]).unwrap();
    write_table::<CurveRow>(dir.path(), &[]).unwrap();
    write_table::<HostRow>(dir.path(), &[]).unwrap();
    write_table::<ChangeRow>(dir.path(), &[]).unwrap();
    let mut tables_seen = 0;
    for table in super::dictionary() {
        let path = super::files::read::files(dir.path(), table.name).unwrap().remove(0);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let frame = super::files::read::read_file::<SiteRow>(&path, None).unwrap();
        assert_eq!(frame.get_column_names(), names);
        tables_seen += 1;
    }
    assert_eq!(tables_seen, 10);
}

#[test]
fn what_a_crash_left_is_discarded_and_can_be_written_again() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 1)).unwrap();
    tables.write(1, &site("b.ke", 1)).unwrap();
    let sites = dir.path().join("tables/sites");
    fs::write(sites.join(".000002.parquet.tmp"), b"half").unwrap();
    fs::write(sites.join("notes.txt"), b"the user's").unwrap();

    let tables = Tables::open(dir.path()).unwrap();
    tables.discard_after(Some(0)).unwrap();
    assert_eq!(listing(dir.path(), "sites"), ["000000.parquet", "notes.txt"]);
    assert_eq!(listing(dir.path(), "exchanges"), ["000000.parquet"]);
    tables.write(1, &site("c.ke", 1)).unwrap();
    assert_eq!(site_names(dir.path()), ["a.ke", "c.ke"]);

    tables.discard_after(None).unwrap();
    assert_eq!(listing(dir.path(), "sites"), ["notes.txt"]);
}

#[test]
fn a_segment_is_on_the_disk_with_its_names_and_folders_on_return() {
    const REQUIRED: [&str; 4] = ["exchanges", "links", "levels", "sites"];
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("survey");
    fs::create_dir(&dir).unwrap();
    steps::take();
    let tables = Tables::open(&dir).unwrap();
    let opened = steps::take();
    assert_eq!(opened[0], "folder survey/tables", "{opened:?}");
    assert!(opened.len() == 2 && opened[1].ends_with("/survey"), "{opened:?}");

    tables.write(7, &site("a.ke", 1)).unwrap();
    let for_each_table = |step: &str| REQUIRED.map(|table| format!("{step} {table}/000007.parquet"));
    let folders = REQUIRED.map(|table| format!("folder tables/{table}"));
    assert_eq!(steps::take(), [for_each_table("bytes"), for_each_table("name"), folders.clone()].concat());

    tables.discard_after(Some(6)).unwrap();
    assert_eq!(steps::take(), folders, "there was nothing to discard in the others");

    write_table::<ServerRow>(&dir, &[]).unwrap();
    let servers = ["bytes servers/servers.parquet", "name servers/servers.parquet", "folder tables/servers"];
    assert_eq!(steps::take(), servers);
}

#[test]
fn a_joined_table_has_its_names_on_the_disk_before_the_old_one_goes() {
    let (dir, tables) = survey();
    (0..3).for_each(|number| tables.write(number, &site("a.ke", 1)).unwrap());
    steps::take();
    tables.compact(2).unwrap();
    let mut steps = steps::take();
    steps.retain(|step| step.contains("sites"));
    assert_eq!(
        steps,
        [
            "bytes sites/000000-000001.parquet",
            "name sites/000000-000001.parquet",
            "folder .compact/sites",
            "name sites/000002.parquet",
            "folder .compact/sites",
            "name tables/sites",
        ]
    );
    assert_eq!(listing(dir.path(), "sites"), ["000000-000001.parquet", "000002.parquet"]);
}

#[test]
fn a_segment_that_is_written_twice_counts_once() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 1)).unwrap();
    tables.write(1, &site("b.ke", 3)).unwrap();
    tables.write(1, &site("b.ke", 0)).unwrap();
    assert_eq!(all::<LinkRow>(dir.path()).len(), 1);
    assert_eq!(site_names(dir.path()), ["a.ke", "b.ke"]);
}

#[test]
fn a_segment_that_cannot_be_staged_leaves_no_part_of_itself() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 1)).unwrap();
    // The last of the four tables cannot be written: a folder has the name of its hidden file.
    fs::create_dir(dir.path().join("tables/sites/.000001.parquet.tmp")).unwrap();
    let error = tables.write(1, &site("b.ke", 1)).unwrap_err();
    assert!(error.to_string().contains("cannot write segment"), "{error}");
    assert!(!error.is_storage_full());
    for table in ["exchanges", "links", "levels"] {
        assert_eq!(listing(dir.path(), table), ["000000.parquet"], "{table}");
    }
}

#[test]
fn only_the_wanted_columns_are_read() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 2)).unwrap();
    let frames: Vec<DataFrame> =
        read_frames::<LinkRow>(dir.path(), &["url", "site"]).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].get_column_names(), ["url", "site"]);
    assert_eq!(frames[0].height(), 2);
    let error = read_frames::<LinkRow>(dir.path(), &["colour"]).unwrap().next().unwrap().unwrap_err();
    assert!(error.to_string().contains("colour"), "{error}");
}

#[test]
fn a_column_that_an_older_version_did_not_write_is_null() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 1)).unwrap();
    let path = dir.path().join("tables/exchanges/000000.parquet");
    let mut older = super::files::read::read_file::<ExchangeRow>(&path, None).unwrap().drop("title").unwrap();
    fs::write(&path, super::files::layout::encode(&mut older, &path).unwrap()).unwrap();
    assert_eq!(all::<ExchangeRow>(dir.path())[0].title, None);
    let frame = read_frames::<ExchangeRow>(dir.path(), &["title", "site"]).unwrap().next().unwrap().unwrap();
    assert_eq!(frame.column("title").unwrap().null_count(), 1);
    let mut without_site = older.drop("site").unwrap();
    fs::write(&path, super::files::layout::encode(&mut without_site, &path).unwrap()).unwrap();
    let error = read_table::<ExchangeRow>(dir.path()).unwrap().next().unwrap().unwrap_err();
    assert!(error.to_string().contains("site"), "{error}");
}

#[test]
fn a_file_that_is_no_parquet_is_named() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 1)).unwrap();
    let path = dir.path().join("tables/sites/000000.parquet");
    let whole = fs::read(&path).unwrap();
    for broken in [&b""[..], b"PAR1", &whole[..whole.len() - 9]] {
        fs::write(&path, broken).unwrap();
        let error = read_table::<SiteRow>(dir.path()).unwrap().next().unwrap().unwrap_err();
        assert!(error.to_string().contains("tables/sites/000000.parquet"), "{error}");
        assert!(row_count(dir.path(), "sites").is_err());
    }
}

#[test]
fn a_crash_while_tables_are_joined_loses_no_table() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 1)).unwrap();
    fs::create_dir_all(dir.path().join(".compact/sites")).unwrap();
    fs::rename(dir.path().join("tables/sites"), dir.path().join(".compact/sites.replaced")).unwrap();
    Tables::open(dir.path()).unwrap();
    assert_eq!(site_names(dir.path()), ["a.ke"]);
    assert!(!dir.path().join(".compact").exists());
}

#[test]
fn many_small_segments_become_one_file() {
    let (dir, tables) = survey();
    for number in 0..20 {
        tables.write(number, &site(&format!("s{number}.ke"), 1)).unwrap();
    }
    let before = all_rows(dir.path());
    tables.compact(15).unwrap();
    assert_eq!(all_rows(dir.path()), before);
    let expected = TableCount { rows: 20, files: 2 };
    let counts: BTreeMap<_, _> = row_counts(dir.path()).unwrap();
    assert_eq!(counts["sites"], expected);
    assert_eq!(counts["levels"], expected);
    assert_eq!(counts["servers"], TableCount::default());
    assert_eq!(all::<LevelRow>(dir.path()).len(), 20);
}

#[test]
fn a_joined_file_is_written_in_row_groups_and_not_in_one() {
    let (dir, tables) = survey();
    tables.keep_pages().unwrap();
    for number in 0..5 {
        tables.write(number, &page_links("http://a.ke/", 6000)).unwrap();
    }
    let before = all_rows(dir.path());
    tables.compact(100_000).unwrap();
    assert_eq!(all_rows(dir.path()), before);
    let groups = read_table::<PageLinkRow>(dir.path()).unwrap();
    let rows: Vec<usize> = groups.map(|rows| rows.unwrap().len()).collect();
    assert_eq!(rows, [12_000, 12_000, 6000]);
}

fn page_links(page: &str, links: u32) -> SegmentRows {
    let row = |position| PageLinkRow { page: page.to_owned(), position, ..PageLinkRow::default() };
    let robots = RobotsRow { url: page.to_owned(), ..RobotsRow::default() };
    SegmentRows { page_links: (0..links).map(row).collect(), robots: vec![robots], ..SegmentRows::default() }
}

#[test]
fn a_survey_that_does_not_keep_pages_has_no_table_of_them() {
    let (dir, tables) = survey();
    tables.write(0, &site("a.ke", 1)).unwrap();
    tables.write(1, &site("b.ke", 1)).unwrap();
    tables.compact(100).unwrap();
    tables.discard_after(Some(0)).unwrap();
    Tables::open(dir.path()).unwrap();
    for table in ["page_links", "robots"] {
        assert!(!dir.path().join("tables").join(table).exists());
        assert!(!row_counts(dir.path()).unwrap().contains_key(table));
    }
}

#[test]
fn pages_that_are_kept_are_joined_counted_and_discarded_like_the_other_tables() {
    let (dir, tables) = survey();
    tables.keep_pages().unwrap();
    tables.write(0, &page_links("http://a.ke/", 3)).unwrap();
    tables.write(1, &page_links("http://b.ke/", 2)).unwrap();
    tables.write(2, &page_links("http://c.ke/", 1)).unwrap();
    tables.discard_after(Some(1)).unwrap();
    let before = all_rows(dir.path());
    assert_eq!((before.page_links.len(), before.robots.len()), (5, 2));
    tables.compact(100).unwrap();
    assert_eq!(all_rows(dir.path()), before);
    assert_eq!(row_counts(dir.path()).unwrap()["page_links"], TableCount { rows: 5, files: 1 });
    assert_eq!(listing(dir.path(), "robots"), ["000000-000001.parquet"]);
}

#[test]
fn a_crash_while_page_links_are_joined_loses_none() {
    let (dir, tables) = survey();
    tables.keep_pages().unwrap();
    tables.write(0, &page_links("http://a.ke/", 3)).unwrap();
    fs::create_dir_all(dir.path().join(".compact")).unwrap();
    let replaced = dir.path().join(".compact/page_links.replaced");
    fs::rename(dir.path().join("tables/page_links"), replaced).unwrap();
    Tables::open(dir.path()).unwrap();
    assert_eq!(all::<PageLinkRow>(dir.path()).len(), 3);
}
