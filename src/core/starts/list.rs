use std::io::{self, BufRead, BufReader, Cursor, Read};

use super::area::Area;
use super::column::ColumnChoice;
use super::counts::{BadLine, Counts, OutsideUrl};
use super::error::StartError;
use super::form::Form;
use super::lines::{Line, Lines};
use super::reader::{ListReader, ReadUrls};
use super::unpack::{MOST_UNPACKED, Packing, beginning, unpacked};
use crate::address::WebUrl;

/// The start URLs of a list in their order, each once, and the other results of reading it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartList {
    /// The URLs, one per line, compressed with zstd.
    pub(super) packed: Vec<u8>,
    /// The same for the URLs outside the country domains that are not taken.
    pub(super) packed_outside: Vec<u8>,
    /// How the list was compressed.
    pub packing: Packing,
    /// The form in which it is written.
    pub form: Form,
    /// The zone of a zone file.
    pub zone: Option<String>,
    /// The numbers of its entries.
    pub counts: Counts,
    /// The bad lines; only the first ones if there are very many.
    pub bad: Vec<BadLine>,
    /// The first start URLs outside the country domains that are not taken.
    pub left_out: Vec<OutsideUrl>,
}

/// The number of bytes at the beginning by which the form is detected.
const HEAD_BYTES: usize = 64 * 1024;

/// UTF-8's byte order mark encoded twice, as programs do that take UTF-8 for Windows-1252; and encoded once.
const BYTE_ORDER_MARKS: [&[u8]; 2] = [b"\xc3\xaf\xc2\xbb\xc2\xbf", b"\xef\xbb\xbf"];

impl StartList {
    /// Reads a list in any form; `area` defines sites and which of them are surveyed.
    ///
    /// # Errors
    /// If it cannot be read, or its content has no definite meaning.
    pub fn read(input: impl Read, area: Option<&Area>) -> Result<Self, StartError> {
        Self::read_column(input, area, None)
    }

    /// Like [`StartList::read`]; reads this column of a table, if one is chosen.
    ///
    /// # Errors
    /// As [`StartList::read`], and if there is no such column.
    pub fn read_column(
        input: impl Read,
        area: Option<&Area>,
        column: Option<&ColumnChoice>,
    ) -> Result<Self, StartError> {
        let (packing, mut input) = unpacked(input, MOST_UNPACKED)?;
        let mut head = beginning(&mut input, HEAD_BYTES)?;
        let is_whole = head.len() < HEAD_BYTES;
        for mark in BYTE_ORDER_MARKS {
            if head.starts_with(mark) {
                head.drain(..mark.len());
            }
        }
        let head_lines = lines_of(&head, is_whole)?;
        let form = Form::detect(
            &head_lines.iter().map(|line| line.bytes.as_slice()).collect::<Vec<_>>(),
            area,
            column,
        )?;
        let mut lines = Lines::new(BufReader::new(Cursor::new(head).chain(input)));
        let mut reading = ListReader::begin(area)?;
        let zone = match &form {
            Form::Zone => reading.read_zone(&mut lines)?,
            Form::Columns { .. } | Form::Lines | Form::LinesWithHeader | Form::Names { .. } => {
                reading.read_lines(&mut lines, &form)?;
                None
            }
        };
        Ok(Self { packing, form, zone, ..Self::from_reader(reading)? })
    }

    /// Creates the list of these URLs.
    ///
    /// # Errors
    /// If they cannot be held in memory.
    pub fn from_urls<'a>(urls: impl IntoIterator<Item = &'a WebUrl>) -> Result<Self, StartError> {
        let mut reading = ListReader::begin(None)?;
        for url in urls {
            reading.add_url(url)?;
        }
        Self::from_reader(reading)
    }

    fn from_reader(reading: ListReader<'_>) -> Result<Self, StartError> {
        let ReadUrls { counts, bad, left_out, accepted, outside } = reading.end();
        Ok(Self {
            packed: accepted.finish()?,
            packed_outside: outside.finish()?,
            counts,
            bad,
            left_out,
            ..Self::default()
        })
    }

    /// The start URLs in their order.
    pub fn urls(&self) -> impl Iterator<Item = WebUrl> + '_ {
        unpacked_urls(&self.packed)
    }

    /// The start URLs outside the country domains that are not taken, in their order.
    pub fn left_out_urls(&self) -> impl Iterator<Item = WebUrl> + '_ {
        unpacked_urls(&self.packed_outside)
    }

    /// Whether it has no URL.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.urls == 0
    }

    /// Whether more than a tenth of its lines are bad: then it is hardly the list that was meant.
    #[must_use]
    pub fn is_mostly_bad(&self) -> bool {
        self.counts.bad.saturating_mul(10) > self.counts.lines
    }

    /// Whether it has directives for names that are not read.
    #[must_use]
    pub fn has_unread_names(&self) -> bool {
        self.counts.unread > 0
    }

    /// Whether less than a tenth of its start URLs lies inside the country domains: then it is hardly the
    /// list, or the column of it, that was meant.
    #[must_use]
    pub fn is_mostly_outside(&self) -> bool {
        let Counts { inside, outside, .. } = self.counts;
        inside.saturating_mul(10) < inside + outside
    }
}

fn unpacked_urls(packed: &[u8]) -> impl Iterator<Item = WebUrl> + '_ {
    let unpacked = zstd::stream::read::Decoder::new(packed).ok();
    let lines =
        unpacked.into_iter().flat_map(|unpacked| BufReader::new(unpacked).lines().map_while(Result::ok));
    lines.filter_map(|url| WebUrl::parse(&url).ok())
}

fn lines_of(head: &[u8], is_whole: bool) -> io::Result<Vec<Line>> {
    let mut lines = Lines::new(head);
    let mut found: Vec<Line> = std::iter::from_fn(|| lines.next().transpose()).collect::<Result<_, _>>()?;
    // The last line may be cut.
    if !is_whole && found.len() > 1 {
        found.pop();
    }
    Ok(found)
}
