use super::paths::Trap;
use crate::World;
use crate::draw::Key;

/// The endless or meaningless pages that a site's programs generate; all of them are on the main host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is drawn by itself, and a site may have several")]
pub(crate) struct SiteTraps {
    pub calendar: bool,
    pub relative_loop: bool,
    pub sessions: bool,
    pub facets: bool,
    /// A path that does not exist gets a response with status 200.
    pub soft_404: bool,
}

impl SiteTraps {
    pub(crate) fn draw(world: &World, key: Key) -> Self {
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

    /// The traps that the front page links to: the first month of a calendar, the first relative path, a new
    /// session, the shop without facets.
    pub(crate) fn entrances(self, world: &World) -> Vec<Trap> {
        let mut entrances = if self.calendar { month_links(world, 0) } else { Vec::new() };
        entrances.extend(self.relative_loop.then_some(Trap::Loop(1)));
        entrances.extend(self.sessions.then_some(Trap::Session(1)));
        entrances.extend(self.facets.then(|| Trap::Facets(Vec::new())));
        entrances
    }
}

/// The next month and the days of this one.
pub(super) fn month_links(world: &World, month: u64) -> Vec<Trap> {
    let days = (1..world.traps.calendar_pages).map(|day| Trap::Day(month, day));
    [Trap::Month(month + 1)].into_iter().chain(days).collect()
}

/// One more facet chosen, or one fewer.
pub(super) fn facet_links(world: &World, chosen: &[(u64, u64)]) -> Vec<Trap> {
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
