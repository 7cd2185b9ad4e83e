use std::borrow::Cow;
use std::cmp::Reverse;

use super::area::Area;
use super::clear::{clear_start_url, list_values, names_in};
use super::column::{ColumnChoice, ColumnRank, ColumnReading, FirstRows, Labels};
use super::entry::{is_empty, is_placeholder, is_unseen, link_target, start_url, without_comment};
use super::error::StartError;
use super::fields::{DividedLine, MOST_CELL_LINES, Separator, divided, split};
use super::no_list::check_is_list;
use super::zone::{is_entry, is_marked_entry};

/// The form of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// One URL or host name per line; perhaps below a line that only names the content.
    #[default]
    Lines,
    /// The same below a line that names the column.
    LinesWithHeader,
    /// Several URLs or host names per line, all of which are read.
    Names {
        /// Whether the first line only names the content.
        has_header: bool,
    },
    /// Several fields per line, one of which is read.
    Columns {
        /// The separator between the fields.
        separator: Separator,
        /// The index of the field that is read, from 0.
        column: usize,
        /// The number of fields.
        columns: usize,
        /// The name of that field in the first line.
        header: Option<String>,
        /// The order of the labels in the host names of that field.
        labels: Labels,
    },
    /// Resource records (RFC 1035 §5).
    Zone,
}

/// Usual names of the wanted column, the best first.
const NAMES: [&str; 24] = [
    "url",
    "start_url",
    "start url",
    "uri",
    "origin",
    "website",
    "web",
    "domain",
    "domain name",
    "domain_name",
    "domainname",
    "domäne",
    "domaine",
    "dominio",
    "domínio",
    "domein",
    "fqdn",
    "hostname",
    "host name",
    "host_name",
    "host",
    "host_rev",
    "site",
    "name",
];
/// The number of lines at the beginning by which the form is detected.
const SAMPLE_LINES: usize = 500;

/// The lines by which a form is detected, and the purpose of the list.
struct ListHead<'a> {
    /// Without empty lines, comments and the line `sep=;`.
    content: Vec<&'a [u8]>,
    /// With comments: a header may be in one.
    lines: &'a [&'a [u8]],
    /// As declared by `sep=;`.
    separator: Option<Separator>,
    area: Option<&'a Area>,
    /// A column was chosen: other columns that could be meant do not count.
    is_column_chosen: bool,
}

impl Form {
    /// Detects the form of a list that begins with these lines. Of its columns it takes the chosen one, or
    /// the one that holds start URLs for `area`.
    ///
    /// # Errors
    /// If there is no such column, or if two could be meant.
    pub(super) fn detect(
        lines: &[&[u8]],
        area: Option<&Area>,
        choice: Option<&ColumnChoice>,
    ) -> Result<Self, StartError> {
        let is_content = |line: &&&[u8]| !is_empty(line) && !line.trim_ascii().starts_with(b"#");
        let mut content: Vec<&[u8]> = lines.iter().filter(is_content).copied().take(SAMPLE_LINES).collect();
        let separator = content.first().and_then(|line| declared_separator(line));
        if separator.is_some() {
            content.remove(0);
        }
        let head = ListHead { content, lines, separator, area, is_column_chosen: choice.is_some() };
        let found = head.form()?;
        match choice {
            Some(choice) => head.chosen(choice, &found),
            None => Ok(found),
        }
    }

    pub(super) fn has_header(&self) -> bool {
        matches!(
            self,
            Self::LinesWithHeader | Self::Names { has_header: true } | Self::Columns { header: Some(_), .. }
        )
    }
}

/// The separator that a first line such as `sep=;` declares; spreadsheet programs write such lines.
pub(super) fn declared_separator(line: &[u8]) -> Option<Separator> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let (word, rest) = line.split_at_checked(4)?;
    let byte = rest.first().filter(|_| word.eq_ignore_ascii_case(b"sep="))?;
    let is_end = matches!(rest[1..].trim_ascii(), [] | [b'"']);
    Separator::BYTES.into_iter().find(|separator| is_end && separator.byte() == Some(*byte))
}

