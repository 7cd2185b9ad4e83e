//! The table `curves`, which is computed from the other tables of a survey.

use std::path::Path;

use super::error::one_line;
use super::output::print_message;
use crate::analysis::{AnalysisError, Curves, Grouping, Recorded, Sampling, curve_rows};
use crate::records::units::thousands;
use crate::records::{CurveRow, LinkRow, Manifest, Row, SurveyState, read_curves, row_count, write_curves};

/// The number of groups per grouping: the largest ones.
pub(super) const MOST_GROUPS: usize = 20;

/// With more external links, the end of a survey leaves the curves to `report`. With 100 million links, the
/// curves including those of groups take more than a minute and 1 GB (`reports/large`). A small machine can
/// afford a tenth of that.
const MOST_LINKS: u64 = 10_000_000;

/// With more external links, computing the curves takes long enough for a message.
const MANY_LINKS: u64 = 1_000_000;

/// Computes the curves of a finished survey, unless its manifest lists them. A failure is reported, but the
/// survey counts as finished all the same.
pub(super) fn draw_at_the_end(dir: &Path) {
    let drawn = || {
        let manifest = Manifest::load(dir)?;
        if manifest.state != SurveyState::Finished || manifest.tables.contains_key(CurveRow::TABLE) {
            return Ok(());
        }
        let links = links(&manifest);
        if links > MOST_LINKS {
            let (links, dir) = (thousands(links), dir.display());
            print_message(&format!(
                "the table of curves is not written yet, because {links} external links take a while; `ccsurvey report {dir}` writes it"
            ));
            return Ok(());
        }
        let recorded = Recorded::with_groups(dir, &Grouping::ALL, MOST_GROUPS)?;
        write(dir, &recorded, &Curves::measure(&recorded, &Sampling::default()))
    };
    report_failure(dir, drawn());
}

/// The groupings that a report needs, as far as is known before the tables are read: those that were `asked`
/// for if the table of curves belongs to a finished survey, else all.
pub(super) fn groupings_for_report(dir: &Path, asked: &[Grouping]) -> Vec<Grouping> {
    let is_there = || row_count(dir, CurveRow::TABLE).is_ok_and(|count| count.rows > 0);
    let has_curves = |manifest: Manifest| {
        let is_told = manifest.tables.contains_key(CurveRow::TABLE);
        manifest.state == SurveyState::Finished && is_told && is_there()
    };
    if Manifest::load(dir).is_ok_and(has_curves) { asked.to_vec() } else { Grouping::ALL.to_vec() }
}

/// Writes the curves for a report, which has already `measured` those of the whole survey, unless the table
/// has the same ones. A failure is reported, but the report is written all the same.
pub(super) fn draw_for_report(dir: &Path, recorded: &Recorded, measured: &Curves) {
    let usual = Sampling::default();
    let other;
    let whole = if measured.sampling == usual {
        measured
    } else {
        other = Curves::measure(recorded, &usual);
        &other
    };
    let drawn = || {
        let there = read_curves(dir).unwrap_or_default();
        if there.starts_with(&whole.rows(&recorded.completeness())) && is_counted(&Manifest::load(dir)?) {
            return Ok(());
        }
        write(dir, recorded, whole)
    };
    report_failure(dir, drawn());
}

/// Whether the manifest lists the table, which only that of a finished survey must do.
fn is_counted(manifest: &Manifest) -> bool {
    manifest.state != SurveyState::Finished || manifest.tables.contains_key(CurveRow::TABLE)
}

/// The number of external links in the tables, according to the manifest.
fn links(manifest: &Manifest) -> u64 {
    manifest.tables.get(LinkRow::TABLE).map_or(0, |links| links.rows)
}

fn write(dir: &Path, recorded: &Recorded, whole: &Curves) -> Result<(), AnalysisError> {
    let links = links(&recorded.manifest);
    if links > MANY_LINKS {
        print_message(&format!(
            "computing the curves of all groups from {} external links",
            thousands(links)
        ));
    }
    let rows = curve_rows(dir, recorded, whole, MOST_GROUPS)?;
    write_curves(dir, &rows)?;
    // The manifest of a running survey belongs to that survey.
    let mut manifest = Manifest::load(dir)?;
    if manifest.state == SurveyState::Finished {
        manifest.tables.insert(CurveRow::TABLE.to_owned(), row_count(dir, CurveRow::TABLE)?);
        manifest.save(dir)?;
    }
    Ok(())
}

fn report_failure(dir: &Path, drawn: Result<(), AnalysisError>) {
    if let Err(error) = drawn {
        let error = one_line(&error.to_string());
        print_message(&format!("cannot write the table of curves of {}: {error}", dir.display()));
    }
}
