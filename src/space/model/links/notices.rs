use super::bare_page;
use super::menu::link;
use crate::World;
use crate::model::content::{Content, Link, Page, Url};
use crate::model::facts::notice::{Block, filled};
use crate::model::paths::{Alias, Resource};
use crate::model::site::Role;
use crate::model::url_location::UrlLocation;

/// The content of a site that has one page which is not its own: that page under the names of the front page,
/// and nothing else.
pub(crate) fn content(world: &World, location: &UrlLocation) -> Content {
    let root = location.site.main.root();
    let is_front = match &location.resource {
        Some(Resource::Node(path)) => path.is_empty(),
        Some(Resource::Alias(Alias::Index, path)) => path.is_empty(),
        _ => false,
    };
    if location.role != Role::Main || !is_front {
        return Content::Status(404);
    }
    let written_at = location.same_host_url(&Resource::Node(Vec::new()));
    Content::Page(Page { links: links(location), written_at, ..bare_page(world, location, root.key) })
}

fn links(location: &UrlLocation) -> Vec<Link> {
    let own = &location.site.main_host;
    let blocks = location.site.facts.notice().map_or(&[][..], |notice| notice.blocks);
    let targets = blocks.iter().filter_map(|block| match block {
        Block::Link(_, host, target) => Some((*host, *target)),
        _ => None,
    });
    targets
        .map(|(host, target)| {
            link(Url { is_https: true, host: host.to_owned(), target: filled(target, own) })
        })
        .collect()
}