impl ListHead<'_> {
    fn form(&self) -> Result<Form, StartError> {
        let Some(first) = self.content.first() else { return Ok(Form::Lines) };
        let is_record = |line: &&[u8]| !line.trim_ascii().starts_with(b";");
        let records = self.content.iter().position(is_record).map_or(&[][..], |at| &self.content[at..]);
        if self.separator.is_none() && is_marked_entry(records) {
            return Ok(Form::Zone);
        }
        let is_single = |row: &DividedLine<'_>| row.fields.len() == 1 && !row.has_rest;
        if is_single(&divided(first, Separator::Comma)) && named(first, Separator::Comma).is_some() {
            return Ok(self.lines(&self.content[1..], Form::LinesWithHeader));
        }
        if !self.is_column_chosen {
            check_is_list(&self.content, self.lines, self.area)?;
        }
        let links = self.content.iter().filter(|line| link_target(&line_text(line)).is_some()).count();
        if links * 2 > self.content.len() {
            return Ok(Form::Lines);
        }
        let named = self.named_columns();
        if let Some(form) = named.as_ref().and_then(|named| self.by_header(named).transpose()) {
            return form;
        }
        if self.separator.is_none() && is_entry(records) {
            return Ok(Form::Zone);
        }
        let found = self.by_content()?;
        // If nothing better was found, the named column is read, to report what is wrong with its values.
        match named.filter(|_| self.is_worse_than_a_name(&found)) {
            Some(named) => {
                let column = named.candidates[0];
                Ok(named.form(&FirstRows::from_rows(Vec::new(), 0).reading(column, self.area), 0))
            }
            None => Ok(found),
        }
    }

    /// Whether plain lines, or name servers, would be read in place of a column that the header names.
    fn is_worse_than_a_name(&self, found: &Form) -> bool {
        match found {
            Form::Columns { separator, column, .. } => {
                table(self.body(), *separator).reading(*column, self.area).summary.is_of_servers()
            }
            found => *found == Form::Lines,
        }
    }

    fn separators(&self, all: &'static [Separator]) -> impl Iterator<Item = Separator> {
        let declared = self.separator;
        all.iter().copied().filter(move |separator| declared.is_none_or(|declared| declared == *separator))
    }

    /// The columns that have known names in the first line, by the separator that gives most columns.
    fn named_columns(&self) -> Option<NamedColumns> {
        let first = self.content.first()?;
        let named = |separator| {
            let (fields, candidates) = named(first, separator)?;
            (fields.len() > 1).then_some(NamedColumns { separator, fields, candidates })
        };
        let by_byte = self.separators(&Separator::BYTES).filter_map(named);
        by_byte.max_by_key(|named| named.fields.len()).or_else(|| {
            // Only if blanks divide the rows like the header: it may be one name of two words.
            let named = self.separators(&[Separator::Blanks]).find_map(named)?;
            let rows = table(&self.content[1..], Separator::Blanks);
            (rows.columns() == named.fields.len() && rows.is_even()).then_some(named)
        })
    }

    /// The first column with a known name that holds what the name promises. If other columns have names of
    /// the country, it must have some, too.
    ///
    /// # Errors
    /// If another column could be meant as well.
    fn by_header(&self, named: &NamedColumns) -> Result<Option<Form>, StartError> {
        let table = table(&self.content[1..], named.separator);
        if table.is_empty() {
            return Ok(Some(named.form(&table.reading(named.candidates[0], self.area), 0)));
        }
        let other_is_inside = table.best(self.area).is_some_and(|best| best.summary.is_inside());
        let readings: Vec<ColumnReading> =
            named.candidates.iter().map(|column| table.reading(*column, self.area)).collect();
        let is_right = |reading: &&ColumnReading| reading.summary.is_inside() || !other_is_inside;
        let good = readings.iter().filter(|reading| reading.summary.is_mostly_good()).find(is_right);
        // Notes in place of many values are bad lines, and no reason to read another column.
        let partly = || readings.iter().filter(|reading| reading.summary.is_partly_good()).find(is_right);
        // A header announces values, perhaps far below.
        let empty = || readings.iter().find(|reading| reading.summary.is_empty());
        let Some(reading) = good.or_else(partly).or_else(empty) else { return Ok(None) };
        // If rows have more columns than the header, they may be shifted against it.
        let is_shifted = table.columns() > named.fields.len();
        let candidates = if is_shifted { &[][..] } else { &named.candidates };
        self.check_rival(&table, named.separator, reading, candidates)?;
        Ok(Some(named.form(reading, table.columns())))
    }

    /// Checks that no other column has start URLs of other sites that could be meant.
    fn check_rival(
        &self,
        table: &FirstRows,
        separator: Separator,
        read: &ColumnReading,
        named: &[usize],
    ) -> Result<(), StartError> {
        let rival = table.rival(read, named, self.area).filter(|_| !self.is_column_chosen);
        let Some(rival) = rival else { return Ok(()) };
        let first = self.content.first().filter(|_| self.body().len() < self.content.len());
        let names: Vec<String> =
            first.into_iter().flat_map(|line| split(line, separator).0).map(text).collect();
        let column = |reading: &ColumnReading| {
            let name = names.get(reading.column).filter(|name| !name.is_empty());
            let name = name.map_or_else(String::new, |name| {
                format!(" '{}'", super::entry::excerpt(name).escape_debug())
            });
            let sites = reading.summary.site_count();
            format!("column {}{name} ({sites} site{})", reading.column + 1, if sites == 1 { "" } else { "s" })
        };
        Err(StartError::Column(format!(
            "its first lines do not show whether to read {} or {}: choose one with --column",
            column(read),
            column(&rival)
        )))
    }

    /// Detects the form without a header: by how most lines contain URLs or host names.
    ///
    /// # Errors
    /// If another column could be meant as well.
    fn by_content(&self) -> Result<Form, StartError> {
        let body = self.body();
        let (lists, others): (Vec<String>, Vec<String>) =
            body.iter().map(|line| line_text(line)).partition(|line| list_values(line, self.area).is_some());
        // A URL with a blank in it is most likely a URL followed by something else.
        let is_whole = |line: &&String| {
            !without_comment(line).contains(char::is_whitespace) && clear_start_url(line, self.area).is_some()
        };
        let whole = others.iter().filter(is_whole).count();
        let is_list = !lists.is_empty() && (lists.len() + whole) * 10 >= body.len() * LISTED_OF_TEN;
        let has_header = body.len() < self.content.len();
        let is_of_columns = |separator: Separator| {
            let table = table(body, separator);
            // Blanks divide a title, too.
            let may_be_header = has_header && separator != Separator::Blanks && table.is_even();
            table.has_one_subject(self.area) || may_be_header && self.fits_header(separator, &table)
        };
        if is_list && !self.separators(&Separator::EVERY).any(is_of_columns) {
            return Ok(Form::Names { has_header });
        }
        let mut best: Option<Division> = None;
        for separator in self.separators(&Separator::EVERY) {
            let table = table(body, separator);
            if table.columns() < 2 || !table.is_even() {
                continue;
            }
            let Some(reading) = table.best(self.area) else { continue };
            let division = self.division(separator, &table, reading);
            // A URL may contain commas; so a table has several lines, and all of them alike.
            let urls = division.reading.summary.urls;
            let is_table = if self.content.len() > 2 { urls >= whole } else { urls > whole };
            let is_table = is_table && (has_header || !are_paths(body, separator, division.reading.column));
            let is_sentence = table.len() == 1 && !division.fits_header && self.has_several_names(body);
            if is_table && !is_sentence && best.as_ref().is_none_or(|best| division.rank() > best.rank()) {
                best = Some(division);
            }
        }
        let Some(Division { separator, columns, reading, .. }) = best else {
            return Ok(self.lines(body, Form::Lines));
        };
        self.check_rival(&table(body, separator), separator, &reading, &[])?;
        Ok(self.columns(separator, columns, reading))
    }

    /// Whether there is a first line that is a header, and it has as many columns as the rows.
    fn fits_header(&self, separator: Separator, rows: &FirstRows) -> bool {
        let header = self.content.first().filter(|_| self.body().len() < self.content.len());
        let columns = rows.columns();
        columns > 1 && header.is_some_and(|line| split(line, separator).0.len() == columns)
    }

    fn has_several_names(&self, body: &[&[u8]]) -> bool {
        body.iter().any(|line| names_in(&line_text(line), self.area) > 1)
    }

    fn division(&self, separator: Separator, table: &FirstRows, reading: ColumnReading) -> Division {
        let (columns, fits_header) = (table.columns(), self.fits_header(separator, table));
        Division { separator, columns, reading, fits_header, even_rows: table.even_rows() }
    }

    /// One name per line; returns `usual` if the labels are in the usual order.
    fn lines(&self, body: &[&[u8]], usual: Form) -> Form {
        let reading = table(body, Separator::Tab).reading(0, self.area);
        match reading.labels {
            Labels::Reversed => self.columns(Separator::Tab, 1, reading),
            Labels::Usual => usual,
        }
    }

    /// The lines, without the first if that may be a header in unknown words.
    fn body(&self) -> &[&[u8]] {
        let is_header = |line: &[u8]| {
            let is_url = |field: String| clear_start_url(&field, self.area).is_some();
            let has_url = |separator| texts(line, separator).any(is_url);
            !self.begins_with_row() && !Separator::EVERY.into_iter().any(has_url)
        };
        match &self.content[..] {
            [first, rest @ ..] if !rest.is_empty() && is_header(first) => rest,
            all => all,
        }
    }

    /// Whether the first line is no header although no start URL is in it: no column is named by an address,
    /// nor by a number above numbers.
    fn begins_with_row(&self) -> bool {
        let [first, next, ..] = &self.content[..] else { return false };
        let is_address = |field: String| {
            let field = field.trim_start_matches(['<', '"', '\'']);
            ["http://", "https://"].iter().any(|scheme| field.starts_with(scheme))
        };
        let is_number = |field: &str| !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
        Separator::EVERY.into_iter().any(|separator| {
            let mut pairs = texts(first, separator).zip(texts(next, separator));
            texts(first, separator).any(is_address)
                || pairs.any(|(name, below)| is_number(&name) && is_number(&below))
        })
    }

    fn columns(&self, separator: Separator, columns: usize, reading: ColumnReading) -> Form {
        let ColumnReading { column, labels, .. } = reading;
        let first = self.content.first().filter(|_| self.content.len() > 1 && !self.begins_with_row());
        let mut fields = first.map_or_else(Vec::new, |line| split(line, separator).0);
        // R writes no header for the names of rows.
        if column > 0 && fields.len() + 1 == columns {
            fields.insert(0, Cow::default());
        }
        let field = fields.into_iter().nth(column).map(text);
        let field = field.map(|field| field.trim_matches('"').to_owned());
        let is_value = |field: &str| labels.usual(field).is_some_and(|field| start_url(&field).is_ok());
        let header = field.filter(|field| {
            let is_first_row = list_values(field, self.area).is_some();
            !is_placeholder(field) && !is_value(field) && !is_first_row
        });
        Form::Columns { separator, column, columns, header, labels }
    }

    /// The chosen column, in the form that was detected otherwise.
    fn chosen(&self, choice: &ColumnChoice, found: &Form) -> Result<Form, StartError> {
        match (choice, found) {
            (_, Form::Zone) => Err(StartError::Column("a zone file has no columns".to_owned())),
            (ColumnChoice::Named(name), _) => self.by_name(name),
            (ColumnChoice::Number(number), _) => self.by_number(*number, found),
        }
    }

    fn by_name(&self, name: &str) -> Result<Form, StartError> {
        let bare = |name: &str| name.trim_start_matches('#').to_lowercase();
        let is_match = |field: &String| bare(field) == bare(name);
        let comments = self.lines.iter().filter(|line| line.starts_with(b"#")).map(|line| (&line[1..], true));
        let first = self.content.first().map(|line| (*line, false));
        let mut headers = first.into_iter().chain(comments);
        let found = headers.find_map(|(line, is_comment)| {
            let divided = self.separators(&Separator::EVERY).filter_map(|separator| {
                let fields: Vec<String> = split(line, separator).0.into_iter().map(text).collect();
                let column = fields.iter().position(is_match)?;
                Some((separator, fields, column, is_comment))
            });
            let divides_alike = |separator, columns| {
                let rows = table(if is_comment { &self.content } else { &self.content[1..] }, separator);
                rows.is_empty() || rows.columns() == columns && rows.is_even()
            };
            divided.max_by_key(|(separator, fields, ..)| {
                (divides_alike(*separator, fields.len()), fields.len(), *separator != Separator::Blanks)
            })
        });
        let Some((separator, fields, column, is_comment)) = found else {
            return Err(StartError::Column(self.no_column(name)));
        };
        let rows = if is_comment { &self.content[..] } else { &self.content[1..] };
        let ColumnReading { labels, .. } = table(rows, separator).reading(column, self.area);
        let header = (!is_comment).then(|| fields[column].clone());
        Ok(match fields.len() {
            1 if labels == Labels::Usual => Form::LinesWithHeader,
            columns => Form::Columns { separator, column, columns, header, labels },
        })
    }

    fn no_column(&self, name: &str) -> String {
        let name = name.escape_debug();
        let first = self.content.first().copied().unwrap_or_default();
        let widest =
            self.separators(&Separator::BYTES).max_by_key(|separator| split(first, *separator).0.len());
        let fields = split(first, widest.unwrap_or(Separator::Comma)).0;
        let shown_names: Vec<String> = fields
            .into_iter()
            .take(MAX_COLUMNS_SHOWN)
            .map(|field| format!("'{}'", super::entry::excerpt(&text(field)).escape_debug()))
            .collect();
        format!("it has no column '{name}': its first line has {}", shown_names.join(", "))
    }

    fn by_number(&self, number: usize, found: &Form) -> Result<Form, StartError> {
        let column = number - 1;
        let read = |separator: Separator| {
            let table = table(self.body(), separator);
            let reading = table.reading(column, self.area);
            self.division(separator, &table, reading)
        };
        let divided = match found {
            Form::Columns { separator, .. } => Some(read(*separator)),
            Form::Lines | Form::LinesWithHeader if number == 1 => return Ok(found.clone()),
            _ => self
                .separators(&Separator::EVERY)
                .map(read)
                .filter(|division| division.columns > column)
                .reduce(|best, other| if other.rank() > best.rank() { other } else { best }),
        };
        match divided {
            Some(Division { separator, columns, reading, .. }) if column < columns => {
                Ok(self.columns(separator, columns, reading))
            }
            _ => {
                let columns = divided.map_or(1, |division| division.columns);
                Err(StartError::Column(format!(
                    "it has no column {number}: the number of columns is {columns}"
                )))
            }
        }
    }
}

