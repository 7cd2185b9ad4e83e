use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::cli::columns::{Columns, Side};
use crate::cli::progress::{NO_AGENT, errors, rates, site_trees, time_left};
use crate::records::SurveyState;
use crate::records::units::{bytes, count, duration, thousands};
use crate::survey::{AgentSeen, BusProblem, Snapshot};

/// A running survey writes its status every second. A survey that has not done so for this time is not
/// running.
const MAX_SILENCE: Duration = Duration::from_secs(30);

/// Whether a survey whose state is `running` has stopped reporting.
pub(super) fn is_silent(now: &Snapshot, time: SystemTime) -> bool {
    // A virtual clock does not show how long ago something was.
    !now.is_simulated && now.updated.is_none_or(|updated| age(updated, time) > MAX_SILENCE)
}

fn age(earlier: SystemTime, time: SystemTime) -> Duration {
    time.duration_since(earlier).unwrap_or_default()
}

/// The state of a survey at `time`, and the servers with the most load.
pub(super) fn describe_snapshot(dir: &Path, now: &Snapshot, time: SystemTime) -> String {
    let mut table = Columns::new(&[Side::Left, Side::Left]);
    table.row(["survey", &format!("{}, {}", dir.display(), state(dir, now, time))]);
    if let Some(updated) = now.updated.filter(|_| !now.is_simulated) {
        table.row(["as of", &format!("{} ago", duration(age(updated, time).as_secs_f64()))]);
    }
    table.row([if now.is_simulated { "simulated" } else { "active time" }, &duration(now.active_seconds)]);
    table.row(["site trees", &site_trees(now)]);
    table.row(["pages", &thousands(now.pages)]);
    table.row(["URL pairs", &thousands(now.external_urls)]);
    table.row(["requests", &thousands(now.requests)]);
    table.row(["received", &bytes(now.received_bytes)]);
    table.row(["sent", &bytes(now.sent_bytes)]);
    table.row(["errors", &errors(now)]);
    let is_at_work = now.state == SurveyState::Running && !is_silent(now, time);
    if is_at_work && !now.is_simulated {
        table.row(["last minute", &rates(now)]);
        table.row(["remaining", &time_left(now)]);
    }
    if let Some(since) = now.own_link_broken_since.filter(|_| is_at_work) {
        let paused = duration(age(since, time).as_secs_f64());
        table.row(["paused", &format!("for {paused}: no server responds; probing our own link")]);
    }
    if let Some(BusProblem { since, what }) =
        now.bus_problem.as_ref().filter(|_| now.state != SurveyState::Finished)
    {
        let waited = duration(age(*since, time).as_secs_f64());
        let text = if is_at_work { format!("waiting for {waited}: {what}") } else { what.clone() };
        table.row(["bus", &text]);
    }
    if let Some(warning) = now.bus_warning.as_ref().filter(|_| is_at_work) {
        table.row(["bus", warning]);
    }
    if let Some(since) = now.agents_missing_since.filter(|_| is_at_work) {
        let waited = duration(age(since, time).as_secs_f64());
        table.row(["agents", &format!("waiting for {waited}: {NO_AGENT}")]);
    }
    for agent in now.agents.iter().filter(|_| is_at_work) {
        if let Some(text) = describe_link(agent, time) {
            table.row([&format!("agent {}", agent.name), &text]);
        }
    }
    if let Some(problem) = &now.opt_out_problem {
        table.row(["opt-out list", problem]);
    }
    if !now.impolite.is_empty() {
        table.row(["impolite", &now.impolite.join("; ")]);
    }
    if now.unrecorded > 0 {
        table.row([
            "unrecorded",
            &format!("{} sent without a recorded response", count(now.unrecorded, "request")),
        ]);
    }
    format!("{table}{}{}{}", agents(now, time), promises(now), most_loaded(now))
}

