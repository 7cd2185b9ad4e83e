//! One site tree, as a machine without clock or network.
//!
//! A [`Walk`] begins at the start URL and proceeds level by level. [`Walk::poll`] returns the next request,
//! [`Walk::begin`] says that it is being sent, [`Walk::handle`] takes in its result; when `poll` returns
//! [`Step::Done`], [`Walk::conclude`] gives the [`Tree`].
//!
//! **Entering the site.** Level 0 begins with the start URL. When it has nothing left to request and no page
//! has come, the next entrance is tried: the front page of the start URL's host, then the site's other doors
//! (`entrance`). So a dead first link, a closed port or a name without an address does not hide a site.
//!
//! **The life of an internal URL.** It is found as an entrance, as a link of a page or as the target of a
//! redirect. If it is new, it joins the list of a level: links of level *d* make level *d+1*, a redirect adds
//! no depth. When its turn comes, it gets its one [`Class`](crate::exchange::Class): fetched, or the reason
//! why not (robots.txt, the script rule, an opt-out, a path that looks endless). URLs whose turn never came,
//! because of the depth or a limit, and URLs to which only `nofollow` links lead, get their class when the
//! walk ends. So every URL found is counted once, and the counts of a level add up.
//!
//! **The tree does not depend on timing.** Requests are numbered in the order in which they are sent.
//! Responses may arrive in any order and are merged in the order of the requests. A request is sent ahead of
//! earlier responses only if none of them could have forbidden it. So a tree walked with four requests in
//! flight equals the tree walked one by one, a tree cut at depth *d* equals a walk to depth *d*, and handling
//! recorded responses again restores a walk after a crash.
//!
//! **Rules expire.** After a day, robots.txt is requested again before anything else of its host. This is the
//! only reason why `poll` takes the time; for a recorded request, the record has the time.
//!
//! **Servers that turn us away.** A server that delivered pages and then refuses request after request is
//! checked: a page that it delivered is requested once more. If that is refused too, its hosts get no more
//! requests (`bans`); the same holds if the survey has given a server up. The walk ends when no host is left
//! that delivered pages or may deliver some.
//!
//! **Sites without end.** A URL whose path repeats itself is not requested (`trap`). Other traps show by
//! evidence at the end of a level: URLs of one shape (`shape`) whose pages have led to nothing but more of
//! the same shape for several levels in a row, and which look machine-made (`evidence`). And there are
//! folders whose pages are composed of each other: as the pages are read, they show that they repeat what is
//! known under a URL without a part of their path (`echoes`). The walk goes on with the rest of the site; the
//! tree names the patterns.
//!
//! **Hosts that are mirrors.** If two hosts of the site show the same pages, only the pages of the host that
//! was met first are requested (`mirrors`).
//!
//! **How deep.** Down to a given level; or, with `--depth auto` or `--focus`, each level is requested best
//! first, until the expected yield of the rest is too low for a request (`yields`). The rest then has a class
//! of its own, and what only the rest links to is never found.
//!
//! **Rounds.** With a budget for the whole survey the walk goes by rounds, each at a price of its own
//! (`rounds`): in a round it requests what is worth the price, best first over all its levels. Between rounds
//! it says what waits and what that is expected to bring ([`Walk::waiting`]).
//!
//! **When the walk itself fails.** A [`FailedWalk`] counts the recorded responses of a walk that met an
//! internal error.
//!
//! **What it never does.** It reads no clock and sends nothing. *When* a request may be sent is decided in
//! `load`, which the driver of the walk consults. Budgets are kept there too: the driver ends a walk with
//! [`Walk::end`].

mod bans;
mod choosing;
mod decide;
mod entry;
mod failures;
mod finish;
mod in_flight;
mod machine;
mod merge;
mod origins;
mod probing;
mod salvage;
mod settings;
mod state;
mod step;
mod traps;
mod tree;
pub mod yields;

pub use merge::{availability, is_cut};
pub use salvage::FailedWalk;
pub use settings::filter::Filter;
pub use settings::waiting::Waiting;
pub use settings::{AutoDepth, MAX_PAGE_REDIRECTS, WalkSettings};
pub use state::Walk;
pub use step::{Content, Known, OnRecord, Step};
pub use tree::level::LevelCount;
pub use tree::probe::{Probe, Probing, SkippedBy};
pub use tree::{External, Tree};

#[cfg(test)]
mod endless_tests;
#[cfg(test)]
mod tests;
