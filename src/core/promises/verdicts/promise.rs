use std::borrow::Cow;
use std::time::Duration;

use crate::promises::PromisedLimits;
use crate::promises::units::{bytes, milliseconds, thousands};
use crate::settings::{Budget, LoadLimits, SharedBudget};

/// The promises to server owners, one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Exchanges at once at one address.
    OneAtATimeAtServer,
    /// Exchanges at once in one site.
    OneAtATimeInSite,
    /// Exchanges at once in one neighbourhood of addresses.
    OneAtATimeInNeighbourhood,
    /// Least time from the end of one exchange to the start of the next.
    LeastPause,
    /// Pauses that grow with the last exchange.
    DelayFactor,
    /// The share of a server's link that is taken.
    Harm,
    /// Pauses that grow with trouble.
    BackOff,
    /// Cool-downs of a server that is in trouble again and again.
    PutOff,
    /// The pause that a server requests in a response.
    RetryAfter,
    /// The pause that a server requests in robots.txt.
    CrawlDelay,
    /// Pauses that a neighbourhood of addresses shares.
    NeighbourhoodPause,
    /// Requests to one site, for each start URL that it may have.
    RequestBudget,
    /// Bytes of one site, for each start URL that it may have.
    ByteBudget,
    /// Time of one site, for each start URL that it may have.
    TimeBudget,
    /// The load of all sites together on a server or network, on a day or for the whole survey.
    LoadBudget {
        /// Server, network or autonomous system.
        scope: BudgetScope,
        /// The kind of load.
        amount: LoadAmount,
        /// On a day (UTC), or for the whole survey.
        per_day: bool,
    },
    /// Requests of the whole survey.
    SurveyBudget,
    /// Bytes per second of the whole survey.
    Rate,
    /// Hours of the server's day without requests.
    QuietHours,
    /// Loopback, private and other special ranges.
    SpecialAddresses,
    /// Names, addresses, networks and systems that opted out.
    OptOut,
    /// robots.txt is requested before the pages of its host.
    RobotsFirst,
    /// Without robots.txt no page is requested.
    RobotsUnreachable,
    /// Pages that robots.txt forbids are not requested.
    RobotsRules,
    /// No page is requested twice in a site tree.
    Once,
    /// Every exchange is in the tables.
    Recorded,
    /// Memory use does not grow with the Web.
    Memory,
    /// A survey cut at a depth equals a survey run to that depth.
    Cut,
}

/// What a load budget applies to: an address or network that several sites may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetScope {
    /// One address.
    Server,
    /// A /24 or /48 of addresses.
    Network,
    /// An autonomous system.
    System,
}

/// A kind of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadAmount {
    /// Exchanges.
    Requests,
    /// Wire bytes in both directions.
    Bytes,
    /// Time from the first byte sent to the last received.
    Busy,
}

