use std::path::Path;

use super::{list_table, report_failure};
use crate::analysis::{AnalysisError, for_each_host};
use crate::records::{HostRow, Manifest, Row, SurveyState, WholeTable};

/// Computes the table of hosts, unless the survey is finished and its manifest lists it. A failure is
/// reported, but everything else goes on.
pub(in crate::cli) fn write(dir: &Path) {
    // What else is wrong with the folder is reported by what needs it.
    let Ok(manifest) = Manifest::load(dir) else { return };
    if manifest.state != SurveyState::Finished || !manifest.tables.contains_key(HostRow::TABLE) {
        report_failure(dir, HostRow::TABLE, write_anew(dir));
    }
}

fn write_anew(dir: &Path) -> Result<(), AnalysisError> {
    let mut table = WholeTable::begin(dir)?;
    for_each_host(dir, |rows| Ok(table.write(&rows)?))?;
    table.finish()?;
    list_table(dir, HostRow::TABLE)
}
