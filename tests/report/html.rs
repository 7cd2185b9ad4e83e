//! The report as its readers see it: one HTML file, the same every time, whatever strangers wrote.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ccsurvey::exchange::{Class, Entrance, Outcome};
use ccsurvey::records::units::thousands;
use ccsurvey::records::{
    ExchangeRow, LinkRow, Manifest, Row, SegmentRows, ServerRow, SiteRow, SurveyState, Tables, read_table,
    write_table,
};
use serde_json::Value;

use crate::common::python::python;
use crate::common::skipped::skip;
use crate::surveys::{small, three_countries};

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey")).args(arguments).output().unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn copied(folder: &Path) -> PathBuf {
    let dir = folder.join("survey");
    copy(small(), &dir);
    dir
}

#[track_caller]
fn page(dir: &Path, flags: &[&str]) -> String {
    let output = program(&[&["report", dir.to_str().unwrap(), "-o", "-"], flags].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refusal(arguments: &[&str], code: i32) -> String {
    let output = program(arguments);
    assert_eq!(output.status.code(), Some(code));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

/// The text between two marks, for each occurrence of the marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    text.split(from).skip(1).filter_map(|rest| rest.split(to).next()).collect()
}

#[test]
fn the_same_survey_makes_the_same_bytes() {
    let dir = small();
    let flags = ["--by", "software", "--seed", "7"];
    assert_eq!(page(dir, &flags), page(dir, &flags));
}

#[test]
fn the_file_is_written_where_it_is_asked_for_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let dir = copied(folder.path());
    let output = program(&["report", dir.to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message, format!("ccsurvey: the report is in {}\n", dir.join("report.html").display()));
    let elsewhere = folder.path().join("page.html");
    assert!(program(&["report", dir.to_str().unwrap(), "-o", elsewhere.to_str().unwrap()]).status.success());
    assert_eq!(fs::read(dir.join("report.html")).unwrap(), fs::read(&elsewhere).unwrap());
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), page(&dir, &[]));
}

#[test]
fn a_pipe_gets_the_page_and_stays_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let copy = folder.path().join("copy.html");
    // Into a file: a reader that waits for this test to read would block the program, too.
    let copied = fs::File::create(&copy).unwrap();
    let mut reader = Command::new("cat").arg(&pipe).stdout(copied).spawn().unwrap();
    let written = program(&["report", small().to_str().unwrap(), "-o", pipe.to_str().unwrap()]);
    assert!(written.status.success(), "{written:?}");
    assert!(reader.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&copy).unwrap(), page(small(), &[]));
    assert!(!fs::metadata(&pipe).unwrap().is_file());
}

#[test]
fn nothing_is_loaded_from_elsewhere_and_nothing_runs() {
    let page = page(small(), &[]);
    assert!(page.starts_with("<!DOCTYPE html>\n"));
    for tag in ["<script", "<link", "<img", "<iframe", "<object", "<embed", "<base", "@import", "url("] {
        assert!(!page.contains(tag), "{tag}");
    }
    for href in between(&page, "href=\"", "\"") {
        assert!(href.starts_with('#') || href.starts_with("data:text/csv;"), "{href}");
    }
    assert!(between(&page, " src=\"", "\"").is_empty());
    let handlers = ["onload=", "onclick=", "onerror=", "style=\""];
    assert!(handlers.iter().all(|handler| !page.contains(handler)));
}

#[test]
fn every_figure_is_told_in_words_and_has_its_data() {
    let page = page(small(), &["--by", "software"]);
    let figures = between(&page, "<figure id=\"", "</figure>");
    assert!(figures.len() >= 15, "{}", figures.len());
    for figure in figures {
        let id = figure.split('"').next().unwrap();
        for room in ["wide", "narrow"] {
            let named = format!("role=\"img\" aria-labelledby=\"{id}-{room}-title {id}-{room}-desc\"");
            assert!(figure.contains(&named), "{id}");
            for part in ["title", "desc"] {
                let words = between(figure, &format!("<{part} id=\"{id}-{room}-{part}\">"), "<");
                assert!(words.len() == 1 && words[0].len() > 20, "{id}: {words:?}");
            }
        }
        let csv = format!("download=\"{id}-data.csv\" href=\"data:text/csv;charset=utf-8,");
        assert!(figure.contains(&csv) && figure.contains(&format!("<table id=\"{id}-data\"")), "{id}");
    }
}

