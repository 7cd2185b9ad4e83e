use toml::Spanned;
use toml::de::DeTable;

use super::byte_sections::{Files, Pages, Servers, Time, Validators};
use super::dates::{DAY_SECONDS, Date};
use super::fact_sections::{FactShares, Languages};
use super::keys::{Table, WorldError, line_at};
use super::profiles::Profile;
use super::sections::{
    Change, Copies, DnsShares, Doors, Externals, Extras, Faults, Https, Lists, Redirects, RobotsShares,
    Shape, Sites, Structure, Traps, Variant,
};
use crate::address::Host;
use crate::draw::Key;
use crate::hostile::{Case, Hostile};

/// The version of the specification that builds a world from its file. Another version may make other pages
/// from the same seed; this one never changes.
pub const SPECIFICATION: &str = "space-v1";

/// A virtual Web space: its settings, from which every page follows.
///
/// ```
/// use ccsurvey_space::World;
/// let world = World::parse("seed = 7\ncountry_domains = [\"ke\"]\n[sites]\ncount = 20\n").unwrap();
/// assert!(world.start_urls().iter().all(|url| url.ends_with(".ke/")));
/// let error = World::parse("[sites]\ncount = 0\n").err().unwrap();
/// assert_eq!(
///     error.to_string(),
///     "line 2: 'sites.count' is 0, expected an integer from 1 to 1000000 (sites)"
/// );
/// ```
#[derive(Clone, Debug)]
pub struct World {
    /// Everything is drawn from it.
    pub seed: u64,
    /// The profile that the file starts from.
    pub profile: Option<&'static Profile>,
    /// The date of the world; the age of its pages counts back from it.
    pub date: Date,
    /// The country domains that are surveyed.
    pub country_domains: Vec<Host>,
    /// Suffixes below which sites are registered, each at or below a country domain.
    pub registry_suffixes: Vec<Host>,
    /// Suffixes of the hosts outside the country, which are linked but never served.
    pub outside_suffixes: Vec<Host>,
    /// `[sites]`
    pub sites: Sites,
    /// `[tree]`
    pub shape: Shape,
    /// `[extras]`
    pub extras: Extras,
    /// `[redirects]`
    pub redirects: Redirects,
    /// `[lists]`
    pub lists: Lists,
    /// `[structure]`
    pub structure: Structure,
    /// `[copies]`
    pub copies: Copies,
    /// `[traps]`
    pub traps: Traps,
    /// `[external]`
    pub external: Externals,
    /// `external.variant`
    pub external_variant: Variant,
    /// `[robots]`
    pub robots: RobotsShares,
    /// `[faults]`
    pub faults: Faults,
    /// `[https]`
    pub https: Https,
    /// `[doors]`
    pub doors: Doors,
    /// `[dns]`
    pub dns: DnsShares,
    /// `[facts]`
    pub facts: FactShares,
    /// `[languages]`
    pub languages: Languages,
    /// `[pages]`
    pub pages: Pages,
    /// `[validators]`
    pub validators: Validators,
    /// `[change]`
    pub change: Change,
    /// `[files]`
    pub files: Files,
    /// `[servers]`
    pub servers: Servers,
    /// `[time]`
    pub time: Time,
    /// The hostile and broken sites.
    pub(crate) hostile: Hostile,
}

impl World {
    /// Parses a world file. Every key may be missing, none may be unknown. A [`Profile`] named in the file
    /// supplies the values of missing keys.
    ///
    /// # Errors
    /// Names the key, its line, its value and what is allowed.
    pub fn parse(text: &str) -> Result<Self, WorldError> {
        let file = read_toml(text)?;
        let profile = read_profile(&mut Table::root(text, file.get_ref(), None))?;
        let of_profile = profile.map(|profile| read_toml(profile.toml)).transpose()?;
        let of_profile = of_profile.as_ref().map(Spanned::get_ref);
        Self::read(&mut Table::root(text, file.get_ref(), of_profile))
    }

    /// The time of the last edition, in seconds since 1970: no page changed later.
    #[must_use]
    pub fn stands_at(&self) -> i64 {
        self.edition_begins(self.validators.edition)
    }

    /// The first edition appears one day after the world's date, and each further edition one day after the
    /// previous one.
    pub(crate) fn edition_begins(&self, edition: u64) -> i64 {
        let days = i64::try_from(edition).unwrap_or(i64::MAX);
        self.date.seconds().saturating_add(days.saturating_mul(DAY_SECONDS))
    }

