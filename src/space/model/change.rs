//! How each edition of a world changes its pages: new pages, removed pages, and external links that come and
//! go.
//!
//! A page that no edition changed stays as it was drawn for edition 0. Each edition draws from its own tags,
//! so a world of edition *n* differs from that of *n* − 1 only in what edition *n* changed.

use crate::World;
use crate::draw::Key;

/// The last edition that changed a page or file; none if it is as in edition 0.
pub(crate) fn last_change(world: &World, key: Key) -> Option<u64> {
    changes(world, key).next_back()
}

/// The editions that changed a page or file, in ascending order.
fn changes(world: &World, key: Key) -> impl DoubleEndedIterator<Item = u64> {
    let (draw, share) = (key.draw("changed by edition"), world.validators.changed_share);
    (1..=world.validators.edition).filter(move |edition| draw.nth(*edition).happens(share))
}

/// The keys of the external links in the content of a page, `mean` on average. Each change of the page
/// removes a share of them and adds as many on average, so the mean stays the same.
pub(super) fn content_links(world: &World, page: Key, mean: f64) -> Vec<Key> {
    let (draw, part, share) =
        (page.draw("content links"), page.part("content link"), world.change.links_share);
    let initial = (0..draw.poisson(mean)).map(|n| part.child(n));
    let mut links: Vec<Key> = initial.collect();
    for edition in changes(world, page).filter(|_| share > 0.0) {
        links.retain(|link| !link.draw("taken away").nth(edition).happens(share));
        let added = part.part("edition").child(edition);
        links.extend((0..draw.nth(edition).poisson(mean * share)).map(|n| added.child(n)));
    }
    links
}

/// The key of a link that a page has in every edition: a new key if a change of the page replaced the link.
pub(super) fn current_link(world: &World, page: Key, link: Key) -> Key {
    let (draw, share) = (link.draw("replaced"), world.change.links_share);
    let last = changes(world, page).rfind(|edition| draw.nth(*edition).happens(share));
    last.map_or(link, |edition| link.part("edition").child(edition))
}

/// How the pages of a host change from edition to edition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    editions: u64,
    new_share: f64,
    gone_share: f64,
}

impl Growth {
    pub(super) fn from_world(world: &World) -> Self {
        let change = &world.change;
        Self {
            editions: world.validators.edition,
            new_share: change.new_share,
            gone_share: change.gone_share,
        }
    }

    /// Whether all pages are those of edition 0.
    pub(super) fn is_none(self) -> bool {
        self.editions == 0 || (self.new_share <= 0.0 && self.gone_share <= 0.0)
    }

    /// The number of pages that each edition added below a page that had `children` children in edition 0.
    fn added_by_edition(self, parent: Key, children: u32) -> impl Iterator<Item = (u64, u32)> {
        let (draw, mean) = (parent.draw("new pages"), f64::from(children) * self.new_share);
        let editions = if mean > 0.0 { self.editions } else { 0 };
        (1..=editions)
            .map(move |edition| (edition, u32::try_from(draw.nth(edition).poisson(mean)).unwrap_or(u32::MAX)))
    }

    /// The number of children added since edition 0, including those removed again.
    pub(super) fn total_added(self, parent: Key, children: u32) -> u32 {
        self.added_by_edition(parent, children).map(|(_, added)| added).sum()
    }

    /// The edition that added a child with this number; none if no edition did.
    pub(super) fn added_in(self, parent: Key, children: u32, number: u32) -> Option<u64> {
        let mut end = children;
        self.added_by_edition(parent, children).find_map(|(edition, added)| {
            end += added;
            (number < end).then_some(edition)
        })
    }

    /// The edition that removed a page which edition `added_in` added (0 for an original page).
    pub(super) fn removed_in(self, page: Key, added_in: u64) -> Option<u64> {
        let draw = page.draw("gone in edition");
        let editions = if self.gone_share > 0.0 { self.editions } else { 0 };
        (added_in + 1..=editions).find(|edition| draw.nth(*edition).happens(self.gone_share))
    }
}
