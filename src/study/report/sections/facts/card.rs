use super::counted::share_of;
use crate::analysis::overview::{Card, Class, Ledger, ShownSetting, SkippedUrls, UNSET, Vantage};
use crate::analysis::{Completeness, KnownTrees, Overview};
use crate::records::units::{count, thousands};
use crate::records::{SurveyState, SurveyedWeb, Timestamp};
use crate::report::{Block, Cell, Fact, Section};

/// The collection card: what was surveyed, when, from where and how politely.
#[must_use]
pub(in crate::report) fn section(overview: &Overview, completeness: &Completeness) -> Section {
    let card = &overview.card;
    let totals = &card.totals;
    let more = match completeness.known {
        Some(KnownTrees { trees, .. }) => {
            format!(
                " This report leaves out {} that the survey has not finished.",
                count(trees - completeness.done, "site tree")
            )
        }
        None => String::new(),
    };
    let lead = format!(
        "{} from {}, surveyed with {} in {}.{more}",
        count(totals.sites, "site"),
        count(totals.start_urls, "start URL"),
        count(totals.requests, "request"),
        Cell::Seconds(totals.lasted_seconds).display(),
    );
    let mut section = Section::new("card", "Collection card", lead)
        .with(survey_facts(card, completeness))
        .with(Block::Heading("Cost".to_owned()))
        .with(cost(card, &overview.ledger))
        .with(Block::Heading("Politeness".to_owned()))
        .with(policy(&overview.method.settings));
    section.blocks.push(Block::Note(kept_back(&overview.kept_back)));
    if !card.said_broken.is_empty() {
        let broken_promises = card.said_broken.join(" ");
        section
            .blocks
            .push(Block::Note(format!("The survey recorded that it broke promises: {broken_promises}")));
    }
    section
}

fn survey_facts(card: &Card, completeness: &Completeness) -> Vec<Fact> {
    let totals = &card.totals;
    let domains: Vec<String> = card.country_domains.iter().map(|domain| format!(".{domain}")).collect();
    let contact = card.contact.clone().map(|contact| Fact::new("Contact", contact));
    let mut facts = vec![
        Fact::new("Country domains", domains.join(", ")),
        Fact::new("State", state(card.state)),
        Fact::new("First request", moment(totals.first_exchange)),
        Fact::new("Last response", moment(totals.last_exchange)),
        Fact::new("Start URLs", totals.start_urls).note(if completeness.is_under_way() {
            "given by the user; only those whose site trees are done"
        } else {
            "given by the user: site trees of generation 0"
        }),
        Fact::new("Sites", totals.sites),
        Fact::new("Site trees", totals.site_trees),
        Fact::new("Hosts contacted", totals.hosts_asked),
        Fact::new("Pages read", totals.pages),
        Fact::new("Program", format!("ccsurvey {}", card.tool_version)),
        Fact::new("Vantage point", vantage(&card.vantage)),
    ];
    facts.extend(card.sample.map(|(share, seed)| {
        Fact::new("Sample", format!("{} % of the sites of the start list", share * 100.0))
            .note(format!("drawn by a hash of their names, seed {seed}"))
    }));
    facts.extend(contact.map(|contact| contact.note("sent with every request")));
    facts
}

fn cost(card: &Card, ledger: &Ledger) -> Vec<Fact> {
    let totals = &card.totals;
    let probes = match totals.probe_requests {
        0 => String::new(),
        probes => format!(", {} for probes, which belong to no level", thousands(probes)),
    };
    vec![
        Fact::new("Requests", totals.requests)
            .note(format!("{} of them for robots.txt{probes}", thousands(totals.robots_requests))),
        Fact::new("Attempts that reached no server", totals.not_asked).note("no address, or not allowed"),
        Fact::new("Bytes sent", Cell::Bytes(totals.sent_bytes)),
        Fact::new("Bytes received", Cell::Bytes(totals.received_bytes)),
        Fact::new("Connections", totals.connections),
        Fact::new("Busy time of servers", Cell::Seconds(totals.busy_ms / 1000.0)).note("summed"),
        Fact::new("Duration", Cell::Seconds(totals.lasted_seconds))
            .note("from the first request to the last response, pauses included"),
        Fact::new("Servers contacted", ledger.requests.count),
        Fact::new("Most requests at one address", Cell::Count(ledger.requests.max as u64)),
        Fact::new("Most requests to one address in a minute", u64::from(ledger.most_per_minute)),
        Fact::new(
            "Shortest pause at an address",
            ledger.smallest_gap_ms.map_or(Cell::Missing, Cell::Milliseconds),
        ),
        Fact::new("Unrecorded exchanges", card.unrecorded_exchanges)
            .note("may have been sent but are not in the tables: interrupted in flight, or sent again"),
    ]
}