fn state(dir: &Path, now: &Snapshot, time: SystemTime) -> String {
    let resume_hint = format!("`ccsurvey resume {}` continues", dir.display());
    if now.is_simulated {
        return format!("a simulation, {}", now.state);
    }
    match now.state {
        SurveyState::Running if is_silent(now, time) => {
            format!("no longer running, perhaps killed; {resume_hint}")
        }
        SurveyState::Interrupted => format!("interrupted; {resume_hint}"),
        SurveyState::Failed => format!("failed (see log.jsonl in that folder); {resume_hint}"),
        SurveyState::Running | SurveyState::Finished => now.state.to_string(),
    }
}

/// The problems with the links of an agent, if there are any.
fn describe_link(agent: &AgentSeen, time: SystemTime) -> Option<String> {
    let failed = match agent.failed_only_here {
        0 => String::new(),
        1 => "1 connection failed and was then made by another agent".to_owned(),
        count => format!("{} connections failed and were then made by another agent", thousands(count)),
    };
    let elapsed = |since| duration(age(since, time).as_secs_f64());
    let broken = match (agent.link_broken_since, agent.in_vain_since) {
        (Some(since), _) => Some(format!(
            "has reached no server for {}: other agents continue its sites, and its own link is probed",
            elapsed(since)
        )),
        (None, Some(since)) => Some(format!(
            "has acted on no dispatch for {}: other agents continue its sites, and it is tried again now and then ({})",
            elapsed(since),
            reason(agent)
        )),
        (None, None) => agent.slow_by_seconds.map(|seconds| {
            let more = duration(seconds);
            format!("takes {more} longer than its exchanges (a slow link to the bus?): its sites move to agents with free slots")
        }),
    };
    match (broken, failed.is_empty()) {
        (Some(broken), true) => Some(broken),
        (Some(broken), false) => Some(format!("{broken}; {failed}")),
        (None, true) => None,
        (None, false) => Some(failed),
    }
}

/// Why dispatches to an agent may have no effect.
fn reason(agent: &AgentSeen) -> &'static str {
    /// On a sound link, at least one of two pings per second returns in this time.
    const MAX_PING_AGE_SECONDS: u64 = 10;
    if agent.ping_age_seconds.is_some_and(|age| age <= MAX_PING_AGE_SECONDS) {
        "its pings come back: check that its NATS account may subscribe to ccsurvey.SURVEY.orders.* and publish to ccsurvey.SURVEY.tree.*"
    } else {
        "no ping comes back within 2 s: its link to the NATS server is slow, or its process keeps stalling"
    }
}

