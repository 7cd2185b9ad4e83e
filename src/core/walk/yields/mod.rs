//! The expected yield of a waiting URL: the estimate behind `--depth auto`.
//!
//! **The unit** is external hosts that are new in the tree. **The estimate** is the exponential of a weighted
//! sum of features ([`feature_names`]), trained on surveys that were walked deep and fixed for a survey
//! ([`Rates`]). Two such sums have weights of their own: one for what the page itself brings, the other for
//! what a request for it is worth, with what lies behind the page: the hosts per request of the best path
//! through it ([`path_yields`]).
//!
//! **The features** are of three kinds. *Of the URL*: what pages of its depth and with its words bring on
//! average, its depth and shape, and what the page brought on which it was found. *The product* of three
//! factors: the ratio of what this site has brought so far to what it was expected to bring, the same for the
//! branch of the site that contains the URL, and for its folder. Each of these factors is the posterior mean
//! of a gamma–Poisson model: it begins at 1, and *n* pages without a find prove little while few finds were
//! expected of them. *Of the groups* to which the URL belongs: the site, the branch, the folder, URLs of the
//! same pattern, of the same name, and found on the same page; of each, what it brought and was expected to,
//! how many of its pages brought something, and how the latest of them did. A file of rates without weights
//! (format 1) stands for the product alone.
//!
//! **The rule.** The URLs of a level are requested best first, a handful at a time, until the best is not
//! worth the price. The price is the yield per request that the rates require for a wanted coverage. In each
//! site tree the first dozen URLs are requested whatever their expected yield, and so is every front page of
//! a host.
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
//! requests; only sums, products, quotients and square roots are taken, which IEEE 754 fixes to the last bit,
//! and logarithms and exponentials that are computed from these (`libm`). So the tree is the same on any
//! machine.

mod appraiser;
mod evidence;
mod experience;
mod features;
mod focus;
mod logarithm;
mod memory;
mod path_yields;
mod rates;
mod url;
mod url_candidate;
mod weights;

pub use appraiser::{Appraiser, LEAST_REQUESTS};
pub use features::{FEATURES, feature_names};
pub use focus::{Costs, Focus};
pub use logarithm::LOGARITHMS;
pub use memory::{Memory, SeenUrl};
pub use path_yields::{SeenPage, path_yields};
pub use rates::{FACTORS, MOST_DEPTHS, Price, Rates, RatesError, RatesSource, Scale};
pub use url::words::url_words;
pub use url_candidate::{Finder, UrlCandidate, UrlKind};
pub use weights::Weights;
