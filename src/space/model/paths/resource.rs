use super::alias::Alias;
use super::listed::{Listed, SCRIPT_PAGE};
use super::trap::Trap;
use super::{Naming, Path, numbers, read_numbers, read_tree_path};

/// The resource that a path names. Paths are parsed strictly: a path that would not be written the same way
/// names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    RobotsTxt,
    /// A page of the tree.
    Node(Path),
    /// A page of the tree under its second name.
    Alias(Alias, Path),
    Extra(Extra, Path),
    /// A script attached to a page, without a query or with one.
    Script(Path, Option<Query>),
    /// A page that only one query of a script links to.
    Detail(Path, u64),
    /// A further redirect of a chain, counted from 1.
    Hop(Path, u64),
    /// The bare script of a site whose pages are all queries of one script.
    BareScript,
    Listed(Listed),
    Trap(Trap),
    /// A page that existed once: 410.
    Gone(u64),
}

/// How a query URL passes the number to its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// `?id=3`
    Id(u64),
    /// `;v=3`
    Parameter(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extra {
    /// The target of a broken link.
    Lost,
    Pdf,
    Jpeg,
    Png,
    Word,
    Zip,
    /// Linked with nofollow only.
    Hidden,
    /// Redirects by meta refresh.
    Wait,
    /// The target of `Wait`.
    Arrived,
    /// 403.
    Private,
    /// 500.
    Failing,
    /// 503, with Retry-After if the world sets it.
    Busy,
    /// The connection ends after the last link.
    Cut,
    /// The server never responds.
    Silent,
    GoLinked,
    GoLanding,
    GoExternal,
    GoLoop,
    /// The target of `GoLoop`, which redirects back.
    GoBack,
    GoChain,
    /// The target of `GoLanding`.
    Landing,
    /// The last page of the chain.
    ChainEnd,
}

/// Each extra with the parts of its path before and after the page's name.
const EXTRAS: [(Extra, &str, &str); 22] = [
    (Extra::Lost, "/lost/", ".html"),
    (Extra::Pdf, "/files/", ".pdf"),
    (Extra::Jpeg, "/files/", ".jpg"),
    (Extra::Png, "/files/", ".png"),
    (Extra::Word, "/files/", ".doc"),
    (Extra::Zip, "/files/", ".zip"),
    (Extra::Hidden, "/hidden/", ".html"),
    (Extra::Wait, "/wait/", ".html"),
    (Extra::Arrived, "/arrived/", ".html"),
    (Extra::Private, "/private/", ".html"),
    (Extra::Failing, "/failing/", ".html"),
    (Extra::Busy, "/busy/", ".html"),
    (Extra::Cut, "/cut/", ".html"),
    (Extra::Silent, "/silent/", ".html"),
    (Extra::GoLinked, "/go/linked/", ""),
    (Extra::GoLanding, "/go/landing/", ""),
    (Extra::GoExternal, "/go/away/", ""),
    (Extra::GoLoop, "/go/loop/", ""),
    (Extra::GoBack, "/go/back/", ""),
    (Extra::GoChain, "/go/chain/", ""),
    (Extra::Landing, "/landing/", ".html"),
    (Extra::ChainEnd, "/end/", ".html"),
];

impl Resource {
    /// The path and query of this resource, in canonical form.
    pub(crate) fn target(&self, naming: &dyn Naming) -> String {
        match self {
            Self::RobotsTxt => "/robots.txt".to_owned(),
            Self::Node(path) => node_target(path, naming),
            Self::Alias(alias, path) => alias.target(path, naming),
            Self::Extra(extra, path) => {
                let (_, before, after) = EXTRAS[*extra as usize];
                format!("{before}{}{after}", name(path))
            }
            Self::Script(path, query) => {
                let script = format!("/cgi/{}.php", name(path));
                match query {
                    None => script,
                    Some(Query::Id(id)) => format!("{script}?id={id}"),
                    Some(Query::Parameter(id)) => format!("{script};v={id}"),
                }
            }
            Self::Detail(path, id) => format!("/detail/{}.{id}.html", name(path)),
            Self::Hop(path, hop) => format!("/go/chain/{}.{hop}", name(path)),
            Self::BareScript => SCRIPT_PAGE.to_owned(),
            Self::Listed(listed) => listed.target(naming.is_script_only()),
            Self::Trap(trap) => trap.target(),
            Self::Gone(number) => format!("/gone/{number}.html"),
        }
    }

    /// Parses a path and query in canonical form, whether or not the resource exists.
    pub(crate) fn parse(target: &str, naming: &dyn Naming) -> Option<Self> {
        let resource = read(target)?;
        (resource.target(naming) == target).then_some(resource)
    }

    /// The page of the tree that this is or is attached to.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::RobotsTxt | Self::BareScript | Self::Listed(_) | Self::Trap(_) | Self::Gone(_) => None,
            Self::Node(path)
            | Self::Alias(_, path)
            | Self::Extra(_, path)
            | Self::Script(path, _)
            | Self::Detail(path, _)
            | Self::Hop(path, _) => Some(path),
        }
    }
}

