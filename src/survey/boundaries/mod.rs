//! The boundaries of a survey: its scope, its start URLs, links that leave a site, rates of pages.

pub(super) mod budget;
pub(super) mod feed_back;
pub(super) mod rates;
pub(super) mod scope;
pub(super) mod start_urls;

use std::path::Path;
use std::sync::Arc;

use super::error::SurveyError;
use super::folder::settings_file::read_text;
use crate::address::{OptOut, OptOuts};
use crate::frontier::StartCandidate;
use crate::records::Geo;
use crate::settings::Settings;
use crate::walk::{External, Tree};
use feed_back::FeedBack;
use scope::SurveyScope;

/// The boundaries of a survey: the scope of its sites, the opt-outs, and the country and network of each
/// server.
pub(super) struct Boundaries {
    pub scope: SurveyScope,
    feed_back: FeedBack,
    pub opt_outs: Arc<OptOuts>,
    pub geo: Arc<Geo>,
}

impl Boundaries {
    pub(super) fn open(settings: &Settings) -> Result<Self, SurveyError> {
        let scope = SurveyScope::from_settings(settings)?;
        let geo = Arc::new(Geo::open(&settings.geo)?);
        if geo.is_of_ipv6_alone() {
            tracing::warn!(
                "no database of --geo covers IPv4 addresses: the countries of most servers will be unknown"
            );
        }
        let opt_outs = read_opt_outs(settings.opt_out.as_deref(), &geo)?;
        Ok(Self { scope, feed_back: FeedBack::from_settings(settings), opt_outs, geo })
    }

    /// The start URLs that a tree has found.
    pub(super) fn found_candidates(&self, tree: &Tree) -> Vec<StartCandidate> {
        self.candidates_among(&tree.externals)
    }

    /// The start URLs among the external URLs of a tree.
    pub(super) fn candidates_among(&self, externals: &[External]) -> Vec<StartCandidate> {
        self.feed_back.candidates(&self.scope, externals.iter().map(|external| &external.url))
    }

    /// Whether the tree may have found any, without checking each link.
    pub(super) fn may_have_candidates(&self, tree: &Tree) -> bool {
        self.feed_back.is_on() && !tree.externals.is_empty()
    }
}

/// Reads the opt-out list of a survey, which may name autonomous systems if a database knows them.
fn read_opt_outs(path: Option<&Path>, geo: &Arc<Geo>) -> Result<Arc<OptOuts>, SurveyError> {
    let list = match path {
        None => OptOut::default(),
        Some(path) => {
            let to_error = |source| SurveyError::OptOut { path: path.to_owned(), source };
            let list = OptOut::parse(&read_text(path)?).map_err(to_error)?;
            if let Some(entry) = list.first_system().filter(|_| !geo.knows_systems()) {
                let (line, who) = (entry.line, entry.who.clone());
                return Err(SurveyError::NoSystems { path: path.to_owned(), line, who });
            }
            list
        }
    };
    let geo = geo.clone();
    Ok(Arc::new(OptOuts::new(list, Box::new(move |address| geo.lookup(address).asn))))
}
