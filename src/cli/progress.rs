use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::output::{print_message, show, stderr_terminal};
use crate::records::SurveyState;
use crate::records::units::{byte_rate, bytes, count, duration, request_rate, thousands};
use crate::survey::{BusProblem, RoundStatus, Snapshot};

/// The number of error kinds shown, the most frequent first.
const MAX_ERROR_KINDS: usize = 4;
/// The interval between lines if standard error is not a terminal.
const SECONDS_PER_LINE: u64 = 10;

/// Shows the progress of a survey until its end: a few lines that are kept up to date on a terminal,
/// otherwise a plain line now and then.
///
/// It reads the status that the survey writes into its folder every second, as `ccsurvey status` does.
pub(super) struct Display {
    dir: PathBuf,
    bar: ProgressBar,
    task: JoinHandle<()>,
    text: ProgressText,
    started: Instant,
}

/// Formats the progress, given the real time since the start.
#[derive(Clone, Copy)]
struct ProgressText {
    line: fn(&Snapshot, Duration) -> String,
    /// The form for a terminal.
    lines: fn(&Snapshot, Duration) -> String,
}

impl Display {
    /// Starts the display on the current runtime, with colours and movement on a terminal only.
    pub(super) fn start(dir: &Path) -> Self {
        Self::start_with(dir, ProgressText { line: |now, _| line(now), lines: |now, _| lines(now) })
    }

    /// As [`Self::start`], for a survey on a virtual clock: the pace of the work is measured in real time.
    pub(super) fn for_simulation(dir: &Path) -> Self {
        Self::start_with(dir, ProgressText { line: simulated_line, lines: simulated_line })
    }

    fn start_with(dir: &Path, text: ProgressText) -> Self {
        let terminal = stderr_terminal();
        let is_terminal = terminal.is_some();
        let bar = ProgressBar::with_draw_target(None, terminal.unwrap_or_else(ProgressDrawTarget::hidden));
        // The template is fixed and valid. Without it the display would be plainer, but still correct.
        if let Ok(style) = ProgressStyle::with_template("{spinner:.green} {msg}") {
            bar.set_style(style);
        }
        show(&bar, "starting");
        bar.enable_steady_tick(Duration::from_millis(125));
        let task = tokio::spawn(keep_up_to_date(dir.to_owned(), bar.clone(), is_terminal, text));
        Self { dir: dir.to_owned(), bar, task, text, started: Instant::now() }
    }

    /// A function that prints a message between two updates of the display.
    pub(super) fn message_printer(&self) -> impl FnOnce(&str) + Send + 'static {
        let bar = self.bar.clone();
        move |message| bar.suspend(|| print_message(message))
    }

    /// Removes the display and leaves one line with the final state.
    pub(super) fn end(self) {
        self.task.abort();
        self.bar.finish_and_clear();
        if let Ok(Some(last)) = Snapshot::load(&self.dir) {
            print_message(&(self.text.line)(&last, self.started.elapsed()));
        }
    }
}

async fn keep_up_to_date(dir: PathBuf, bar: ProgressBar, is_terminal: bool, text: ProgressText) {
    let started = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    let mut had_problem = false;
    for second in 0_u64.. {
        ticks.tick().await;
        let Ok(Some(now)) = Snapshot::load(&dir) else { continue };
        let has_problem = now.bus_problem.is_some();
        let has_changed = std::mem::replace(&mut had_problem, has_problem) != has_problem;
        if is_terminal {
            show(&bar, &(text.lines)(&now, started.elapsed()));
        } else if has_changed || second > 0 && second % SECONDS_PER_LINE == 0 {
            print_message(&(text.line)(&now, started.elapsed()));
        }
    }
}

/// The progress for a terminal, in several lines.
fn lines(now: &Snapshot) -> String {
    format!(
        "site trees {}\n  {}\n  {}\n  errors {}\n  {} elapsed, {}{}{}",
        site_trees(now),
        pages(now),
        rates(now),
        errors(now),
        duration(now.active_seconds),
        time_left(now),
        bus_problem(now, "\n  "),
        opt_out_problem(now, "\n  "),
    )
}

/// The progress in one line.
fn line(now: &Snapshot) -> String {
    let remaining =
        if now.state == SurveyState::Running { format!(", {}", time_left(now)) } else { String::new() };
    format!(
        "{} elapsed: site trees {}; {}; {}; errors {}{remaining}{}{}",
        duration(now.active_seconds),
        site_trees(now),
        pages(now),
        rates(now),
        errors(now),
        bus_problem(now, "; "),
        opt_out_problem(now, "; "),
    )
}

/// The reason for the wait of a survey without agents.
pub(super) const NO_AGENT: &str = "no agent is connected (start one with `ccsurvey agent --nats URL`)";

/// Why the survey waits for the bus to its agents, or a warning about the bus, with this prefix; empty if
/// neither.
fn bus_problem(now: &Snapshot, prefix: &str) -> String {
    match (&now.bus_problem, &now.bus_warning, now.agents_missing_since) {
        (Some(BusProblem { what, .. }), _, _) => format!("{prefix}WAITING for the bus: {what}"),
        (None, _, Some(_)) => format!("{prefix}WAITING for agents: {NO_AGENT}"),
        (None, Some(warning), None) => format!("{prefix}BUS: {warning}"),
        (None, None, None) => String::new(),
    }
}

