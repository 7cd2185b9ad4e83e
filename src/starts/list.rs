use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};

use xxhash_rust::xxh3::xxh3_64;

use super::area::Area;
use super::entry::{front_page, shown, start_url};
use super::error::StartError;
use super::fields::split;
use super::form::{Form, text};
use super::lines::{Line, Lines, MOST_LINE_BYTES};
use super::unpack::{MOST_UNPACKED, Packing, beginning, unpacked};
use super::zone::{Record, Zone};
use crate::address::WebUrl;

/// The start URLs of a list in their order, each once, and what was found beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartList {
    /// The URLs, a line each, as zstd.
    packed: Vec<u8>,
    /// How the list was compressed.
    pub packing: Packing,
    /// How it is written.
    pub form: Form,
    /// The zone that a zone file is of.
    pub zone: Option<String>,
    /// What was found in it.
    pub counts: Counts,
    /// The first bad lines.
    pub bad: Vec<BadLine>,
}

/// How much of everything is in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that should hold a start URL; of a zone file, records that should.
    pub lines: u64,
    /// Start URLs that are taken.
    pub urls: u64,
    /// Their sites, registrable domains each, where it is told what a site is.
    pub sites: u64,
    /// Start URLs that are taken and lie outside the country domains.
    pub outside: u64,
    /// Lines whose URL stood in an earlier line.
    pub doubled: u64,
    /// Lines that are skipped.
    pub bad: u64,
    /// All sites of the list, those that were not drawn included.
    pub sites_in_list: u64,
}

/// A line of a start list that is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1.
    pub line: u64,
    /// What stands there, cut if long.
    pub value: String,
    /// What was expected.
    pub why: String,
}

/// Bad lines that are kept to be told one by one.
const MOST_TOLD: usize = 10;
/// The beginning by which a form is told.
const HEAD_BYTES: usize = 64 * 1024;
/// Lines that a cell of a spreadsheet may have.
const MOST_CELL_LINES: usize = 20;
/// Level 1 halves the time of the usual one, and names are small at any.
const COMPRESSION: i32 = 1;

impl StartList {
    /// Reads a list in whatever form it is; of `area` come the sites and which of them are drawn.
    ///
    /// # Errors
    /// When it cannot be read, or what is in it cannot be told.
    pub fn read(input: impl Read, area: Option<&Area>) -> Result<Self, StartError> {
        let (packing, mut input) = unpacked(input, MOST_UNPACKED)?;
        let mut head = beginning(&mut input, HEAD_BYTES)?;
        let is_whole = head.len() < HEAD_BYTES;
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let form = form_of(&head, is_whole)?;
        let mut lines = Lines::new(BufReader::new(Cursor::new(head).chain(input)));
        let mut reading = ListReader::begin(area)?;
        let zone = match &form {
            Form::Zone => reading.take_zone(&mut lines)?,
            Form::Columns { .. } | Form::Lines | Form::LinesWithHeader => {
                reading.take_lines(&mut lines, &form)?;
                None
            }
        };
        Ok(Self { packing, form, zone, ..reading.end()? })
    }

    /// The list of these URLs.
    ///
    /// # Errors
    /// When they cannot be held in memory.
    pub fn of<'a>(urls: impl IntoIterator<Item = &'a WebUrl>) -> Result<Self, StartError> {
        let mut reading = ListReader::begin(None)?;
        for url in urls {
            reading.counts.lines += 1;
            reading.keep(url)?;
        }
        reading.end()
    }

    /// The start URLs in their order.
    pub fn urls(&self) -> impl Iterator<Item = WebUrl> + '_ {
        let unpacked = zstd::stream::read::Decoder::new(self.packed.as_slice()).ok();
        let lines =
            unpacked.into_iter().flat_map(|unpacked| BufReader::new(unpacked).lines().map_while(Result::ok));
        lines.filter_map(|url| WebUrl::parse(&url).ok())
    }

    /// Whether it has no URL.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.urls == 0
    }

    /// Whether more than a tenth of its lines is bad: then it is hardly the list that was meant.
    #[must_use]
    pub fn is_mostly_odd(&self) -> bool {
        self.counts.bad.saturating_mul(10) > self.counts.lines
    }
}

