use std::fmt;

use super::World;
use super::draw::Key;
use super::external;
use super::links;
use super::resource::{Extra, Path, Query, Resource};
use super::robots::Robots;
use super::site::{Fault, Role, Site};
use super::tree::Node;

/// An absolute URL of the model, in canonical form by construction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Url {
    pub is_https: bool,
    pub host: String,
    /// Path and query.
    pub target: String,
}

/// What stands at a URL, before it becomes bytes.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// The connection is closed without an answer.
    Reset,
    /// An answer without anything to read: 404 or 503.
    Status(u16),
    RobotsTxt(Robots),
    Redirect(u16, Url),
    /// A file of this content type.
    File(&'static str),
    Page(Page),
}

/// A page, as its links in the order in which they stand.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub key: Key,
    pub links: Vec<Link>,
    /// The robots meta element says nofollow.
    pub nofollow: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub url: Url,
    pub element: Element,
    pub nofollow: bool,
}

/// What makes a link of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    A,
    Area,
    Iframe,
    Refresh,
}

/// A URL of the world with the site it belongs to.
pub(super) struct Spot {
    pub site: Site,
    pub role: Role,
    /// None where the path names nothing.
    pub resource: Option<Resource>,
}

impl Url {
    pub fn http(host: &str, target: impl Into<String>) -> Self {
        Self { is_https: false, host: host.to_owned(), target: target.into() }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http{}://{}{}", if self.is_https { "s" } else { "" }, self.host, self.target)
    }
}

impl Spot {
    /// Looks a URL up; its target must be in canonical form. None when no site has the host.
    pub fn find(world: &World, host: &str, target: &str) -> Option<Self> {
        let (site, role) = Site::with_host(world, host)?;
        let resource = Resource::parse(target, &site);
        Some(Self { site, role, resource })
    }

    pub fn content(&self, world: &World, target: &str) -> Content {
        match self.site.fault {
            Some(Fault::Reset) => return Content::Reset,
            Some(Fault::Unavailable) => return Content::Status(503),
            _ => {}
        }
        if self.resource == Some(Resource::RobotsTxt) {
            return Content::RobotsTxt(self.site.robots(self.role));
        }
        if self.site.fault == Some(Fault::Moved) {
            return Content::Redirect(301, external::moved_to(world, &self.site));
        }
        if self.role == Role::Bare {
            return Content::Redirect(301, Url::http(&self.site.main_host, target));
        }
        self.resource
            .as_ref()
            .and_then(|resource| self.resource_content(world, resource))
            .unwrap_or(Content::Status(404))
    }

    fn resource_content(&self, world: &World, resource: &Resource) -> Option<Content> {
        let tree = self.site.tree(self.role)?;
        let Some(path) = resource.path() else {
            return (*resource == Resource::BareScript && self.has_bare_script())
                .then(|| Content::Page(links::leaf_page(world, self, &tree.root(), "bare script")));
        };
        let node = tree.find(path)?;
        match resource {
            Resource::Node(_) => Some(Content::Page(links::node_page(world, self, &node))),
            Resource::Extra(extra, path) => self.extra_content(world, *extra, path, &node),
            Resource::Script(_, query) => self.script_content(world, &node, *query),
            Resource::Detail(_, id) => {
                (has(world, &node, Kind::Script) && *id >= 1 && *id <= world.extras.script_queries)
                    .then(|| Content::Page(links::leaf_page(world, self, &node, "detail")))
            }
            Resource::Hop(path, hop) => {
                (has(world, &node, Kind::Chain) && *hop >= 1 && *hop < world.redirects.chain_hops)
                    .then(|| self.chain_redirect(world, path, *hop, node.key))
            }
            Resource::RobotsTxt | Resource::BareScript => None,
        }
    }