#[test]
fn a_group_has_the_depth_that_choose_depth_recommends_for_it() {
    let by = ["--by", "software"];
    let page = page(small(), &by);
    let table = between(&page, "<table id=\"table-by-software\"", "</table>")[0];
    let advice = program(&[&["choose-depth", small().to_str().unwrap(), "--json"], &by[..]].concat());
    let advice: Value = serde_json::from_slice(&advice.stdout).unwrap();
    let groups = advice["groups"].as_array().unwrap();
    let depths = groups.iter().map(|group| group["choice"]["depth"].as_u64());
    // The depth is in the last column but one; the first row of the table is its header.
    let shown_depths = between(table, "<tr", "</tr>").into_iter().skip(1).map(|row| {
        let cells = between(row, "<td", "</td>");
        cells[cells.len() - 2].rsplit('>').next().unwrap().parse().ok()
    });
    assert_eq!(shown_depths.collect::<Vec<_>>(), depths.clone().collect::<Vec<_>>(), "{table}");
    // Both kinds occur: some software should be surveyed deeper.
    assert!(depths.clone().any(|depth| depth.is_none()) && depths.clone().any(|depth| depth.is_some()));
}

#[test]
fn every_name_on_the_page_stands_once() {
    let page = page(small(), &["--by", "cctld", "--by", "pages"]);
    let ids = between(&page, " id=\"", "\"");
    assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len());
    for target in between(&page, "href=\"#", "\"") {
        assert!(ids.contains(&target), "{target}");
    }
}

/// Text that a stranger might write in place of a name.
const HOSTILE: &str =
    "</td></table><script>alert(1)</script>\" onload=\"x' {{ 7*7 }} {% raw %} &lt; \u{202e}\u{0}\u{1b}[31m=1";

fn all<R: Row>(dir: &Path) -> Vec<R> {
    read_table::<R>(dir).unwrap().flat_map(Result::unwrap).collect()
}

/// The same survey with hostile text in place of all names.
fn write_hostile_copy(dir: &Path, target: &Path) {
    let mut rows = SegmentRows {
        sites: all(dir),
        levels: all(dir),
        links: all(dir),
        exchanges: all(dir),
        ..SegmentRows::default()
    };
    for (number, row) in rows.sites.iter_mut().enumerate() {
        let SiteRow { server, country, as_org, asn, cctld, .. } = row;
        (*server, *as_org, *asn) = (Some(format!("{HOSTILE}{number}")), Some(HOSTILE.into()), Some(1));
        (*country, *cctld) = (Some(HOSTILE.into()), Some(HOSTILE.into()));
    }
    for LinkRow { url, host, target_site, element, .. } in &mut rows.links {
        (*url, *host, *target_site) = (format!("http://{HOSTILE}/"), HOSTILE.into(), HOSTILE.into());
        *element = HOSTILE.into();
    }
    for ExchangeRow { server, content_type, charset, language, failure, .. } in &mut rows.exchanges {
        for word in [server, content_type, charset, language, failure] {
            *word = word.as_ref().map(|_| HOSTILE.into());
        }
    }
    fs::create_dir_all(target).unwrap();
    let tables = Tables::open(target).unwrap();
    tables.write(0, &rows).unwrap();
    write_table::<ServerRow>(target, &all(dir)).unwrap();
    Manifest::load(dir).unwrap().save(target).unwrap();
}

