//! The folder of a survey: the files beside the tables, its creation, and exports from it.

pub(super) mod creation_lock;
pub(super) mod export;
pub(super) mod settings_file;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::{READ, SurveyError};
use crate::address::WebUrl;
use crate::records::units::count;
use crate::records::{csv_line, disarmed, durable, replace_with, visible};
use crate::settings::{ENTRANCES, Settings};
use crate::starts::{BadLine, StartList};

/// The layout of a survey's folder.
///
/// ```text
/// DIR/manifest.json   the identity and the state of the survey
/// DIR/survey.toml     the effective settings
/// DIR/start.csv       the start URLs that were accepted
/// DIR/outside.csv     start URLs that are left out because they lie outside the country domains
/// DIR/skipped.csv     bad lines of the start list, with the reasons
/// DIR/added/          start URLs that were handed over later and are not merged yet
/// DIR/tables/         the tables
/// DIR/opt-out.csv     opt-outs, and since when each is in force
/// DIR/status.json     progress, rewritten every second
/// DIR/log.jsonl       the log, one JSON object per line
/// DIR/state.redb      the frontier
/// DIR/journal/        one file for each site tree in progress, and the requests sent since their last flush
/// DIR/rates.json      the expected yield of pages, with `--depth auto` or `--focus`
/// DIR/budget.json     the most requests, with `--budget`
/// DIR/focus.json      the least yield that a request must promise, with `--focus`
/// DIR/since.redb      pages of an earlier survey, with `--since` and until the survey is finished
/// ```
#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub dir: PathBuf,
}

impl Folder {
    pub(super) fn open(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    pub(super) fn state(&self) -> PathBuf {
        self.dir.join("state.redb")
    }

    pub(super) fn since(&self) -> PathBuf {
        self.dir.join("since.redb")
    }

    pub(super) fn focus(&self) -> PathBuf {
        self.dir.join("focus.json")
    }

    pub(super) fn budget(&self) -> PathBuf {
        self.dir.join("budget.json")
    }

    pub(super) fn rates(&self) -> PathBuf {
        self.dir.join("rates.json")
    }

    pub(super) fn opt_outs(&self) -> PathBuf {
        self.dir.join("opt-out.csv")
    }

    pub(super) fn journals(&self) -> PathBuf {
        self.dir.join("journal")
    }

    pub(super) fn journal(&self, order: u64) -> PathBuf {
        self.journals().join(format!("{order:08}.journal"))
    }

    /// The site trees that have a journal, in order.
    pub(super) fn journaled_trees(&self) -> Result<Vec<u64>, SurveyError> {
        let journals = self.journals();
        let entries = fs::read_dir(&journals).map_err(SurveyError::file("read folder", &journals))?;
        let mut orders: Vec<u64> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".journal")?.parse().ok())
            .collect();
        orders.sort_unstable();
        Ok(orders)
    }

    pub(super) fn write_settings(&self, settings: &Settings) -> Result<(), SurveyError> {
        let path = self.settings();
        let text = toml::to_string(settings)
            .map_err(|error| SurveyError::Settings { path: path.clone(), message: error.to_string() })?;
        let head = "# The settings of this survey, including defaults. `ccsurvey resume` reads them: you may make the\n# survey more polite here (longer pauses, lower limits on load), but not change what it measures.\n";
        durable::replace(&path, format!("{head}{text}").as_bytes()).map_err(SurveyError::file("write", &path))
    }

    pub(super) fn read_settings(&self) -> Result<Settings, SurveyError> {
        let path = self.settings();
        let text = fs::read_to_string(&path).map_err(SurveyError::file(READ, &path))?;
        // A survey may be read from any working directory.
        let absolute_path = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        let settings = settings_file::parse(&text, &absolute_path)
            .map_err(|message| SurveyError::Settings { path, message })?;
        let has_entrances =
            toml::from_str::<toml::Table>(&text).is_ok_and(|keys| keys.contains_key(ENTRANCES));
        Ok(if has_entrances { settings } else { settings.with_one_entrance() })
    }

    /// `survey.toml`.
    pub(super) fn settings(&self) -> PathBuf {
        self.dir.join("survey.toml")
    }

    pub(super) fn start_list(&self) -> PathBuf {
        self.dir.join("start.csv")
    }

    /// Start URLs that are left out because they lie outside the country domains.
    pub(super) fn outside(&self) -> PathBuf {
        self.dir.join("outside.csv")
    }

    /// Bad lines of the start list.
    pub(super) fn skipped(&self) -> PathBuf {
        self.dir.join("skipped.csv")
    }

    pub(super) fn added(&self) -> PathBuf {
        self.dir.join("added")
    }

    pub(super) fn write_start_list(&self, urls: impl Iterator<Item = WebUrl>) -> Result<(), SurveyError> {
        let path = self.start_list();
        replace_with(&path, |out| write_urls(out, true, urls)).map_err(SurveyError::file("write", &path))
    }

    /// Appends the left-out URLs and the bad lines of a list, if there are any.
    pub(super) fn add_left_out(&self, list: &StartList) -> Result<(), SurveyError> {
        let mut urls = list.left_out_urls().peekable();
        if urls.peek().is_some() {
            add(&self.outside(), |out, is_new| write_urls(out, is_new, urls))?;
        }
        if list.bad.is_empty() {
            return Ok(());
        }
        add(&self.skipped(), |out, is_new| write_bad_lines(out, is_new, list))
    }
}