/// The part of the opt-out list that cannot be obeyed, with this prefix; empty if there is none.
fn opt_out_problem(now: &Snapshot, prefix: &str) -> String {
    now.opt_out_problem
        .as_ref()
        .map_or_else(String::new, |problem| format!("{prefix}OPT-OUT LIST: {problem}"))
}

/// The progress of a simulation: the simulated time, and the pace of the work.
fn simulated_line(now: &Snapshot, real: Duration) -> String {
    let seconds = real.as_secs_f64();
    let sites_left = now.sites_waiting + now.sites_walking;
    let remaining = match (now.state, now.sites_done) {
        (SurveyState::Running, _) if now.round.is_some() => String::new(),
        (SurveyState::Running, done @ 1..) => {
            format!("; about {} left", duration(seconds / done as f64 * sites_left as f64))
        }
        _ => String::new(),
    };
    format!(
        "{} simulated in {}: site trees {}; {}; {} pages/s{remaining}",
        duration(now.active_seconds),
        duration(seconds),
        site_trees(now),
        pages(now),
        thousands((now.pages as f64 / seconds.max(0.001)) as u64),
    )
}

/// The number of site trees in each state.
pub(super) fn site_trees(now: &Snapshot) -> String {
    let round = now.round.as_ref().map_or_else(String::new, |round| format!(" ({})", describe_round(round)));
    format!(
        "{} done, {} walking, {} waiting{round}",
        thousands(now.sites_done),
        thousands(now.sites_walking),
        thousands(now.sites_waiting)
    )
}

/// The round of a survey with a budget.
fn describe_round(round: &RoundStatus) -> String {
    let RoundStatus { number, price, trees_to_begin, budget } = round;
    let budget = count(*budget, "request");
    let what = match price {
        None => {
            return format!("the budget of {budget} is spent, or nothing else is left: each site tree ends");
        }
        Some(price) if *price > 0.0 => format!("what is worth {price:.2} hosts per request"),
        Some(_) => "the best of all".to_owned(),
    };
    format!("round {number}: {what}, {} to begin; budget {budget}", thousands(*trees_to_begin))
}

fn pages(now: &Snapshot) -> String {
    format!(
        "{} from {}, {} received",
        count(now.pages, "page"),
        count(now.requests, "request"),
        bytes(now.received_bytes)
    )
}

/// The rates per second, averaged over the last minute.
pub(super) fn rates(now: &Snapshot) -> String {
    format!("{}, {}", request_rate(now.requests_per_second), byte_rate(now.bytes_per_second))
}

/// The number of errors, and the most frequent kinds.
pub(super) fn errors(now: &Snapshot) -> String {
    let mut errors: Vec<(&String, u64)> = now.errors.iter().map(|(kind, count)| (kind, *count)).collect();
    errors.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let all = thousands(errors.iter().map(|(_, count)| count).sum());
    let mut listed: Vec<String> = errors
        .iter()
        .take(MAX_ERROR_KINDS)
        .map(|(kind, count)| format!("{kind} {}", thousands(*count)))
        .collect();
    if errors.len() > MAX_ERROR_KINDS {
        listed.push("…".to_owned());
    }
    if listed.is_empty() { all } else { format!("{all} ({})", listed.join(", ")) }
}

pub(super) fn time_left(now: &Snapshot) -> String {
    match now.seconds_left {
        _ if now.bus_problem.is_some() => "no requests are sent meanwhile".to_owned(),
        Some(seconds) if now.round.is_some() => format!("about {} left", duration(seconds)),
        Some(seconds) => format!("about {} left, more if new sites are found", duration(seconds)),
        None => "time left not yet known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn snapshot() -> Snapshot {
        let errors = [("http_404", 4), ("dns_nxdomain", 8), ("reset", 1), ("too_slow", 1), ("bad_http", 1)];
        Snapshot {
            state: SurveyState::Running,
            active_seconds: 80.0,
            sites_done: 12,
            sites_walking: 3,
            sites_waiting: 4000,
            pages: 1234,
            requests: 1500,
            received_bytes: 12_345_678,
            errors: errors.map(|(kind, count)| (kind.to_owned(), count)).into(),
            requests_per_second: 4.5,
            bytes_per_second: 45_100.0,
            seconds_left: Some(11_100.0),
            ..Snapshot::default()
        }
    }

    #[test]
    fn a_line_tells_how_the_survey_goes() {
        assert_eq!(
            line(&snapshot()),
            "1 min 20 s elapsed: site trees 12 done, 3 walking, 4,000 waiting; 1,234 pages from 1,500 requests, 12.3 MB \
             received; 4.5 req/s, 45.1 kB/s; errors 15 (dns_nxdomain 8, http_404 4, bad_http 1, reset 1, …), about \
             3 h 05 min left, more if new sites are found"
        );
    }

    #[test]
    fn a_survey_that_waits_for_the_bus_says_so_in_place_of_the_time_left() {
        let problem = BusProblem { since: SystemTime::UNIX_EPOCH, what: "nats://a: nobody answers".into() };
        let now = Snapshot { bus_problem: Some(problem), ..snapshot() };
        for text in [line(&now), lines(&now)] {
            assert!(text.contains("WAITING for the bus: nats://a: nobody answers"), "{text}");
            assert!(!text.contains("left"), "{text}");
        }
    }

    #[test]
    fn a_terminal_shows_the_same_in_five_lines() {
        assert_eq!(lines(&snapshot()).lines().count(), 5);
        assert!(lines(&Snapshot::default()).ends_with("0.0 s elapsed, time left not yet known"));
    }
}