#[test]
fn what_strangers_wrote_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = folder.path().join("hostile");
    write_hostile_copy(small(), &hostile);
    let page = page(&hostile, &["--by", "software", "--by", "network"]);
    assert!(
        page.contains("&lt;script&gt;alert(1)")
            || page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;")
    );
    assert!(!page.contains("<script") && !page.contains("</td></table><"));
    assert!(page.contains("{{ 7*7 }}"), "what looks like a template is not run");
    let hidden = |letter: char| letter == '\u{202e}' || (letter.is_control() && letter != '\n');
    assert!(!page.contains(hidden));
    assert!(page.contains("⟨U+202E⟩"));
    // An unescaped quote would end an attribute.
    assert!(!page.contains("\" onload=\""));
}

#[test]
fn a_survey_that_is_not_over_says_so_first() {
    let folder = tempfile::tempdir().unwrap();
    let dir = copied(folder.path());
    assert!(!page(&dir, &[]).contains("Partial: "));
    for (state, said) in [
        (SurveyState::Running, "in progress"),
        (SurveyState::Interrupted, "interrupted"),
        (SurveyState::Failed, "failed"),
    ] {
        let mut manifest = Manifest::load(&dir).unwrap();
        manifest.state = state;
        manifest.save(&dir).unwrap();
        let page = page(&dir, &[]);
        let (head, _) = page.split_once("<section").unwrap();
        let banner = between(head, "class=\"banner\"", "</div>");
        let partial = banner.last().unwrap();
        assert!(partial.contains("Partial: the survey") && partial.contains(said), "{banner:?}");
        assert!(partial.contains("known site trees are done"), "{banner:?}");
    }
    fs::remove_file(dir.join("status.json")).unwrap();
    assert!(page(&dir, &[]).contains("of the site trees are done; only these"));
}

/// Statements about the servers of a country that were never contacted must not be taken for the truth.
#[test]
fn a_survey_that_is_not_of_the_internet_says_so_in_its_title_above_its_numbers_and_in_its_summary() {
    let folder = tempfile::tempdir().unwrap();
    let dir = copied(folder.path());
    let simulated = Manifest::load(&dir).unwrap();
    let cctld = serde_json::json!(["ke"]);
    for (simulation, gateway, title, banner, citation) in [
        (
            simulated.simulation.clone(),
            None,
            "A virtual Web: the servers of .ke",
            Some(
                "A virtual Web, not the Internet.</strong> Names, networks, pages and numbers are invented ",
            ),
            "Simulated survey of a virtual Web: the servers of .ke,",
        ),
        (
            Some(serde_json::json!({ "recorded": "kenya", "depth": 8 })),
            None,
            "A replayed survey: the Web servers of .ke",
            Some("A simulation: no server was contacted.</strong> Pages are those of a recorded survey;"),
            "Simulation of a recorded survey of the Web servers of .ke,",
        ),
        (
            None,
            Some("127.0.0.1:8080"),
            "A virtual Web: the servers of .ke",
            Some("A virtual Web, not the Internet.</strong> Every connection went to 127.0.0.1:8080,"),
            "Survey of a virtual Web, not the Internet: the servers of .ke,",
        ),
        (None, None, "The Web servers of .ke", None, "Survey of the Web servers of .ke,"),
    ] {
        let mut manifest = simulated.clone();
        manifest.simulation = simulation;
        (manifest.settings["gateway"], manifest.settings["cctld"]) = (gateway.into(), cctld.clone());
        manifest.save(&dir).unwrap();
        let page = page(&dir, &[]);
        // Labels of figures have titles too, which explain them.
        assert_eq!(between(&page, "<title>", "</title>")[0], title);
        assert_eq!(between(&page, "<h1>", "</h1>"), [title]);
        let banners = between(&page, "class=\"banner\" role=\"note\"><strong>", "</div>");
        assert_eq!(banners.len(), usize::from(banner.is_some()), "{banners:?}");
        assert!(banner.is_none_or(|banner| banners[0].starts_with(banner)), "{banners:?}");
        assert!(page.contains(citation), "{citation}");
        let summary = ccsurvey::survey::Summary::read(&dir).unwrap().to_string();
        assert_eq!(
            summary.starts_with("A virtual Web, not the Internet. "),
            title.starts_with("A virtual"),
            "{summary}"
        );
    }
}