    fn read(root: &mut Table<'_>) -> Result<Self, WorldError> {
        root.constant("specification", SPECIFICATION)?;
        let profile = read_profile(root)?;
        let country_domains = root.texts("country_domains", &["ke"], "a list of country domains", domain)?;
        let below = |host: &Host| country_domains.iter().any(|country| host.is_at_or_below(country));
        let defaults: Vec<&str> = country_domains.iter().map(Host::as_str).collect();
        let (external_variant, external) = read_externals(root)?;
        let world = Self {
            seed: root.number("seed", 1, &(0..=u64::MAX), "any number")?,
            profile,
            date: root
                .text("date", "a day from 1996 to 2099, such as \"2006-06-01\"", Date::parse)?
                .unwrap_or(DATE),
            registry_suffixes: root.texts(
                "registry_suffixes",
                &defaults,
                "a list of public suffixes at or below the country domains",
                |text| domain(text).filter(below),
            )?,
            outside_suffixes: root.texts(
                "outside_suffixes",
                &["com", "org", "net", "co.uk", "github.io"],
                "a list of suffixes outside the country domains",
                |text| domain(text).filter(|host| !below(host)),
            )?,
            sites: read_sites(root)?,
            shape: Shape::read(&mut root.section(Shape::TABLE)?)?,
            extras: Extras::read(&mut root.section(Extras::TABLE)?)?,
            redirects: Redirects::read(&mut root.section(Redirects::TABLE)?)?,
            lists: Lists::read(&mut root.section(Lists::TABLE)?)?,
            structure: Structure::read(&mut root.section(Structure::TABLE)?)?,
            copies: Copies::read(&mut root.section(Copies::TABLE)?)?,
            traps: Traps::read(&mut root.section(Traps::TABLE)?)?,
            external,
            external_variant,
            robots: read_robots(root)?,
            faults: read_faults(root)?,
            https: read_https(root)?,
            doors: read_doors(root)?,
            dns: read_dns(root)?,
            facts: read_facts(root)?,
            languages: read_languages(root)?,
            pages: read_pages(root)?,
            validators: Validators::read(&mut root.section(Validators::TABLE)?)?,
            change: Change::read(&mut root.section(Change::TABLE)?)?,
            files: Files::read(&mut root.section(Files::TABLE)?)?,
            servers: read_servers(root)?,
            time: Time::read(&mut root.section(Time::TABLE)?)?,
            hostile: read_hostile(root, &country_domains)?,
            country_domains,
        };
        root.finish()?;
        Ok(world)
    }

    /// The cases of hostile and broken servers in this world; each has a site whose host is named after the
    /// case.
    #[must_use]
    pub fn hostile_cases(&self) -> &[&'static Case] {
        self.hostile.cases()
    }

    /// Whether a host lies in the surveyed country.
    #[must_use]
    pub fn surveys(&self, host: &Host) -> bool {
        self.country_domains.iter().any(|country| host.is_at_or_below(country))
    }

    pub(crate) fn key(&self) -> Key {
        Key::of_world(SPECIFICATION, self.seed)
    }
}

/// The default date: the middle of the paper's year.
const DATE: Date = Date::MIDDLE_OF_2006;

fn read_toml(text: &str) -> Result<Spanned<DeTable<'_>>, WorldError> {
    DeTable::parse(text).map_err(|error| WorldError::Syntax {
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })
}

