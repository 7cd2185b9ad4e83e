//! The expected yield of a waiting URL: the estimate behind `--depth auto`.
//!
//! **The unit** is external hosts that are new in the tree. **The estimate** is a product: what pages of its
//! depth and the words of its URL bring on average ([`Rates`], trained on surveys that were walked deep, and
//! fixed for a survey), times the ratio of what this site has brought so far to what it was expected to
//! bring, times the same ratio for the branch of the site that contains the URL, and for its folder. Each of
//! these factors is the posterior mean of a gamma–Poisson model: it begins at 1, and *n* pages without a find
//! prove little while few finds were expected of them.
//!
//! **The pages below a hub count.** Besides the rate of a page itself there is a rate of the page and what is
//! found below it. Each level down counts half, and the sum is divided by the requests that all that costs.
//! The greater of the two rates is what a request for the page is worth.
//!
//! **The rule.** The URLs of a level are requested best first, a handful at a time, until the upper estimate
//! of the best is below the price. The price is the yield per request that the rates require for a wanted
//! coverage. In each site tree the first dozen URLs are requested whatever their expected yield, and so is
//! every front page of a host.
//!
//! **A memory.** What an earlier survey found in the site ([`Memory`]) replaces the estimate for the pages
//! that it knows, and is the evidence by which the others are judged. A site that is remembered gets no dozen
//! of URLs whatever their expected yield.
//!
//! **Not used.** The words of a link's text and its place on the page. Trained on some documentation packages
//! and tested on others, they made the last hosts more expensive: the words and places of the training sites
//! say more about these sites than about their kind.
//!
//! **Exact.** Nothing here knows a clock or another site, and responses are noted in the order of the
//! requests; only sums, products, quotients and square roots are taken, which IEEE 754 fixes to the last bit.
//! So the tree is the same on any machine.

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