/// The manifest of a running survey dates from the start of its run: numbers and times on the first page do
/// not come from it.
#[test]
fn the_first_page_of_a_survey_at_work_says_one_thing() {
    let folder = tempfile::tempdir().unwrap();
    let dir = copied(folder.path());
    let mut manifest = Manifest::load(&dir).unwrap();
    (manifest.state, manifest.updated, manifest.finished) = (SurveyState::Running, manifest.created, None);
    manifest.save(&dir).unwrap();
    let mut status: Value = serde_json::from_slice(&fs::read(dir.join("status.json")).unwrap()).unwrap();
    // A second before the last tree was written: fewer trees are done, but all are known.
    let trees = status["sites_done"].as_u64().unwrap();
    (status["sites_done"], status["sites_waiting"]) = ((trees - 3).into(), 10.into());
    status["updated"] = serde_json::json!({ "secs_since_epoch": 1_800_000_000, "nanos_since_epoch": 0 });
    fs::write(dir.join("status.json"), status.to_string()).unwrap();
    let page = page(&dir, &[]);
    let message =
        format!("{trees} of {} known site trees are done, as of 2027-01-15 08:00:00 UTC;", trees + 7);
    assert!(page.contains(&message), "{message}: {:?}", between(&page, "class=\"banner\"", "</div>"));
    assert!(page.contains(&format!("<dt>Site trees</dt><dd>{trees}<")), "{trees}");
    assert!(page.contains(", as of 2027-01-15, by ccsurvey"));
}

#[test]
fn a_network_environment_is_a_chapter_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("thin.toml");
    fs::write(&file, "[servers]\nlink = \"64 kbit/s\"\n[survey]\ndays = 30\n").unwrap();
    let page = page(small(), &["--environment", file.to_str().unwrap()]);
    assert!(page.contains("<section id=\"forecast\"") && page.contains("at most 30 days"));
}

#[test]
fn what_cannot_be_reported_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path_of = |name: &str| folder.path().join(name).display().to_string();
    let message = refusal(&["report", &path_of("nothing")], 2);
    assert_eq!(
        message,
        format!("ccsurvey: error: {} is not a survey: it has no manifest.json\n", path_of("nothing"))
    );

    let dir = copied(folder.path());
    fs::write(path_of("wrong.toml"), "[servers]\nlinks = 1\n").unwrap();
    let message = refusal(&["report", dir.to_str().unwrap(), "--environment", &path_of("wrong.toml")], 2);
    assert!(
        message.starts_with(&format!("ccsurvey: error: {}: line 2: ", path_of("wrong.toml"))),
        "{message}"
    );

    let message = refusal(&["report", dir.to_str().unwrap(), "--by", "colour"], 2);
    assert!(message.contains("invalid value 'colour' for '--by <GROUP>'"), "{message}");

    let message = refusal(&["report", dir.to_str().unwrap(), "-o", &path_of("no/such/folder.html")], 1);
    assert!(
        message.starts_with(&format!("ccsurvey: error: cannot write {}: ", path_of("no/such/folder.html"))),
        "{message}"
    );

    let empty = folder.path().join("empty");
    fs::create_dir_all(&empty).unwrap();
    Tables::open(&empty).unwrap();
    let begun = Manifest { state: SurveyState::Running, ..Manifest::load(&dir).unwrap() };
    begun.save(&empty).unwrap();
    let message = refusal(&["report", empty.to_str().unwrap()], 1);
    assert!(message.contains("is an empty survey: its tables hold no site tree yet"), "{message}");

    let table = fs::read_dir(dir.join("tables/links")).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&table).unwrap();
    fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
    let message = refusal(&["report", dir.to_str().unwrap()], 1);
    assert!(message.contains(&table.display().to_string()), "{message}");
    assert!(!dir.join("report.html").exists());
}

