use super::paths::Extra;
use super::tree::Node;
use crate::World;

/// What may be attached to a page, at most one of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Script,
    Lost,
    File,
    Hidden,
    Refresh,
    Forbidden,
    Error,
    Busy,
    Cut,
    Silent,
    Linked,
    Landing,
    Away,
    Loop,
    Chain,
}

impl Kind {
    /// The kind of an extra; the second half of a pair has the kind of the first.
    pub(crate) fn from_extra(extra: Extra) -> Self {
        match extra {
            Extra::Lost => Self::Lost,
            Extra::Pdf | Extra::Jpeg | Extra::Png | Extra::Word | Extra::Zip => Self::File,
            Extra::Hidden => Self::Hidden,
            Extra::Wait | Extra::Arrived => Self::Refresh,
            Extra::Private => Self::Forbidden,
            Extra::Failing => Self::Error,
            Extra::Busy => Self::Busy,
            Extra::Cut => Self::Cut,
            Extra::Silent => Self::Silent,
            Extra::GoLinked => Self::Linked,
            Extra::GoLanding | Extra::Landing => Self::Landing,
            Extra::GoExternal => Self::Away,
            Extra::GoLoop | Extra::GoBack => Self::Loop,
            Extra::GoChain | Extra::ChainEnd => Self::Chain,
        }
    }
}

pub(crate) fn has(world: &World, node: &Node, kind: Kind) -> bool {
    let (extras, redirects) = (&world.extras, &world.redirects);
    let (tag, share) = match kind {
        Kind::Script => ("script", extras.script_share),
        Kind::Lost => ("broken link", extras.broken_share),
        Kind::File => ("file", extras.file_share),
        Kind::Hidden => ("hidden", extras.hidden_share),
        Kind::Refresh => ("refresh", extras.refresh_share),
        Kind::Forbidden => ("forbidden", extras.forbidden_share),
        Kind::Error => ("error", extras.error_share),
        Kind::Busy => ("busy", extras.busy_share),
        Kind::Cut => ("cut", extras.cut_share),
        Kind::Silent => ("never answered", extras.silent_share),
        Kind::Linked => ("redirect to linked", redirects.linked_share),
        Kind::Landing => ("redirect to landing", redirects.landing_share),
        Kind::Away => ("redirect to other site", redirects.external_share),
        Kind::Loop => ("redirect loop", redirects.loop_share),
        Kind::Chain => ("redirect chain", redirects.chain_share),
    };
    share > 0.0 && node.key.draw(tag).happens(share)
}

pub(crate) fn has_bare_script(world: &World, node: &Node) -> bool {
    node.key.draw("bare script").happens(world.extras.bare_script_share)
}

/// Of ten files, four are PDF, three JPEG, and one each PNG, Word and ZIP.
pub(crate) fn file_kind(node: &Node) -> Extra {
    use Extra::{Jpeg, Pdf, Png, Word, Zip};
    *node.key.draw("file kind").pick(&[Pdf, Pdf, Pdf, Pdf, Jpeg, Jpeg, Jpeg, Png, Word, Zip])
}

/// The media type of a file; everything else is HTML.
pub(crate) fn media_type(extra: Extra) -> &'static str {
    match extra {
        Extra::Pdf => "application/pdf",
        Extra::Jpeg => "image/jpeg",
        Extra::Png => "image/png",
        Extra::Word => "application/msword",
        Extra::Zip => "application/zip",
        _ => "text/html",
    }
}

/// The extra that a page links to for each kind except the script, in the order of the links.
pub(crate) fn linked(node: &Node) -> [(Kind, Extra); 14] {
    [
        (Kind::Lost, Extra::Lost),
        (Kind::File, file_kind(node)),
        (Kind::Hidden, Extra::Hidden),
        (Kind::Refresh, Extra::Wait),
        (Kind::Forbidden, Extra::Private),
        (Kind::Error, Extra::Failing),
        (Kind::Busy, Extra::Busy),
        (Kind::Cut, Extra::Cut),
        (Kind::Silent, Extra::Silent),
        (Kind::Linked, Extra::GoLinked),
        (Kind::Landing, Extra::GoLanding),
        (Kind::Away, Extra::GoExternal),
        (Kind::Loop, Extra::GoLoop),
        (Kind::Chain, Extra::GoChain),
    ]
}
