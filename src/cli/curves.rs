//! The table `curves`, which is drawn from a survey's other tables.

use std::path::Path;

use super::error::one_line;
use super::output::print_message;
use crate::analysis::{AnalysisError, Curves, Grouping, Recorded, Sampling, curve_rows};
use crate::records::units::thousands;
use crate::records::{CurveRow, LinkRow, Manifest, Row, SurveyState, read_curves, row_count, write_curves};

/// Groups of site trees that are told of each grouping, the largest.
pub(super) const MOST_GROUPS: usize = 20;

/// At the end of a survey with more external links its curves are left to `report`. Those of 100 million take more than a
/// minute and 1 GB with those of groups (`reports/large`); a tenth of that is what a small machine has.
const MOST_LINKS: u64 = 10_000_000;

/// With more external links, drawing takes long enough to wonder.
const MANY_LINKS: u64 = 1_000_000;

/// Draws the curves of a survey that has come to its end, unless its manifest says that they are there. Where that
/// does not work, the survey is finished nevertheless: it is said, and that is all.
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
                "the table of curves is not drawn yet: {links} external links take a while; `ccsurvey report {dir}` draws it"
            ));
            return Ok(());
        }
        let recorded = Recorded::with_groups(dir, &Grouping::ALL, MOST_GROUPS)?;
        write(dir, &recorded, &Curves::measure(&recorded, &Sampling::default()))
    };
    report_failure(dir, drawn());
}

/// The groupings of a report's groups, as far as is known before the tables are read: those that were `asked` for if the table of
/// curves is that of a finished survey, else all.
pub(super) fn groupings_for_report(dir: &Path, asked: &[Grouping]) -> Vec<Grouping> {
    let is_there = || row_count(dir, CurveRow::TABLE).is_ok_and(|count| count.rows > 0);
    let has_curves = |manifest: Manifest| {
        let is_told = manifest.tables.contains_key(CurveRow::TABLE);
        manifest.state == SurveyState::Finished && is_told && is_there()
    };
    if Manifest::load(dir).is_ok_and(has_curves) { asked.to_vec() } else { Grouping::ALL.to_vec() }
}

/// Draws the curves for a report, which has `measured` those of the whole survey already, unless the table has the
/// same. Where it cannot be written the report is made nevertheless: it is said, and that is all.
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

/// Whether the manifest tells of the table as far as it has to.
fn is_counted(manifest: &Manifest) -> bool {
    manifest.state != SurveyState::Finished || manifest.tables.contains_key(CurveRow::TABLE)
}

/// How many external links the tables have, as the manifest last told.
fn links(manifest: &Manifest) -> u64 {
    manifest.tables.get(LinkRow::TABLE).map_or(0, |links| links.rows)
}

fn write(dir: &Path, recorded: &Recorded, whole: &Curves) -> Result<(), AnalysisError> {
    let links = links(&recorded.manifest);
    if links > MANY_LINKS {
        print_message(&format!("drawing the curves of all groups from {} external links", thousands(links)));
    }
    let rows = curve_rows(dir, recorded, whole, MOST_GROUPS)?;
    write_curves(dir, &rows)?;
    // The manifest of a survey at work is its own.
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
        print_message(&format!("the table of curves of {} is not written: {error}", dir.display()));
    }
}
