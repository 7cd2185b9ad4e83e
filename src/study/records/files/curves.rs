use std::path::Path;

use super::layout::folder;
use crate::records::table::table;
use crate::records::{Row, TablesError, read_table};

table! {
    /// A row per group of site trees and depth: the summed cost and yield of levels 0 to this depth,
    /// robots.txt included. Computed from the other tables when a survey is finished, and by `report` from
    /// the rows that exist at that time; removed when the survey continues. A `pair` column counts a thing
    /// once in every site tree, a `union` column once in the group; addresses belong to no tree and have no
    /// pair. Nothing is known about levels deeper than those walked: shares end at 1. Intervals are over site
    /// trees; where a share has none, a column gives the reason.
    CurveRow in "curves";

    /// The property that defines the groups: `survey` for the whole survey, or `cctld`, `generation`,
    /// `country`, `network`, `software`, `pages`.
    grouped_by: String, "", "cctld", "0.1";
    /// The name of the group: `all` for the whole survey; otherwise one of the groups with the most trees, or
    /// `all others`.
    group_name: String, "", "ke", "0.1";
    /// Site trees of the group.
    trees: u64, "trees", "171", "0.1";
    /// The deepest level that is included.
    depth: u16, "links", "2", "0.1";
    /// Requests of levels 0 to this depth, redirects and robots.txt included. The robots.txt of a host counts
    /// at the level of the page that was requested next.
    requests: u64, "requests", "3483", "0.1";
    /// Bytes of the same requests on the wire, both ways.
    bytes: u64, "bytes", "14440112", "0.1";
    /// Busy time of servers, summed over the same requests.
    busy_ms: f64, "ms", "8022.5", "0.1";
    /// Pages of these levels that were read.
    pages: u64, "pages", "2922", "0.1";
    /// Requests to this depth as a share of those to the deepest level walked, from 0 to 1.
    requests_share: f64, "", "0.273", "0.1";
    /// The lower end of its interval; null where there is none.
    requests_share_low: Option<f64>, "", "0.198", "0.1";
    /// The upper end of its interval.
    requests_share_high: Option<f64>, "", "0.348", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    requests_share_corrected: f64, "", "0.261", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    requests_share_no_interval: Option<String>, "", "few_below", "0.1";
    /// Bytes to this depth as a share of those to the deepest level walked, from 0 to 1.
    bytes_share: f64, "", "0.251", "0.1";
    /// The lower end of its interval; null where there is none.
    bytes_share_low: Option<f64>, "", "0.180", "0.1";
    /// The upper end of its interval.
    bytes_share_high: Option<f64>, "", "0.331", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    bytes_share_corrected: f64, "", "0.240", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    bytes_share_no_interval: Option<String>, "", "few_below", "0.1";
    /// Busy time to this depth as a share of that to the deepest level walked, from 0 to 1.
    busy_share: f64, "", "0.262", "0.1";
    /// The lower end of its interval; null where there is none.
    busy_share_low: Option<f64>, "", "0.190", "0.1";
    /// The upper end of its interval.
    busy_share_high: Option<f64>, "", "0.340", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    busy_share_corrected: f64, "", "0.250", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    busy_share_no_interval: Option<String>, "", "few_below", "0.1";
    /// URL pairs to this depth: external URLs, each once in every site tree that links to it.
    pair_urls: u64, "URLs", "1144", "0.1";
    /// Host pairs to this depth: hosts of external URLs, each once in every site tree that links to it.
    pair_hosts: u64, "hosts", "1144", "0.1";
    /// Site pairs to this depth: sites of external URLs, each once in every site tree that links to it.
    pair_sites: u64, "sites", "1144", "0.1";
    /// External URLs of the group to this depth, each once.
    union_urls: u64, "URLs", "922", "0.1";
    /// Hosts of external URLs of the group to this depth, each once.
    union_hosts: u64, "hosts", "922", "0.1";
    /// Sites of external URLs of the group to this depth, each once.
    union_sites: u64, "sites", "922", "0.1";
    /// Server addresses of linked hosts to which the group sent requests down to this depth, each once.
    union_addresses: u64, "addresses", "922", "0.1";
    /// `pair_urls` as a share of its value at the deepest level walked, from 0 to 1.
    pair_urls_coverage: f64, "", "0.911", "0.1";
    /// The lower end of its interval; null where there is none.
    pair_urls_coverage_low: Option<f64>, "", "0.868", "0.1";
    /// The upper end of its interval.
    pair_urls_coverage_high: Option<f64>, "", "0.942", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    pair_urls_coverage_corrected: f64, "", "0.902", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    pair_urls_coverage_no_interval: Option<String>, "", "few_below", "0.1";
    /// `pair_hosts` as a share of its value at the deepest level walked, from 0 to 1.
    pair_hosts_coverage: f64, "", "0.911", "0.1";
    /// The lower end of its interval; null where there is none.
    pair_hosts_coverage_low: Option<f64>, "", "0.868", "0.1";
    /// The upper end of its interval.
    pair_hosts_coverage_high: Option<f64>, "", "0.942", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    pair_hosts_coverage_corrected: f64, "", "0.902", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    pair_hosts_coverage_no_interval: Option<String>, "", "few_below", "0.1";
    /// `pair_sites` as a share of its value at the deepest level walked, from 0 to 1.
    pair_sites_coverage: f64, "", "0.911", "0.1";
    /// The lower end of its interval; null where there is none.
    pair_sites_coverage_low: Option<f64>, "", "0.868", "0.1";
    /// The upper end of its interval.
    pair_sites_coverage_high: Option<f64>, "", "0.942", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    pair_sites_coverage_corrected: f64, "", "0.902", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    pair_sites_coverage_no_interval: Option<String>, "", "few_below", "0.1";
    /// `union_urls` as a share of its value at the deepest level walked, from 0 to 1.
    union_urls_coverage: f64, "", "0.911", "0.1";
    /// The lower end of its interval; null where there is none.
    union_urls_coverage_low: Option<f64>, "", "0.868", "0.1";
    /// The upper end of its interval.
    union_urls_coverage_high: Option<f64>, "", "0.942", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    union_urls_coverage_corrected: f64, "", "0.902", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    union_urls_coverage_no_interval: Option<String>, "", "few_below", "0.1";
    /// `union_hosts` as a share of its value at the deepest level walked, from 0 to 1.
    union_hosts_coverage: f64, "", "0.911", "0.1";
    /// The lower end of its interval; null where there is none.
    union_hosts_coverage_low: Option<f64>, "", "0.868", "0.1";
    /// The upper end of its interval.
    union_hosts_coverage_high: Option<f64>, "", "0.942", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    union_hosts_coverage_corrected: f64, "", "0.902", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    union_hosts_coverage_no_interval: Option<String>, "", "few_below", "0.1";
    /// `union_sites` as a share of its value at the deepest level walked, from 0 to 1.
    union_sites_coverage: f64, "", "0.911", "0.1";
    /// The lower end of its interval; null where there is none.
    union_sites_coverage_low: Option<f64>, "", "0.868", "0.1";
    /// The upper end of its interval.
    union_sites_coverage_high: Option<f64>, "", "0.942", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    union_sites_coverage_corrected: f64, "", "0.902", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    union_sites_coverage_no_interval: Option<String>, "", "few_below", "0.1";
    /// `union_addresses` as a share of its value at the deepest level walked, from 0 to 1.
    union_addresses_coverage: f64, "", "0.911", "0.1";
    /// The lower end of its interval; null where there is none.
    union_addresses_coverage_low: Option<f64>, "", "0.868", "0.1";
    /// The upper end of its interval.
    union_addresses_coverage_high: Option<f64>, "", "0.942", "0.1";
    /// The estimated share among all sites like these, without most of the bias that a few large site trees
    /// cause.
    union_addresses_coverage_corrected: f64, "", "0.902", "0.1";
    /// Why the share has no interval: `one_site` (all trees are of one site), `few_trees` (few trees
    /// contribute to it), `largest_tree` (one tree has more than half of it), `few_below` or `few_above` (few
    /// trees contribute below the depth, or down to it). Null where it has an interval or is 1 by definition.
    union_addresses_coverage_no_interval: Option<String>, "", "few_below", "0.1";
    /// The confidence level of the intervals: the share of such surveys whose intervals contain the true
    /// value.
    confidence: f64, "", "0.95", "0.1";
    /// Whether the curves cover only part of the site trees: the survey was not finished when they were
    /// computed, or a budget that trees share ended some of the trees. The remaining trees are no random
    /// sample (small sites end first), so shares and intervals hold for them and not for the survey. Null
    /// where an earlier version computed the curves.
    is_partial: Option<bool>, "", "false", "0.1";
}

/// Reads the table of curves. A missing table has no rows.
///
/// # Errors
/// If a file of the table cannot be read.
pub fn read_curves(dir: &Path) -> Result<Vec<CurveRow>, TablesError> {
    if !folder(dir, CurveRow::TABLE).is_dir() {
        return Ok(Vec::new());
    }
    let pieces: Vec<Vec<CurveRow>> = read_table(dir)?.collect::<Result<_, _>>()?;
    Ok(pieces.concat())
}
