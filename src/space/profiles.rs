/// A world by example: what a world file that names it starts from.
///
/// ```
/// use ccsurvey::space::World;
/// let world = World::parse("profile = \"africa-2006\"\n[sites]\ncount = 10\n").unwrap();
/// assert_eq!((world.sites.count, world.sites.start_share), (10, 1.0));
/// let wrong = World::parse("profile = \"africa\"").err().unwrap();
/// assert_eq!(
///     wrong.to_string(),
///     "line 1: 'profile' is \"africa\", expected one of africa-2006, cctld-2026, japan-encodings"
/// );
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    pub name: &'static str,
    /// A whole world file.
    pub toml: &'static str,
}

/// The profiles built in.
pub const PROFILES: &[Profile] = &[
    Profile { name: "africa-2006", toml: include_str!("../../data/worlds/africa-2006.toml") },
    Profile { name: "cctld-2026", toml: include_str!("../../data/worlds/cctld-2026.toml") },
    Profile { name: "japan-encodings", toml: include_str!("../../data/worlds/japan-encodings.toml") },
];

impl Profile {
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// All names, for people.
    #[must_use]
    pub fn names() -> String {
        PROFILES.iter().map(|profile| profile.name).collect::<Vec<_>>().join(", ")
    }
}
