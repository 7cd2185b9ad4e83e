//! The clock of a survey that resumes.
//!
//! Pauses, budgets and the age of robots.txt are measured by one steady clock from the beginning of a survey
//! to its end, as if one process had kept it. Between two runs the system's clock may have been set. If it
//! was set back, all pauses would become longer by that much; if it was set forward, they would be over. The
//! uptime of the machine reveals the true time between the runs. If the machine was restarted, the system's
//! clock is trusted, except that no recorded time may lie in the future.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{decode, each_page_of_servers, encode, stored_tally};
use crate::fetch::{Clock, Uptime, moved};
use crate::frontier::Frontier;
use crate::load::ServerState;
use crate::survey::error::SurveyError;
use crate::survey::folder::Folder;
use crate::survey::journal::JournalReader;

/// When a process opened the survey, by each of its clocks.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Opening {
    /// By the clock of the survey.
    time: SystemTime,
    /// By the clock of the system.
    system: SystemTime,
    uptime: Option<Uptime>,
}

/// Uptimes have a resolution of a hundredth of a second, and a busy machine reads the clocks one after the
/// other.
const TOLERANCE: Duration = Duration::from_millis(50);
/// A smaller difference is not reported.
const LEAST_REPORTED_JUMP: Duration = Duration::from_secs(1);

/// The clock with which a survey resumes or begins, and a message if the system's clock was set meanwhile.
pub(in crate::survey) fn resume_clock(
    folder: &Folder,
    frontier: &mut Frontier,
    system: Clock,
    uptime: Option<Uptime>,
) -> Result<(Clock, Option<String>), SurveyError> {
    // The reading and writing below takes time, and the next run counts from here.
    let (opened, system_time) = (Instant::now(), system.now());
    let before: Option<Opening> = (frontier.clock()?)
        .map(|bytes| decode(folder, &bytes, || "the survey's clock".to_owned()))
        .transpose()?;
    let by_system =
        before.as_ref().map_or(system_time, |before| moved(system_time, before.system, before.time));
    let passed = before.as_ref().and_then(|before| {
        let passed = uptime.as_ref()?.after(before.uptime.as_ref()?)?;
        Some(before.time + passed)
    });
    let time = match passed {
        Some(by_uptime) if difference(by_uptime, by_system) <= TOLERANCE => by_system,
        // Slightly too early is better: pauses become longer. But if the uptime restarts under the same boot
        // name, as in some containers, it is less reliable than the survey's records.
        Some(by_uptime) => not_before(by_uptime - TOLERANCE / 2, latest(folder, frontier)?),
        None => not_before(by_system, latest(folder, frontier)?),
    };
    frontier.note_clock(&encode(&Opening { time, system: system_time, uptime })?)?;
    Ok((system.continue_from(time, opened), describe_jump(time, by_system)))
}

fn not_before(time: SystemTime, latest: Option<SystemTime>) -> SystemTime {
    latest.map_or(time, |latest| latest.max(time))
}

fn difference(first: SystemTime, second: SystemTime) -> Duration {
    first.duration_since(second).unwrap_or_else(|error| error.duration())
}

fn describe_jump(time: SystemTime, by_system: SystemTime) -> Option<String> {
    let (jump, direction) = (difference(time, by_system), if time > by_system { "back" } else { "forward" });
    let seconds = jump.as_secs_f64().round();
    (jump >= LEAST_REPORTED_JUMP).then(|| {
        format!(
            "the system clock was set {direction} by {seconds} s between two runs: this does not change any pause"
        )
    })
}

/// The latest time on record, by the survey's clock.
fn latest(folder: &Folder, frontier: &Frontier) -> Result<Option<SystemTime>, SurveyError> {
    let mut latest = stored_tally(folder, frontier)?.and_then(|tally| tally.as_of);
    let note = |page: Vec<(IpAddr, ServerState)>| {
        latest = page.iter().map(|(_, state)| state.ledger.last_end()).fold(latest, Ord::max);
        Ok(())
    };
    each_page_of_servers(folder, || frontier, note)?;
    for order in if folder.journals().is_dir() { folder.journaled_trees()? } else { Vec::new() } {
        latest = latest.max(JournalReader::open(&folder.journal(order))?.history()?.latest);
    }
    Ok(latest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::Spread;
    use crate::survey::journal::Journal;
    use crate::survey::journal::entry::Entry;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + DAY * 20_000 + Duration::from_secs(second)
    }

    fn up(boot: &str, second: u64) -> Option<Uptime> {
        Some(Uptime { boot: boot.to_owned(), since: Duration::from_secs(second) })
    }

    /// Opens the survey in the folder; returns its time by its own clock.
    fn open(folder: &Folder, system: SystemTime, uptime: Option<Uptime>) -> Duration {
        let mut frontier = Frontier::open(&folder.state(), Spread::default()).unwrap();
        let (clock, _) = resume_clock(folder, &mut frontier, Clock::beginning_at(system), uptime).unwrap();
        assert_eq!(clock.system_time(), system);
        clock.now().duration_since(at(0)).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_go_on_by_the_uptime_of_the_machine_whatever_its_clock_is_set_to() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::open(folder.path());
        assert_eq!(open(&folder, at(0), up("a", 1000)), Duration::ZERO);
        let grain = TOLERANCE / 2;
        let hour = Duration::from_secs(3600);
        // Right, back by an hour, on by 400 days, back by as much, and a hair's breadth apart.
        for (second, system, early) in [
            (10, at(10), Duration::ZERO),
            (20, at(20) - hour, grain),
            (30, at(30) + DAY * 400, grain * 2),
            (40, at(40), grain * 3),
            (50, at(50) + Duration::from_millis(20), grain * 3 - Duration::from_millis(20)),
        ] {
            let time = open(&folder, system, up("a", 1000 + second));
            assert_eq!(time, Duration::from_secs(second) - early, "{second}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_restart_of_the_machine_nothing_on_record_was_after_now() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::open(folder.path());
        std::fs::create_dir(folder.journals()).unwrap();
        assert_eq!(open(&folder, at(0), up("a", 1000)), Duration::ZERO);
        let (journal, _) = Journal::open(&folder.journal(1)).unwrap();
        let sending = |second| Entry::Sending { number: 0, address: [41, 90, 0, 1].into(), at: at(second) };
        journal.write(&sending(60)).unwrap();
        // The clock goes on, is set back, and continues from there. Without an uptime, a change cannot be
        // detected.
        assert_eq!(open(&folder, at(90), up("b", 3)).as_secs(), 90);
        journal.write(&sending(100)).unwrap();
        assert_eq!(open(&folder, at(0), up("c", 3)).as_secs(), 100);
        assert_eq!(open(&folder, at(7), None).as_secs(), 107);
        assert_eq!(open(&folder, at(9), up("c", 12)).as_secs(), 109);
        assert_eq!(open(&folder, at(9), up("c", 22)), Duration::from_secs(119) - TOLERANCE / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_survey_of_an_earlier_version_goes_on_at_what_is_on_record() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::open(folder.path());
        std::fs::create_dir(folder.journals()).unwrap();
        let (journal, _) = Journal::open(&folder.journal(1)).unwrap();
        let time = at(0) + DAY * 400;
        journal.write(&Entry::Sending { number: 0, address: [41, 90, 0, 1].into(), at: time }).unwrap();
        assert_eq!(open(&folder, at(5), up("a", 1000)), DAY * 400);
    }
}