fn form_of(head: &[u8], is_whole: bool) -> io::Result<Form> {
    let mut lines = Lines::new(head);
    let mut found: Vec<Line> = std::iter::from_fn(|| lines.next().transpose()).collect::<Result<_, _>>()?;
    // The last line may be cut.
    if !is_whole && found.len() > 1 {
        found.pop();
    }
    Ok(Form::of(&found.iter().map(|line| line.bytes.as_slice()).collect::<Vec<_>>()))
}

/// A list while it is read.
struct ListReader<'a> {
    area: Option<&'a Area>,
    packed: zstd::stream::write::Encoder<'static, Vec<u8>>,
    counts: Counts,
    bad: Vec<BadLine>,
    /// Hashes of the URLs so far: of 10^7 two are the same with a chance of 3 in 10^6.
    urls: HashSet<u64>,
    sites: HashSet<u64>,
}

impl<'a> ListReader<'a> {
    fn begin(area: Option<&'a Area>) -> io::Result<Self> {
        Ok(Self {
            area,
            packed: zstd::stream::write::Encoder::new(Vec::new(), COMPRESSION)?,
            counts: Counts::default(),
            bad: Vec::new(),
            urls: HashSet::new(),
            sites: HashSet::new(),
        })
    }

    fn end(self) -> Result<StartList, StartError> {
        let packed = self.packed.finish()?;
        Ok(StartList { packed, counts: self.counts, bad: self.bad, ..StartList::default() })
    }

    fn take_lines(&mut self, lines: &mut Lines<impl BufRead>, form: &Form) -> io::Result<()> {
        let mut header_is_due = form.has_header();
        let mut cells_may_go_on = true;
        while let Some(line) = lines.next()? {
            let begins = line.bytes.trim_ascii_start();
            if begins.is_empty() || begins.starts_with(b"#") {
                continue;
            }
            if std::mem::take(&mut header_is_due) {
                continue;
            }
            if line.is_cut {
                self.counts.lines += 1;
                self.note_bad(
                    line.number,
                    &line.bytes,
                    format!("a line of more than {MOST_LINE_BYTES} bytes"),
                );
            } else if let Form::Columns { separator, column, .. } = form {
                let (number, whole) =
                    (line.number, whole_row(lines, line, *separator, &mut cells_may_go_on)?);
                let (fields, is_open) = split(&whole, *separator);
                let is_last = fields.len() == column + 1;
                match fields.into_iter().nth(*column) {
                    Some(field) if is_last && is_open => self.note_open(number, &field),
                    Some(field) => self.take(number, field)?,
                    None => self.take(number, Cow::Borrowed(&[]))?,
                }
            } else {
                self.take_whole(&line)?;
            }
        }
        Ok(())
    }

    /// A line that holds nothing but a URL or name, in quotes or not.
    fn take_whole(&mut self, line: &Line) -> io::Result<()> {
        let bytes = line.bytes.trim_ascii();
        if !bytes.starts_with(b"\"") {
            return self.take(line.number, Cow::Borrowed(bytes));
        }
        // Between quotes a comma divides nothing.
        let (fields, is_open) = split(bytes, super::fields::Separator::Comma);
        match fields.into_iter().next() {
            Some(field) if is_open => {
                self.note_open(line.number, &field);
                Ok(())
            }
            field => self.take(line.number, field.unwrap_or_default()),
        }
    }