impl Promise {
    /// A short, stable name.
    #[must_use]
    pub fn id(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::OneAtATimeAtServer => "one_at_a_time_address",
            Self::OneAtATimeInSite => "one_at_a_time_site",
            Self::OneAtATimeInNeighbourhood => "one_at_a_time_neighbourhood",
            Self::LeastPause => "least_pause",
            Self::DelayFactor => "delay_factor",
            Self::Harm => "harm",
            Self::BackOff => "back_off",
            Self::PutOff => "put_off",
            Self::RetryAfter => "retry_after",
            Self::CrawlDelay => "crawl_delay",
            Self::NeighbourhoodPause => "least_pause_neighbourhood",
            Self::RequestBudget => "request_budget",
            Self::ByteBudget => "byte_budget",
            Self::TimeBudget => "time_budget",
            Self::LoadBudget { scope, amount, per_day } => {
                let period = if per_day { "_per_day" } else { "" };
                return format!("{}_{}{period}", scope.id(), amount.id()).into();
            }
            Self::SurveyBudget => "survey_budget",
            Self::Rate => "rate",
            Self::QuietHours => "quiet_hours",
            Self::SpecialAddresses => "special_addresses",
            Self::OptOut => "opt_out",
            Self::RobotsFirst => "robots_first",
            Self::RobotsUnreachable => "robots_unreachable",
            Self::RobotsRules => "robots_rules",
            Self::Once => "once",
            Self::Recorded => "recorded",
            Self::Memory => "memory",
            Self::Cut => "cut",
        })
    }

    /// The promise as a sentence, with the limit that was set.
    #[must_use]
    pub fn describe(self, limits: &PromisedLimits) -> String {
        let PromisedLimits { pace, tree, .. } = limits;
        match self {
            Self::OneAtATimeAtServer => at_a_time(Some(pace.per_address), "server"),
            Self::OneAtATimeInSite => at_a_time(Some(pace.per_site), "site"),
            Self::OneAtATimeInNeighbourhood => at_a_time(pace.per_neighbourhood, "neighbourhood"),
            Self::LeastPause => format!("a pause of at least {} at each server", span(pace.min_delay)),
            Self::DelayFactor => format!(
                "after each response, a pause {} times as long as the response took, up to {}",
                pace.factor,
                span(pace.max_delay)
            ),
            Self::Harm => {
                let share = pace.harm.map(|share| format!("{} %", share * 100.0));
                let share = share.as_deref().unwrap_or("a set share");
                format!(
                    "other users wait at most {share} longer for the responses of each server (estimated over the survey)"
                )
            }
            Self::BackOff => "longer pauses for servers in trouble".to_owned(),
            Self::PutOff => "servers that stay in trouble get cool-downs, then no more requests".to_owned(),
            Self::RetryAfter => "no request before the time that a server set with Retry-After".to_owned(),
            Self::CrawlDelay => "the pause that robots.txt sets with Crawl-delay".to_owned(),
            Self::NeighbourhoodPause => "the pauses of a server apply to its whole neighbourhood".to_owned(),
            Self::RequestBudget => {
                at_most_requests(tree.requests, budget_owner(tree))
            }
            Self::ByteBudget => at_most(tree.bytes.map(bytes), &format!("of traffic {}", budget_owner(tree))),
            Self::TimeBudget => at_most(tree.time.map(span), &format!("of time {}", budget_owner(tree))),
            Self::LoadBudget { scope, amount, per_day } => {
                let most = self.limit(limits).map(|most| amount.written(most));
                let day = if per_day { " per day" } else { "" };
                at_most(most, &format!("{} {}{day}", amount.describe(), scope.describe()))
            }
            Self::SurveyBudget => at_most_requests(limits.survey, "over the whole survey"),
            Self::Rate => match limits.rate {
                Some(rate) => format!("at most {}/s over the whole survey", bytes(rate)),
                None => "no more bytes per second than the ceiling".to_owned(),
            },
            Self::QuietHours => match limits.quiet_hours {
                Some(hours) => format!("no request during {hours}, by the server's clock"),
                None => "no request in quiet hours".to_owned(),
            },
            Self::SpecialAddresses => "no contact with special addresses".to_owned(),
            Self::OptOut => "no contact with anyone who opted out".to_owned(),
            Self::RobotsFirst => "robots.txt is read before any page of its host".to_owned(),
            Self::RobotsUnreachable => "no page of a host whose robots.txt could not be fetched".to_owned(),
            Self::RobotsRules => "no page that robots.txt forbids".to_owned(),
            Self::Once => "no page of a site tree is requested twice, except after status 429 or 503, a failed \
                           connection, refused TLS, odd HTTP or a closed idle connection, and to check whether a \
                           server that refuses all other requests still delivers it"
                .to_owned(),
            Self::Recorded => "every exchange is recorded".to_owned(),
            Self::Memory => "memory is bounded by settings".to_owned(),
            Self::Cut => "a survey cut at a depth equals a survey run to that depth".to_owned(),
        }
    }

    /// The limit of the budget in this promise: requests, bytes or microseconds.
    #[must_use]
    pub fn limit(self, limits: &PromisedLimits) -> Option<u64> {
        match self {
            Self::RequestBudget => limits.tree.requests,
            Self::ByteBudget => limits.tree.bytes,
            Self::TimeBudget => limits.tree.time.map(micros),
            Self::SurveyBudget => limits.survey,
            Self::LoadBudget { scope, amount, per_day } => {
                let SharedBudget { per_day: of_day, in_all } = match scope {
                    BudgetScope::Server => &limits.server,
                    BudgetScope::Network => &limits.network,
                    BudgetScope::System => &limits.system,
                };
                let LoadLimits { requests, bytes, busy } = if per_day { of_day } else { in_all };
                match amount {
                    LoadAmount::Requests => *requests,
                    LoadAmount::Bytes => *bytes,
                    LoadAmount::Busy => busy.map(micros),
                }
            }
            _ => None,
        }
    }
}

impl BudgetScope {
    pub(in crate::promises) const ALL: [Self; 3] = [Self::Server, Self::Network, Self::System];

    fn id(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Network => "network",
            Self::System => "as",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Server => "a server",
            Self::Network => "a network (/24, /48)",
            Self::System => "an autonomous system",
        }
    }
}

impl LoadAmount {
    pub(in crate::promises) const ALL: [Self; 3] = [Self::Requests, Self::Bytes, Self::Busy];

    fn id(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Bytes => "bytes",
            Self::Busy => "busy",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Requests => "requests to",
            Self::Bytes => "of traffic with",
            Self::Busy => "of the time of",
        }
    }

    /// Formats a number of requests, bytes or microseconds.
    pub(in crate::promises) fn written(self, amount: u64) -> String {
        match self {
            Self::Requests => thousands(amount),
            Self::Bytes => bytes(amount),
            Self::Busy => milliseconds(amount as f64 / 1000.0),
        }
    }
}

fn at_a_time(most: Option<u32>, scope: &str) -> String {
    match most {
        Some(1) | None => format!("one request at a time per {scope}"),
        Some(most) => format!("at most {most} requests at once per {scope}"),
    }
}

/// What a budget of site trees applies to.
fn budget_owner(budget: &Budget) -> &'static str {
    if budget.accounts > 1 { "per start URL of a site" } else { "per site" }
}

fn at_most(most: Option<String>, what: &str) -> String {
    match most {
        Some(most) => format!("at most {most} {what}"),
        None => format!("a limit ({what})"),
    }
}

fn at_most_requests(most: Option<u64>, scope: &str) -> String {
    let noun = if most == Some(1) { "request" } else { "requests" };
    at_most(most.map(thousands), &format!("{noun} {scope}"))
}

/// A limit, exactly: `2 s`, `14 days`, `5 h 20 min`.
fn span(span: Duration) -> String {
    let text = humantime::format_duration(span).to_string();
    let spaced = |part: &str| {
        let number = part.trim_end_matches(char::is_alphabetic);
        match &part[number.len()..] {
            "m" => format!("{number} min"),
            unit => format!("{number} {unit}"),
        }
    };
    text.split(' ').map(spaced).collect::<Vec<_>>().join(" ")
}

pub(in crate::promises) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