/// Appends to a file; `write` is told whether the file is new.
fn add(path: &Path, write: impl FnOnce(&mut dyn Write, bool) -> io::Result<()>) -> Result<(), SurveyError> {
    let add = |out: &mut dyn Write| match fs::File::open(path) {
        Ok(mut before) => {
            io::copy(&mut before, out)?;
            write(out, false)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => write(out, true),
        Err(error) => Err(error),
    };
    replace_with(path, add).map_err(SurveyError::file("write", path))
}

/// Writes the bad lines of a list, with the reasons. They are escaped so that neither a terminal nor a
/// spreadsheet executes untrusted text.
fn write_bad_lines(out: &mut dyn Write, with_header: bool, list: &StartList) -> io::Result<()> {
    if with_header {
        writeln!(out, "line,value,reason")?;
    }
    for BadLine { line, value, why } in &list.bad {
        let (value, why) = (visible(value), visible(why));
        let cells = [line.to_string().into(), disarmed(&value), why];
        writeln!(out, "{}", csv_line(cells))?;
    }
    match list.counts.bad - list.bad.len() as u64 {
        0 => Ok(()),
        more => {
            let remainder = format!("and {} that are not listed", count(more, "bad line"));
            writeln!(out, "{}", csv_line(["", "", &remainder]))
        }
    }
}

/// Writes start URLs in the format of `start.csv`, one per line.
pub(super) fn write_urls(
    out: &mut dyn Write,
    with_header: bool,
    urls: impl Iterator<Item = WebUrl>,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    if with_header {
        writer.write_record(["url"])?;
    }
    for url in urls {
        writer.write_record([url.as_str()])?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::super::boundaries::scope::area;
    use super::*;

    #[test]
    fn files_have_the_names_that_the_layout_tells() {
        let layout = Folder::open(Path::new("DIR"));
        let files = [
            layout.settings(),
            layout.start_list(),
            layout.outside(),
            layout.skipped(),
            layout.added(),
            layout.opt_outs(),
            layout.state(),
            layout.since(),
            layout.rates(),
            layout.focus(),
            layout.journal(7),
        ];
        let names = [
            "survey.toml",
            "start.csv",
            "outside.csv",
            "skipped.csv",
            "added",
            "opt-out.csv",
            "state.redb",
            "since.redb",
            "rates.json",
            "focus.json",
            "journal/00000007.journal",
        ];
        assert_eq!(files, names.map(|name| Path::new("DIR").join(name)));
    }

    #[test]
    fn trees_with_a_journal_are_told_in_their_order_and_other_files_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Folder::open(folder.path());
        layout.journaled_trees().unwrap_err();
        fs::create_dir(layout.journals()).unwrap();
        for order in [100_000_000, 3, 20] {
            fs::write(layout.journal(order), "").unwrap();
        }
        fs::write(layout.journals().join("notes.txt"), "").unwrap();
        assert_eq!(layout.journaled_trees().unwrap(), [3, 20, 100_000_000]);
    }

    #[test]
    fn what_is_left_out_is_added_to_what_was_before() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Folder::open(folder.path());
        let area = area(&Settings { cctld: vec!["ke".to_owned()], ..Settings::default() }).unwrap();
        let add = |text: &str| {
            layout.add_left_out(&StartList::read(text.as_bytes(), Some(&area)).unwrap()).unwrap();
        };
        add("a.ke\nN/A\n");
        assert!(!layout.outside().exists() && !layout.skipped().exists());
        add("a.tz\nb.tz\n");
        add("=cmd()\nc.tz\nx\u{1b}[31m, y\n");
        add("-bad-.ke\n");
        let written = |path: PathBuf| fs::read_to_string(path).unwrap();
        assert_eq!(written(layout.outside()), "url\nhttp://a.tz/\nhttp://b.tz/\nhttp://c.tz/\n");
        assert_eq!(
            written(layout.skipped()),
            "line,value,reason\n1,'=cmd(),neither a URL nor a host name\n3,\"x⟨U+001B⟩[31m, y\",neither a URL nor a host name\n\
             1,'-bad-.ke,\"a label of the host name begins or ends with '-', which is not allowed\"\n"
        );
    }

    #[test]
    fn of_very_many_bad_lines_the_first_are_listed_and_the_others_counted() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Folder::open(folder.path());
        let mut list = StartList::read(&b"a.ke\n"[..], None).unwrap();
        let bad = |line| BadLine { line, value: "x".to_owned(), why: "no".to_owned() };
        (list.counts.bad, list.bad) = (1234, (3..5).map(bad).collect());
        layout.add_left_out(&list).unwrap();
        let written = fs::read_to_string(layout.skipped()).unwrap();
        assert_eq!(
            written,
            "line,value,reason\n3,x,no\n4,x,no\n,,\"and 1,232 bad lines that are not listed\"\n"
        );
    }

    #[test]
    fn start_urls_are_a_table_with_one_column() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Folder::open(folder.path());
        let urls = ["http://a.ke/", "https://b.ke/x?a=1,2"].map(|url| WebUrl::parse(url).unwrap());
        layout.write_start_list(urls.into_iter()).unwrap();
        let written = fs::read_to_string(layout.start_list()).unwrap();
        assert_eq!(written, "url\nhttp://a.ke/\n\"https://b.ke/x?a=1,2\"\n");
    }

    #[test]
    fn a_path_in_the_settings_counts_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Folder::open(folder.path());
        let written = Settings { cctld: vec!["ke".to_owned()], ..Settings::default() };
        layout.write_settings(&written).unwrap();
        let text = fs::read_to_string(layout.settings()).unwrap();
        for (listed_path, expected) in
            [("later.txt", folder.path().join("later.txt")), ("/x/now.txt", "/x/now.txt".into())]
        {
            fs::write(layout.settings(), format!("{text}\nopt-out = \"{listed_path}\"\n")).unwrap();
            assert_eq!(layout.read_settings().unwrap().opt_out, Some(expected));
        }
    }
}