/// Compares the numbers on a page with those that `report_numbers.py` computes: returns how many there are,
/// and which differ.
fn numbers(dir: &Path, page: &str) -> (u64, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, page).unwrap();
    let [dir, file] = [dir, &file].map(|path| path.to_str().unwrap());
    let comparison: Value = serde_json::from_str(&python("report/report_numbers.py", &[dir, file])).unwrap();
    let differences =
        comparison["wrong"].as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned());
    (comparison["compared"].as_u64().unwrap(), differences.collect())
}

/// Needs what `tests/setup` installs.
#[test]
fn every_number_on_the_page_is_what_others_compute_from_the_tables() {
    let dir = three_countries();
    let page = page(dir, &["--by", "cctld"]);
    let (compared, differences) = numbers(dir, &page);
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(compared > 3000, "{compared}");

    // With one more digit in a fact, in a table or in the data of its CSV link, the same comparison fails.
    let pages = between(&page, "<dt>Pages read</dt><dd>", "<")[0];
    let sites = between(&page, "download=\"table-levels.csv\" href=\"", "\"")[0];
    let row = between(&page, "<table id=\"table-kept-back\"", "</tr>\n<tr>")[0];
    for (from, to, place) in [
        (format!("<dt>Pages read</dt><dd>{pages}"), format!("<dt>Pages read</dt><dd>1{pages}"), "card Pages"),
        (sites.to_owned(), sites.replace("%0D%0A1,", "%0D%0A1,1"), "table-levels, row 1, pages"),
        (row.to_owned(), row.replace("class=\"number\">", "class=\"number\">1"), "table-kept-back, row 0"),
    ] {
        let (_, differences) = numbers(dir, &page.replacen(&from, &to, 1));
        assert!(differences.iter().any(|line| line.starts_with(place)), "{place}: {differences:?}");
    }
}

#[test]
fn no_folder_of_the_surveyors_machine_is_on_the_page() {
    let dir = three_countries();
    let page = page(dir, &["--by", "cctld"]);
    assert!(page.contains("geo.mmdb") && page.contains("three_countries_share_hosters.toml"));
    let machine =
        [dir.parent().unwrap().to_str().unwrap(), "folder-of-databases", env!("CARGO_MANIFEST_DIR")];
    assert!(machine.iter().all(|path| !page.contains(path)));
}

#[test]
fn the_report_of_the_demo_that_the_readme_shows_is_what_the_program_makes() {
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/demo/run");
    let made =
        Command::new(run).arg("--same").env("CCSURVEY", env!("CARGO_BIN_EXE_ccsurvey")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

/// Checks that need a browser: `reports/demo/check`, where chromium, node and npm are installed.
#[test]
fn a_browser_shows_it_without_obstacles() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, page(small(), &["--by", "software"])).unwrap();
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/demo/check");
    let output = Command::new(check).arg(&file).output().unwrap();
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
    match output.status.code() {
        Some(0) => {}
        // `reports/demo/check` has no browser: nothing was checked.
        Some(69) => skip("report in a browser", &said),
        _ => panic!("{said}"),
    }
}

/// Names that spreadsheets would execute, and a URL that another separator would turn into a formula.
const FORMULAS: [&str; 5] = ["=hyperlink(\"x\").ke", "+1.ke", "-bad-.ke", "@sum.ke", "a.ke"];

