use super::World;
use super::content::{Page, Url};
use super::draw::Key;
use super::links;
use super::resource::Resource;
use super::spot::Spot;
use super::trap_paths::Trap;

/// What a site's programs make without end, or without sense; all of it on the main host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn by itself, and a site may have several")]
pub(super) struct Traps {
    pub calendar: bool,
    pub relative_loop: bool,
    pub sessions: bool,
    pub facets: bool,
    /// A path that names nothing is answered with 200.
    pub soft_404: bool,
}

impl Traps {
    pub fn draw(world: &World, key: Key) -> Self {
        let shares = &world.traps;
        let happens = |tag, share| key.draw(tag).happens(share);
        Self {
            calendar: happens("calendar", shares.calendar_share),
            relative_loop: happens("relative loop", shares.loop_share),
            sessions: happens("sessions", shares.session_share),
            facets: happens("facets", shares.facet_share),
            soft_404: happens("soft 404", shares.soft_404_share),
        }
    }

    /// What the front page links to: it shows the first month of a calendar, the first of all paths,
    /// a session that begins, the whole shop.
    pub fn entrances(self, world: &World) -> Vec<Trap> {
        let mut entrances = if self.calendar { month_links(world, 0) } else { Vec::new() };
        entrances.extend(self.relative_loop.then_some(Trap::Loop(1)));
        entrances.extend(self.sessions.then_some(Trap::Session(1)));
        entrances.extend(self.facets.then(|| Trap::Facets(Vec::new())));
        entrances
    }
}

/// A page of a trap; none where the site does not have it.
pub(super) fn page(world: &World, spot: &Spot, trap: &Trap) -> Option<Page> {
    let own = links_of(world, spot, trap)?;
    let url = |trap: Trap| spot.url(&Resource::Trap(trap));
    let own: Vec<Url> = own.into_iter().map(url).chain(plain_twin(spot, trap)).collect();
    Some(links::plain_page(world, spot, trap.key(spot.site.content), own))
}

/// The pages of traps that a page of a trap links to: further on first, then back.
fn links_of(world: &World, spot: &Spot, trap: &Trap) -> Option<Vec<Trap>> {
    let (traps, sizes) = (spot.site.traps, &world.traps);
    let is_there = match trap {
        Trap::Month(month) => traps.calendar && *month > 0,
        Trap::Day(_, day) => traps.calendar && (1..sizes.calendar_pages).contains(day),
        Trap::Loop(length) => traps.relative_loop && *length > 0,
        Trap::Session(number) => traps.sessions && *number > 0,
        Trap::SessionPage(number, page) => {
            traps.sessions && *number > 0 && *page < session_pages(world, spot)
        }
        Trap::Facets(chosen) => {
            let is_known = |(facet, value): &(u64, u64)| {
                *facet < sizes.facets && (1..=sizes.facet_values).contains(value)
            };
            traps.facets && chosen.iter().all(is_known) && chosen.is_sorted_by(|one, next| one.0 < next.0)
        }
    };
    is_there.then(|| match trap {
        Trap::Month(month) => {
            let back = (*month > 1).then(|| Trap::Month(month - 1));
            month_links(world, *month).into_iter().chain(back).collect()
        }
        Trap::Day(0, _) => Vec::new(),
        Trap::Day(month, _) => vec![Trap::Month(*month)],
        Trap::Loop(length) => vec![Trap::Loop(length + 1)],
        Trap::Session(number) => {
            let pages = (0..session_pages(world, spot)).map(|page| Trap::SessionPage(*number, page));
            pages.chain([Trap::Session(number + 1)]).collect()
        }
        Trap::SessionPage(number, _) => vec![Trap::Session(*number)],
        Trap::Facets(chosen) => facet_links(world, chosen),
    })
}

/// The next month and the days of this one.
fn month_links(world: &World, month: u64) -> Vec<Trap> {
    let days = (1..world.traps.calendar_pages).map(|day| Trap::Day(month, day));
    [Trap::Month(month + 1)].into_iter().chain(days).collect()
}

/// Pages of a session beside its front page: as many as the menu has.
fn session_pages(world: &World, spot: &Spot) -> u32 {
    let tree = &spot.site.main;
    let most = u32::try_from(world.shape.navigation).unwrap_or(u32::MAX);
    tree.child_count(&tree.root()).min(most)
}

/// One more facet chosen, or one less.
fn facet_links(world: &World, chosen: &[(u64, u64)]) -> Vec<Trap> {
    let is_open = |facet: &u64| chosen.iter().all(|(known, _)| known != facet);
    let more = (0..world.traps.facets).filter(is_open).flat_map(|facet| {
        (1..=world.traps.facet_values).map(move |value| {
            let mut more: Vec<(u64, u64)> = chosen.iter().copied().chain([(facet, value)]).collect();
            more.sort_unstable();
            Trap::Facets(more)
        })
    });
    let less = (0..chosen.len()).map(|at| {
        let mut less = chosen.to_vec();
        less.remove(at);
        Trap::Facets(less)
    });
    more.chain(less).collect()
}

/// The page that a page of a session repeats, without a session.
fn plain_twin(spot: &Spot, trap: &Trap) -> Option<Url> {
    match trap {
        Trap::SessionPage(_, page) => Some(spot.url(&Resource::Node(vec![*page]))),
        _ => None,
    }
}