fn read_profile(root: &mut Table<'_>) -> Result<Option<&'static Profile>, WorldError> {
    root.text("profile", &format!("one of {}", Profile::names()), Profile::named)
}

fn domain(text: &str) -> Option<Host> {
    Host::parse(text).ok().filter(|host| host.ip().is_none())
}

fn read_sites(root: &mut Table<'_>) -> Result<Sites, WorldError> {
    let mut table = root.section(Sites::TABLE)?;
    let sites = Sites::read(&mut table)?;
    let sum = sites.one_page_share + sites.brochure_share + sites.cms_share + sites.large_share;
    if (sum - 1.0).abs() > 1e-6 {
        let keys = "one_page_share, brochure_share, cms_share and large_share";
        return Err(table.sum_error(keys, sum, "1"));
    }
    Ok(sites)
}

fn read_pages(root: &mut Table<'_>) -> Result<Pages, WorldError> {
    let mut table = root.section(Pages::TABLE)?;
    let pages = Pages::read(&mut table)?;
    let charsets: f64 = pages.charset_shares().iter().sum();
    at_most_one(&table, "the charsets' shares", charsets + pages.mixed_share + pages.undeclared_share)?;
    let odd = pages.wrong_charset_share + pages.missing_charset_share;
    at_most_one(&table, "wrong_charset_share and missing_charset_share", odd)?;
    at_most_one(&table, "area_share and frame_share", pages.area_share + pages.frame_share)?;
    Ok(pages)
}

fn read_robots(root: &mut Table<'_>) -> Result<RobotsShares, WorldError> {
    let mut table = root.section(RobotsShares::TABLE)?;
    let robots = RobotsShares::read(&mut table)?;
    let sum = robots.missing_share
        + robots.junk_share
        + robots.some_share
        + robots.all_share
        + robots.crawl_delay_share
        + robots.unavailable_share
        + robots.silent_share;
    at_most_one(&table, "the shares", sum)?;
    Ok(robots)
}

fn read_faults(root: &mut Table<'_>) -> Result<Faults, WorldError> {
    let mut table = root.section(Faults::TABLE)?;
    let faults = Faults::read(&mut table)?;
    let sum = faults.no_dns_share
        + faults.servfail_share
        + faults.dns_silent_share
        + faults.reset_share
        + faults.silent_share
        + faults.forbidden_share
        + faults.unavailable_share
        + faults.moved_share;
    at_most_one(&table, "the shares", sum)?;
    Ok(faults)
}

fn read_externals(root: &mut Table<'_>) -> Result<(Variant, Externals), WorldError> {
    let mut table = root.section(Externals::TABLE)?;
    let variant = table.choice("variant", &Variant::ALL)?;
    Ok((variant, Externals::read(&mut table)?))
}

fn read_https(root: &mut Table<'_>) -> Result<Https, WorldError> {
    let mut table = root.section(Https::TABLE)?;
    let https = Https::read(&mut table)?;
    let bad = https.self_signed_share + https.expired_share + https.wrong_name_share;
    at_most_one(&table, "the shares of bad certificates", bad)?;
    Ok(https)
}

fn read_doors(root: &mut Table<'_>) -> Result<Doors, WorldError> {
    let mut table = root.section(Doors::TABLE)?;
    let doors = Doors::read(&mut table)?;
    let port_80 = doors.refused_80_share + doors.reset_80_share;
    at_most_one(&table, "refused_80_share and reset_80_share", port_80)?;
    let front =
        doors.front_401_share + doors.front_403_share + doors.front_404_share + doors.front_circle_share;
    at_most_one(&table, "the shares of front pages", front)?;
    Ok(doors)
}

fn read_dns(root: &mut Table<'_>) -> Result<DnsShares, WorldError> {
    let mut table = root.section(DnsShares::TABLE)?;
    let dns = DnsShares::read(&mut table)?;
    at_most_one(&table, "v6_only_share and both_share", dns.v6_only_share + dns.both_share)?;
    Ok(dns)
}

fn read_facts(root: &mut Table<'_>) -> Result<FactShares, WorldError> {
    let mut table = root.section(FactShares::TABLE)?;
    let facts = FactShares::read(&mut table)?;
    let kinds = "parked_share, placeholder_share, error_share and empty_share";
    at_most_one(&table, kinds, facts.kinds())?;
    at_most_one(&table, "generator_share, asset_paths_share and cms_field_share", facts.traces())?;
    at_most_one(&table, "wordpress_share, joomla_share and drupal_share", facts.systems())?;
    Ok(facts)
}

fn read_languages(root: &mut Table<'_>) -> Result<Languages, WorldError> {
    let mut table = root.section(Languages::TABLE)?;
    let languages = Languages::read(&mut table)?;
    at_most_one(&table, "the shares of the languages", languages.shares().iter().sum())?;
    let declared = languages.wrong_declared_share + languages.undeclared_share;
    at_most_one(&table, "wrong_declared_share and undeclared_share", declared)?;
    Ok(languages)
}

fn read_servers(root: &mut Table<'_>) -> Result<Servers, WorldError> {
    let mut table = root.section(Servers::TABLE)?;
    let servers = Servers::read(&mut table)?;
    let software = servers.apache_share + servers.iis_share + servers.nginx_share;
    at_most_one(&table, "apache_share, iis_share and nginx_share", software)?;
    Ok(servers)
}

/// Their hosts lie below the first country domain.
fn read_hostile(root: &mut Table<'_>, country_domains: &[Host]) -> Result<Hostile, WorldError> {
    let mut table = root.section("hostile")?;
    let cases = table.texts("cases", &[], "a list of names of hostile cases, or [\"all\"]", Case::named)?;
    table.finish()?;
    let domain = country_domains.first().map(Host::as_str).unwrap_or_default();
    Ok(Hostile::new(domain, cases.into_iter().flatten().collect()))
}

fn at_most_one(table: &Table<'_>, keys: &'static str, sum: f64) -> Result<(), WorldError> {
    if sum > 1.0 + 1e-6 { Err(table.sum_error(keys, sum, "at most 1")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::tests::settings;
    use crate::{FeedBack, Truth, TruthSettings};

    fn parse_error(text: &str) -> String {
        World::parse(text).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn an_empty_file_is_the_world_of_defaults() {
        let world = World::parse("").unwrap();
        assert_eq!((world.seed, world.sites.count, world.redirects.chain_hops), (1, 100, 3));
        assert_eq!(world.registry_suffixes, world.country_domains);
    }

    #[test]
    fn what_is_wrong_is_named_with_line_value_and_range() {
        for (text, said) in [
            (
                "seed = -1",
                "line 1: 'seed' is -1, expected an integer from 0 to 18446744073709551615 (any number)",
            ),
            (
                "\n[sites]\nstart_share = 1.5",
                "line 3: 'sites.start_share' is 1.5, expected a number from 0 to 1 (share of sites)",
            ),
            (
                "[pages]\nbytes_median = nan",
                "line 2: 'pages.bytes_median' is nan, expected a number from 100 to 1000000 (bytes)",
            ),
            (
                "[tree]\nsiblings = \"many\"",
                "line 2: 'tree.siblings' is \"many\", expected an integer from 0 to 100 (links per page)",
            ),
            (
                "[sites]\none_page_share = 1.0",
                "line 1: in [sites], one_page_share, brochure_share, cms_share and large_share sum to 1.7800, expected 1",
            ),
            (
                "[robots]\nall_share = 0.9",
                "line 1: in [robots], the shares sum to 1.8400, expected at most 1",
            ),
            (
                "[external]\nvariant = \"mixed\"",
                "line 2: 'external.variant' is \"mixed\", expected \"heterogeneous\" or \"homogeneous\"",
            ),
            ("sites = 3", "line 1: 'sites' is 3, expected a table"),
            (
                "specification = \"space-v0\"",
                "line 1: 'specification' is \"space-v0\", expected \"space-v1\"",
            ),
            (
                "country_domains = [\"ke\"]\nregistry_suffixes = [\"co.ke\", \"co.tz\"]",
                "line 2: 'registry_suffixes' is \"co.tz\", expected a list of public suffixes at or below the country domains",
            ),
            (
                "[hostile]\ncases = [\"gzip-bomb\", \"gzip\"]",
                "line 2: 'hostile.cases' is \"gzip\", expected a list of names of hostile cases, or [\"all\"]",
            ),
            (
                "[doors]\nfront_401_share = 0.6\nfront_circle_share = 0.5",
                "line 1: in [doors], the shares of front pages sum to 1.1000, expected at most 1",
            ),
            (
                "[facts]\nparked_share = 0.6\nempty_share = 0.5",
                "line 1: in [facts], parked_share, placeholder_share, error_share and empty_share sum to 1.1000, expected at most 1",
            ),
            (
                "[languages]\nswahili_share = 0.6\nsomali_share = 0.6",
                "line 1: in [languages], the shares of the languages sum to 1.2000, expected at most 1",
            ),
            ("country_domains = []", "line 1: 'country_domains' is [], expected a list of country domains"),
        ] {
            assert_eq!(parse_error(text), said, "{text}");
        }
    }

    #[test]
    fn hostile_sites_are_in_the_start_list_and_not_in_the_truth() {
        let world = World::parse("[sites]\ncount = 3\n[hostile]\ncases = [\"tls-expired\"]").unwrap();
        assert_eq!(world.start_urls().last().unwrap(), "https://tls-expired.ke/");
        let truth =
            Truth::compute(&world, &TruthSettings { feed_back: FeedBack::Off, ..settings(&world, 1) });
        assert_eq!(truth.sites.len(), world.start_urls().len() - 1);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_says_what_is_known() {
        let said = parse_error("seed = 1\n[faults]\nno_dns_share = 0.1\nno_dsn_share = 0.1\n");
        assert!(
            said.starts_with("line 4: unknown key 'faults.no_dsn_share' (known here: no_dns_share, "),
            "{said}"
        );
        assert!(
            parse_error("sead = 1").starts_with("line 1: unknown key 'sead' (known here: specification, ")
        );
        assert!(parse_error("seed = 1\nseed = 2").starts_with("line 2: not TOML: "));
    }
}
