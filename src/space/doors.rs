use super::World;
use super::content::{Content, Url};
use super::copies::Alias;
use super::draw::Key;
use super::resource::Resource;
use super::site::{Role, by_share};
use super::spot::Spot;

/// What the main host has in place of a front page; the pages below it are as ever, and whoever knows the URL of one
/// gets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    Status(u16),
    /// It redirects to what redirects back.
    Circle,
}

impl Front {
    /// None for a front page like any other.
    pub fn draw(world: &World, site: Key) -> Option<Self> {
        let shares = &world.doors;
        let kinds = [
            (shares.front_401_share, Self::Status(401)),
            (shares.front_403_share, Self::Status(403)),
            (shares.front_404_share, Self::Status(404)),
            (shares.front_circle_share, Self::Circle),
        ];
        by_share(site.draw("front page shut"), &kinds)
    }

    /// What is met at a URL of the main host, if it is one of the names of the front page.
    pub fn content(self, spot: &Spot) -> Option<Content> {
        let is_alias = match &spot.resource {
            Some(Resource::Node(path)) if path.is_empty() => false,
            Some(Resource::Alias(Alias::Index, _)) => true,
            _ => return None,
        };
        Some(match self {
            Self::Status(status) => Content::Status(status),
            Self::Circle if is_alias => Content::Redirect(302, spot.here(&Resource::Node(Vec::new()))),
            Self::Circle => Content::Redirect(302, way_round(spot)),
        })
    }
}

/// Where a front page redirects to that is led back to: to its bare name, or else to its second name.
fn way_round(spot: &Spot) -> Url {
    let front = spot.here(&Resource::Node(Vec::new()));
    match &spot.site.bare_host {
        Some(bare) if spot.site.has_address(Role::Bare) => Url { host: bare.clone(), ..front },
        _ => spot.here(&Resource::Alias(Alias::Index, Vec::new())),
    }
}
