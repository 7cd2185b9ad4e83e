//! One site tree, as a machine without clock or network.
//!
//! A [`Walk`] starts from the start URL and asks level by level. [`Walk::poll`] says what should
//! be asked next, [`Walk::begin`] that it is now being asked, [`Walk::handle`] what came of it;
//! when `poll` says [`Step::Done`], [`Walk::conclude`] gives the [`Tree`].
//!
//! **Entering the site.** Level 0 begins with the start URL. Whenever it has nothing left to ask and no page has come,
//! the next entrance is tried: the front page of the start URL's host, then the site's other doors (`entrance`). So
//! a dead first link, a closed port or a name without an address does not hide a site.
//!
//! **The life of an internal URL.** It is found: as entrance, as a link of a page, as the target
//! of a redirect. If it is new it joins the list of a level: links of level *d* make level *d+1*, a
//! redirect adds no depth. When its turn comes it gets its one [`Class`](crate::exchange::Class): fetched, or the reason why
//! not (robots.txt, the script rule, an opt-out, a path that looks endless). What no turn came for,
//! because of the depth or a limit, and what only `nofollow` links lead to, is classed when the
//! walk ends. So every URL found is counted once, and the counts of a level add up.
//!
//! **The tree does not depend on timing.** Questions are numbered in the order asked; answers may
//! arrive in any order and are merged in the order asked. A question is asked ahead of the answers
//! before it only where none of them could have forbidden it. So a tree walked with four questions
//! in flight equals the tree walked one by one, a tree cut at depth *d* equals a walk to depth *d*,
//! and handling recorded answers again restores a walk after a crash.
//!
//! **Rules expire.** After a day, robots.txt is asked for again before anything else of its host. `poll` is given the
//! time for this only; for what is on record, the record has the time.
//!
//! **Servers that turn us away.** A server that delivered pages and then refuses request after request is checked: a page
//! that it delivered is requested once more. If that is refused too, its hosts get no further request (`bans`), as where
//! the survey has given a server up; when no host is left that delivered pages or may, the walk ends.
//!
//! **Sites without end.** A URL whose path repeats itself is not asked for (`trap`). What else is a
//! trap shows by evidence at the end of a level: URLs of one shape (`shape`) whose pages have led to nothing but more of
//! the same shape for several levels in a row, and which look machine-made (`evidence`). And folders of which pages that are
//! composed of each other have shown, as they were read, that they repeat what is known without a part of their path
//! (`echoes`). The walk goes on with the rest of the site; the patterns are named in the tree.
//!
//! **Hosts that are mirrors.** Where two hosts of the site show the same pages, only the pages of the host that was met
//! first are asked for (`mirrors`).
//!
//! **How deep.** Down to a level that is told; or, with `--depth auto` or `--focus`, each level is asked for best first, until what is
//! left promises too little for a request (`yields`). What is left then is of a class of its own, and what only it leads
//! to is never found.
//!
//! **When the walk itself fails.** A [`FailedWalk`] counts the recorded answers of a walk that met an error of ours.
//!
//! **What it never does.** It reads no clock and sends nothing. *When* a question may be asked is
//! decided in `load`, which the driver of the walk asks. Budgets are kept there too: the driver ends a
//! walk with [`Walk::end`].

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
