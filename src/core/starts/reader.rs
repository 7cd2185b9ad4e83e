use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};

use xxhash_rust::xxh3::xxh3_64;

use super::area::Area;
use super::clear::{SEVERAL, clear_start_url, list_values, names_in, parts};
use super::column::Labels;
use super::counts::{BadLine, Counts, OutsideUrl};
use super::entry::{NEITHER, excerpt, front_page, is_empty, is_placeholder, start_url};
use super::error::StartError;
use super::fields::{MOST_CELL_LINES, Separator, divided, split};
use super::form::{Form, declared_separator, text};
use super::lines::{Line, Lines, MOST_LINE_BYTES};
use super::zone::{Zone, ZoneItem};
use crate::address::WebUrl;

/// The number of left-out start URLs that are kept to be reported one by one.
const MAX_SHOWN: usize = 10;
/// The number of bad lines that are kept with their values and reasons; in a list with more, most are of one
/// kind.
const MAX_BAD_LINES: usize = 100_000;
const NOT_UTF8: &str = "not valid UTF-8: convert the list to UTF-8, e.g. with iconv";
/// Level 1 takes half the time of the usual level, and names are small at any level.
const COMPRESSION: i32 = 1;

/// URLs in memory, one per line.
type Packed = zstd::stream::write::Encoder<'static, Vec<u8>>;

/// The results of reading a list.
pub(super) struct ReadUrls {
    pub counts: Counts,
    pub bad: Vec<BadLine>,
    pub left_out: Vec<OutsideUrl>,
    pub accepted: Packed,
    pub outside: Packed,
}

/// A list while it is read.
pub(super) struct ListReader<'a> {
    area: Option<&'a Area>,
    found: ReadUrls,
    /// Hashes of the URLs so far: among 10^7 URLs the chance of two equal hashes is 3 in 10^6.
    urls: HashSet<u64>,
    sites: HashSet<u64>,
}

impl<'a> ListReader<'a> {
    pub(super) fn begin(area: Option<&'a Area>) -> io::Result<Self> {
        let packed = || Packed::new(Vec::new(), COMPRESSION);
        let (counts, bad, left_out) = Default::default();
        Ok(Self {
            area,
            found: ReadUrls { counts, bad, left_out, accepted: packed()?, outside: packed()? },
            urls: HashSet::new(),
            sites: HashSet::new(),
        })
    }

    pub(super) fn end(self) -> ReadUrls {
        self.found
    }

    pub(super) fn read_lines(&mut self, lines: &mut Lines<impl BufRead>, form: &Form) -> io::Result<()> {
        let mut may_declare_separator = true;
        let mut header_is_due = form.has_header();
        let mut may_continue_cells = true;
        while let Some(line) = lines.next()? {
            if is_empty(&line.bytes) {
                continue;
            }
            if line.bytes.trim_ascii_start().starts_with(b"#") {
                let has_name = names_in(line_after_mark(&line.bytes).as_ref(), self.area) > 0;
                self.found.counts.commented += u64::from(has_name);
                continue;
            }
            if std::mem::take(&mut may_declare_separator) && declared_separator(&line.bytes).is_some() {
                continue;
            }
            if std::mem::take(&mut header_is_due) {
                continue;
            }
            if line.is_cut {
                let why =
                    format!("a line of more than {MOST_LINE_BYTES} bytes: put one URL or name on each line");
                self.note_bad(line.number, &line.bytes, why);
                continue;
            }
            match form {
                Form::Columns { separator, column, columns, labels, .. } => {
                    let number = line.number;
                    let is_row = |line: &Line| self.is_row(line, *separator, (*column, *columns));
                    let row = whole_row(lines, line, *separator, &mut may_continue_cells, *column, is_row)?;
                    self.read_row(number, &row, (*separator, *column, *columns), *labels)?;
                }
                Form::Names { .. } => self.read_names(&line)?,
                _ => self.read_single(&line)?,
            }
        }
        Ok(())
    }

    /// Whether a line by itself is a row of the table with a start URL.
    fn is_row(&self, line: &Line, separator: Separator, (column, columns): (usize, usize)) -> bool {
        let (fields, is_open) = split(&line.bytes, separator);
        let value = (!is_open && fields.len() == columns).then(|| fields.into_iter().nth(column)).flatten();
        value.is_some_and(|value| clear_start_url(&text(value), self.area).is_some())
    }