/// The agents and the machines that they run on, as of their last heartbeats.
fn agents(now: &Snapshot, time: SystemTime) -> String {
    use Side::{Left, Right};
    if now.agents.is_empty() {
        return String::new();
    }
    let mut table = Columns::new(&[Left, Right, Right, Right, Right, Right, Right, Right, Right, Right]);
    table.row([
        "agent",
        "since",
        "last heartbeat",
        "sites",
        "pages",
        "pages/s",
        "CPU",
        "memory",
        "network",
        "disk",
    ]);
    for agent in &now.agents {
        let machine = &agent.machine;
        table.row([
            &agent.name,
            &agent.since.map_or_else(String::new, |since| duration(age(since, time).as_secs_f64())),
            &format!("{} s ago", agent.silent_seconds),
            &format!("{} of {}", agent.sites_walking, agent.places),
            &thousands(agent.pages),
            &format!("{:.1}", agent.pages_per_second),
            &percent(machine.cpu),
            &percent(machine.memory),
            &format!("{}/s", bytes(machine.network_bytes_per_second as u64)),
            &format!("{}/s", bytes(machine.disk_bytes_per_second as u64)),
        ]);
    }
    format!("\n{table}")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Whether each load promise was kept so far, according to the survey's ledger.
fn promises(now: &Snapshot) -> String {
    if now.promises.is_empty() {
        return String::new();
    }
    let mut table = Columns::new(&[Side::Left, Side::Left, Side::Left]);
    table.row(["promise", "so far", "evidence"]);
    for verdict in &now.promises {
        table.row([&verdict.promise, verdict.judgement.as_str(), &verdict.evidence]);
    }
    format!("\n{table}")
}

fn most_loaded(now: &Snapshot) -> String {
    if now.most_loaded.is_empty() {
        return String::new();
    }
    let mut table = Columns::new(&[Side::Left, Side::Right, Side::Right, Side::Right]);
    table.row(["most-loaded servers", "requests", "received", "busy"]);
    for server in &now.most_loaded {
        table.row([
            &server.address,
            &thousands(server.requests),
            &bytes(server.received_bytes),
            &duration(server.busy_seconds),
        ]);
    }
    format!("\n{table}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Judgement, Verdict};
    use crate::survey::{LoadedServer, MachineLoad};

    fn snapshot() -> Snapshot {
        Snapshot {
            state: SurveyState::Running,
            updated: Some(SystemTime::UNIX_EPOCH),
            requests: 1400,
            most_loaded: vec![LoadedServer {
                address: "102.0.0.1".into(),
                requests: 1234,
                received_bytes: 12_345_678,
                busy_seconds: 12.3,
            }],
            ..Snapshot::default()
        }
    }

    fn description(seconds_later: u64) -> String {
        describe_snapshot(
            Path::new("kenya"),
            &snapshot(),
            SystemTime::UNIX_EPOCH + Duration::from_secs(seconds_later),
        )
    }

    #[test]
    fn the_servers_that_bear_most_are_told() {
        assert!(
            description(2).starts_with("survey       kenya, running\nas of        2.0 s ago\n"),
            "{}",
            description(2)
        );
        assert!(description(2).ends_with(
            "\nmost-loaded servers  requests  received  busy\n102.0.0.1               1,234   12.3 MB  12 s\n"
        ));
    }

    #[test]
    fn what_is_the_matter_with_the_bus_is_told_until_the_survey_is_finished() {
        let description = |state| {
            let bus_problem =
                Some(BusProblem { since: SystemTime::UNIX_EPOCH, what: "nats://a: nobody answers".into() });
            let now = Snapshot { state, bus_problem, ..snapshot() };
            describe_snapshot(Path::new("kenya"), &now, SystemTime::UNIX_EPOCH + Duration::from_secs(12))
        };
        assert!(
            description(SurveyState::Running)
                .contains("\nbus          waiting for 12 s: nats://a: nobody answers\n")
        );
        assert!(!description(SurveyState::Running).contains(" left"));
        assert!(description(SurveyState::Failed).contains("\nbus          nats://a: nobody answers\n"));
        assert!(!description(SurveyState::Finished).contains("nats://a"));
    }

    #[test]
    fn an_agent_whose_own_link_is_broken_is_named() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(200);
        let agent = |link_broken_since, failed_only_here| AgentSeen {
            link_broken_since,
            failed_only_here,
            ..AgentSeen::default()
        };
        assert_eq!(describe_link(&agent(None, 0), now), None);
        assert_eq!(
            describe_link(&agent(None, 1), now).unwrap(),
            "1 connection failed and was then made by another agent"
        );
        let broken =
            describe_link(&agent(Some(SystemTime::UNIX_EPOCH + Duration::from_secs(80)), 1234), now).unwrap();
        assert!(broken.starts_with("has reached no server for "), "{broken}");
        assert!(
            broken.ends_with("; 1,234 connections failed and were then made by another agent"),
            "{broken}"
        );
    }

    #[test]
    fn an_agent_that_does_nothing_is_named_with_the_reason() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(200);
        let since = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(80));
        for (ping_age_seconds, failed_only_here, reason) in [
            (Some(1), 0, "its pings come back: check that its NATS account may subscribe"),
            (Some(40), 1, "no ping comes back within 2 s"),
            (None, 0, "no ping comes back within 2 s"),
        ] {
            let agent = AgentSeen {
                in_vain_since: since,
                ping_age_seconds,
                failed_only_here,
                ..AgentSeen::default()
            };
            let description = describe_link(&agent, now).unwrap();
            assert!(description.starts_with("has acted on no dispatch for "), "{description}");
            assert!(description.contains(reason), "{description}");
            assert_eq!(
                description.contains("; 1 connection failed and"),
                failed_only_here == 1,
                "{description}"
            );
        }
        let slow = AgentSeen { slow_by_seconds: Some(1.5), ..AgentSeen::default() };
        assert!(describe_link(&slow, now).unwrap().starts_with("takes 1.5 s longer than its exchanges"));
    }

    #[test]
    fn agents_are_told_with_their_machines() {
        let now = Snapshot {
            agents: vec![AgentSeen {
                name: "nairobi".into(),
                since: Some(SystemTime::UNIX_EPOCH),
                sites_walking: 12,
                places: 64,
                pages: 1234,
                pages_per_second: 8.25,
                machine: MachineLoad {
                    cpu: 0.5,
                    memory: 0.25,
                    network_bytes_per_second: 1e6,
                    disk_bytes_per_second: 0.0,
                },
                ..AgentSeen::default()
            }],
            ..snapshot()
        };
        let description =
            describe_snapshot(Path::new("kenya"), &now, SystemTime::UNIX_EPOCH + Duration::from_secs(90));
        let line = description.lines().find(|line| line.starts_with("nairobi")).unwrap();
        let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text, "nairobi 1 min 30 s 0 s ago 12 of 64 1,234 8.2 50 % 25 % 1.0 MB/s 0 B/s");
        assert!(!self::description(2).contains("last heartbeat"), "where there are none");
    }

    #[test]
    fn of_many_kinds_of_errors_the_most_frequent_are_told() {
        let errors = (1..=40).map(|number| (format!("http_{}", 400 + number), number)).collect();
        let text =
            describe_snapshot(Path::new("kenya"), &Snapshot { errors, ..snapshot() }, SystemTime::UNIX_EPOCH);
        let line = "\nerrors       820 (http_440 40, http_439 39, http_438 38, http_437 37, …)\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn promises_are_told_with_what_was_seen() {
        let verdict = |promise: &str, judgement, evidence: &str| Verdict {
            id: String::new(),
            promise: promise.into(),
            judgement,
            evidence: evidence.into(),
        };
        let now = Snapshot {
            promises: vec![
                verdict("one request at a time per site", Judgement::Held, "at most 1 at once (a.ke)"),
                verdict("at most 5 requests per site", Judgement::Broken, "at most 6 (b.ke)"),
            ],
            ..snapshot()
        };
        let text = describe_snapshot(Path::new("kenya"), &now, SystemTime::UNIX_EPOCH);
        let table = "\npromise                         so far  evidence\n\
                     one request at a time per site  held    at most 1 at once (a.ke)\n\
                     at most 5 requests per site     BROKEN  at most 6 (b.ke)\n";
        assert!(text.contains(table), "{text}");
    }

    #[test]
    fn a_silent_survey_is_not_called_running() {
        assert!(
            description(31)
                .contains("kenya, no longer running, perhaps killed; `ccsurvey resume kenya` continues\n")
        );
    }

    #[test]
    fn a_simulation_is_neither_silent_nor_resumed() {
        let now = Snapshot {
            state: SurveyState::Interrupted,
            is_simulated: true,
            updated: Some(SystemTime::UNIX_EPOCH),
            active_seconds: 90_000.0,
            ..Snapshot::default()
        };
        let later = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert!(!is_silent(&now, later));
        let text = describe_snapshot(Path::new("d"), &now, later);
        assert!(
            text.starts_with("survey      d, a simulation, interrupted\nsimulated   1 d 01 h\n"),
            "{text}"
        );
    }
}
