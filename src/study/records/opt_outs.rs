use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Timestamp, durable};

/// A line of `DIR/opt-out.csv`: a name or address that opted out, and since when the survey obeys it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptOutRecord {
    /// A host name and all names below it, an address, a network, or an autonomous system such as `AS64500`.
    pub entry: String,
    /// The date beside the entry in the user's list.
    pub date: Option<String>,
    /// No request to the entry starts after this time.
    pub since: Timestamp,
    /// When the entry was removed from the list.
    pub until: Option<Timestamp>,
}

/// Reads the file. A missing file is an empty list.
///
/// # Errors
/// If the file exists but cannot be read, or is not in this format.
pub fn read_opt_outs(path: &Path) -> io::Result<Vec<OptOutRecord>> {
    match fs::read(path) {
        Ok(bytes) => csv::Reader::from_reader(bytes.as_slice())
            .deserialize()
            .collect::<Result<_, _>>()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Replaces the file in one step.
///
/// # Errors
/// If the file cannot be written. The old one is then still there.
pub fn write_opt_outs(path: &Path, records: &[OptOutRecord]) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(Vec::new());
    for record in records {
        out.serialize(record).map_err(io::Error::other)?;
    }
    let bytes = out.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    durable::replace(path, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_comes_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("opt-out.csv");
        assert_eq!(read_opt_outs(&path).unwrap(), []);
        let record = |entry: &str, date: Option<&str>, until| OptOutRecord {
            entry: entry.to_owned(),
            date: date.map(ToOwned::to_owned),
            since: Timestamp(1_000_000),
            until,
        };
        let records =
            [record("a.ke", Some("2026-11-02"), None), record("AS64500", None, Some(Timestamp(2_500_000)))];
        write_opt_outs(&path, &records).unwrap();
        assert_eq!(read_opt_outs(&path).unwrap(), records);
        fs::write(&path, "entry,date,since,until\na.ke,,yesterday,\n").unwrap();
        assert!(read_opt_outs(&path).unwrap_err().to_string().contains("yesterday"));
    }
}
