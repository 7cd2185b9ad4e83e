/// How an internal URL ended: fetched, or the one reason why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// It was asked for, whatever came of it.
    Fetched,
    /// robots.txt disallows it, or wants a longer pause between requests than the survey makes.
    Robots,
    /// Its host's robots.txt could not be had, which means *disallow all* (RFC 9309 §2.3.1.4).
    RobotsUnreachable,
    /// Only `nofollow` links lead to it.
    Nofollow,
    /// The survey's filters leave it out: it looks as if it were no HTML, or a pattern says so.
    Filtered,
    /// The query URLs of its script are used up.
    Script,
    /// It lies deeper than the survey walks.
    Depth,
    /// The walk ended before its turn: a budget, a limit, a server that stopped answering.
    Limit,
    /// Its path repeats itself or has more segments than a site's own paths have, or it is of a shape that begets
    /// only itself.
    Trap,
    /// Its host shows the same pages as another host of the site, on which this page is known.
    Mirror,
    /// Its host opted out.
    OptOut,
    /// It stands at the end of too many redirects.
    Redirects,
    /// What it promised was not worth a request.
    Yield,
}

impl Class {
    /// Every class, in the order of the columns.
    pub const ALL: [Self; 13] = [
        Self::Fetched,
        Self::Robots,
        Self::RobotsUnreachable,
        Self::Nofollow,
        Self::Filtered,
        Self::Script,
        Self::Depth,
        Self::Limit,
        Self::Trap,
        Self::Mirror,
        Self::OptOut,
        Self::Redirects,
        Self::Yield,
    ];
}
