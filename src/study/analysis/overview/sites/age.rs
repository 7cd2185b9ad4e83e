use serde::Serialize;

use crate::address::http_date;
use crate::analysis::overview::tally::NamedCount;

/// The age of pages when they are fetched, by `Last-Modified`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Age {
    /// Pages with a date that is not in the future.
    pub dated: u64,
    /// Pages without the header, or with a value that is not a date.
    pub undated: u64,
    /// Pages whose date is later than the fetch.
    pub future: u64,
    /// Dated pages in classes, from new to old.
    pub classes: Vec<NamedCount>,
}

const DAY: i64 = 86_400;
/// Names and upper ends of the classes, in seconds: days for new pages, years for old ones. A year is 365.25
/// days.
const CLASSES: [(&str, i64); 7] = [
    ("less than a day", DAY),
    ("less than a week", 7 * DAY),
    ("less than 30 days", 30 * DAY),
    ("less than a year", 31_557_600),
    ("less than 2 years", 2 * 31_557_600),
    ("less than 5 years", 5 * 31_557_600),
    ("5 years or more", i64::MAX),
];
/// Seconds by which the clock of a server may be ahead of ours.
const CLOCK_ERROR: i64 = 60;

#[derive(Default)]
pub(in crate::analysis::overview) struct AgeMaker {
    counts: [u64; CLASSES.len()],
    undated: u64,
    future: u64,
}

impl AgeMaker {
    /// Adds a page. `fetched` is in microseconds since 1970.
    pub(in crate::analysis::overview) fn add(&mut self, last_modified: Option<&str>, fetched: i64) {
        let fetched = fetched.div_euclid(1_000_000);
        let Some(modified) = last_modified.and_then(|text| http_date(text, fetched)) else {
            self.undated += 1;
            return;
        };
        let age = fetched - modified;
        if age < -CLOCK_ERROR {
            self.future += 1;
        } else if let Some(class) = CLASSES.iter().position(|(_, below)| age < *below) {
            self.counts[class] += 1;
        }
    }

    pub(in crate::analysis::overview) fn finish(self) -> Age {
        let counted = |((name, _), count): ((&str, i64), u64)| NamedCount { name: name.to_owned(), count };
        Age {
            dated: self.counts.iter().sum(),
            undated: self.undated,
            future: self.future,
            classes: CLASSES.into_iter().zip(self.counts).map(counted).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_as_old_as_they_say() {
        let mut age = AgeMaker::default();
        let fetched = 784_111_777 * 1_000_000;
        for header in [
            Some("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some("Mon, 31 Oct 1994 08:49:37 GMT"),
            Some("Mon, 07 Nov 1994 08:49:37 GMT"),
            Some("never"),
            None,
        ] {
            age.add(header, fetched);
        }
        let age = age.finish();
        assert_eq!((age.dated, age.undated, age.future), (2, 2, 1));
        assert_eq!((age.classes[0].count, age.classes[1].count), (1, 1));
    }
}
