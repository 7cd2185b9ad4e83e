use std::sync::OnceLock;

use super::content::{Link, Url};
use super::copies;
use super::facts::Facts;
use super::https::Tls;
use super::names::{Hosts, site_index, site_key};
use super::paths::{Naming, Path, Resource};
use super::robots::Robots;
use super::structure::Structure;
use super::traps::SiteTraps;
use super::tree::Tree;
use crate::World;
use crate::draw::{Key, by_share, real, rounded};

/// One site of the world: what all its pages share.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub index: u64,
    pub key: Key,
    /// The key that pages are drawn from: the site's own, or that of the site it mirrors.
    pub content: Key,
    /// The index of the site that `content` belongs to.
    pub content_index: u64,
    pub is_in_start_list: bool,
    /// The host of the start page.
    pub main_host: String,
    /// The bare name, if the main host begins with www; it redirects to the main host.
    pub bare_host: Option<String>,
    /// A second host with a tree of its own.
    pub sub_host: Option<String>,
    pub start_host: String,
    pub class: Class,
    pub fault: Option<Fault>,
    /// The bare name has no address.
    pub is_www_only: bool,
    /// Replaces the front page.
    pub front: Option<Front>,
    pub has_base: bool,
    /// All pages are query URLs of one script.
    pub is_script_only: bool,
    pub structure: Structure,
    pub facts: Facts,
    /// Pages of the trees on both hosts, and of the lists.
    pub pages: u64,
    pub lists: u64,
    pub traps: SiteTraps,
    pub tls: Tls,
    pub main: Tree,
    pub sub: Option<Tree>,
    pub main_robots: Robots,
    pub sub_robots: Robots,
    /// The path of the page of links, found once.
    links_page: OnceLock<Option<Path>>,
    /// The external links on every page, drawn once.
    pub(super) boilerplate: OnceLock<Vec<Link>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    OnePage,
    Brochure,
    Cms,
    Large,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoDns,
    Servfail,
    DnsSilent,
    Reset,
    Silent,
    Forbidden,
    Unavailable,
    Moved,
}

/// What the main host serves in place of its front page. The pages below are served as usual, and a crawler
/// that knows the URL of one can enter the site there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front {
    Status(u16),
    /// The front page redirects to a URL that redirects back to it.
    Circle,
}

impl Front {
    /// None for an ordinary front page.
    pub(crate) fn draw(world: &World, site: Key) -> Option<Self> {
        let shares = &world.doors;
        let kinds = [
            (shares.front_401_share, Self::Status(401)),
            (shares.front_403_share, Self::Status(403)),
            (shares.front_404_share, Self::Status(404)),
            (shares.front_circle_share, Self::Circle),
        ];
        by_share(site.draw("front page shut"), &kinds)
    }
}

/// Which of its site's hosts a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Main,
    Bare,
    Sub,
}

const SUB_NAMES: [&str; 5] = ["library", "news", "shop", "blog", "mail"];

impl Site {
    pub(crate) fn new(world: &World, index: u64) -> Self {
        let key = site_key(world, index);
        let content_index = copies::mirrored(world, index).unwrap_or(index);
        let content = site_key(world, content_index);
        let Hosts { main: main_host, bare: bare_host, tls } = Hosts::new(world, index);
        let domain = bare_host.as_ref().unwrap_or(&main_host);
        let fault = draw_fault(world, key);
        let has_own_pages = !Facts::replaces_pages(world, content);
        let class = if has_own_pages { draw_class(world, content) } else { Class::OnePage };
        let pages = if fault == Some(Fault::Moved) { 1 } else { draw_pages(world, content, class) };
        let lists = draw_lists(world, content, class, pages);
        let tree_pages = pages - lists * (1 + world.lists.items);
        let sub_pages = draw_sub_pages(world, content, tree_pages);
        let structure = Structure::draw(world, content);
        let tree = |name, pages, depth| Tree::new(world, content.part(name), structure.repeats, pages, depth);
        let starts_bare = key.draw("bare start").happens(world.sites.bare_start_share);
        Self {
            index,
            key,
            content,
            content_index,
            is_in_start_list: key.draw("start list").happens(world.sites.start_share),
            start_host: bare_host.clone().filter(|_| starts_bare).unwrap_or_else(|| main_host.clone()),
            sub_host: (sub_pages > 0)
                .then(|| format!("{}.{domain}", content.draw("second host").pick(&SUB_NAMES))),
            is_www_only: bare_host.is_some()
                && key.draw("no bare address").happens(world.doors.www_only_share),
            front: Front::draw(world, key),
            main_host,
            bare_host,
            class,
            fault,
            has_base: content.draw("base element").happens(world.pages.base_share),
            is_script_only: class == Class::Cms
                && content.draw("script only").happens(world.sites.script_only_share),
            structure,
            facts: Facts::draw(world, key, content, class == Class::Cms),
            pages,
            lists,
            traps: if has_own_pages { SiteTraps::draw(world, content) } else { SiteTraps::default() },
            tls,
            main: tree("main tree", tree_pages - sub_pages, 0),
            sub: (sub_pages > 0).then(|| tree("second tree", sub_pages, 1)),
            main_robots: Robots::draw(world, key.draw("robots")),
            sub_robots: Robots::draw(world, key.draw("second robots")),
            links_page: OnceLock::new(),
            boilerplate: OnceLock::new(),
        }
    }