    fn read_row(
        &mut self,
        line: u64,
        row: &[u8],
        (separator, column, most): (Separator, usize, usize),
        labels: Labels,
    ) -> io::Result<()> {
        let (fields, is_open) = split(row, separator);
        if !is_open && fields.iter().all(|field| field.trim_ascii().is_empty()) {
            return Ok(());
        }
        let is_last = fields.len() == column + 1;
        let columns = fields.len();
        // An unquoted separator in a value shifts the fields after it. Columns with a one-byte separator can
        // be counted.
        let is_shifted = column > 0
            && separator != Separator::Blanks
            && fields.iter().skip(most).any(|field| !field.trim_ascii().is_empty());
        if is_shifted && !is_open {
            let why = format!(
                "the row has {columns} columns, expected {most}: put values that contain {separator} in quotes"
            );
            self.note_bad(line, row, why);
            return Ok(());
        }
        match fields.into_iter().nth(column) {
            Some(field) if is_last && is_open => {
                self.note_unclosed(line, &field);
                Ok(())
            }
            Some(field) => self.take(line, field, labels),
            None if is_open => {
                self.note_unclosed(line, row);
                Ok(())
            }
            // Programs leave out empty cells at the end of a row.
            None if names_in(&String::from_utf8_lossy(row), self.area) == 0 => {
                self.found.counts.without_value += 1;
                Ok(())
            }
            None => {
                let column_text =
                    if columns == 1 { "1 column".to_owned() } else { format!("{columns} columns") };
                self.note_bad(line, row, format!("the row has {column_text}, but no column {}", column + 1));
                Ok(())
            }
        }
    }

    /// A line that holds nothing but URLs or names, in quotes or not.
    fn read_single(&mut self, line: &Line) -> io::Result<()> {
        let bytes = line.bytes.trim_ascii();
        if !bytes.starts_with(b"\"") || list_values(&String::from_utf8_lossy(bytes), self.area).is_some() {
            return self.take(line.number, Cow::Borrowed(bytes), Labels::Usual);
        }
        // Between quotes a comma divides nothing.
        let (fields, is_open) = split(bytes, Separator::Comma);
        match fields.into_iter().next() {
            Some(field) if is_open => {
                self.note_unclosed(line.number, &field);
                Ok(())
            }
            field => self.take(line.number, field.unwrap_or_default(), Labels::Usual),
        }
    }

    /// A line of several URLs or names, some of which may be bad.
    fn read_names(&mut self, line: &Line) -> io::Result<()> {
        let text = text(Cow::Borrowed(&line.bytes));
        if list_values(&text, self.area).is_some() || start_url(&text).is_ok() {
            return self.take(line.number, Cow::Borrowed(&line.bytes), Labels::Usual);
        }
        for part in parts(&text) {
            self.take(line.number, Cow::Borrowed(part.as_bytes()), Labels::Usual)?;
        }
        Ok(())
    }

    pub(super) fn read_zone(
        &mut self,
        lines: &mut Lines<impl BufRead>,
    ) -> Result<Option<String>, StartError> {
        let mut zone = Zone::for_countries(self.area.map(|area| area.countries.clone()));
        let mut others = OtherRecords::default();
        let mut doubled = DoubledOrigins::default();
        while let Some(line) = lines.next()? {
            let record = zone.take(line.number, &line.bytes)?;
            match record {
                ZoneItem::Other => {}
                ZoneItem::Delegation(name) => {
                    doubled.note(line.number, &name, zone.above());
                    self.add_delegation(line.number, &name)?;
                }
                ZoneItem::Generated(names) => {
                    for name in names {
                        self.add_delegation(line.number, &name)?;
                    }
                }
                ZoneItem::Name(name) => others.note(&name),
                ZoneItem::Bad { line, value, why } => self.note(line, &value, why),
                ZoneItem::Unread { line, value, why } => {
                    self.found.counts.unread += 1;
                    self.note(line, &value, why);
                }
            }
        }
        zone.end()?;
        doubled.check()?;
        self.found.counts.without_ns = others.count(&self.urls);
        Ok(zone.apex().map(ToOwned::to_owned))
    }

    fn add_delegation(&mut self, line: u64, name: &str) -> io::Result<()> {
        match front_page(name).and_then(|url| self.check_objection(url)) {
            // A name has several name servers, so duplicates do not count.
            Ok(url) => {
                self.found.counts.lines += 1;
                self.insert_url(line, &url).map(drop)
            }
            Err(why) => {
                self.note(line, name, why);
                Ok(())
            }
        }
    }

