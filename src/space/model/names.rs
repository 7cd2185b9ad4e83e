use super::https::Tls;
use crate::World;
use crate::address::Host;
use crate::draw::Key;

const SYLLABLES: [&str; 24] = [
    "ba", "chi", "da", "fu", "go", "ja", "ka", "ki", "le", "ma", "mbo", "nga", "ni", "pe", "ru", "sha", "so",
    "ta", "tu", "wa", "we", "ya", "zi", "zu",
];

/// A pronounceable word.
pub(crate) fn word(key: Key) -> String {
    let draw = key.draw("name");
    let syllables = 2 + draw.below(2);
    (1..=syllables).map(|n| *draw.nth(n).pick(&SYLLABLES)).collect()
}

/// The registrable domain of a site: a word, the site's number and a registry suffix. The number makes the
/// domain unique and lets [`site_index`] find the site without a table.
pub(crate) fn domain_of(world: &World, index: u64) -> String {
    let key = site_key(world, index);
    let suffix = key.draw("registry suffix").pick(&world.registry_suffixes);
    format!("{}{index}.{suffix}", word(key))
}

/// The host names of a site's main tree.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    /// The host of the start page.
    pub main: String,
    /// The bare name, if the main host begins with www; it redirects to the main host.
    pub bare: Option<String>,
    pub tls: Tls,
}

impl Hosts {
    pub(crate) fn new(world: &World, index: u64) -> Self {
        let (domain, key) = (domain_of(world, index), site_key(world, index));
        let tls = Tls::draw(world, key);
        if key.draw("www").happens(world.sites.www_share) {
            Self { main: format!("www.{domain}"), bare: Some(domain), tls }
        } else {
            Self { main: domain, bare: None, tls }
        }
    }
}

pub(crate) fn site_key(world: &World, index: u64) -> Key {
    world.key().part("site").child(index)
}

/// The number of the site a host belongs to, with the labels before its registrable domain.
pub(crate) fn site_index<'h>(world: &World, host: &'h str) -> Option<(u64, &'h str)> {
    world.registry_suffixes.iter().find_map(|suffix| {
        let rest = host.strip_suffix(Host::as_str(suffix))?.strip_suffix('.')?;
        let (before, label) = rest.rsplit_once('.').unwrap_or(("", rest));
        let before_number = label.trim_end_matches(|c: char| c.is_ascii_digit());
        let index = label[before_number.len()..].parse().ok()?;
        let is_site = index < world.sites.count
            && domain_of(world, index).strip_suffix(Host::as_str(suffix)) == Some(&format!("{label}."));
        is_site.then_some((index, before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_found_from_any_of_its_hosts() {
        let world =
            World::parse("country_domains = [\"ke\"]\nregistry_suffixes = [\"ke\", \"co.ke\"]").unwrap();
        for index in 0..world.sites.count {
            let domain = domain_of(&world, index);
            assert_eq!(site_index(&world, &domain), Some((index, "")), "{domain}");
            assert_eq!(site_index(&world, &format!("www.{domain}")), Some((index, "www")));
        }
        for host in ["ke", "co.ke", "100.ke", "a100.ke", "www.nobody.ke", "example.com", ""] {
            assert_eq!(site_index(&world, host), None, "{host}");
        }
    }
}
