use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use super::Folder;
use crate::address::{PageKey, WebUrl};
use crate::records::{LinkRow, Manifest, SiteRow, csv_line, disarmed, read_table};
use crate::starts::StartList;
use crate::survey::error::{READ, SurveyError};

/// Writes all start URLs that a survey knows as CSV: the user's, those of the sites walked, and the external
/// URLs inside the surveyed country domains. Returns their number. Cells are escaped so that spreadsheets
/// execute none of them.
///
/// It reads the tables, so it may be used while the survey runs. It needs 16 bytes of memory per URL.
///
/// # Errors
/// When there is no survey in `dir`, or a table cannot be read, or `out` cannot be written.
pub fn export(dir: &Path, out: &mut dyn Write) -> Result<u64, SurveyError> {
    Manifest::load(dir)?;
    let mut list = StartUrlExport { out, seen: HashSet::new() };
    list.write("url", "site", "origin")?;
    let path = Folder::open(dir).start_list();
    let file = std::fs::File::open(&path).map_err(SurveyError::file(READ, &path))?;
    let starts = StartList::read(file, None)
        .map_err(|error| SurveyError::file(READ, &path)(std::io::Error::other(error.to_string())))?;
    for url in starts.urls() {
        list.add(url.as_str(), "", "start")?;
    }
    for segment in read_table::<SiteRow>(dir)? {
        for row in segment? {
            list.add(&row.start_url, &row.site, "site")?;
        }
    }
    for segment in read_table::<LinkRow>(dir)? {
        for row in segment?.into_iter().filter(|row| row.in_survey) {
            list.add(&row.url, &row.target_site, "link")?;
        }
    }
    list.out.flush().map_err(SurveyError::file("write", Path::new("the export")))?;
    Ok(list.seen.len() as u64)
}

struct StartUrlExport<'a> {
    out: &'a mut dyn Write,
    seen: HashSet<PageKey>,
}

impl StartUrlExport<'_> {
    fn add(&mut self, url: &str, site: &str, origin: &str) -> Result<(), SurveyError> {
        match WebUrl::parse(url) {
            Ok(parsed) if self.seen.insert(parsed.page_key()) => self.write(url, site, origin),
            _ => Ok(()),
        }
    }

    fn write(&mut self, url: &str, site: &str, origin: &str) -> Result<(), SurveyError> {
        let line = csv_line([url, site, origin].map(disarmed));
        writeln!(self.out, "{line}").map_err(SurveyError::file("write", Path::new("the export")))
    }
}
