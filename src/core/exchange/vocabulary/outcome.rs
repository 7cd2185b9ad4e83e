use super::vocabulary;

vocabulary! {
    /// Why the walk of a site ended: the closed list behind the column `outcome`.
    pub enum Outcome in OutcomeGroup {
        /// Pages arrived, and no link was left to follow.
        Complete = "complete" in Whole,
        /// Links were left below the deepest level that the survey walks.
        Depth = "depth" in Cut,
        /// The budget of requests was used up: that of the site, or that of the survey before a page came.
        RequestBudget = "request_budget" in Cut,
        /// The budget of bytes was used up.
        ByteBudget = "byte_budget" in Cut,
        /// The time budget of the site was used up.
        TimeBudget = "time_budget" in Cut,
        /// Several levels in a row brought no new external URL.
        Stable = "stable" in Cut,
        /// No link was left that promised to be worth a request: only with `--depth auto`, `--budget` or
        /// `--focus`.
        Yield = "yield" in Cut,
        /// Only links of traps were left, or more URLs were found than `--max-urls` allows.
        Trap = "trap" in Cut,
        /// robots.txt forbids the site's entrances.
        Robots = "robots" in Whole,
        /// The site redirects to another one.
        Moved = "moved" in Whole,
        /// No entrance of the site responded, or the site stopped responding.
        Unreachable = "unreachable" in Cut,
        /// The site opted out, before or during its walk, or only links to hosts that opted out were left.
        OptOut = "opt_out" in Cut,
        /// The survey was resumed with other settings, with which the walk would have sent other requests.
        Interrupted = "interrupted" in Cut,
        /// The site's servers responded in some way, even if only with a TLS version that is too old, but no
        /// entrance brought a page.
        NoPage = "no_page" in Whole,
        /// An error of this program ended the walk of this site.
        Failed = "failed" in Cut,
        /// The server turned the survey away after it had delivered pages: it refused about twenty requests
        /// in a row, or was given up because of its responses.
        Refused = "refused" in Cut,
    }
}

vocabulary! {
    /// What an outcome says about a tree that has pages.
    pub enum OutcomeGroup {
        /// The tree was walked to its end: there is nothing below it.
        Whole = "whole",
        /// The tree was cut: what is below its last level is unknown.
        Cut = "cut",
    }
}
