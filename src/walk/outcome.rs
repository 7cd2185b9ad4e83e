use crate::exchange::vocabulary;

vocabulary! {
    /// Why the walk of a site ended: the closed list behind the column `outcome`.
    pub enum Outcome {
        /// Pages came, and no link was left to follow.
        Complete = "complete",
        /// Links were left below the deepest level that the survey walks.
        Depth = "depth",
        /// The budget of requests was used up.
        RequestBudget = "request_budget",
        /// The budget of bytes was used up.
        ByteBudget = "byte_budget",
        /// The time of the site was over.
        TimeBudget = "time_budget",
        /// Several levels in a row brought no new external link.
        Stable = "stable",
        /// No link was left that promised to be worth a request: only with `--depth auto` or `--focus`.
        Yield = "yield",
        /// No link was left but those of traps; or more URLs were found than a site is allowed to have.
        Trap = "trap",
        /// robots.txt keeps us from the site's entrances.
        Robots = "robots",
        /// The site redirects to another one.
        Moved = "moved",
        /// No answer from any entrance of the site, or none any more.
        Unreachable = "unreachable",
        /// The site opted out.
        OptOut = "opt_out",
        /// The survey went on with other settings, by which the walk would have asked something else.
        Interrupted = "interrupted",
        /// The site's servers said something, be it that their TLS is too old, and no entrance brought a page.
        NoPage = "no_page",
        /// An error of this program in the walk of this site.
        Failed = "failed",
    }
}
