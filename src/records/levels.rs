use super::table::table;

table! {
    /// A row per site tree and depth level: what the level cost and what it brought. Internal URLs are
    /// those of this depth, and each is in exactly one of fetched and the not_fetched columns. A row one
    /// below the last level walked holds what was found there and not asked for: URLs that lie too deep or
    /// came too late for a limit, and those that only nofollow links lead to, which have no depth.
    LevelRow in "levels";

    /// The site of the tree.
    site: String, "", "example.ke", "0.1";
    /// Links followed from the start URL.
    depth: u16, "links", "2", "0.1";
    /// Requests for pages of this level, redirects included, robots.txt not.
    requests: u64, "requests", "14", "0.1";
    /// Pages of this level that were read.
    pages: u64, "pages", "12", "0.1";
    /// Bytes received on the wire for these requests.
    received_bytes: u64, "bytes", "210442", "0.1";
    /// Busy time of servers, summed over these requests.
    busy_ms: f64, "ms", "8022.5", "0.1";
    /// Internal URLs of this depth; at depth 0 the start URL.
    internal_urls: u64, "URLs", "31", "0.1";
    /// External URLs found at this level and at none above it.
    external_urls: u64, "URLs", "9", "0.1";
    /// Hosts of external URLs found at this level and at none above it.
    external_hosts: u64, "hosts", "4", "0.1";
    /// Sites of external URLs found at this level and at none above it.
    external_sites: u64, "sites", "3", "0.1";
    /// Internal URLs that were asked for, whatever came of it.
    fetched: u64, "URLs", "14", "0.1";
    /// Internal URLs that robots.txt forbids.
    not_fetched_robots: u64, "URLs", "2", "0.1";
    /// Internal URLs of a host whose robots.txt could not be fetched: everything is then forbidden.
    not_fetched_robots_unreachable: u64, "URLs", "0", "0.1";
    /// Internal URLs that only links marked nofollow lead to.
    not_fetched_nofollow: u64, "URLs", "0", "0.1";
    /// Internal URLs that the survey's filters leave out: their file names say that they are not HTML, or a
    /// pattern excludes them.
    not_fetched_filtered: u64, "URLs", "4", "0.1";
    /// Query URLs of a script of which enough were fetched.
    not_fetched_script: u64, "URLs", "11", "0.1";
    /// Internal URLs below the depth of the survey.
    not_fetched_depth: u64, "URLs", "0", "0.1";
    /// Internal URLs left when a budget of the site was used up, or the walk was stopped.
    not_fetched_limit: u64, "URLs", "3", "0.1";
    /// Internal URLs of a trap: paths that repeat themselves, and patterns that lead only to more of themselves.
    not_fetched_trap: u64, "URLs", "1", "0.1";
    /// Internal URLs of a host or address on the opt-out list.
    not_fetched_opt_out: u64, "URLs", "0", "0.1";
    /// Internal URLs behind more redirects than are followed.
    not_fetched_redirects: u64, "URLs", "0", "0.1";
    /// Bytes sent on the wire for these requests.
    sent_bytes: u64, "bytes", "3020", "0.1";
    /// Connections opened for these requests.
    connections: u64, "connections", "2", "0.1";
    /// Which of the site's start URLs the tree grew from, 0 the first.
    seed: u16, "", "0", "0.1";
    /// Internal URLs of a host that shows the same pages as another host of the site, on which they are known.
    not_fetched_mirror: u64, "URLs", "0", "0.1";
    /// Internal URLs that did not promise to be worth a request, with `--depth auto` or `--focus`.
    not_fetched_yield: Option<u64>, "URLs", "40", "0.1";
    /// External hosts, new in the tree, that the pages of `not_fetched_yield` were expected to bring themselves. What
    /// they would have led to is not in it.
    expected_external_hosts: Option<f64>, "hosts", "0.7", "0.1";
}

impl LevelRow {
    /// Internal URLs of this level that were found but not fetched, for whatever reason.
    #[must_use]
    pub fn not_fetched(&self) -> u64 {
        self.not_fetched_robots
            + self.not_fetched_robots_unreachable
            + self.not_fetched_nofollow
            + self.not_fetched_filtered
            + self.not_fetched_script
            + self.not_fetched_depth
            + self.not_fetched_limit
            + self.not_fetched_trap
            + self.not_fetched_mirror
            + self.not_fetched_opt_out
            + self.not_fetched_redirects
            + self.not_fetched_yield.unwrap_or_default()
    }

    /// Whether every internal URL is in exactly one class, as far as sums can tell.
    #[must_use]
    pub fn reconciles(&self) -> bool {
        self.internal_urls == self.fetched + self.not_fetched()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnType, Row};
    use super::*;

    #[test]
    fn every_reason_of_the_table_is_in_the_sum() {
        let reasons = LevelRow::COLUMNS.iter().filter(|column| column.name.starts_with("not_fetched_"));
        let one_each = LevelRow {
            not_fetched_robots: 1,
            not_fetched_robots_unreachable: 1,
            not_fetched_nofollow: 1,
            not_fetched_filtered: 1,
            not_fetched_script: 1,
            not_fetched_depth: 1,
            not_fetched_limit: 1,
            not_fetched_trap: 1,
            not_fetched_mirror: 1,
            not_fetched_opt_out: 1,
            not_fetched_redirects: 1,
            not_fetched_yield: Some(1),
            ..LevelRow::default()
        };
        assert_eq!(reasons.filter(|column| column.column_type == ColumnType::U64).count(), 12);
        assert_eq!(one_each.not_fetched(), 12);
        assert!(!one_each.reconciles());
        assert!(LevelRow { internal_urls: 13, fetched: 1, ..one_each }.reconciles());
    }
}