/// In a list with several names per line, the number of lines in ten that hold nothing else.
const LISTED_OF_TEN: usize = 9;
/// The number of column names in a message.
const MAX_COLUMNS_SHOWN: usize = 20;

/// The lines as a separator divides them, with the column that would be read.
struct Division {
    separator: Separator,
    columns: usize,
    reading: ColumnReading,
    /// The first line names as many columns.
    fits_header: bool,
    /// The number of rows with as many columns as most have.
    even_rows: usize,
}

impl Division {
    /// The rank of a division: it divides the header like the rows, its URLs contain no other separator, its
    /// rows are alike; then by the content of its column, and the first column before others.
    fn rank(&self) -> (bool, bool, bool, ColumnRank, usize, Reverse<usize>) {
        let ColumnReading { column, summary, .. } = &self.reading;
        let rank = summary.rank();
        (self.fits_header, rank.0, !summary.is_divided(), rank, self.even_rows, Reverse(*column))
    }
}

/// A first line whose fields name columns.
struct NamedColumns {
    separator: Separator,
    fields: Vec<String>,
    /// The columns with a known name, the best first.
    candidates: Vec<usize>,
}

impl NamedColumns {
    /// Rows may have more columns than the header names.
    fn form(&self, reading: &ColumnReading, columns: usize) -> Form {
        Form::Columns {
            separator: self.separator,
            column: reading.column,
            columns: columns.max(self.fields.len()),
            header: Some(self.fields[reading.column].trim_matches('"').to_owned()),
            labels: reading.labels,
        }
    }
}

