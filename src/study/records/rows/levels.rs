use polars::prelude::{Column, DataFrame, PolarsResult};

use crate::exchange::{Class, ClassCounts};
use crate::records::table::{ColumnGroup, read_column, table, write_column};
use crate::records::{ColumnDoc, ColumnType};

table! {
    /// A row per site tree and depth level: the cost and the yield of the level. Internal URLs are those of
    /// this depth, and each is in exactly one of the columns fetched and not_fetched. One more row,
    /// one level below the last level walked, holds URLs that were found but not requested: URLs that are too
    /// deep, URLs for which a limit left no request, and URLs that only nofollow links lead to, which have no
    /// depth.
    LevelRow in "levels";

    /// The site of the tree.
    site: String, "", "example.ke", "0.1";
    /// Links followed from the start URL.
    depth: u16, "links", "2", "0.1";
    /// Requests for pages of this level, redirects included, robots.txt not.
    requests: u64, "requests", "14", "0.1";
    /// Pages of this level that were read.
    pages: u64, "pages", "12", "0.1";
    /// Bytes received on the wire for these requests.
    received_bytes: u64, "bytes", "210442", "0.1";
    /// Busy time of servers, summed over these requests.
    busy_ms: f64, "ms", "8022.5", "0.1";
    /// Internal URLs of this depth; at depth 0 the start URL.
    internal_urls: u64, "URLs", "31", "0.1";
    /// External URLs found at this level and at none above it, each once in the tree. The sum over trees is
    /// the number of URL pairs.
    external_urls: u64, "URLs", "9", "0.1";
    /// Hosts of external URLs found at this level and at none above it.
    external_hosts: u64, "hosts", "4", "0.1";
    /// Sites of external URLs found at this level and at none above it.
    external_sites: u64, "sites", "3", "0.1";
    /// Bytes sent on the wire for these requests.
    sent_bytes: u64, "bytes", "3020", "0.1";
    /// Connections opened for these requests.
    connections: u64, "connections", "2", "0.1";
    /// The number of the tree's start URL among the start URLs of its site; 0 is the first.
    seed: u16, "", "0", "0.1";
    /// The expected number of external hosts, new in the tree, on the pages of `not_fetched_yield`
    /// themselves. Hosts on pages further along are not included.
    expected_external_hosts: Option<f64>, "hosts", "0.7", "0.1";
    /// Responses for robots.txt, its redirects included, that this level needed and that another tree of the
    /// survey had requested less than 24 hours before: no request was sent, and `exchanges` has the row in
    /// that tree.
    shared_robots: Option<u64>, "", "1", "0.1";
    with classes: ClassCounts, "Internal URLs of this depth by class, each a column.";
}

impl LevelRow {
    /// Whether every internal URL is in exactly one class, as far as the sums can show.
    #[must_use]
    pub fn reconciles(&self) -> bool {
        self.internal_urls == self.classes.total()
    }
}

/// The classes that tables of every version have. Any other is null in tables of versions that did not know
/// it.
const OF_EVERY_VERSION: [Class; 12] = [
    Class::Fetched,
    Class::Robots,
    Class::RobotsUnreachable,
    Class::Nofollow,
    Class::Filtered,
    Class::Script,
    Class::Depth,
    Class::Limit,
    Class::Trap,
    Class::Mirror,
    Class::OptOut,
    Class::Redirects,
];

const CLASSES: [ColumnDoc; Class::ALL.len()] = {
    let mut columns = [doc_of(Class::Fetched); Class::ALL.len()];
    let mut class = 0;
    while class < columns.len() {
        columns[class] = doc_of(Class::ALL[class]);
        class += 1;
    }
    columns
};

const fn doc_of(class: Class) -> ColumnDoc {
    ColumnDoc {
        name: class.as_str(),
        column_type: ColumnType::U64,
        nullable: is_later(class),
        unit: "URLs",
        meaning: class.meaning(),
        example: if matches!(class, Class::Fetched) { "14" } else { "2" },
        since: "0.1",
    }
}

const fn is_later(class: Class) -> bool {
    let mut index = 0;
    while index < OF_EVERY_VERSION.len() {
        if OF_EVERY_VERSION[index] as usize == class as usize {
            return false;
        }
        index += 1;
    }
    true
}

impl ColumnGroup for ClassCounts {
    const COLUMNS: &'static [ColumnDoc] = &CLASSES;

    fn write<'a>(cells: impl Iterator<Item = &'a Self> + Clone) -> Vec<Column> {
        let column = |class: &Class| {
            let urls: Vec<u64> = cells.clone().map(|counts| counts[*class]).collect();
            write_column(class.as_str(), urls.iter())
        };
        Class::ALL.iter().map(column).collect()
    }

    fn read(frame: &DataFrame) -> PolarsResult<Vec<Self>> {
        let mut counts = vec![Self::default(); frame.height()];
        for class in Class::ALL {
            let urls = if is_later(*class) {
                let urls = read_column::<Option<u64>>(frame, class.as_str())?;
                urls.into_iter().map(Option::unwrap_or_default).collect()
            } else {
                read_column::<u64>(frame, class.as_str())?
            };
            counts.iter_mut().zip(urls).for_each(|(counts, urls)| counts[*class] = urls);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Row;

    #[test]
    fn every_class_is_a_column_and_in_the_sum() {
        let names = LevelRow::COLUMNS.iter().map(|column| column.name);
        let classes = names.filter(|name| *name == "fetched" || name.starts_with("not_fetched_"));
        assert!(classes.eq(Class::ALL.iter().map(|class| class.as_str())));
        for class in Class::ALL {
            let mut row = LevelRow { internal_urls: 1, ..LevelRow::default() };
            assert!(!row.reconciles());
            row.classes[*class] = 1;
            assert!(row.reconciles(), "{class}");
        }
    }

    #[test]
    fn a_class_that_an_earlier_version_did_not_know_has_no_urls_in_its_tables() {
        let mut row = LevelRow::default();
        row.classes[Class::Fetched] = 3;
        let mut frame = LevelRow::frame(&[row.clone()]).unwrap();
        for class in Class::ALL.iter().filter(|class| is_later(**class)) {
            frame.drop_in_place(class.as_str()).unwrap();
        }
        assert_eq!(LevelRow::rows(&frame).unwrap(), [row]);
        frame.drop_in_place(Class::Fetched.as_str()).unwrap();
        assert!(LevelRow::rows(&frame).unwrap_err().to_string().contains("fetched"));
    }
}
