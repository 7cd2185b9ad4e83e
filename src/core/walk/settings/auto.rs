use std::collections::HashMap;
use std::sync::Arc;

use super::waiting::Rounds;
use crate::address::ScriptKey;
use crate::walk::AutoDepth;
use crate::walk::yields::{Appraiser, Finder, Rates};

/// The state that a walk with `--depth auto` keeps besides the tree.
pub(in crate::walk) struct Auto {
    pub rates: Arc<Rates>,
    pub appraiser: Appraiser,
    /// The index in the level's list up to which the URLs are chosen.
    pub chosen: usize,
    /// For each URL of the next level, the page on which it was found.
    pub finders: Vec<Option<Finder>>,
    /// The number of URLs of each script that were left out.
    pub scripts: HashMap<ScriptKey, u32>,
    /// What waits for a later round, if the walk has rounds.
    pub rounds: Option<Rounds>,
}

impl Auto {
    pub(in crate::walk) fn new(settings: &AutoDepth) -> Self {
        let appraiser = Appraiser::new(settings.rates.clone(), settings.price);
        let (appraiser, rounds) = if settings.in_rounds {
            (appraiser.without_free_requests(), Some(Rounds::default()))
        } else {
            (appraiser, None)
        };
        Self {
            rates: settings.rates.clone(),
            appraiser,
            chosen: 0,
            finders: Vec::new(),
            scripts: HashMap::new(),
            rounds,
        }
    }
}
