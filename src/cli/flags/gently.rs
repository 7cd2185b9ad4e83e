use clap::Args;

use super::set;
use super::values;
use crate::load::QuietHours;
use crate::survey::{Limit, Settings, Size, Span};

#[derive(Args, Debug)]
#[command(next_help_heading = "How gently")]
pub struct Gently {
    /// Sites walked at once. More makes the survey faster and loads your own link and name server; no
    /// server is asked more often for it [default: 64]
    #[arg(long, value_name = "N", value_parser = values::whole::<usize>)]
    sites: Option<usize>,

    /// Parallel requests in one site. Above 1 you break the promise of one request at a time: the
    /// site's owner bears the load. Use it on sites of your own [default: 1]
    #[arg(long, value_name = "N", value_parser = values::whole::<u32>)]
    per_site: Option<u32>,

    /// Parallel requests at one server address, whatever sites stand there. Above 1, shared hosters
    /// bear the load of all their sites at once [default: 1]
    #[arg(long, value_name = "N", value_parser = values::whole::<u32>)]
    per_address: Option<u32>,

    /// Parallel requests in one neighbourhood of addresses (/24 in IPv4, /48 in IPv6), which then share the pauses
    /// too: for servers that stand in one room on one thin link. With 1 a survey of crowded networks takes as many
    /// times longer as servers stand there side by side [default: none]
    #[arg(long, value_name = "N|none")]
    per_neighbourhood: Option<Limit<u32>>,

    /// Least pause between two exchanges at a server address, e.g. 500ms. Below the default small
    /// servers feel the survey, and their owners complain [default: 2s]
    #[arg(long, value_name = "TIME")]
    min_delay: Option<Span>,

    /// The pause as a multiple of the last exchange's duration, so that a slow server is left alone for
    /// longer. 5 takes a sixth of a server's time at most; 0 asks a struggling server as often as a
    /// fast one [default: 5]
    #[arg(long, value_name = "FACTOR", value_parser = values::decimal)]
    delay_factor: Option<f64>,

    /// Most that a slow exchange or a back-off makes us pause. Lower hurries servers that are in
    /// trouble; a site's Crawl-delay or Retry-After is obeyed all the same [default: 1m]
    #[arg(long, value_name = "TIME")]
    max_delay: Option<Span>,

    /// Ask servers of others more harshly than the defaults promise their owners: shorter pauses, several requests at
    /// once, ceilings lifted. Without it such flags are refused; status and report say that it was given. Surveys of
    /// this machine need it not [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    impolite: Option<bool>,

    /// Most of a server's link that the survey takes, as a share of the best rate at which its answers came; the
    /// pause for it is five times --max-delay at most. With the default, those who share a thin link wait 2 %
    /// longer on average; with more a survey of thin links is faster, and they pay for it [default: 0.003]
    #[arg(long, value_name = "SHARE|none", value_parser = values::share_or_none)]
    link_share: Option<Limit<f64>>,

    /// Hours in which no server is asked, by its own clock, e.g. 08:00-18:00 or 22:00-06:00. The clock is the usual one
    /// of the country that --geo tells, or of the site's domain, without summer time, and in wide countries hours
    /// off. The quiet hours count into --max-time of a site [default: none]
    #[arg(long, value_name = "HOURS|none")]
    quiet_hours: Option<Limit<QuietHours>>,

    /// Bytes per second, both ways, that the whole survey may take of your link and of thin links on
    /// the way, e.g. 500kB [default: 1MiB]
    #[arg(long, value_name = "BYTES|none")]
    rate: Option<Limit<Size>>,

    /// Body bytes read of one page, decoded; the rest is left with the server. A link list longer than
    /// this is cut [default: 1MiB]
    #[arg(long, value_name = "BYTES")]
    max_body: Option<Size>,
}

impl Gently {
    pub(super) fn apply(self, settings: &mut Settings) {
        set(&mut settings.sites, self.sites);
        set(&mut settings.per_site, self.per_site);
        set(&mut settings.per_address, self.per_address);
        set(&mut settings.per_neighbourhood, self.per_neighbourhood.map(|Limit(limit)| limit));
        set(&mut settings.min_delay, self.min_delay);
        set(&mut settings.delay_factor, self.delay_factor);
        set(&mut settings.max_delay, self.max_delay);
        set(&mut settings.impolite, self.impolite);
        set(&mut settings.link_share, self.link_share.map(|Limit(limit)| limit));
        set(&mut settings.quiet_hours, self.quiet_hours.map(|Limit(limit)| limit));
        set(&mut settings.rate, self.rate.map(|Limit(limit)| limit));
        set(&mut settings.max_body, self.max_body);
    }
}