/// The fields of a line, and the indexes of those with a known name, the best first.
fn named(line: &[u8], separator: Separator) -> Option<(Vec<String>, Vec<usize>)> {
    let (fields, _) = split(line, separator);
    let fields: Vec<String> = fields.into_iter().map(text).collect();
    // If blanks are the separator, quotes are still there.
    let is_around = |c: char| is_unseen(c) || c.is_whitespace() || c == '"';
    let bare = |field: &str| field.trim_matches(is_around).to_lowercase();
    let column_of = |name: &&str| fields.iter().position(|field| bare(field) == **name);
    let candidates: Vec<usize> = NAMES.iter().filter_map(column_of).collect();
    (!candidates.is_empty()).then_some((fields, candidates))
}

/// The fields of a line as text.
fn texts(line: &[u8], separator: Separator) -> impl Iterator<Item = String> {
    split(line, separator).0.into_iter().map(text)
}

/// Divides lines by a separator. A quoted cell may continue on the next line.
fn table(lines: &[&[u8]], separator: Separator) -> FirstRows {
    let mut rows = Vec::new();
    let mut irregular = 0;
    let mut rest = lines;
    let mut may_continue = true;
    while let [first, following @ ..] = rest {
        let DividedLine { mut fields, mut is_open, has_rest } = divided(first, separator);
        irregular += usize::from(has_rest);
        let mut used = 0;
        let mut row = first.to_vec();
        while is_open && may_continue && used < following.len().min(MOST_CELL_LINES) {
            row.push(b'\n');
            row.extend_from_slice(following[used]);
            used += 1;
            is_open = split(&row, separator).1;
        }
        may_continue &= !is_open;
        if used > 0 && !is_open {
            let joined = split(&row, separator).0.into_iter();
            fields = joined.map(|field| Cow::Owned(field.into_owned())).collect();
        } else {
            used = 0;
        }
        rows.push(fields.into_iter().map(text).collect());
        rest = &following[used..];
    }
    FirstRows::from_rows(rows, irregular)
}

