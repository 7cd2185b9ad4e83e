use super::content::{Content, Page, Url};
use super::copies;
use super::extras::{Kind, file_kind, has, has_bare_script, media_type};
use super::https::ClosedPort;
use super::links;
use super::links::external;
use super::links::lists;
use super::links::notices;
use super::links::trap_pages;
use super::paths::{Alias, Extra, Path, Query, Resource};
use super::site::{Fault, Front, Role};
use super::tree::Node;
use super::url_location::UrlLocation;
use crate::World;
use crate::draw::Key;

/// The content of a URL.
impl UrlLocation {
    pub(crate) fn content(&self, world: &World) -> Content {
        if let Some(content) = self.content_of_whole_site() {
            return content;
        }
        if self.resource == Some(Resource::RobotsTxt) {
            return Content::RobotsTxt(self.site.robots(self.role));
        }
        if self.site.fault == Some(Fault::Moved) {
            return Content::Redirect(301, external::moved_to(world, &self.site));
        }
        if self.role == Role::Bare {
            return Content::Redirect(301, self.under(&self.site.main_host, self.is_https));
        }
        let front = self.site.front.filter(|_| self.role == Role::Main);
        if let Some(content) = front.and_then(|front| front_content(front, self)) {
            return content;
        }
        if self.site.facts.kind.is_some() {
            return notices::content(world, self);
        }
        let found = self.resource.as_ref().and_then(|resource| self.resource_content(world, resource));
        found.unwrap_or_else(|| match self.site.traps.soft_404 {
            true => Content::Page(links::soft_404_page(world, self)),
            false => Content::Status(404),
        })
    }

    /// Content that is the same for every path of the site.
    fn content_of_whole_site(&self) -> Option<Content> {
        match (self.site.fault, self.site.tls.shut(self.is_https)) {
            (Some(Fault::Silent), _) => return Some(Content::Silence),
            (Some(Fault::Reset), _) | (_, Some(ClosedPort::Reset)) => return Some(Content::Reset),
            (_, Some(ClosedPort::Refused)) => return Some(Content::Refused),
            (Some(Fault::Forbidden), _) => return Some(Content::Status(403)),
            (Some(Fault::Unavailable), _) => return Some(Content::Status(503)),
            _ => {}
        }
        let redirects_to_https = self.site.tls.links_itself_with_https() && !self.is_https;
        redirects_to_https.then(|| Content::Redirect(301, self.under(self.site.host(self.role), true)))
    }

    fn resource_content(&self, world: &World, resource: &Resource) -> Option<Content> {
        if let Resource::Gone(_) = resource {
            return (world.external.dead_share > 0.0).then_some(Content::Status(410));
        }
        let tree = self.site.tree(self.role)?;
        let Some(path) = resource.path() else {
            return self.treeless_page(world, resource).map(Content::Page);
        };
        let node = tree.find(path)?;
        match resource {
            Resource::Node(_) => Some(Content::Page(links::node_page(world, self, &node))),
            Resource::Alias(alias, path) => {
                let is_its =
                    copies::second_name(world, path, node.key, self.site.is_script_only) == Some(*alias);
                is_its.then(|| Content::Page(links::node_page(world, self, &node)))
            }
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
            Resource::RobotsTxt
            | Resource::BareScript
            | Resource::Listed(_)
            | Resource::Trap(_)
            | Resource::Gone(_) => None,
        }
    }

    /// A page that belongs to no page of the tree; all such pages are on the main host.
    fn treeless_page(&self, world: &World, resource: &Resource) -> Option<Page> {
        match resource {
            _ if self.role != Role::Main => None,
            Resource::BareScript => self
                .has_bare_script()
                .then(|| links::leaf_page(world, self, &self.site.main.root(), "bare script")),
            Resource::Listed(listed) => lists::page(world, self, *listed),
            Resource::Trap(trap) => trap_pages::page(world, self, trap),
            _ => None,
        }
    }

    fn extra_content(&self, world: &World, extra: Extra, path: &Path, node: &Node) -> Option<Content> {
        let kind = Kind::from_extra(extra);
        if !has(world, node, kind) || (kind == Kind::File && extra != file_kind(node)) {
            return None;
        }
        let redirect_to_extra = |extra| self.redirect(&Resource::Extra(extra, path.clone()), node.key);
        let leaf = |kind| Content::Page(links::leaf_page(world, self, node, kind));
        Some(match extra {
            Extra::Pdf | Extra::Jpeg | Extra::Png | Extra::Word | Extra::Zip => {
                Content::File(media_type(extra))
            }
            Extra::Wait => Content::Page(links::waiting_page(world, self, node)),
            Extra::GoLinked => self.redirect(&linked_target(path, node, self), node.key),
            Extra::GoLanding => redirect_to_extra(Extra::Landing),
            Extra::GoLoop => redirect_to_extra(Extra::GoBack),
            Extra::GoBack => redirect_to_extra(Extra::GoLoop),
            Extra::GoChain => self.chain_redirect(world, path, 0, node.key),
            Extra::GoExternal => {
                let key = node.key.part("redirect away");
                Content::Redirect(status(key), external::link(world, &self.site, key).url)
            }
            Extra::Hidden => leaf("hidden"),
            Extra::Arrived => leaf("arrived"),
            Extra::Landing => leaf("landing"),
            Extra::ChainEnd => leaf("chain end"),
            Extra::Cut => Content::Page(Page { is_cut: true, ..links::leaf_page(world, self, node, "cut") }),
            Extra::Private => Content::Status(403),
            Extra::Failing => Content::Status(500),
            Extra::Busy => Content::Status(503),
            Extra::Silent => Content::Silence,
            Extra::Lost => return None,
        })
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

    /// The redirect that follows `hop` redirects of a chain.
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
}

/// The content of a URL of the main host, if it is one of the names of the front page.
fn front_content(front: Front, location: &UrlLocation) -> Option<Content> {
    let is_alias = match &location.resource {
        Some(Resource::Node(path)) if path.is_empty() => false,
        Some(Resource::Alias(Alias::Index, _)) => true,
        _ => return None,
    };
    Some(match front {
        Front::Status(status) => Content::Status(status),
        Front::Circle if is_alias => {
            Content::Redirect(302, location.same_host_url(&Resource::Node(Vec::new())))
        }
        Front::Circle => Content::Redirect(302, circle_target(location)),
    })
}

/// The first redirect of a circle: to the bare name, or else to the second name. Both redirect back to the
/// front page.
fn circle_target(location: &UrlLocation) -> Url {
    let front = location.same_host_url(&Resource::Node(Vec::new()));
    match &location.site.bare_host {
        Some(bare) if location.site.has_address(Role::Bare) => Url { host: bare.clone(), ..front },
        _ => location.same_host_url(&Resource::Alias(Alias::Index, Vec::new())),
    }
}

/// A page that the same page also links to: its first child, else its parent, else itself.
fn linked_target(path: &Path, node: &Node, location: &UrlLocation) -> Resource {
    let mut target = path.clone();
    if location.site.tree(location.role).is_some_and(|tree| tree.child_count(node) > 0) {
        target.push(0);
    } else {
        target.pop();
    }
    Resource::Node(target)
}

fn status(key: Key) -> u16 {
    *key.draw("redirect status").pick(&[301, 302, 302, 303, 307, 308])
}