    /// A cell or line with one start URL, or with several and nothing else.
    fn take(&mut self, line: u64, field: Cow<'_, [u8]>, labels: Labels) -> io::Result<()> {
        if std::str::from_utf8(&field).is_err() {
            self.note_bad(line, &field, NOT_UTF8.to_owned());
            return Ok(());
        }
        let cell = text(field);
        let Some(value) = labels.usual(&cell) else {
            self.reject(line, &cell, NEITHER.to_owned());
            return Ok(());
        };
        if let Some(values) = list_values(&value, self.area) {
            return values.into_iter().try_for_each(|value| self.add_value(line, value));
        }
        if value.contains(['\n', '\r']) {
            let first = value.lines().next().unwrap_or_default();
            self.reject(line, first, "a URL that continues on the next line".to_owned());
            return Ok(());
        }
        self.add_value(line, &value)
    }

    fn add_value(&mut self, line: u64, value: &str) -> io::Result<()> {
        match start_url(value).and_then(|url| self.check_objection(url)) {
            Ok(url) => {
                self.found.counts.lines += 1;
                let is_new = self.insert_url(line, &url)?;
                self.found.counts.doubled += u64::from(!is_new);
            }
            Err(_) if names_in(value, self.area) > 1 => self.reject(line, value, SEVERAL.to_owned()),
            Err(why) => self.reject(line, value, why),
        }
        Ok(())
    }

    /// Takes a URL that has been checked already.
    pub(super) fn add_url(&mut self, url: &WebUrl) -> io::Result<()> {
        self.found.counts.lines += 1;
        self.insert_url(self.found.counts.lines, url).map(drop)
    }

    fn check_objection(&self, url: WebUrl) -> Result<WebUrl, String> {
        match self.area.and_then(|area| area.objection(&url)) {
            Some(why) => Err(why),
            None => Ok(url),
        }
    }

    /// Keeps a start URL, if it is to be surveyed and its site is drawn; returns whether it is new.
    fn insert_url(&mut self, line: u64, url: &WebUrl) -> io::Result<bool> {
        if !self.urls.insert(url.page_key().0) {
            return Ok(false);
        }
        let ReadUrls { counts, left_out, accepted, outside, .. } = &mut self.found;
        if let Some(area) = self.area {
            let is_inside = area.contains(url);
            counts.inside += u64::from(is_inside);
            counts.outside += u64::from(!is_inside);
            if !is_inside && !area.includes_outside {
                if left_out.len() < MAX_SHOWN {
                    left_out.push(OutsideUrl { line, url: url.clone() });
                }
                write_line(outside, url)?;
                return Ok(true);
            }
            let site = area.site_of(url);
            let is_drawn = area.sample.draws(&site);
            let is_new = self.sites.insert(xxh3_64(site.as_str().as_bytes()));
            counts.sites_in_list += u64::from(is_new);
            counts.sites += u64::from(is_new && is_drawn);
            if !is_drawn {
                return Ok(true);
            }
        }
        counts.urls += 1;
        write_line(accepted, url)?;
        Ok(true)
    }

    fn note_unclosed(&mut self, line: u64, field: &[u8]) {
        let first = field.split(|byte| *byte == b'\n').next().unwrap_or_default();
        self.note_bad(line, first, "a quote is opened here but not closed".to_owned());
    }

    fn note_bad(&mut self, line: u64, value: &[u8], why: String) {
        self.note(line, &String::from_utf8_lossy(value), why);
    }

    /// A value that is no start URL: its line is bad, unless it only says that there is none.
    fn reject(&mut self, line: u64, value: &str, why: String) {
        if is_placeholder(value) {
            self.found.counts.without_value += 1;
        } else {
            self.note(line, value, why);
        }
    }

    fn note(&mut self, line: u64, value: &str, why: String) {
        self.found.counts.lines += 1;
        self.found.counts.bad += 1;
        if self.found.bad.len() < MAX_BAD_LINES {
            self.found.bad.push(BadLine { line, value: excerpt(value), why });
        }
    }
}

/// Names that end with the name of their zone twice: they have no dot at the end, and the origin was appended
/// to them.
#[derive(Default)]
struct DoubledOrigins {
    names: u64,
    doubled: u64,
    first: Option<(u64, String)>,
}

