use crate::World;
use crate::model::content::{Page, Url};
use crate::model::links;
use crate::model::paths::{Listed, Resource};
use crate::model::url_location::UrlLocation;

/// A list links to the next list, to the previous one and to its items; an item links back to its list.
pub(crate) fn page(world: &World, location: &UrlLocation, listed: Listed) -> Option<Page> {
    let (count, items) = (location.site.lists, world.lists.items);
    let url = |listed: Listed| location.url(&Resource::Listed(listed));
    let key = location.site.content.part("list");
    match listed {
        Listed::List(list) if (1..=count).contains(&list) => {
            let next = (list < count).then_some(list + 1);
            let previous = (list > 1).then(|| list - 1);
            let mut own_links: Vec<Url> =
                next.into_iter().chain(previous).map(|list| url(Listed::List(list))).collect();
            own_links.extend((1..=items).map(|item| url(Listed::Item(list, item))));
            Some(links::plain_page(world, location, key.child(list), own_links))
        }
        Listed::Item(list, item) if (1..=count).contains(&list) && (1..=items).contains(&item) => {
            let key = key.child(list).child(item);
            Some(links::plain_page(world, location, key, vec![url(Listed::List(list))]))
        }
        _ => None,
    }
}
