use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use serde::Deserialize;

#[derive(Deserialize)]
struct SiteList {
    site: Vec<Site>,
}

/// A documentation package, and how it is served.
#[derive(Deserialize)]
pub(crate) struct Site {
    pub host: String,
    pub package: String,
    pub root: String,
    pub server: String,
    pub address: IpAddr,
    pub scheme: String,
    /// None: the site has no robots.txt.
    pub robots: Option<String>,
}

impl Site {
    pub(crate) fn all() -> Vec<Self> {
        let list: SiteList = toml::from_str(include_str!("sites.toml")).expect("sites.toml is well formed");
        for site in &list.site {
            let index = Path::new(&site.root).join("index.html");
            assert!(
                index.exists(),
                "{} of {} is missing: run tests/setup first",
                index.display(),
                site.package
            );
        }
        list.site
    }

    pub(crate) fn is_https(&self) -> bool {
        self.scheme == "https"
    }

    pub(crate) fn socket(&self) -> SocketAddr {
        SocketAddr::new(self.address, if self.is_https() { 443 } else { 80 })
    }

    pub(crate) fn start_url(&self) -> String {
        format!("{}://{}/", self.scheme, self.host)
    }
}
