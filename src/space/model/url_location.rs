use std::sync::Arc;

use super::content::Url;
use super::facts::sitemaps;
use super::paths::Resource;
use super::site::{Role, Site};
use crate::World;

/// A URL of the world with the site it belongs to.
pub(crate) struct UrlLocation {
    pub site: Arc<Site>,
    pub role: Role,
    pub is_https: bool,
    /// Path and query.
    pub(super) target: String,
    /// None if the path does not exist.
    pub resource: Option<Resource>,
}

impl UrlLocation {
    /// Looks up a URL; its target must be in canonical form. None if no site has the host.
    pub(crate) fn find(world: &World, url: &Url) -> Option<Self> {
        let (site, role) = Site::with_host(world, &url.host)?;
        Some(Self::on(Arc::new(site), role, url))
    }

    /// Locates a URL on a site that was found already.
    pub(crate) fn on(site: Arc<Site>, role: Role, url: &Url) -> Self {
        let resource = Resource::parse(&url.target, &*site);
        Self { site, role, is_https: url.is_https, target: url.target.clone(), resource }
    }

    /// The same path on one of the site's hosts.
    pub(super) fn under(&self, host: &str, is_https: bool) -> Url {
        Url { is_https, host: host.to_owned(), target: self.target.clone() }
    }

    /// The URL of a resource on the same host, in the form the site uses in its own links.
    pub(crate) fn url(&self, resource: &Resource) -> Url {
        self.site.url(self.role, resource)
    }

    /// The URL of a resource on the same host, under the scheme of the request.
    pub(crate) fn same_host_url(&self, resource: &Resource) -> Url {
        Url { is_https: self.is_https, ..self.url(resource) }
    }

    /// The URL that was looked up.
    pub(crate) fn own_url(&self) -> Url {
        self.under(self.site.host(self.role), self.is_https)
    }

    /// The sitemaps that the robots.txt of the host names by their full URLs.
    pub(crate) fn sitemaps(&self, world: &World) -> Vec<String> {
        let role = if self.role == Role::Sub { Role::Sub } else { Role::Main };
        let host = self.site.key.part(if role == Role::Sub { "second host" } else { "main host" });
        let front = self.site.url(role, &Resource::Node(Vec::new()));
        let scheme = if front.is_https { "https" } else { "http" };
        sitemaps::draw(world, host, &format!("{scheme}://{}", front.host))
    }

    /// Whether the one script of a site also responds without a query.
    pub(crate) fn has_bare_script(&self) -> bool {
        self.site.is_script_only
            && self.role == Role::Main
            && self.site.content.draw("bare page script").happens(0.5)
    }
}