/// Whether lines are URLs with a separator in their paths, rather than rows: the text after the first
/// separator continues as URLs do (`/artykuly,0,12.html`, `/page;jsessionid=1F`).
fn are_paths(lines: &[&[u8]], separator: Separator, column: usize) -> bool {
    let Some(byte) = separator.byte().filter(|_| column == 0) else { return false };
    let is_split_path = |line: &&&[u8]| {
        let line = String::from_utf8_lossy(line.trim_ascii());
        let Some((first, rest)) = line.split_once(char::from(byte)) else { return false };
        let last = rest.rsplit(['/', char::from(byte)]).next().unwrap_or_default();
        let is_file = last
            .rsplit_once('.')
            .is_some_and(|(_, kind)| kind.len() <= 5 && kind.starts_with(|c: char| c.is_ascii_alphabetic()));
        let has_path = first.split_once("://").is_some_and(|(_, rest)| {
            rest.split_once('/').is_some_and(|(_, path)| !path.is_empty() && !path.ends_with('/'))
        });
        let is_parameter = rest.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        });
        let is_part = !rest.contains(|c: char| c.is_whitespace() || c == '"') && !rest.contains("://");
        has_path && is_part && (is_file || is_parameter)
    };
    lines.iter().filter(is_split_path).count() * 2 > lines.len()
}

fn line_text(line: &[u8]) -> String {
    text(Cow::Borrowed(line))
}

/// A field as text, without surrounding blanks and a byte order mark.
pub(super) fn text(field: Cow<'_, [u8]>) -> String {
    String::from_utf8_lossy(&field).trim().trim_start_matches('\u{feff}').to_owned()
}
