use std::cmp::Reverse;
use std::collections::HashSet;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use super::area::Area;
use super::clear::{clear_start_url, list_values};
use super::entry::{in_usual_order, is_placeholder};
use crate::address::WebUrl;

/// The column of a list to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnChoice {
    /// From 1.
    Number(usize),
    /// By its name in the list's header, in any case.
    Named(String),
}

impl FromStr for ColumnChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.trim(), text.trim().parse()) {
            ("", _) | (_, Ok(0)) => {
                Err("expected the name of a column, or its number, counted from 1".to_owned())
            }
            (_, Ok(number)) => Ok(Self::Number(number)),
            (name, Err(_)) => Ok(Self::Named(name.to_owned())),
        }
    }
}

/// The order of the labels in host names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// `www.example.ke`
    #[default]
    Usual,
    /// `ke.example.www`
    Reversed,
}

impl Labels {
    /// The text of a cell with its labels in the usual order; none if it is no host name.
    pub(super) fn usual(self, text: &str) -> Option<String> {
        match self {
            Self::Usual => Some(text.to_owned()),
            Self::Reversed => in_usual_order(text),
        }
    }
}

/// The content of a column. Only the first name of a cell counts: a cell with several names is worth as much
/// as a cell with one.
#[derive(Debug, Default)]
pub(super) struct ColumnContent {
    /// Cells that are not empty.
    filled: usize,
    /// Cells with URLs, names or addresses.
    pub good: usize,
    /// The number of URLs in them; several in one cell each count.
    pub urls: usize,
    /// Good cells with one URL, name or address.
    single: usize,
    /// Good cells with a host that has a name.
    names: usize,
    /// Good cells whose hosts are named like name servers or mail servers.
    servers: usize,
    /// Good cells with nothing but a public suffix: `co.ke` is no site.
    suffixes: usize,
    /// Good cells with one URL, name or address, and a separator in it.
    divided: usize,
    distinct: HashSet<u64>,
    /// Hosts inside the country domains.
    inside: HashSet<u64>,
    /// The sites of those hosts.
    sites: HashSet<u64>,
    /// All hosts of all cells.
    hosts: HashSet<u64>,
}

impl ColumnContent {
    fn from_cells<'a>(cells: impl Iterator<Item = &'a str>, labels: Labels, area: Option<&Area>) -> Self {
        let mut summary = Self::default();
        for cell in cells.filter(|cell| !cell.is_empty()) {
            let value = labels.usual(cell);
            let urls = value.map(|value| urls_of(&value, area)).unwrap_or_default();
            summary.filled += usize::from(!urls.is_empty() || !is_placeholder(cell));
            let Some(first) = urls.first() else { continue };
            summary.good += 1;
            summary.urls += urls.len();
            summary.single += usize::from(urls.len() == 1);
            summary.names += usize::from(urls.iter().any(|url| url.host().ip().is_none()));
            summary.servers += usize::from(urls.iter().all(is_server));
            summary.suffixes +=
                usize::from(urls.iter().all(|url| area.is_some_and(|area| area.is_suffix(url))));
            summary.divided += usize::from(urls.len() == 1 && cell.contains(SEPARATORS));
            summary.hosts.extend(urls.iter().map(|url| hash(url.host().as_str())));
            summary.distinct.insert(hash(first.host().as_str()));
            if let Some(area) = area.filter(|area| area.contains(first)) {
                summary.inside.insert(hash(first.host().as_str()));
                summary.sites.insert(hash(area.site_of(first).as_str()));
            }
        }
        summary
    }

    pub(super) fn is_mostly_good(&self) -> bool {
        self.good * 2 > self.filled && self.suffixes * 2 <= self.good
    }

    /// Whether enough of its cells are good that the others may be notes in place of a value.
    pub(super) fn is_partly_good(&self) -> bool {
        self.good * GOOD_OF >= self.filled && self.suffixes * 2 <= self.good
    }

    /// Whether its rows could be the wanted ones instead of those of another column. It must have sites of
    /// the country that the other column lacks, not the same few in all rows, and more than `halves` halves
    /// of the number of the other's sites.
    fn rivals(&self, other: &Self, halves: usize) -> bool {
        let common = self.sites.intersection(&other.sites).count();
        (self.sites.len() >= FEW_ROWS || self.sites.len() * 2 > self.good)
            && self.sites.len() * 2 > other.sites.len() * halves
            && common * 2 < self.sites.len()
            && self.is_partly_good()
            && !self.is_of_servers()
    }

    /// Whether the share inside the country domains is large enough for a survey to begin.
    pub(super) fn is_inside(&self) -> bool {
        !self.inside.is_empty() && self.inside.len() * 10 >= self.distinct.len()
    }

    /// Whether its URLs contain other separators, so that there could be several columns.
    pub(super) fn is_divided(&self) -> bool {
        self.divided * 2 > self.good
    }

    /// The rank of a column: sites of the country come first, each counted once, because a hoster or a mail
    /// server of the country occurs in many rows.
    pub(super) fn rank(&self) -> ColumnRank {
        let is_of_sites = !self.sites.is_empty() && !self.is_of_servers();
        let Self { good, names, single, .. } = *self;
        (is_of_sites, self.sites.len(), self.inside.len(), good, self.distinct.len(), names, single)
    }

    /// Whether it has the same sites as another column, and its hosts and more, as a certificate has names
    /// besides the one that it is issued for.
    fn extends(&self, other: &Self) -> bool {
        self.sites == other.sites
            && self.hosts.len() > other.hosts.len()
            && other.hosts.is_subset(&self.hosts)
    }

    fn is_better_than(&self, other: &Self) -> bool {
        self.extends(other) || !other.extends(self) && self.rank() > other.rank()
    }

    /// The number of sites of the country in it.
    pub(super) fn site_count(&self) -> usize {
        self.sites.len()
    }

    /// Whether all its cells are empty.
    pub(super) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    pub(super) fn is_of_servers(&self) -> bool {
        self.good > 0 && self.servers * 2 > self.good
    }

    fn has_several(&self) -> bool {
        self.single * 2 < self.good
    }

    /// Whether every cell is an address.
    fn is_of_addresses(&self) -> bool {
        self.good == self.filled && self.names == 0
    }
}