    /// The site a host belongs to, and the role of the host in that site.
    pub(crate) fn with_host(world: &World, host: &str) -> Option<(Self, Role)> {
        let (index, _) = site_index(world, host)?;
        let site = Self::new(world, index);
        let role = match host {
            host if host == site.main_host => Role::Main,
            host if Some(host) == site.bare_host.as_deref() => Role::Bare,
            host if Some(host) == site.sub_host.as_deref() => Role::Sub,
            _ => return None,
        };
        Some((site, role))
    }

    /// The tree on a host; none on the bare name, which only redirects.
    pub(crate) fn tree(&self, role: Role) -> Option<&Tree> {
        match role {
            Role::Main => Some(&self.main),
            Role::Bare => None,
            Role::Sub => self.sub.as_ref(),
        }
    }

    pub(crate) fn host(&self, role: Role) -> &str {
        match role {
            Role::Main => &self.main_host,
            Role::Bare => self.bare_host.as_deref().unwrap_or(&self.main_host),
            Role::Sub => self.sub_host.as_deref().unwrap_or(&self.main_host),
        }
    }

    /// Whether one of the site's host names has an address.
    pub(crate) fn has_address(&self, role: Role) -> bool {
        let has_names = !matches!(self.fault, Some(Fault::NoDns | Fault::Servfail | Fault::DnsSilent));
        has_names && !(role == Role::Bare && self.is_www_only)
    }

    /// The page of links, if the site has one: at depth 1 or 2, or less deep where the random descent ends
    /// early.
    pub(crate) fn links_page(&self, world: &World) -> Option<&Path> {
        let find = || {
            let depth = 1 + self.content.draw("depth of links page").below(2);
            let draw = self.content.draw("place of links page");
            let mut node = self.main.root();
            for at in 0..depth {
                let number = draw.nth(at).below(u64::from(self.main.child_count(&node)));
                let Some(child) = self.main.child_of_any_edition(&node, u32::try_from(number).ok()?) else {
                    break;
                };
                node = child;
            }
            (!node.path.is_empty()).then_some(node.path)
        };
        let has_one = || {
            self.content.draw("has links page").happens(world.external.links_page_share).then(find).flatten()
        };
        self.links_page.get_or_init(has_one).as_ref()
    }

    /// The URL of a resource on one of the hosts, as the site itself links to it.
    pub(crate) fn url(&self, role: Role, resource: &Resource) -> Url {
        Url {
            is_https: self.tls.links_itself_with_https(),
            ..Url::http(self.host(role), resource.target(self))
        }
    }

    pub(crate) fn robots(&self, role: Role) -> Robots {
        if role == Role::Sub { self.sub_robots } else { self.main_robots }
    }
}

impl Naming for Site {
    fn is_script_only(&self) -> bool {
        self.is_script_only
    }

    fn word(&self, path: &[u32]) -> Option<&'static str> {
        self.structure.word(path)
    }
}

impl World {
    /// The start list: the front pages of the sites that the surveyor knows, and those of the hostile sites.
    #[must_use]
    pub fn start_urls(&self) -> Vec<String> {
        (0..self.sites.count)
            .map(|index| Site::new(self, index))
            .filter(|site| site.is_in_start_list)
            .map(|site| format!("http://{}/", site.start_host))
            .chain(self.hostile.start_urls())
            .collect()
    }
}

fn draw_class(world: &World, key: Key) -> Class {
    let shares = &world.sites;
    by_share(
        key.draw("class"),
        &[
            (shares.one_page_share, Class::OnePage),
            (shares.brochure_share, Class::Brochure),
            (shares.cms_share, Class::Cms),
        ],
    )
    .unwrap_or(if shares.large_share > 0.0 { Class::Large } else { Class::Brochure })
}

fn draw_pages(world: &World, key: Key, class: Class) -> u64 {
    let (sites, draw) = (&world.sites, key.draw("pages"));
    let pages = match class {
        Class::OnePage => 1.0,
        Class::Brochure => draw.log_normal(sites.brochure_median, sites.brochure_sigma),
        Class::Cms => draw.log_normal(sites.cms_median, sites.cms_sigma),
        Class::Large => sites.large_smallest * (1.0 - draw.unit()).powf(-1.0 / sites.large_alpha),
    };
    rounded(pages).clamp(1, sites.most_pages)
}

/// Number of list pages of a site with `pages` pages. Lists and their items make up at most half of the
/// pages.
fn draw_lists(world: &World, key: Key, class: Class, pages: u64) -> u64 {
    let lists = &world.lists;
    if !matches!(class, Class::Cms | Class::Large) || !key.draw("has lists").happens(lists.share) {
        return 0;
    }
    let drawn_count = rounded(key.draw("lists").log_normal(lists.length_median, lists.length_sigma));
    drawn_count.clamp(1, lists.length_most).min(pages / 2 / (1 + lists.items))
}

fn draw_sub_pages(world: &World, key: Key, pages: u64) -> u64 {
    if pages < 4 || !key.draw("has second host").happens(world.sites.subdomain_share) {
        return 0;
    }
    rounded(real(pages) * world.sites.subdomain_pages_share).clamp(1, pages - 1)
}

fn draw_fault(world: &World, key: Key) -> Option<Fault> {
    let shares = &world.faults;
    by_share(
        key.draw("fault"),
        &[
            (shares.no_dns_share, Fault::NoDns),
            (shares.servfail_share, Fault::Servfail),
            (shares.dns_silent_share, Fault::DnsSilent),
            (shares.reset_share, Fault::Reset),
            (shares.silent_share, Fault::Silent),
            (shares.forbidden_share, Fault::Forbidden),
            (shares.unavailable_share, Fault::Unavailable),
            (shares.moved_share, Fault::Moved),
        ],
    )
}
