use crate::World;
use crate::draw::Key;

/// What a file names if it names one sitemap.
const SINGLE: [&str; 4] = ["/sitemap.xml", "/sitemap.xml", "/sitemap_index.xml", "/wp-sitemap.xml"];
/// What a file names if it names several.
const SEVERAL: [&str; 4] =
    ["/sitemap-pages.xml", "/sitemap-news.xml", "/sitemap-images.xml", "/sitemap.xml.gz"];

/// The URLs of the sitemaps that the robots.txt of a host names beside its rules. `origin` is scheme and host
/// as the site writes them.
pub(crate) fn draw(world: &World, host: Key, origin: &str) -> Vec<String> {
    let (shares, key) = (&world.robots, host.part("sitemaps"));
    if !key.draw("names a sitemap").happens(shares.sitemap_share) {
        return Vec::new();
    }
    if key.draw("names several").happens(shares.several_sitemaps_share) {
        let count = 2 + key.draw("sitemaps").below(SEVERAL.len() as u64 - 1);
        return SEVERAL.iter().zip(0..count).map(|(path, _)| format!("{origin}{path}")).collect();
    }
    vec![format!("{origin}{}", key.draw("sitemap").pick(&SINGLE))]
}
