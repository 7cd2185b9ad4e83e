use clap::Args;

use super::set;
use crate::survey::{Limit, Settings, Size, Span};

/// What servers and networks may bear, whatever sites stand there.
#[derive(Args, Debug)]
#[command(next_help_heading = "How gently")]
pub struct Shares {
    /// Requests that one server address may bear for this survey, whatever sites stand there. Its sites
    /// then end: failure `server_budget`, outcome `request_budget` [default: none]
    #[arg(long, value_name = "N|none")]
    max_server_requests: Option<Limit<u64>>,

    /// Bytes on the wire, both ways, that one server address may bear for this survey, e.g. 2GB. Its sites
    /// then end: failure `server_budget`, outcome `request_budget` [default: none]
    #[arg(long, value_name = "BYTES|none")]
    max_server_bytes: Option<Limit<Size>>,

    /// Busy time that one server address may bear for this survey, e.g. 6h. Its sites
    /// then end: failure `server_budget`, outcome `request_budget` [default: none]
    #[arg(long, value_name = "TIME|none")]
    max_server_busy: Option<Limit<Span>>,

    /// Requests that one server address may bear on a day (UTC); its sites go on the next day
    /// [default: none]
    #[arg(long, value_name = "N|none")]
    max_server_requests_per_day: Option<Limit<u64>>,

    /// Bytes that one server address may bear on a day (UTC); its sites go on the next day
    /// [default: none]
    #[arg(long, value_name = "BYTES|none")]
    max_server_bytes_per_day: Option<Limit<Size>>,

    /// Busy time that one server address may bear on a day (UTC); its sites go on the next day
    /// [default: none]
    #[arg(long, value_name = "TIME|none")]
    max_server_busy_per_day: Option<Limit<Span>>,

    /// Requests that one network (/24 in IPv4, /48 in IPv6) may bear for this survey, whatever servers stand there: for
    /// servers that share one room and one link, whose owner sees the sum. The sites there then end as with
    /// --max-server-requests [default: none]
    #[arg(long, value_name = "N|none")]
    max_network_requests: Option<Limit<u64>>,

    /// Bytes on the wire, both ways, that one network (/24, /48) may bear for this survey, e.g. 5GB, for links that
    /// are paid by volume [default: none]
    #[arg(long, value_name = "BYTES|none")]
    max_network_bytes: Option<Limit<Size>>,

    /// Busy time that the servers of one network (/24, /48) may bear together for this survey, e.g. 12h
    /// [default: none]
    #[arg(long, value_name = "TIME|none")]
    max_network_busy: Option<Limit<Span>>,

    /// Requests that one network (/24, /48) may bear on a day (UTC); its sites go on the next day. The days of waiting
    /// count into --max-time of a site: give more of it where many sites share a network [default: none]
    #[arg(long, value_name = "N|none")]
    max_network_requests_per_day: Option<Limit<u64>>,

    /// Bytes that one network (/24, /48) may bear on a day (UTC); its sites go on the next day
    /// [default: none]
    #[arg(long, value_name = "BYTES|none")]
    max_network_bytes_per_day: Option<Limit<Size>>,

    /// Busy time that the servers of one network (/24, /48) may bear together on a day (UTC); its sites go on the
    /// next day [default: none]
    #[arg(long, value_name = "TIME|none")]
    max_network_busy_per_day: Option<Limit<Span>>,

    /// Requests that one autonomous system may bear for this survey: for operators who carry many networks and watch
    /// over them all. Needs a database with --geo that tells systems; an address that it does not know is not bounded. The
    /// sites there then end as with --max-server-requests [default: none]
    #[arg(long, value_name = "N|none")]
    max_as_requests: Option<Limit<u64>>,

    /// Bytes on the wire, both ways, that one autonomous system may bear for this survey, e.g. 50GB; needs --geo
    /// [default: none]
    #[arg(long, value_name = "BYTES|none")]
    max_as_bytes: Option<Limit<Size>>,

    /// Busy time that the servers of one autonomous system may bear together for this survey; needs --geo
    /// [default: none]
    #[arg(long, value_name = "TIME|none")]
    max_as_busy: Option<Limit<Span>>,

    /// Requests that one autonomous system may bear on a day (UTC); its sites go on the next day; needs --geo
    /// [default: none]
    #[arg(long, value_name = "N|none")]
    max_as_requests_per_day: Option<Limit<u64>>,

    /// Bytes that one autonomous system may bear on a day (UTC); its sites go on the next day; needs --geo
    /// [default: none]
    #[arg(long, value_name = "BYTES|none")]
    max_as_bytes_per_day: Option<Limit<Size>>,

    /// Busy time that the servers of one autonomous system may bear together on a day (UTC); its sites go on the next
    /// day; needs --geo [default: none]
    #[arg(long, value_name = "TIME|none")]
    max_as_busy_per_day: Option<Limit<Span>>,
}

impl Shares {
    pub(super) fn apply(self, settings: &mut Settings) {
        set_limit(&mut settings.max_server_requests, self.max_server_requests);
        set_limit(&mut settings.max_server_bytes, self.max_server_bytes);
        set_limit(&mut settings.max_server_busy, self.max_server_busy);
        set_limit(&mut settings.max_server_requests_per_day, self.max_server_requests_per_day);
        set_limit(&mut settings.max_server_bytes_per_day, self.max_server_bytes_per_day);
        set_limit(&mut settings.max_server_busy_per_day, self.max_server_busy_per_day);
        set_limit(&mut settings.max_network_requests, self.max_network_requests);
        set_limit(&mut settings.max_network_bytes, self.max_network_bytes);
        set_limit(&mut settings.max_network_busy, self.max_network_busy);
        set_limit(&mut settings.max_network_requests_per_day, self.max_network_requests_per_day);
        set_limit(&mut settings.max_network_bytes_per_day, self.max_network_bytes_per_day);
        set_limit(&mut settings.max_network_busy_per_day, self.max_network_busy_per_day);
        set_limit(&mut settings.max_as_requests, self.max_as_requests);
        set_limit(&mut settings.max_as_bytes, self.max_as_bytes);
        set_limit(&mut settings.max_as_busy, self.max_as_busy);
        set_limit(&mut settings.max_as_requests_per_day, self.max_as_requests_per_day);
        set_limit(&mut settings.max_as_bytes_per_day, self.max_as_bytes_per_day);
        set_limit(&mut settings.max_as_busy_per_day, self.max_as_busy_per_day);
    }
}

fn set_limit<T>(place: &mut Option<T>, flag: Option<Limit<T>>) {
    set(place, flag.map(|Limit(limit)| limit));
}
