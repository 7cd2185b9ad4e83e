use std::path::Path;

use crate::analysis::{
    AnalysisError, Completeness, CurveLevel, Curves, Estimate, GroupedCurves, Grouping, Recorded,
};
use crate::records::CurveRow;

/// The grouping of the whole survey, and its only group.
const WHOLE_SURVEY: [&str; 2] = ["survey", "all"];

impl Curves {
    /// The rows of the table `curves` for these curves of the whole survey. `completeness` is the
    /// completeness of the survey.
    #[must_use]
    pub fn rows(&self, completeness: &Completeness) -> Vec<CurveRow> {
        let [grouped_by, group_name] = WHOLE_SURVEY;
        self.rows_of(grouped_by, group_name, completeness)
    }

    fn rows_of(&self, grouped_by: &str, group_name: &str, completeness: &Completeness) -> Vec<CurveRow> {
        let row = |level| CurveRow {
            grouped_by: grouped_by.to_owned(),
            group_name: group_name.to_owned(),
            trees: self.trees,
            confidence: self.sampling.confidence,
            is_partial: Some(completeness.is_partial()),
            ..level_row(level)
        };
        self.levels.iter().map(row).collect()
    }
}

/// The table `curves` of a survey: the curves of all its trees (`survey_curves`) and, for every grouping, the
/// curves of the `max_groups` largest groups and of all others together.
///
/// # Errors
/// The table of links cannot be read.
pub fn curve_rows(
    dir: &Path,
    recorded: &Recorded,
    survey_curves: &Curves,
    max_groups: usize,
) -> Result<Vec<CurveRow>, AnalysisError> {
    let completeness = recorded.completeness();
    let (mut rows, grouped) =
        (survey_curves.rows(&completeness), GroupedCurves::new(dir, recorded, survey_curves));
    for by in Grouping::ALL {
        for (name, curves) in grouped.by(by, max_groups)? {
            rows.extend(curves.rows_of(by.word(), &name, &completeness));
        }
    }
    Ok(rows)
}

fn level_row(level: &CurveLevel) -> CurveRow {
    let [pair_urls, pair_hosts, pair_sites] = level.found;
    let [union_urls, union_hosts, union_sites, union_addresses] = level.known;
    let mut row = CurveRow {
        depth: level.depth,
        requests: level.requests,
        bytes: level.bytes,
        busy_ms: level.busy_ms,
        pages: level.pages,
        pair_urls,
        pair_hosts,
        pair_sites,
        union_urls,
        union_hosts,
        union_sites,
        union_addresses,
        ..CurveRow::default()
    };
    add_shares(&mut row, level);
    row
}

