use serde::Serialize;

use super::Truth;

/// One of the truth's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthTable {
    /// One row per site tree.
    Sites,
    /// One row per depth of a site tree.
    Levels,
    /// One row per external URL of a site tree.
    Links,
    /// One row per host of the world.
    Hosts,
}

impl TruthTable {
    /// All tables, in the order of the survey's tables.
    pub const ALL: [Self; 4] = [Self::Sites, Self::Levels, Self::Links, Self::Hosts];

    /// The name of the table, as in a survey.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sites => "sites",
            Self::Levels => "levels",
            Self::Links => "links",
            Self::Hosts => "hosts",
        }
    }
}

impl Truth {
    /// One table as CSV with a header line; null values are empty.
    #[must_use]
    pub fn to_csv(&self, table: TruthTable) -> String {
        match table {
            TruthTable::Sites => csv(&self.sites),
            TruthTable::Levels => csv(&self.levels),
            TruthTable::Links => csv(&self.links),
            TruthTable::Hosts => csv(&self.hosts),
        }
    }

    /// All tables: an object with an array of rows for each.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "sites": self.sites, "levels": self.levels, "links": self.links, "hosts": self.hosts })
    }
}

/// Writing plain rows to memory cannot fail: they have a fixed number of fields, all of them text or numbers.
fn csv<R: Serialize>(rows: &[R]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        if writer.serialize(row).is_err() {
            return String::new();
        }
    }
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
