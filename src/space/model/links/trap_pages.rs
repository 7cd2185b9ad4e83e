use crate::World;
use crate::model::content::{Page, Url};
use crate::model::links;
use crate::model::paths::{Resource, Trap};
use crate::model::traps::{facet_links, month_links};
use crate::model::url_location::UrlLocation;

/// A page of a trap; none if the site does not have that trap.
pub(crate) fn page(world: &World, location: &UrlLocation, trap: &Trap) -> Option<Page> {
    let own = links_of(world, location, trap)?;
    let url = |trap: Trap| location.url(&Resource::Trap(trap));
    let own: Vec<Url> = own.into_iter().map(url).chain(plain_twin(location, trap)).collect();
    Some(links::plain_page(world, location, trap.key(location.site.content), own))
}

/// The trap pages that a trap page links to: first those further on, then those back.
fn links_of(world: &World, location: &UrlLocation, trap: &Trap) -> Option<Vec<Trap>> {
    let (traps, sizes) = (location.site.traps, &world.traps);
    let exists = match trap {
        Trap::Month(month) => traps.calendar && *month > 0,
        Trap::Day(_, day) => traps.calendar && (1..sizes.calendar_pages).contains(day),
        Trap::Loop(length) => traps.relative_loop && *length > 0,
        Trap::Session(number) => traps.sessions && *number > 0,
        Trap::SessionPage(number, page) => {
            traps.sessions && *number > 0 && *page < session_pages(world, location)
        }
        Trap::Facets(chosen) => {
            let is_known = |(facet, value): &(u64, u64)| {
                *facet < sizes.facets && (1..=sizes.facet_values).contains(value)
            };
            traps.facets && chosen.iter().all(is_known) && chosen.is_sorted_by(|one, next| one.0 < next.0)
        }
    };
    exists.then(|| match trap {
        Trap::Month(month) => {
            let previous = (*month > 1).then(|| Trap::Month(month - 1));
            month_links(world, *month).into_iter().chain(previous).collect()
        }
        Trap::Day(0, _) => Vec::new(),
        Trap::Day(month, _) => vec![Trap::Month(*month)],
        Trap::Loop(length) => vec![Trap::Loop(length + 1)],
        Trap::Session(number) => {
            let pages = (0..session_pages(world, location)).map(|page| Trap::SessionPage(*number, page));
            pages.chain([Trap::Session(number + 1)]).collect()
        }
        Trap::SessionPage(number, _) => vec![Trap::Session(*number)],
        Trap::Facets(chosen) => facet_links(world, chosen),
    })
}

/// The number of pages of a session beside its front page: as many as the menu has.
fn session_pages(world: &World, location: &UrlLocation) -> u32 {
    let tree = &location.site.main;
    let most = u32::try_from(world.shape.navigation).unwrap_or(u32::MAX);
    tree.child_count(&tree.root()).min(most)
}

/// The page that a session page repeats, without a session.
fn plain_twin(location: &UrlLocation, trap: &Trap) -> Option<Url> {
    match trap {
        Trap::SessionPage(_, page) => Some(location.url(&Resource::Node(vec![*page]))),
        _ => None,
    }
}
