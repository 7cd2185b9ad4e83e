use std::borrow::Cow;

use super::entry::start_url;
use super::fields::{Separator, split};
use super::zone::{is_entry, is_marked_entry};

/// How a list is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// One URL or host name a line; under a line that only names what follows.
    #[default]
    Lines,
    /// The same below a line that names the column.
    LinesWithHeader,
    /// Fields in every line, one of which is read.
    Columns {
        /// Between the fields.
        separator: Separator,
        /// The one that is read, from 0.
        column: usize,
        /// How many there are.
        columns: usize,
        /// What the first line calls it.
        header: Option<String>,
    },
    /// Resource records (RFC 1035 §5).
    Zone,
}

/// What people call the column that is wanted, the best first.
const NAMES: [&str; 22] = [
    "url",
    "start_url",
    "start url",
    "uri",
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
    "site",
    "name",
];
/// Lines at the beginning that tell the form.
const SAMPLE_LINES: usize = 500;
/// Of the lines with columns so many in ten have the same number of them.
const ALIKE_OF_TEN: usize = 9;

impl Form {
    /// The form of a list that begins with these lines.
    pub(super) fn of(lines: &[&[u8]]) -> Self {
        let is_content =
            |line: &&&[u8]| !line.trim_ascii().is_empty() && !line.trim_ascii().starts_with(b"#");
        let content: Vec<&[u8]> = lines.iter().filter(is_content).copied().take(SAMPLE_LINES).collect();
        let records = content.iter().find(|line| !line.trim_ascii().starts_with(b";"));
        let (Some(first), Some(record)) = (content.first(), records) else { return Self::Lines };
        if is_marked_entry(record) {
            return Self::Zone;
        }
        if named(first, Separator::Comma).is_some_and(|(columns, ..)| columns == 1) {
            return Self::LinesWithHeader;
        }
        let headers = Separator::BYTES.map(|separator| (separator, named(first, separator)));
        let widest =
            headers.into_iter().filter_map(|(separator, named)| named.map(|named| (separator, named)));
        if let Some((separator, (columns, column, header))) =
            widest.filter(|(_, (columns, ..))| *columns > 1).max_by_key(|(_, (columns, ..))| *columns)
        {
            return Self::Columns { separator, column, columns, header: Some(header) };
        }
        if is_entry(record) {
            return Self::Zone;
        }
        Self::by_content(&content)
    }

    /// Where no header tells it: as most lines have a URL or a host name.
    fn by_content(content: &[&[u8]]) -> Self {
        // The first line may be a header in words that are not known here.
        let body = if content.len() > 1 { &content[1..] } else { content };
        let whole = body.iter().filter(|line| is_start(line)).count();
        let mut best: Option<(usize, Self)> = None;
        for separator in Separator::EVERY {
            let Some((good, column, columns)) = best_column(body, separator) else { continue };
            // A URL may have commas in it; so a table has several lines, and all of them alike.
            let is_better = if body.len() > 1 { good >= whole } else { good > whole };
            if is_better && good * 2 > body.len() && best.as_ref().is_none_or(|(most, _)| good > *most) {
                best = Some((good, Self::Columns { separator, column, columns, header: None }));
            }
        }
        let Some((_, mut form)) = best else { return Self::Lines };
        if let Self::Columns { separator, column, header, .. } = &mut form {
            let field = split(content[0], *separator).0.into_iter().nth(*column).map(text);
            *header = field.filter(|field| content.len() > 1 && start_url(field).is_err());
        }
        form
    }

    pub(super) fn has_header(&self) -> bool {
        matches!(self, Self::LinesWithHeader | Self::Columns { header: Some(_), .. })
    }
}

/// How many columns a line has, which of them is wanted by its name, and this name.
fn named(line: &[u8], separator: Separator) -> Option<(usize, usize, String)> {
    let (fields, _) = split(line, separator);
    let fields: Vec<String> = fields.into_iter().map(text).collect();
    let place = |name: &&str| fields.iter().position(|field| field.to_lowercase() == **name);
    let column = NAMES.iter().find_map(place)?;
    Some((fields.len(), column, fields[column].clone()))
}

/// The column with most URLs or host names: how many, which, and of how many.
fn best_column(lines: &[&[u8]], separator: Separator) -> Option<(usize, usize, usize)> {
    let rows: Vec<Vec<Cow<'_, [u8]>>> = lines.iter().map(|line| split(line, separator).0).collect();
    let columns = rows
        .iter()
        .map(Vec::len)
        .max_by_key(|count| rows.iter().filter(|row| row.len() == *count).count())?;
    let alike = rows.iter().filter(|row| row.len() == columns).count();
    if columns < 2 || alike * 10 < rows.len() * ALIKE_OF_TEN {
        return None;
    }
    let good = |column: usize| {
        let fields = rows.iter().filter_map(|row| row.get(column));
        // Addresses of servers often stand beside names.
        fields
            .filter(|field| start_url(&text((*field).clone())).is_ok_and(|url| url.host().ip().is_none()))
            .count()
    };
    // The first of equals.
    let best = (0..columns).map(|column| (good(column), column)).rev().max_by_key(|(good, _)| *good)?;
    Some((best.0, best.1, columns))
}

fn is_start(line: &[u8]) -> bool {
    start_url(&text(Cow::Borrowed(line))).is_ok()
}

/// A field as text, without blanks and a byte order mark.
pub(super) fn text(field: Cow<'_, [u8]>) -> String {
    String::from_utf8_lossy(&field).trim().trim_start_matches('\u{feff}').to_owned()
}