/// Sets the shares, with the ends of their intervals or the reason why they have none.
#[rustfmt::skip]
fn add_shares(row: &mut CurveRow, level: &CurveLevel) {
    let share_columns = |share: Estimate| {
        let interval = share.interval();
        let reason = share.no_interval.map(|reason| reason.word().to_owned());
        (share.value, interval.map(|(low, _)| low), interval.map(|(_, high)| high), share.corrected, reason)
    };
    let ([requests, bytes, busy], [urls, hosts, sites]) = (level.load.map(share_columns), level.pair.map(share_columns));
    (row.requests_share, row.requests_share_low, row.requests_share_high, row.requests_share_corrected, row.requests_share_no_interval) = requests;
    (row.bytes_share, row.bytes_share_low, row.bytes_share_high, row.bytes_share_corrected, row.bytes_share_no_interval) = bytes;
    (row.busy_share, row.busy_share_low, row.busy_share_high, row.busy_share_corrected, row.busy_share_no_interval) = busy;
    (row.pair_urls_coverage, row.pair_urls_coverage_low, row.pair_urls_coverage_high, row.pair_urls_coverage_corrected, row.pair_urls_coverage_no_interval) = urls;
    (row.pair_hosts_coverage, row.pair_hosts_coverage_low, row.pair_hosts_coverage_high, row.pair_hosts_coverage_corrected, row.pair_hosts_coverage_no_interval) = hosts;
    (row.pair_sites_coverage, row.pair_sites_coverage_low, row.pair_sites_coverage_high, row.pair_sites_coverage_corrected, row.pair_sites_coverage_no_interval) = sites;
    let [urls, hosts, sites, addresses] = level.union.map(share_columns);
    (row.union_urls_coverage, row.union_urls_coverage_low, row.union_urls_coverage_high, row.union_urls_coverage_corrected, row.union_urls_coverage_no_interval) = urls;
    (row.union_hosts_coverage, row.union_hosts_coverage_low, row.union_hosts_coverage_high, row.union_hosts_coverage_corrected, row.union_hosts_coverage_no_interval) = hosts;
    (row.union_sites_coverage, row.union_sites_coverage_low, row.union_sites_coverage_high, row.union_sites_coverage_corrected, row.union_sites_coverage_no_interval) = sites;
    (row.union_addresses_coverage, row.union_addresses_coverage_low, row.union_addresses_coverage_high, row.union_addresses_coverage_corrected, row.union_addresses_coverage_no_interval) = addresses;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Sampling;
    use crate::analysis::curves::worlds::{country, survey, tree};

    #[test]
    fn a_row_says_what_the_level_of_the_curve_says() {
        let recorded = survey(&country(60, 5, 3));
        let curves = Curves::measure(&recorded, &Sampling::default());
        let (rows, levels) = (curves.rows(&recorded.completeness()), &curves.levels);
        assert_eq!(rows.len(), levels.len());
        for (row, level) in rows.iter().zip(levels) {
            assert_eq!((row.grouped_by.as_str(), row.group_name.as_str(), row.trees), ("survey", "all", 60));
            assert_eq!([row.requests, row.bytes, row.pages], [level.requests, level.bytes, level.pages]);
            assert_eq!([row.pair_urls, row.pair_hosts, row.pair_sites], level.found);
            let known = [row.union_urls, row.union_hosts, row.union_sites, row.union_addresses];
            assert_eq!(known, level.known);
            let [busy, hosts] = [level.load[2], level.union[1]];
            let ends = |share: Estimate| {
                let is_exact = share.low >= share.high;
                (share.value, (!is_exact).then_some(share.low), (!is_exact).then_some(share.high))
            };
            let busy = ends(busy);
            assert_eq!((row.busy_share, row.busy_share_low, row.busy_share_high), busy);
            let hosts = ends(hosts);
            let row_ends =
                (row.union_hosts_coverage, row.union_hosts_coverage_low, row.union_hosts_coverage_high);
            assert_eq!(row_ends, hosts);
            assert_eq!((row.confidence, row.pair_sites_coverage), (0.95, level.pair[2].value));
            assert_eq!(row.is_partial, Some(true), "the survey has only begun");
            let [requests, addresses] = [level.load[0], level.union[3]];
            assert_eq!(row.requests_share_corrected, requests.corrected);
            assert_eq!(row.union_addresses_coverage_corrected, addresses.corrected);
            let reason = addresses.no_interval.map(|reason| reason.word().to_owned());
            assert_eq!(row.union_addresses_coverage_no_interval, reason);
        }
    }

    #[test]
    fn a_single_site_has_no_interval() {
        let recorded = survey(&[tree("complete", &[(2, &[1, 2]), (2, &[4])])]);
        let row = &Curves::measure(&recorded, &Sampling::default()).rows(&recorded.completeness())[0];
        assert_eq!(
            (row.requests_share, row.requests_share_low, row.union_urls_coverage_high),
            (0.5, None, None)
        );
        let [of_load, of_urls] = [&row.requests_share_no_interval, &row.union_urls_coverage_no_interval];
        assert_eq!([of_load.as_deref(), of_urls.as_deref()], [Some("one_site"); 2]);
        assert_eq!(
            (row.requests_share_corrected, row.union_urls_coverage_corrected),
            (0.5, row.union_urls_coverage)
        );
    }
}