impl DoubledOrigins {
    fn note(&mut self, line: u64, name: &str, origin: Option<&str>) {
        self.names += 1;
        let origin = origin.unwrap_or_default().trim_end_matches('.');
        if origin.is_empty() {
            return;
        }
        if name.ends_with(&format!(".{origin}.{origin}")) {
            self.doubled += 1;
            self.first.get_or_insert_with(|| (line, name.to_owned()));
        }
    }

    fn check(self) -> Result<(), StartError> {
        match self.first {
            Some((line, name)) if self.doubled * 2 > self.names => {
                let why = format!(
                    "names end with the name of the zone twice ('{}') because they lack a final dot: put '$ORIGIN .' before the \
                     first name to read them unchanged",
                    excerpt(&name)
                );
                Err(StartError::Zone { line, why })
            }
            _ => Ok(()),
        }
    }
}

/// Names of a zone file with other records than NS, each with the name one label above it, as keys of their
/// front pages.
#[derive(Default)]
struct OtherRecords(HashMap<u64, u64>);

impl OtherRecords {
    /// The number of names that are kept; for a zone with more, their count is at least this.
    const MOST: usize = 1_000_000;

    fn note(&mut self, name: &str) {
        let key = |name: &str| front_page(name).ok().map(|url| url.page_key().0);
        if let Some(name_key) = key(name).filter(|_| self.0.len() < Self::MOST) {
            self.0
                .insert(name_key, name.split_once('.').and_then(|(_, above)| key(above)).unwrap_or_default());
        }
    }

    /// The number of names that have no NS record, and are not below a name that has one, as name servers
    /// are.
    fn count(&self, with_ns: &HashSet<u64>) -> u64 {
        let above = |name: &u64| self.0.get(name).copied();
        let is_known =
            |name: &u64| std::iter::successors(Some(*name), above).any(|name| with_ns.contains(&name));
        self.0.keys().filter(|name| !is_known(name)).count() as u64
    }
}

/// A comment without its mark.
fn line_after_mark(line: &[u8]) -> Cow<'_, str> {
    let text = line.trim_ascii_start();
    String::from_utf8_lossy(text.strip_prefix(b"#").unwrap_or(text))
}

fn write_line(packed: &mut Packed, url: &WebUrl) -> io::Result<()> {
    packed.write_all(url.as_str().as_bytes())?;
    packed.write_all(b"\n")
}

/// A row of a table. It continues on the next line if a quote is open at the end of a line, as cells of
/// spreadsheets do.
///
/// If no quote closes it nearby, the row is its first line alone. From then on quotes end with their lines,
/// so that a list of unpaired quotes is not read over and over. It is its first line alone, too, if a quote is
/// missing, or one means inches: a whole row lies between the quotes, or would without the first one, or text
/// lies between the second one and the next separator.
fn whole_row(
    lines: &mut Lines<impl BufRead>,
    first: Line,
    separator: Separator,
    may_continue: &mut bool,
    column: usize,
    is_row: impl Fn(&Line) -> bool,
) -> io::Result<Vec<u8>> {
    let mut row = first.bytes;
    let first_bytes = row.len();
    let mut more: Vec<Line> = Vec::new();
    while *may_continue && split(&row, separator).1 {
        match lines.next()? {
            Some(line) if more.len() < MOST_CELL_LINES && row.len() + line.bytes.len() < MOST_LINE_BYTES => {
                row.push(b'\n');
                row.extend_from_slice(&line.bytes);
                more.push(line);
            }
            next => {
                more.extend(next);
                lines.put_back(std::mem::take(&mut more));
                row.truncate(first_bytes);
                *may_continue = false;
            }
        }
    }
    let (first_fields, has_rest) = {
        let line = divided(&row[..first_bytes], separator);
        (line.fields.len(), line.has_rest)
    };
    // A quote behind the column that is read hides no value of this row, so only a row on the last line counts.
    let is_behind = first_fields > column + 1;
    let swallows_row = more.split_last().is_some_and(|(last, between)| {
        let without_quotes: Vec<u8> =
            row[..first_bytes].iter().copied().filter(|byte| *byte != b'"').collect();
        let swallows_fields = split(&without_quotes, separator).0.len() > first_fields;
        let first_line = Line { bytes: without_quotes, ..first };
        between.iter().any(&is_row) || swallows_fields && is_row(&first_line) && (!is_behind || is_row(last))
    });
    if swallows_row || !more.is_empty() && !has_rest && divided(&row, separator).has_rest {
        lines.put_back(more);
        row.truncate(first_bytes);
    }
    Ok(row)
}
