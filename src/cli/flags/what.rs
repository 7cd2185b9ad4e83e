use clap::Args;

use super::values;
use super::{set, set_some};
use crate::address::{ScopeRule, SuffixSection};
use crate::survey::{FeedBackRule, Settings};

#[derive(Args, Debug)]
#[command(next_help_heading = "What is surveyed")]
pub struct What {
    /// The surveyed country domains, e.g. ke or ke,tz,ug. External URLs inside them become start URLs.
    /// Required, here or in the configuration file
    #[arg(long, value_name = "DOMAINS", value_delimiter = ',')]
    cctld: Vec<String>,

    /// How site owners reach you: a URL or a mail address. It stands in the User-Agent of every
    /// request. Required unless --dns and --gateway keep the survey on this machine
    #[arg(long, value_name = "URL")]
    contact: Option<String>,

    /// What becomes of external URLs inside the country domains: `link` makes the URL a start URL,
    /// `door` the front page of its host, `off` surveys the start list only [default: link]
    #[arg(long, value_name = "RULE", value_parser = values::feed_back(), hide_possible_values = true)]
    feed_back: Option<FeedBackRule>,

    /// Start URLs that one site may be given; further ones are passed over. Each costs the site a tree
    /// of its own, with its own budgets [default: 1]
    #[arg(long, value_name = "N", value_parser = values::whole::<u32>)]
    seeds_per_site: Option<u32>,

    /// The share of the start list's sites that is surveyed, drawn by a hash of their names: 0.02 is a pilot of 2 %, and
    /// part of any greater sample with the same --seed, whatever the order of the list. Sites that are found by links are
    /// no part of it: --feed-back off leaves them out [default: 1]
    #[arg(long, value_name = "SHARE", value_parser = values::decimal)]
    sample: Option<f64>,

    /// The number by which --sample draws: another one, other sites [default: 0]
    #[arg(long, value_name = "N", value_parser = values::whole::<u64>)]
    seed: Option<u64>,

    /// How far a site reaches: `site` is the registrable domain with all its subdomains, `host` the
    /// start URL's host with its subdomains [default: site]
    #[arg(long, value_name = "RULE", value_parser = values::scope(), hide_possible_values = true)]
    scope: Option<ScopeRule>,

    /// Which part of the Public Suffix List divides sites: `icann` the registries' suffixes, `all` the
    /// private ones too, so that each x.github.io is a site [default: icann]
    #[arg(long, value_name = "SECTION", value_parser = values::suffixes(), hide_possible_values = true)]
    suffixes: Option<SuffixSection>,

    /// Keep every link of every page, and every robots.txt, in two more tables, so that the survey can be
    /// walked again as a virtual Web space. Costs no server anything, and disk a few bytes a link
    /// [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    record_links: Option<bool>,
}

impl What {
    pub(super) fn apply(self, settings: &mut Settings) {
        if !self.cctld.is_empty() {
            settings.cctld = self.cctld;
        }
        set_some(&mut settings.contact, self.contact);
        set(&mut settings.feed_back, self.feed_back);
        set(&mut settings.seeds_per_site, self.seeds_per_site);
        set(&mut settings.sample, self.sample);
        set(&mut settings.seed, self.seed);
        set(&mut settings.scope, self.scope);
        set(&mut settings.suffixes, self.suffixes);
        set(&mut settings.record_links, self.record_links);
    }
}
