use super::World;
use super::draw::{Draw, Key, real, rounded};
use super::names::{Hosts, site_index, site_key};
use super::robots::Robots;
use super::tree::Tree;

/// One site of the world: what is the same for all its pages.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub index: u64,
    pub key: Key,
    pub is_in_start_list: bool,
    /// Where the tree begins.
    pub main_host: String,
    /// The bare name, when the main host begins with www; it redirects there.
    pub bare_host: Option<String>,
    /// A second host with a tree of its own.
    pub sub_host: Option<String>,
    pub start_host: String,
    pub class: Class,
    pub fault: Option<Fault>,
    pub has_base: bool,
    /// All pages are query URLs of one script.
    pub is_script_only: bool,
    /// Pages of the trees on both hosts.
    pub pages: u64,
    pub main: Tree,
    pub sub: Option<Tree>,
    pub main_robots: Robots,
    pub sub_robots: Robots,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    OnePage,
    Brochure,
    Cms,
    Large,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    NoDns,
    Servfail,
    Reset,
    Unavailable,
    Moved,
}

/// Which of its site's hosts a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Main,
    Bare,
    Sub,
}

const SUB_NAMES: [&str; 5] = ["library", "news", "shop", "blog", "mail"];

impl Site {
    pub fn of(world: &World, index: u64) -> Self {
        let key = site_key(world, index);
        let Hosts { main: main_host, bare: bare_host } = Hosts::of(world, index);
        let domain = bare_host.as_ref().unwrap_or(&main_host);
        let fault = draw_fault(world, key);
        let class = draw_class(world, key);
        let pages = if fault == Some(Fault::Moved) { 1 } else { draw_pages(world, key, class) };
        let sub_pages = draw_sub_pages(world, key, pages);
        let starts_bare = key.draw("bare start").happens(world.sites.bare_start_share);
        Self {
            index,
            key,
            is_in_start_list: key.draw("start list").happens(world.sites.start_share),
            start_host: bare_host.clone().filter(|_| starts_bare).unwrap_or_else(|| main_host.clone()),
            sub_host: (sub_pages > 0)
                .then(|| format!("{}.{domain}", key.draw("second host").pick(&SUB_NAMES))),
            main_host,
            bare_host,
            class,
            fault,
            has_base: key.draw("base element").happens(world.pages.base_share),
            is_script_only: class == Class::Cms
                && key.draw("script only").happens(world.sites.script_only_share),
            pages,
            main: Tree::of(world, key.part("main tree"), pages - sub_pages, 0),
            sub: (sub_pages > 0).then(|| Tree::of(world, key.part("second tree"), sub_pages, 1)),
            main_robots: Robots::draw(world, key.draw("robots")),
            sub_robots: Robots::draw(world, key.draw("second robots")),
        }
    }

    /// The site a host belongs to, and which of its hosts it is.
    pub fn with_host(world: &World, host: &str) -> Option<(Self, Role)> {
        let (index, _) = site_index(world, host)?;
        let site = Self::of(world, index);
        let role = match host {
            host if host == site.main_host => Role::Main,
            host if Some(host) == site.bare_host.as_deref() => Role::Bare,
            host if Some(host) == site.sub_host.as_deref() => Role::Sub,
            _ => return None,
        };
        Some((site, role))
    }

    /// The tree that stands on a host; none on the bare name, which only redirects.
    pub fn tree(&self, role: Role) -> Option<&Tree> {
        match role {
            Role::Main => Some(&self.main),
            Role::Bare => None,
            Role::Sub => self.sub.as_ref(),
        }
    }

    pub fn host(&self, role: Role) -> &str {
        match role {
            Role::Main => &self.main_host,
            Role::Bare => self.bare_host.as_deref().unwrap_or(&self.main_host),
            Role::Sub => self.sub_host.as_deref().unwrap_or(&self.main_host),
        }
    }

    pub fn robots(&self, role: Role) -> Robots {
        if role == Role::Sub { self.sub_robots } else { self.main_robots }
    }
}

/// The first kind whose share the draw falls into; none in what is left.
pub(super) fn by_share<T: Copy>(draw: Draw, shares: &[(f64, T)]) -> Option<T> {
    let mut rest = draw.unit();
    shares.iter().find_map(|(share, kind)| {
        rest -= share;
        (rest < 0.0).then_some(*kind)
    })
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
            (shares.reset_share, Fault::Reset),
            (shares.unavailable_share, Fault::Unavailable),
            (shares.moved_share, Fault::Moved),
        ],
    )
}
