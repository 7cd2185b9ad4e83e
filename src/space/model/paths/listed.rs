/// The path of the one script on a site whose pages are all queries of one script.
pub(crate) const SCRIPT_PAGE: &str = "/page.php";

/// A page of the chain of lists on the main host, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    List(u64),
    /// Items are counted from 1 too.
    Item(u64, u64),
}

impl Listed {
    /// Depth below the front page, which links to the first list.
    #[cfg(test)]
    pub(crate) fn depth(self) -> u64 {
        match self {
            Self::List(list) => list,
            Self::Item(list, _) => list + 1,
        }
    }

    pub(crate) fn target(self, is_script_only: bool) -> String {
        match (self, is_script_only) {
            (Self::List(list), false) => format!("/list/{list}.html"),
            (Self::Item(list, item), false) => format!("/list/{list}/{item}.html"),
            (Self::List(list), true) => format!("{SCRIPT_PAGE}?list={list}"),
            (Self::Item(list, item), true) => format!("{SCRIPT_PAGE}?list={list}&item={item}"),
        }
    }

    /// Reads a target loosely; the caller writes the result again and compares.
    pub(crate) fn read(target: &str) -> Option<Self> {
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
}
