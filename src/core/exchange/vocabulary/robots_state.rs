use super::vocabulary;

vocabulary! {
    /// The result of requesting a robots.txt, and what it forbids this survey: the closed list behind the
    /// columns `robots`.
    pub enum RobotsState {
        /// The file is there and forbids nothing.
        ForbidsNothing = "forbids_nothing",
        /// It forbids some URLs, but not the front page.
        ForbidsSome = "forbids_some",
        /// It forbids the front page, and usually everything.
        ForbidsFrontPage = "forbids_front_page",
        /// There is no such file (4xx), so that nothing is forbidden (RFC 9309 §2.3.1.3).
        NoFile = "no_file",
        /// The request was redirected; where the redirect led has a row of its own.
        Redirected = "redirected",
        /// It could not be fetched (5xx, 429, or no response), so that everything is forbidden (RFC 9309
        /// §2.3.1.4).
        Unreachable = "unreachable",
    }
}
