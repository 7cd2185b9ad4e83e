//! The tables that are computed from the other tables of a survey: `curves` and `hosts`.

pub(super) mod curves;
pub(super) mod hosts;

use std::path::Path;

use super::error::one_line;
use super::output::print_message;
use crate::analysis::AnalysisError;
use crate::records::units::thousands;
use crate::records::{CurveRow, LinkRow, Manifest, Row, SurveyState, row_count};

/// With more external links, the end of a survey leaves these tables to `report`. With 100 million links, the
/// curves including those of groups take more than a minute and 1 GB (`reports/large`). A small machine can
/// afford a tenth of that.
const MAX_LINKS: u64 = 10_000_000;

/// Computes the tables of a finished survey, unless its manifest lists them.
pub(super) fn write_at_end(dir: &Path) {
    let Ok(manifest) = Manifest::load(dir) else { return };
    if manifest.state != SurveyState::Finished || manifest.tables.contains_key(CurveRow::TABLE) {
        return;
    }
    let links = links(&manifest);
    if links > MAX_LINKS {
        let (links, dir) = (thousands(links), dir.display());
        print_message(&format!(
            "the tables of curves and hosts are not written yet, because {links} external links take a while; `ccsurvey report {dir}` writes them"
        ));
        return;
    }
    hosts::write(dir);
    curves::write_at_end(dir);
}

/// The number of external links in the tables, according to the manifest.
fn links(manifest: &Manifest) -> u64 {
    manifest.tables.get(LinkRow::TABLE).map_or(0, |links| links.rows)
}

/// Adds a table to the manifest of a finished survey. That of a running survey belongs to that survey.
fn list_table(dir: &Path, table: &str) -> Result<(), AnalysisError> {
    let mut manifest = Manifest::load(dir)?;
    if manifest.state == SurveyState::Finished {
        manifest.tables.insert(table.to_owned(), row_count(dir, table)?);
        manifest.save(dir)?;
    }
    Ok(())
}

/// Reports that a table could not be written. Whatever else there is to do goes on.
pub(super) fn report_failure(dir: &Path, table: &str, written: Result<(), AnalysisError>) {
    if let Err(error) = written {
        let error = one_line(&error.to_string());
        print_message(&format!("cannot write the table of {table} of {}: {error}", dir.display()));
    }
}