    fn take_zone(&mut self, lines: &mut Lines<impl BufRead>) -> Result<Option<String>, StartError> {
        let mut zone = Zone::default();
        while let Some(line) = lines.next()? {
            let record = zone.take(line.number, &line.bytes)?;
            match record {
                Record::Other => {}
                Record::Delegation(name) => {
                    self.counts.lines += 1;
                    match front_page(&name) {
                        // A name has several name servers.
                        Ok(url) => {
                            self.keep(&url)?;
                        }
                        Err(why) => self.note(line.number, &name, why),
                    }
                }
                Record::Bad { line, value, why } => {
                    self.counts.lines += 1;
                    self.note(line, &value, why);
                }
            }
        }
        zone.end()?;
        Ok(zone.apex().map(ToOwned::to_owned))
    }

    fn take(&mut self, line: u64, field: Cow<'_, [u8]>) -> io::Result<()> {
        self.counts.lines += 1;
        if std::str::from_utf8(&field).is_err() {
            self.note_bad(line, &field, "bytes that are no UTF-8".to_owned());
            return Ok(());
        }
        let value = text(field);
        if value.contains(['\n', '\r']) {
            self.note(
                line,
                value.lines().next().unwrap_or_default(),
                "a URL of more than one line".to_owned(),
            );
            return Ok(());
        }
        match start_url(&value) {
            Ok(url) => {
                let is_new = self.keep(&url)?;
                self.counts.doubled += u64::from(!is_new);
            }
            Err(why) => self.note(line, &value, why),
        }
        Ok(())
    }

    /// Keeps a start URL, if its site is drawn; says whether it stood nowhere before.
    fn keep(&mut self, url: &WebUrl) -> io::Result<bool> {
        if !self.urls.insert(url.page_key().0) {
            return Ok(false);
        }
        if let Some(area) = self.area {
            let site = area.site_of(url);
            let is_drawn = area.sample.draws(&site);
            let is_new = self.sites.insert(xxh3_64(site.as_str().as_bytes()));
            self.counts.sites_in_list += u64::from(is_new);
            self.counts.sites += u64::from(is_new && is_drawn);
            if !is_drawn {
                return Ok(true);
            }
            self.counts.outside += u64::from(area.countries.domain_of(url.host()).is_none());
        }
        self.counts.urls += 1;
        self.packed.write_all(url.as_str().as_bytes())?;
        self.packed.write_all(b"\n")?;
        Ok(true)
    }

    fn note_open(&mut self, line: u64, field: &[u8]) {
        self.counts.lines += 1;
        let first = field.split(|byte| *byte == b'\n').next().unwrap_or_default();
        self.note_bad(line, first, "a quote is opened here and not closed".to_owned());
    }

    fn note_bad(&mut self, line: u64, value: &[u8], why: String) {
        self.note(line, &String::from_utf8_lossy(value), why);
    }

    fn note(&mut self, line: u64, value: &str, why: String) {
        self.counts.bad += 1;
        if self.bad.len() < MOST_TOLD {
            self.bad.push(BadLine { line, value: shown(value), why });
        }
    }
}

/// A row of a table, which goes on over the end of its line where a quote is open there, as cells of spreadsheets do.
///
/// Where no quote closes it nearby, the row is its first line alone; and from then on quotes end with their lines, so
/// that a list of lone quotes is not read over and over.
fn whole_row(
    lines: &mut Lines<impl BufRead>,
    first: Line,
    separator: super::fields::Separator,
    may_go_on: &mut bool,
) -> io::Result<Vec<u8>> {
    let mut row = first.bytes;
    let alone = row.len();
    let mut more: Vec<Line> = Vec::new();
    while *may_go_on && split(&row, separator).1 {
        match lines.next()? {
            Some(line) if more.len() < MOST_CELL_LINES && row.len() + line.bytes.len() < MOST_LINE_BYTES => {
                row.push(b'\n');
                row.extend_from_slice(&line.bytes);
                more.push(line);
            }
            next => {
                more.extend(next);
                lines.put_back(std::mem::take(&mut more));
                row.truncate(alone);
                *may_go_on = false;
            }
        }
    }
    Ok(row)
}
