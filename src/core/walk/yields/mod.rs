//! What a waiting URL is expected to bring: the estimate behind `--depth auto`.
//!
//! **The unit** is external hosts that are new in the tree. **The estimate** is a product: what pages of its depth
//! and the words of its URL bring on average ([`Rates`], learned from surveys that were walked deep, and fixed for a
//! survey), times what this site has brought so far for what it was expected to, times the same of the branch of the
//! site that the URL hangs in, and of its folder. Each of these factors is the posterior mean of a gamma–Poisson
//! model: it begins at 1, and *n* pages without a find say little while few finds were expected of them.
//!
//! **What a hub leads to counts.** Beside the rate of a page itself there is one of the page and what is found below it, each
//! level down counting half, for each request that all that costs; the greater of the two is what a request for the
//! page is worth.
//!
//! **The rule.** The URLs of a level are asked for best first, a handful at a time, until the upper estimate of the
//! best is below the price. The price is what the rates say that a request must bring for a wanted coverage. Of each
//! site tree the first dozen of URLs is asked for whatever it promises, and so is every front page of a host.
//!
//! **A memory.** What an earlier survey found in the site ([`Memory`]) takes the place of the estimate for the pages that it
//! knows, and is the evidence by which the others are judged. A site that is remembered gets no dozen of URLs whatever they
//! promise.
//!
//! **Not used.** The words of a link's text and its place on the page. Learned on some documentation packages and judged on
//! others, they made the last hosts dearer: those of the tuned sites say more of these than of their kind.
//!
//! **Exact.** Nothing here knows a clock or another site, and answers are noted in the order asked; only sums, products, quotients
//! and square roots are taken, which IEEE 754 fixes to the last bit. So the tree is the same on any machine.

mod appraiser;
mod evidence;
mod experience;
mod focus;
mod memory;
mod path_yields;
mod rates;
mod url_candidate;
mod words;

pub use appraiser::{Appraiser, LEAST_REQUESTS};
pub use focus::{Costs, Focus};
pub use memory::{Memory, SeenUrl};
pub use rates::{FACTORS, MOST_DEPTHS, Price, Rates, RatesError, RatesSource, Scale};
pub use url_candidate::{UrlCandidate, UrlKind};
pub use words::url_words;