/// The settings that are promises to site owners. The section on method lists all settings.
const POLICY: [(&str, &str); 16] = [
    (DEPTH, "Depth"),
    (BUDGET, "Maximum requests of the survey"),
    ("entrances", "Entrances of a site"),
    ("min-delay", "Minimum pause at an address"),
    ("delay-factor", "Pause as a multiple of the last response time"),
    ("max-delay", "Maximum pause at an address"),
    ("harm", "Maximum added delay for other users"),
    ("per-address", "Parallel requests per address"),
    ("per-site", "Parallel requests per site"),
    ("max-requests", "Maximum requests per site tree"),
    ("max-bytes", "Maximum bytes per site tree"),
    ("max-time", "Maximum duration of a site tree"),
    ("rate", "Maximum bytes per second of the survey"),
    (IMPOLITE, "Polite defaults"),
    ("feed-back", "External URLs become start URLs"),
    ("queries-per-script", "Query URLs fetched per script"),
];

/// Not shown beside a budget: surveys of earlier versions have one without a part in it.
const DEPTH: &str = "depth";
/// Shown only if there is one.
const BUDGET: &str = "budget";
/// Shown only if the flag was given.
const IMPOLITE: &str = "impolite";

fn policy(settings: &[ShownSetting]) -> Vec<Fact> {
    let has_budget = settings.iter().any(|setting| setting.name == BUDGET && setting.value != UNSET);
    let policy_fact = |(key, name): &(&str, &str)| {
        let setting = settings.iter().find(|setting| setting.name == *key)?;
        if *key == DEPTH && has_budget || *key == BUDGET && !has_budget {
            return None;
        }
        if *key == IMPOLITE {
            let broken = Fact::new(name, "switched off".to_owned());
            return (setting.value == "true").then(|| broken.note("--impolite was given"));
        }
        // The values of these settings are in bytes.
        let is_size = matches!(*key, "max-bytes" | "rate");
        let count = setting.value.parse().map(if is_size { Cell::Bytes } else { Cell::Count });
        Some(Fact::new(name, count.unwrap_or_else(|_| setting.value.clone().into())))
    };
    POLICY.iter().filter_map(policy_fact).collect()
}

fn kept_back(kept_back: &SkippedUrls) -> String {
    let of_class = |wanted| -> u64 {
        kept_back.classes.iter().filter(|reason| reason.class == wanted).map(|reason| reason.urls).sum()
    };
    let (urls, unreachable) = (of_class(Class::Robots), of_class(Class::RobotsUnreachable));
    let more = match unreachable {
        0 => String::new(),
        _ => format!(" For {} more it could not be fetched.", thousands(unreachable)),
    };
    format!(
        "Because of robots.txt, the survey did not fetch {} of the internal URLs found.{more}",
        share_of(urls, kept_back.internal_urls)
    )
}

fn state(state: SurveyState) -> &'static str {
    match state {
        SurveyState::Running => "in progress",
        SurveyState::Interrupted => "interrupted",
        SurveyState::Failed => "stopped by an error",
        SurveyState::Finished => "finished",
    }
}

fn moment(moment: Option<Timestamp>) -> Cell {
    moment.map(Timestamp::minute).into()
}

fn vantage(vantage: &Vantage) -> String {
    let dns = vantage.dns.as_deref().unwrap_or("those of the system");
    match &vantage.web {
        SurveyedWeb::Virtual(world) => {
            format!("none: a simulation of the virtual Web '{world}', no server was contacted")
        }
        SurveyedWeb::Recorded(survey) => {
            format!("none: a simulation of the recorded survey '{survey}', no server was contacted")
        }
        SurveyedWeb::Gateway(gateway) => {
            format!("none on the Internet: every connection went through {gateway}; name servers: {dns}")
        }
        SurveyedWeb::Internet => format!("not recorded; name servers: {dns}"),
    }
}