/// The properties by which columns are compared, the most important first.
pub(super) type ColumnRank = (bool, usize, usize, usize, usize, usize, usize);

/// Characters that may separate columns, and that URLs contain.
const SEPARATORS: [char; 4] = ['\t', ';', ',', '|'];

fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// Whether a host has the name of a server without a site: `ns1`, `dns-2`, `mx03`.
fn is_server(url: &WebUrl) -> bool {
    const SERVERS: [&str; 7] = ["ns", "dns", "pdns", "nameserver", "mx", "mail", "smtp"];
    let first = url.host().as_str().split('.').next().unwrap_or_default();
    let word = first.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    url.host().ip().is_none() && SERVERS.contains(&word)
}

/// A column, and how it is read.
#[derive(Debug)]
pub(super) struct ColumnReading {
    pub column: usize,
    pub labels: Labels,
    pub summary: ColumnContent,
}

/// The rows at the beginning of a list, divided by a separator, without empty rows.
pub(super) struct FirstRows {
    rows: Vec<Vec<String>>,
    /// Rows with text that belongs to no field.
    irregular: usize,
}

/// The number of rows in ten that must have the same number of columns.
const ALIKE_OF_TEN: usize = 9;
/// The number of columns that are searched for other rows that could be meant.
const MOST_RIVALS: usize = 100;
/// With fewer rows, shares prove nothing.
const FEW_ROWS: usize = 5;
/// A column may be the wanted one if one in this number of its cells is good.
const GOOD_OF: usize = 10;