/// `/`, `/part-3.html`, `/part-3/0-7.html`, `/part-3/event-0-7.html`; or all of it in the query of one
/// script. A path has at most two segments and repeats none, as on sites without path traps.
fn node_target(path: &[u32], naming: &dyn Naming) -> String {
    match path {
        [] => "/".to_owned(),
        path if naming.is_script_only() => format!("{SCRIPT_PAGE}?n={}", numbers(path)),
        [only] => format!("/part-{only}.html"),
        [first, ..] => format!("/part-{first}/{}.html", naming.below_part(path)),
    }
}

fn read(target: &str) -> Option<Resource> {
    match target {
        "/robots.txt" => return Some(Resource::RobotsTxt),
        "/" => return Some(Resource::Node(Vec::new())),
        SCRIPT_PAGE => return Some(Resource::BareScript),
        _ => {}
    }
    if let Some(path) = target.strip_prefix(SCRIPT_PAGE).and_then(|rest| rest.strip_prefix("?n=")) {
        return Some(Resource::Node(read_numbers(path)?));
    }
    if let Some(rest) = target.strip_prefix("/part-").and_then(|rest| rest.strip_suffix(".html")) {
        return Some(Resource::Node(read_tree_path(rest)?));
    }
    read_script(target)
        .or_else(|| read_detail(target))
        .or_else(|| read_extra(target))
        .or_else(|| read_gone(target))
        .or_else(|| Alias::read(target).map(|(alias, path)| Resource::Alias(alias, path)))
        .or_else(|| Listed::read(target).map(Resource::Listed))
        .or_else(|| Trap::read(target).map(Resource::Trap))
}

fn read_script(target: &str) -> Option<Resource> {
    let (page, query) = target.strip_prefix("/cgi/")?.split_once(".php")?;
    let query = match query {
        "" => None,
        query => Some(match query.strip_prefix("?id=") {
            Some(id) => Query::Id(id.parse().ok()?),
            None => Query::Parameter(query.strip_prefix(";v=")?.parse().ok()?),
        }),
    };
    Some(Resource::Script(read_name(page)?, query))
}

fn read_detail(target: &str) -> Option<Resource> {
    let (page, id) = target.strip_prefix("/detail/")?.strip_suffix(".html")?.split_once('.')?;
    Some(Resource::Detail(read_name(page)?, id.parse().ok()?))
}

fn read_extra(target: &str) -> Option<Resource> {
    if let Some((page, hop)) = target.strip_prefix("/go/chain/").and_then(|rest| rest.split_once('.')) {
        return Some(Resource::Hop(read_name(page)?, hop.parse().ok()?));
    }
    EXTRAS.iter().find_map(|(extra, before, after)| {
        let page = target.strip_prefix(before)?.strip_suffix(after)?;
        Some(Resource::Extra(*extra, read_name(page)?))
    })
}

