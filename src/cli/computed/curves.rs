use std::path::Path;

use super::{links, list_table, report_failure};
use crate::analysis::{AnalysisError, Curves, Grouping, Recorded, Sampling, curve_rows};
use crate::cli::output::print_message;
use crate::records::units::thousands;
use crate::records::{CurveRow, Manifest, Row, SurveyState, read_curves, row_count, write_table};

/// The number of groups per grouping: the largest ones.
pub(in crate::cli) const MAX_GROUPS: usize = 20;

/// With more external links, computing the curves takes long enough for a message.
const MANY_LINKS: u64 = 1_000_000;

/// Computes the curves of a survey that has just finished. A failure is reported, but the survey counts as
/// finished all the same.
pub(super) fn write_at_end(dir: &Path) {
    let written = || {
        let recorded = Recorded::with_groups(dir, &Grouping::ALL, MAX_GROUPS)?;
        write(dir, &recorded, &Curves::measure(&recorded, &Sampling::default()))
    };
    report_failure(dir, CurveRow::TABLE, written());
}

/// The groupings that a report needs, as far as is known before the tables are read: the `requested` ones if
/// the table of curves belongs to a finished survey, else all.
pub(in crate::cli) fn groupings_for_report(dir: &Path, requested: &[Grouping]) -> Vec<Grouping> {
    let has_rows = || row_count(dir, CurveRow::TABLE).is_ok_and(|count| count.rows > 0);
    let has_curves = |manifest: Manifest| {
        let is_listed = manifest.tables.contains_key(CurveRow::TABLE);
        manifest.state == SurveyState::Finished && is_listed && has_rows()
    };
    if Manifest::load(dir).is_ok_and(has_curves) { requested.to_vec() } else { Grouping::ALL.to_vec() }
}

/// Writes the curves for a report, which has already `measured` those of the whole survey, unless the table
/// has the same ones. A failure is reported, but the report is written all the same.
pub(in crate::cli) fn write_for_report(dir: &Path, recorded: &Recorded, measured: &Curves) {
    let default_sampling = Sampling::default();
    let remeasured;
    let whole = if measured.sampling == default_sampling {
        measured
    } else {
        remeasured = Curves::measure(recorded, &default_sampling);
        &remeasured
    };
    let written = || {
        let existing = read_curves(dir).unwrap_or_default();
        if existing.starts_with(&whole.rows(&recorded.completeness()))
            && is_listed_if_required(&Manifest::load(dir)?)
        {
            return Ok(());
        }
        write(dir, recorded, whole)
    };
    report_failure(dir, CurveRow::TABLE, written());
}

/// Whether the manifest lists the table, which only that of a finished survey must do.
fn is_listed_if_required(manifest: &Manifest) -> bool {
    manifest.state != SurveyState::Finished || manifest.tables.contains_key(CurveRow::TABLE)
}

fn write(dir: &Path, recorded: &Recorded, whole: &Curves) -> Result<(), AnalysisError> {
    let links = links(&recorded.manifest);
    if links > MANY_LINKS {
        print_message(&format!(
            "computing the curves of all groups from {} external links",
            thousands(links)
        ));
    }
    let rows = curve_rows(dir, recorded, whole, MAX_GROUPS)?;
    write_table(dir, &rows)?;
    list_table(dir, CurveRow::TABLE)
}
