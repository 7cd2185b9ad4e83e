use std::sync::Arc;

use parking_lot::Mutex;

use crate::address::{
    CountryDomains, Host, Priorities, Scope, ScopeRule, Site, SuffixSection, Suffixes, WebUrl,
};
use crate::frontier::StartCandidate;
use crate::settings::Settings;
use crate::starts::{Area, Sample};
use crate::survey::error::SurveyError;
use crate::survey::folder::settings_file::read_text;

/// The built-in Public Suffix List; `data/README.md` states its origin, date and licence.
pub const BUILT_IN_SUFFIX_LIST: &str = include_str!("../../../data/public_suffix_list.dat");

/// The scope of a survey: the country domains, the definition of a site, and the priorities of sites.
#[derive(Clone)]
pub(in crate::survey) struct SurveyScope {
    /// Suffixes, country domains and sample.
    pub area: Area,
    rule: ScopeRule,
    pub priorities: Priorities,
}

impl SurveyScope {
    pub(in crate::survey) fn from_settings(settings: &Settings) -> Result<Self, SurveyError> {
        let suffixes = suffixes(settings)?;
        let names = settings.cctld.iter().flat_map(|names| names.split(','));
        let countries = CountryDomains::parse(names, &suffixes)?;
        let sample = Sample { share: settings.sample, seed: settings.seed };
        Ok(Self {
            area: Area {
                suffixes,
                countries,
                sample,
                includes_outside: false,
                permits_special: settings.permit_special_addresses,
            },
            rule: settings.scope,
            priorities: read_priorities(settings)?,
        })
    }

    /// The surveyed country domain that a host lies in.
    pub(in crate::survey) fn country_of(&self, host: &Host) -> Option<&Host> {
        self.area.countries.domain_of(host)
    }

    /// Whether the site of a start URL belongs to the sample.
    pub(in crate::survey) fn draws(&self, url: &WebUrl) -> bool {
        self.area.sample.draws(&self.area.suffixes.site_of(url.host()))
    }

    /// A start URL with the sites that it may belong to, the nearest first.
    pub(in crate::survey) fn candidate(&self, url: WebUrl) -> StartCandidate {
        let site = self.area.suffixes.site_of(url.host());
        let homes = match self.rule {
            ScopeRule::Site => vec![site],
            ScopeRule::Host => {
                let at_or_above = std::iter::successors(Some(url.host().clone()), Host::parent);
                at_or_above.take_while(|host| host.is_at_or_below(site.root())).map(Site::new).collect()
            }
        };
        StartCandidate { priority: self.priorities.for_host(url.host()), url, homes }
    }

    /// The scope of a tree. If a site is a host, this is the site's host, not the start URL's host, which may
    /// lie below it.
    pub(in crate::survey) fn tree_scope(&self, site: &Site) -> Scope {
        Scope::new(site.root(), self.rule, self.area.suffixes.clone())
    }
}

/// The area that a start list of a survey with these settings covers.
///
/// # Errors
/// When a file that the settings name cannot be read, or a country domain is invalid.
pub fn area(settings: &Settings) -> Result<Area, SurveyError> {
    SurveyScope::from_settings(settings).map(|scope| scope.area)
}

fn read_priorities(settings: &Settings) -> Result<Priorities, SurveyError> {
    let Some(path) = &settings.priority else { return Ok(Priorities::default()) };
    Priorities::parse(&read_text(path)?)
        .map_err(|source| SurveyError::Priority { path: path.clone(), source })
}

fn suffixes(settings: &Settings) -> Result<Arc<Suffixes>, SurveyError> {
    let Some(path) = &settings.suffix_list else { return built_in_suffixes(settings.suffixes) };
    let suffixes = Suffixes::parse(&read_text(path)?, settings.suffixes)
        .map_err(|source| SurveyError::SuffixList { path: path.clone(), source })?;
    let built_in = built_in_suffixes(settings.suffixes)?;
    Ok(Arc::new(suffixes.with_top_levels_of(&built_in)))
}

/// Parses each section once per process. Parsing takes longer than everything else at the start of a small
/// survey, and the settings are checked three times there.
fn built_in_suffixes(section: SuffixSection) -> Result<Arc<Suffixes>, SurveyError> {
    static READ: Mutex<Vec<(SuffixSection, Arc<Suffixes>)>> = Mutex::new(Vec::new());
    let mut read = READ.lock();
    if let Some((_, suffixes)) = read.iter().find(|(of, _)| *of == section) {
        return Ok(suffixes.clone());
    }
    let suffixes = Suffixes::parse(BUILT_IN_SUFFIX_LIST, section);
    let to_error = |source| SurveyError::SuffixList { path: "public_suffix_list.dat".into(), source };
    let suffixes = Arc::new(suffixes.map_err(to_error)?);
    read.push((section, suffixes.clone()));
    Ok(suffixes)
}