fn read_gone(target: &str) -> Option<Resource> {
    let number = target.strip_prefix("/gone/")?.strip_suffix(".html")?;
    Some(Resource::Gone(number.parse().ok()?))
}

/// `front` or `3-0-7`: the page's name in the path of what is attached to it.
fn name(path: &[u32]) -> String {
    if path.is_empty() { "front".to_owned() } else { numbers(path) }
}

fn read_name(text: &str) -> Option<Path> {
    if text == "front" { Some(Vec::new()) } else { read_numbers(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::paths::Named;
    use proptest::prelude::*;

    const PLAIN: Named = Named(false, None);

    fn traps() -> impl Iterator<Item = Trap> {
        let counted = [1, 2, 3, 12, 25];
        let of = |n: u64| {
            [Trap::Month(n), Trap::Day(n - 1, 9), Trap::Loop(n), Trap::Session(n), Trap::SessionPage(n, 7)]
        };
        let facets = [vec![], vec![(0, 3)], vec![(1, 2), (4, 1)]].map(Trap::Facets);
        counted.into_iter().flat_map(of).chain(facets)
    }

    #[test]
    fn extras_stand_in_their_order() {
        for (index, (extra, ..)) in EXTRAS.iter().enumerate() {
            assert_eq!(*extra as usize, index);
        }
    }

    #[test]
    fn every_resource_is_found_under_its_own_target() {
        for naming in [PLAIN, Named(true, None), Named(false, Some("event")), Named(true, Some("event"))] {
            for path in [vec![], vec![3], vec![3, 0, 17]] {
                let mut resources = vec![
                    Resource::RobotsTxt,
                    Resource::BareScript,
                    Resource::Node(path.clone()),
                    Resource::Script(path.clone(), None),
                    Resource::Script(path.clone(), Some(Query::Id(2))),
                    Resource::Script(path.clone(), Some(Query::Parameter(2))),
                    Resource::Detail(path.clone(), 4),
                    Resource::Hop(path.clone(), 2),
                    Resource::Gone(7),
                    Resource::Listed(Listed::List(12)),
                    Resource::Listed(Listed::Item(12, 3)),
                ];
                let alias = if path.is_empty() { [Alias::Index; 2] } else { [Alias::Capital, Alias::Short] };
                resources.extend(alias.map(|alias| Resource::Alias(alias, path.clone())));
                resources.extend(traps().map(Resource::Trap));
                resources.extend(EXTRAS.iter().map(|(extra, ..)| Resource::Extra(*extra, path.clone())));
                for resource in resources {
                    let target = resource.target(&naming);
                    assert_eq!(Resource::parse(&target, &naming), Some(resource), "{target}");
                }
            }
        }
    }

    #[test]
    fn another_spelling_names_nothing() {
        for target in [
            "",
            "/part-01.html",
            "/part-1-2.html",
            "/part-1/2/3.html",
            "/cgi/front.php?id=01",
            "/page.php?n=1",
            "/page.php?list=1",
            "/part-1-2",
            "/list/01.html",
            "/gone/01.html",
            "/calendar/2001/2/",
            "/news/news/",
            "/shop/size-01/",
            "/sid-/",
        ] {
            assert_eq!(Resource::parse(target, &PLAIN), None, "{target}");
        }
        let naming = Named(false, Some("event"));
        for target in ["/part-1/2.html", "/part-1/item-2.html", "/part-1/event-02.html", "/part-event-1.html"]
        {
            assert_eq!(Resource::parse(target, &naming), None, "{target}");
        }
    }

    proptest! {
        #[test]
        fn any_target_is_read_or_refused(target in "[/a-z0-9.?;=-]{0,40}") {
            let _ = Resource::parse(&target, &PLAIN);
        }
    }
}
