use crate::address::UrlList;
use crate::exchange::Depth;
use crate::walk::entry::ListedUrl;

/// The state that a walk in rounds keeps: what waits for a later round.
#[derive(Default)]
pub(in crate::walk) struct Rounds {
    /// By depth: the URLs whose expected yield was too low so far, or whose round ended before their turn.
    pub waiting: Vec<Vec<ListedUrl>>,
    /// URLs found below the deepest level.
    pub too_deep: UrlList,
    /// A page was requested since the shallowest level that waits was last begun.
    pub has_requested: bool,
    /// A round is running.
    pub is_running: bool,
}

/// What waits in a walk between two rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waiting {
    /// No entrance has brought a page so far.
    pub is_entering: bool,
    /// The number of URLs that are requested whatever their expected yield: targets of redirects, front
    /// pages, and URLs that the server told us to request again.
    pub certain: u32,
    /// What requests for all other URLs are worth, the greatest first.
    pub scores: Vec<f32>,
}

impl Rounds {
    pub(in crate::walk) fn push(&mut self, depth: Depth, entry: ListedUrl) {
        let at = usize::from(depth.0);
        if self.waiting.len() <= at {
            self.waiting.resize_with(at + 1, Vec::new);
        }
        self.waiting[at].push(entry);
    }

    /// The first level from `depth` on at which URLs wait.
    pub(in crate::walk) fn next_level(&self, depth: Depth) -> Option<Depth> {
        let mut levels = (0..).map(Depth).zip(&self.waiting).skip(usize::from(depth.0));
        levels.find(|(_, waiting)| !waiting.is_empty()).map(|(depth, _)| depth)
    }
}