#[test]
fn no_cell_of_an_export_is_a_formula() {
    let (folder, dir) = (tempfile::tempdir().unwrap(), small());
    let made = folder.path().join("survey");
    let mut rows = SegmentRows { sites: all(dir), links: all(dir), ..SegmentRows::default() };
    for (row, site) in rows.links.iter_mut().zip(FORMULAS.iter().cycle()) {
        row.in_survey = true;
        (row.url, row.target_site) = (format!("{}x;=1+1", row.url), (*site).to_owned());
    }
    let tables = Tables::open(&made).unwrap();
    tables.write(0, &rows).unwrap();
    write_table::<ServerRow>(&made, &all(dir)).unwrap();
    let mut manifest = Manifest::load(dir).unwrap();
    manifest.state = SurveyState::Interrupted;
    manifest.save(&made).unwrap();
    fs::copy(dir.join("start.csv"), made.join("start.csv")).unwrap();
    let output = program(&["export", made.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let exported = String::from_utf8(output.stdout).unwrap();
    // Some locales end cells with a semicolon.
    for separator in [b',', b';'] {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader =
            reader.delimiter(separator).has_headers(false).flexible(true).from_reader(exported.as_bytes());
        for cell in
            reader.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
        {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
        }
    }
    let lines: Vec<csv::StringRecord> =
        csv::Reader::from_reader(exported.as_bytes()).into_records().map(Result::unwrap).collect();
    let urls: BTreeSet<&str> = lines.iter().map(|line| &line[0]).collect();
    assert!(rows.links.iter().all(|row| urls.contains(row.url.as_str())), "no URL is another one");
    let sites: BTreeSet<&str> = lines.iter().map(|line| &line[1]).collect();
    assert!(FORMULAS[..4].iter().all(|site| sites.contains(format!("'{site}").as_str())), "{sites:?}");
    assert!(sites.contains("a.ke"));
}

#[test]
fn every_word_of_outcomes_entrances_and_classes_means_something_on_the_page() {
    let page = page(small(), &[]);
    let words = between(&page, "<table id=\"table-words\"", "</table>").concat();
    let is_explained = |word: &str| page.contains(&format!(">{word}</abbr>"));
    for word in
        Outcome::ALL.iter().map(|word| word.as_str()).chain(Entrance::ALL.iter().map(|word| word.as_str()))
    {
        assert!(words.contains(&format!(">{word}<")), "{word}");
    }
    for class in Class::ALL {
        assert!(words.contains(&format!(">{class}<")), "{class}");
    }
    let outcomes: BTreeSet<String> = all::<SiteRow>(small()).into_iter().map(|site| site.outcome).collect();
    assert!(outcomes.len() > 2);
    // In tables and figures, hovering over an outcome shows its meaning.
    for outcome in &outcomes {
        assert!(is_explained(outcome), "{outcome}");
        assert!(page.contains(&format!(">{outcome}<title>")), "{outcome}");
    }
    for words in ["query URL rule", "opt-out", "site budget or stop", "budget or stop", "requested"] {
        assert!(is_explained(words), "{words}");
    }
    let failures: BTreeSet<String> =
        all::<ExchangeRow>(small()).into_iter().filter_map(|exchange| exchange.failure).collect();
    assert!(failures.iter().all(|failure| is_explained(failure)), "{failures:?}");
}

#[test]
fn no_number_of_the_page_that_counts_pairs_is_called_external_urls() {
    let page = page(small(), &[]);
    let distinct: BTreeSet<String> = all::<LinkRow>(small()).into_iter().map(|link| link.url).collect();
    let pairs = all::<LinkRow>(small()).len();
    assert!(distinct.len() < pairs, "the world has URLs to which several sites link");
    let [distinct, pairs] = [distinct.len(), pairs].map(|number| thousands(number as u64));
    assert!(
        page.contains(&format!("{pairs} URL pairs")) && !page.contains(&format!("{pairs} external URLs"))
    );
    assert!(
        page.contains(&format!("{distinct} external URLs"))
            && !page.contains(&format!("{distinct} URL pairs"))
    );
    let status = String::from_utf8(program(&["status", small().to_str().unwrap()]).stdout).unwrap();
    assert!(status.contains("URL pairs") && !status.contains("external URLs"), "{status}");
}

#[test]
fn a_report_says_that_bytes_of_tls_are_counted_and_defines_busy_time_once() {
    let page = page(small(), &["--by", "country"]);
    assert!(!page.contains("TLS add") && page.contains("over TLS, its records and handshakes"));
    assert!(!page.contains("first byte sent to"), "busy time has one definition");
    assert_eq!(page.matches("From the start of an exchange at the server").count(), 1);
    assert!(
        page.contains("No site tree has a known hosting country.")
            && !page.contains("the same hosting country")
    );
}
