use super::World;
use super::content::{Page, Url};
use super::draw::{Key, rounded};
use super::links;
use super::resource::{Resource, SCRIPT_PAGE};
use super::site::Class;
use super::spot::Spot;

/// A page of the chain of lists, which stands on the main host, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    List(u64),
    /// The items of a list are counted from 1 too.
    Item(u64, u64),
}

/// List pages of a site of so many pages; these and their items take half of them at most.
pub(super) fn draw_length(world: &World, key: Key, class: Class, pages: u64) -> u64 {
    let lists = &world.lists;
    if !matches!(class, Class::Cms | Class::Large) || !key.draw("has lists").happens(lists.share) {
        return 0;
    }
    let wish = rounded(key.draw("lists").log_normal(lists.length_median, lists.length_sigma));
    wish.clamp(1, lists.length_most).min(pages / 2 / (1 + lists.items))
}

impl Listed {
    /// Depth below the front page, which links to the first list.
    #[cfg(test)]
    pub fn depth(self) -> u64 {
        match self {
            Self::List(list) => list,
            Self::Item(list, _) => list + 1,
        }
    }

    pub fn target(self, is_script_only: bool) -> String {
        match (self, is_script_only) {
            (Self::List(list), false) => format!("/list/{list}.html"),
            (Self::Item(list, item), false) => format!("/list/{list}/{item}.html"),
            (Self::List(list), true) => format!("{SCRIPT_PAGE}?list={list}"),
            (Self::Item(list, item), true) => format!("{SCRIPT_PAGE}?list={list}&item={item}"),
        }
    }

    /// What a target looks like; it must be written again to be sure.
    pub fn read(target: &str) -> Option<Self> {
        let rest = target.strip_prefix("/list/").and_then(|rest| rest.strip_suffix(".html"));
        let (list, item) = match rest {
            Some(rest) => rest.split_once('/').map_or((rest, None), |(list, item)| (list, Some(item))),
            None => {
                let rest = target.strip_prefix(SCRIPT_PAGE)?.strip_prefix("?list=")?;
                rest.split_once("&item=").map_or((rest, None), |(list, item)| (list, Some(item)))
            }
        };
        let list = list.parse().ok()?;
        Some(match item {
            None => Self::List(list),
            Some(item) => Self::Item(list, item.parse().ok()?),
        })
    }

    /// A list leads to the next one, back, and to its items; an item leads back to its list.
    pub fn page(self, world: &World, spot: &Spot) -> Option<Page> {
        let (count, items) = (spot.site.lists, world.lists.items);
        let url = |listed: Self| spot.url(&Resource::Listed(listed));
        let key = spot.site.content.part("list");
        match self {
            Self::List(list) if (1..=count).contains(&list) => {
                let next = (list < count).then_some(list + 1);
                let back = (list > 1).then(|| list - 1);
                let mut own: Vec<Url> =
                    next.into_iter().chain(back).map(|list| url(Self::List(list))).collect();
                own.extend((1..=items).map(|item| url(Self::Item(list, item))));
                Some(links::plain_page(world, spot, key.child(list), own))
            }
            Self::Item(list, item) if (1..=count).contains(&list) && (1..=items).contains(&item) => {
                let key = key.child(list).child(item);
                Some(links::plain_page(world, spot, key, vec![url(Self::List(list))]))
            }
            _ => None,
        }
    }
}
