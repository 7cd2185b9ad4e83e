/// A world by example: what a world file that names it starts from.
///
/// ```
/// use ccsurvey_space::World;
/// let world = World::parse("profile = \"africa-2006\"\n[sites]\ncount = 10\n").unwrap();
/// assert_eq!((world.sites.count, world.sites.start_share), (10, 1.0));
/// let error = World::parse("profile = \"africa\"").err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "line 1: 'profile' is \"africa\", expected one of africa-2006, cctld-2026, japan-encodings"
/// );
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name as written in world files.
    pub name: &'static str,
    /// The text of a complete world file.
    pub toml: &'static str,
}

/// The built-in profiles.
pub const PROFILES: &[Profile] = &[
    Profile { name: "africa-2006", toml: include_str!("../data/worlds/africa-2006.toml") },
    Profile { name: "cctld-2026", toml: include_str!("../data/worlds/cctld-2026.toml") },
    Profile { name: "japan-encodings", toml: include_str!("../data/worlds/japan-encodings.toml") },
];

impl Profile {
    #[must_use]
    /// The profile with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::{SuffixSection, Suffixes};
    use crate::{World, WorldError};

    fn parse(text: &str) -> Result<World, WorldError> {
        World::parse(text)
    }

    #[test]
    fn every_profile_is_a_world_and_registers_below_public_suffixes() {
        let list = include_str!("../../../data/public_suffix_list.dat");
        let suffixes = Suffixes::parse(list, SuffixSection::Icann).unwrap();
        for profile in PROFILES {
            let world = parse(profile.toml).unwrap();
            assert_eq!(world.profile, None, "a profile starts from none");
            for suffix in &world.registry_suffixes {
                assert!(suffixes.is_icann_suffix(suffix), "{}: {suffix}", profile.name);
            }
            let named = parse(&format!("profile = \"{}\"", profile.name)).unwrap();
            assert_eq!(named.profile, Some(profile));
            assert_eq!((named.pages, named.servers, named.time), (world.pages, world.servers, world.time));
            assert_eq!(named.registry_suffixes, world.registry_suffixes);
        }
    }

    #[test]
    fn the_keys_of_the_file_win() {
        let world = parse("seed = 3\nprofile = \"cctld-2026\"\n[pages]\nutf8_share = 0.5").unwrap();
        assert_eq!((world.seed, world.sites.count), (3, 3400));
        assert!((world.pages.utf8_share - 0.5).abs() < 1e-9);
        assert!((world.pages.bytes_median - 32_000.0).abs() < 1e-9);
    }

    #[test]
    fn another_country_has_its_own_registry_suffixes() {
        let suffixes = |domains: &str| {
            let text = format!("profile = \"africa-2006\"\ncountry_domains = [{domains}]");
            parse(&text).unwrap().registry_suffixes.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(suffixes("\"ke\""), ["co.ke", "or.ke", "ac.ke", "go.ke"]);
        assert_eq!(suffixes("\"is\""), ["is"]);
    }

    #[test]
    fn what_is_wrong_is_named_in_the_lines_of_the_file() {
        let parse_error = |text: &str| parse(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(
            parse_error("profile = \"africa-2006\"\n\n[sites]\ncms_share = 0.9"),
            "line 3: in [sites], one_page_share, brochure_share, cms_share and large_share sum to 1.6500, expected 1"
        );
        assert_eq!(
            parse_error("\n\nprofile = 2006"),
            "line 3: 'profile' is 2006, expected one of africa-2006, cctld-2026, japan-encodings"
        );
        assert!(
            parse_error("profile = \"cctld-2026\"\n[time]\nscal = 1")
                .starts_with("line 3: unknown key 'time.scal'")
        );
    }
}