impl FirstRows {
    pub(super) fn from_rows(rows: Vec<Vec<String>>, irregular: usize) -> Self {
        let is_row = |row: &Vec<String>| row.iter().any(|cell| !cell.is_empty());
        Self { rows: rows.into_iter().filter(is_row).collect(), irregular }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of columns that most rows have.
    pub(super) fn columns(&self) -> usize {
        let widths = self.rows.iter().map(Vec::len);
        widths.clone().max_by_key(|width| widths.clone().filter(|other| other == width).count()).unwrap_or(0)
    }

    /// The number of rows with as many columns as most have, and no text outside the fields.
    pub(super) fn even_rows(&self) -> usize {
        let columns = self.columns();
        self.rows.iter().filter(|row| row.len() == columns).count().saturating_sub(self.irregular)
    }

    pub(super) fn is_even(&self) -> bool {
        self.even_rows() * 10 >= self.rows.len() * ALIKE_OF_TEN
    }

    fn content(&self, column: usize, labels: Labels, area: Option<&Area>) -> ColumnContent {
        ColumnContent::from_cells(
            self.rows.iter().filter_map(|row| row.get(column)).map(String::as_str),
            labels,
            area,
        )
    }

    /// Reads a column, with the labels in the order in which its cells are names. Without an area no
    /// top-level domain is known, and no name is reversed.
    pub(super) fn reading(&self, column: usize, area: Option<&Area>) -> ColumnReading {
        let summary = self.content(column, Labels::Usual, area);
        if area.is_some() && !summary.is_mostly_good() {
            let reversed = self.content(column, Labels::Reversed, area);
            if reversed.is_mostly_good() && reversed.rank() > summary.rank() {
                return ColumnReading { column, labels: Labels::Reversed, summary: reversed };
            }
        }
        ColumnReading { column, labels: Labels::Usual, summary }
    }

    /// The best of the columns that hold mostly URLs or names; the first of equals.
    pub(super) fn best(&self, area: Option<&Area>) -> Option<ColumnReading> {
        let readings = (0..self.columns()).map(|column| self.reading(column, area));
        let good = readings.filter(|reading| reading.summary.is_mostly_good());
        good.reduce(|best, other| if other.summary.is_better_than(&best.summary) { other } else { best })
    }

    /// Another column whose rows could be meant as well as those of the column read. If the header has a
    /// known name for the column read and none for the other, which are `named`, the other must have more
    /// than twice as many sites of the country; else more than half as many are enough.
    pub(super) fn rival(
        &self,
        read: &ColumnReading,
        named: &[usize],
        area: Option<&Area>,
    ) -> Option<ColumnReading> {
        let widest = self.rows.iter().map(Vec::len).max().unwrap_or(0).min(MOST_RIVALS);
        let others = (0..widest).filter(|column| *column != read.column);
        let readings = others.map(|column| self.reading(column, area));
        let is_named = |reading: &ColumnReading| named.contains(&reading.column);
        let halves = |other: &ColumnReading| if is_named(read) && !is_named(other) { 4 } else { 1 };
        readings
            .filter(|other| other.summary.rivals(&read.summary, halves(other)))
            .max_by_key(|other| (other.summary.sites.len(), Reverse(other.column)))
    }

    /// Whether rows that hold nothing but names are a table all the same, with one wanted column: their cells
    /// belong together (a host next to its site), or one column describes the others (few hosters, mail
    /// servers abroad, name servers, addresses).
    pub(super) fn has_one_subject(&self, area: Option<&Area>) -> bool {
        let (rows, columns) = (self.rows.len(), self.columns());
        if rows < 2 || columns < 2 || !self.is_even() {
            return false;
        }
        let summary: Vec<ColumnContent> =
            (0..columns).map(|column| self.content(column, Labels::Usual, area)).collect();
        let shares = || summary.iter().map(|summary| summary.inside.len());
        let is_unequal = rows >= FEW_ROWS && shares().min().unwrap_or(0) * 2 < shares().max().unwrap_or(0);
        let has_few_values =
            rows >= FEW_ROWS && summary.iter().any(|summary| summary.distinct.len() * 2 <= rows);
        let number =
            |is_so: fn(&ColumnContent) -> bool| summary.iter().filter(|summary| is_so(summary)).count();
        let is_only_some = |is_so| (1..columns).contains(&number(is_so));
        let describes = is_only_some(ColumnContent::is_of_addresses)
            || is_only_some(ColumnContent::is_of_servers)
            || is_only_some(ColumnContent::has_several);
        let related = self.rows.iter().filter(|row| are_related(row, area)).count();
        is_unequal || has_few_values || describes || related * 2 > rows
    }
}

/// Whether two cells of a row are of the same site.
fn are_related(row: &[String], area: Option<&Area>) -> bool {
    let site_of = |url: &WebUrl| match area {
        Some(area) => area.site_of(url).to_string(),
        None => url.host().to_string(),
    };
    let mut seen = HashSet::new();
    row.iter().any(|cell| {
        let sites: HashSet<String> = urls_of(cell, area).iter().map(site_of).collect();
        let is_known = sites.iter().any(|site| seen.contains(site));
        seen.extend(sites);
        is_known
    })
}

/// The start URLs of a cell that holds nothing else.
fn urls_of(cell: &str, area: Option<&Area>) -> Vec<WebUrl> {
    match list_values(cell, area) {
        Some(parts) => parts.iter().filter_map(|part| clear_start_url(part, area)).collect(),
        None => clear_start_url(cell, area).into_iter().collect(),
    }
}
