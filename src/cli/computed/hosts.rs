use std::path::Path;

use super::{list_table, report_failure};
use crate::analysis::{AnalysisError, for_each_host};
use crate::records::{HostRow, Manifest, Row, SurveyState, WholeTable, row_count};

/// Computes the table of hosts, unless the survey is finished and its manifest lists it. A failure is
/// reported, but everything else goes on.
pub(in crate::cli) fn write(dir: &Path) {
    // What else is wrong with the folder is reported by what needs it.
    let Ok(manifest) = Manifest::load(dir) else { return };
    let listed = manifest.tables.get(HostRow::TABLE);
    let is_finished = manifest.state == SurveyState::Finished;
    if !is_finished || listed.is_none() || row_count(dir, HostRow::TABLE).ok() != listed.copied() {
        report_failure(dir, HostRow::TABLE, write_anew(dir, is_finished));
    }
}

fn write_anew(dir: &Path, is_finished: bool) -> Result<(), AnalysisError> {
    let mut table = WholeTable::begin(dir)?;
    for_each_host(dir, |rows| Ok(table.write(&rows)?))?;
    table.finish()?;
    // If the survey ended meanwhile, the table lacks its last sites.
    if is_finished { list_table(dir, HostRow::TABLE) } else { Ok(()) }
}