    fn extra_content(&self, world: &World, extra: Extra, path: &Path, node: &Node) -> Option<Content> {
        let kind = match extra {
            Extra::Lost => return None,
            Extra::Pdf | Extra::Jpeg => Kind::File,
            Extra::Hidden => Kind::Hidden,
            Extra::Wait | Extra::Arrived => Kind::Refresh,
            Extra::GoLinked => Kind::Linked,
            Extra::GoLanding | Extra::Landing => Kind::Landing,
            Extra::GoExternal => Kind::Away,
            Extra::GoLoop | Extra::GoBack => Kind::Loop,
            Extra::GoChain | Extra::ChainEnd => Kind::Chain,
        };
        if !has(world, node, kind) || (kind == Kind::File && extra != file_kind(node)) {
            return None;
        }
        let go = |extra| Some(self.redirect(&Resource::Extra(extra, path.clone()), node.key));
        match extra {
            Extra::Pdf => Some(Content::File("application/pdf")),
            Extra::Jpeg => Some(Content::File("image/jpeg")),
            Extra::Wait => Some(Content::Page(links::waiting_page(self, node))),
            Extra::GoLinked => Some(self.redirect(&linked_target(path, node, self), node.key)),
            Extra::GoLanding => go(Extra::Landing),
            Extra::GoLoop => go(Extra::GoBack),
            Extra::GoBack => go(Extra::GoLoop),
            Extra::GoChain => Some(self.chain_redirect(world, path, 0, node.key)),
            Extra::GoExternal => {
                let key = node.key.part("redirect away");
                Some(Content::Redirect(status(key), external::link(world, &self.site, key).url))
            }
            Extra::Hidden => Some(Content::Page(links::leaf_page(world, self, node, "hidden"))),
            Extra::Arrived => Some(Content::Page(links::leaf_page(world, self, node, "arrived"))),
            Extra::Landing => Some(Content::Page(links::leaf_page(world, self, node, "landing"))),
            Extra::ChainEnd => Some(Content::Page(links::leaf_page(world, self, node, "chain end"))),
            Extra::Lost => None,
        }
    }

    fn script_content(&self, world: &World, node: &Node, query: Option<Query>) -> Option<Content> {
        if !has(world, node, Kind::Script) {
            return None;
        }
        match query {
            None => has_bare_script(world, node)
                .then(|| Content::Page(links::leaf_page(world, self, node, "bare script"))),
            Some(query) => links::queries(world, node)
                .any(|known| known == query)
                .then(|| Content::Page(links::script_page(world, self, node, query))),
        }
    }

    /// The redirect after `hop` redirects of a chain.
    fn chain_redirect(&self, world: &World, path: &Path, hop: u64, key: Key) -> Content {
        let next = if hop + 1 < world.redirects.chain_hops {
            Resource::Hop(path.clone(), hop + 1)
        } else {
            Resource::Extra(Extra::ChainEnd, path.clone())
        };
        self.redirect(&next, key.child(hop))
    }

    fn redirect(&self, to: &Resource, key: Key) -> Content {
        Content::Redirect(status(key), self.url(to))
    }

    /// The URL of a resource on the same host.
    pub fn url(&self, resource: &Resource) -> Url {
        Url::http(self.site.host(self.role), resource.target(&self.site))
    }

    /// Whether the one script of a site stands there without query too.
    pub fn has_bare_script(&self) -> bool {
        self.site.is_script_only
            && self.role == Role::Main
            && self.site.key.draw("bare page script").happens(0.5)
    }
}

/// What may hang at a page, one of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Script,
    Lost,
    File,
    Hidden,
    Refresh,
    Linked,
    Landing,
    Away,
    Loop,
    Chain,
}

pub(super) fn has(world: &World, node: &Node, kind: Kind) -> bool {
    let (extras, redirects) = (&world.extras, &world.redirects);
    let (tag, share) = match kind {
        Kind::Script => ("script", extras.script_share),
        Kind::Lost => ("broken link", extras.broken_share),
        Kind::File => ("file", extras.file_share),
        Kind::Hidden => ("hidden", extras.hidden_share),
        Kind::Refresh => ("refresh", extras.refresh_share),
        Kind::Linked => ("redirect to linked", redirects.linked_share),
        Kind::Landing => ("redirect to landing", redirects.landing_share),
        Kind::Away => ("redirect to other site", redirects.external_share),
        Kind::Loop => ("redirect loop", redirects.loop_share),
        Kind::Chain => ("redirect chain", redirects.chain_share),
    };
    node.key.draw(tag).happens(share)
}

pub(super) fn has_bare_script(world: &World, node: &Node) -> bool {
    node.key.draw("bare script").happens(world.extras.bare_script_share)
}

pub(super) fn file_kind(node: &Node) -> Extra {
    if node.key.draw("file kind").happens(0.6) { Extra::Pdf } else { Extra::Jpeg }
}

/// A page that the same page links too: its first child, else its parent, else itself.
fn linked_target(path: &Path, node: &Node, spot: &Spot) -> Resource {
    let mut target = path.clone();
    if spot.site.tree(spot.role).is_some_and(|tree| tree.child_count(node) > 0) {
        target.push(0);
    } else {
        target.pop();
    }
    Resource::Node(target)
}

fn status(key: Key) -> u16 {
    *key.draw("redirect status").pick(&[301, 302, 302, 303, 307, 308])
}
