//! A power cut costs at most the responses of the last seconds, and no tree, pause or budget. `strace` shows
//! which data was flushed; the folder is rebuilt from that data, and the survey is resumed there.
//! `reports/kills/power-cuts` does it two hundred times.
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)] // The tests wait for processes, with a deadline.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccsurvey::records::{Manifest, SiteRow, SurveyState};
use ccsurvey::space::Access;
use ccsurvey::survey::Snapshot;

use crate::common::fixed_web::{FEW_FLAGS, FixedSpace, few_starts};
use crate::common::power_cut::{Disk, can_trace, traced};
use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, rows, timeless_tables};

/// Seed of the world in the first round.
const SEED: usize = 5;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ccsurvey");

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// A survey whose machine loses its power repeatedly.
struct Cuts<'a> {
    folder: tempfile::TempDir,
    dir: PathBuf,
    /// Number of requests that the servers have seen.
    request_count: &'a dyn Fn() -> usize,
    /// Begins the survey.
    begin: &'a dyn Fn(Command, &Path) -> Command,
    cuts: Vec<(Duration, Duration)>,
}

impl<'a> Cuts<'a> {
    fn new(request_count: &'a dyn Fn() -> usize, begin: &'a dyn Fn(Command, &Path) -> Command) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("survey");
        Self { folder, dir, request_count, begin, cuts: Vec::new() }
    }

    fn start(&self, program: Command) -> Child {
        let mut command = if self.cuts.is_empty() {
            (self.begin)(program, &self.dir)
        } else {
            let mut resume = program;
            resume.arg("resume").arg(&self.dir);
            resume
        };
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Lets the survey work until the servers have seen this many more requests, then cuts the power; returns
    /// false if the survey ended before that.
    fn cut_after(&mut self, requests: usize) -> bool {
        let trace = self.folder.path().join(format!("trace{}", self.cuts.len()));
        let disk = if self.cuts.is_empty() { Disk::default() } else { Disk::from_folder(&self.dir) };
        let before = (self.request_count)();
        let mut strace = self.start(traced(Path::new(PROGRAM), &trace));
        let mut has_ended = false;
        until(|| {
            has_ended = strace.try_wait().unwrap().is_some();
            has_ended || (self.request_count)() >= before + requests
        });
        if has_ended {
            return false;
        }
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", strace.id())).unwrap();
        assert!(Command::new("kill").args(["-KILL", children.trim()]).status().unwrap().success());
        strace.wait().unwrap();
        let died = now();
        let surviving = self.folder.path().join(format!("left{}", self.cuts.len()));
        disk.apply_trace(&trace).cut(&self.dir, &surviving);
        std::fs::remove_dir_all(&self.dir).unwrap();
        self.dir = surviving;
        self.cuts.push((died, now()));
        true
    }

    /// Lets the survey finish.
    fn finish(&mut self) -> Manifest {
        let errors = self.folder.path().join("errors.txt");
        let mut program = Command::new("sh");
        program.args(["-c", "exec \"$0\" \"$@\" 2> errors.txt", PROGRAM]).current_dir(self.folder.path());
        let code = self.start(program).wait().unwrap().code();
        let log = std::fs::read_to_string(self.dir.join("log.jsonl")).unwrap_or_default();
        let errors = std::fs::read_to_string(errors).unwrap_or_default();
        let error_lines: Vec<_> = log.lines().filter(|line| line.contains("ERROR")).collect();
        assert_eq!(code, Some(0), "{errors}\n{error_lines:?}");
        let manifest = Manifest::load(&self.dir).unwrap();
        assert_eq!((manifest.state, &manifest.broken_promises), (SurveyState::Finished, &Vec::new()));
        for row in rows::<SiteRow>(&self.dir) {
            assert_ne!(row.outcome, "failed", "{}: {error_lines:?}", row.site);
        }
        manifest
    }
}

/// A sequence without pattern that is the same in every run.
fn pseudo_random_count(turn: usize) -> usize {
    let mixed = (turn as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from((mixed ^ (mixed >> 29)) % 30).unwrap() + 5
}

/// Rounds to run; the first is the same in every run.
fn rounds() -> std::ops::Range<usize> {
    0..std::env::var("CCSURVEY_CUT_ROUNDS").map_or(1, |number| number.parse().unwrap())
}

/// Appends the result of a round to the file that `CCSURVEY_CUTS` names.
fn append_row(row: &serde_json::Value) {
    let Some(path) = std::env::var_os("CCSURVEY_CUTS") else { return };
    let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
    file.write_all(format!("{row}\n").as_bytes()).unwrap();
}

/// Age of each lost response that had to be requested again, at the time of the cut that lost it.
fn ages_of_lost(baseline: &[Access], log: &[Access], cuts: &[(Duration, Duration)]) -> Vec<Duration> {
    let baseline = by_request(baseline);
    // A request that a survey normally sends once was repeated because its response was lost.
    let again = by_request(log)
        .into_iter()
        .filter(|(request, _)| baseline.get(request).is_some_and(|baseline| baseline.len() == 1));
    let mut ages = Vec::new();
    for (_, mut sent) in again {
        sent.sort_unstable_by_key(|access| access.arrival_us);
        sent.pop();
        for access in sent {
            let [arrival, end] = [access.arrival_us, access.end_us].map(Duration::from_micros);
            let cut = cuts.iter().find(|(died, _)| arrival < *died);
            // A response that came after the cut was never received.
            ages.extend(cut.and_then(|(died, _)| died.checked_sub(end)));
        }
    }
    ages
}

fn by_request(log: &[Access]) -> HashMap<(&str, &str, bool), Vec<&Access>> {
    let mut sent = HashMap::<_, Vec<&Access>>::new();
    for access in log.iter().filter(|access| access.status.is_some()) {
        sent.entry((&*access.host, &*access.path, access.is_https)).or_default().push(access);
    }
    sent
}

#[test]
fn power_cuts_cost_repeated_requests_and_no_tree() {
    // Journals are flushed every two seconds, on a busy machine later.
    const MAX_AGE: Duration = Duration::from_secs(20);
    const CUTS: usize = 8;
    if !can_trace("power_cuts") {
        return;
    }
    let country = include_str!("../worlds/a_small_country.toml");
    for round in rounds() {
        let seed = format!("seed = {}", SEED + round);
        let space = Space::from_toml(&country.replace(&format!("seed = {SEED}"), &seed));
        let starts = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&starts, space.world.start_urls().join("\n")).unwrap();
        let begin = |mut program: Command, dir: &Path| {
            program.arg("survey").arg(dir).arg("--start").arg(starts.path());
            program.args(["--cctld", "ke", "--contact", "https://survey.example/contact"]);
            program.args(["--dns", &space.dns(), "--gateway", &space.gateway(), "--sites", "8"]);
            program.args(["--harm", "none", "--rate", "none"]);
            program.args(["--min-delay", "4ms", "--delay-factor", "0", "--max-delay", "30ms"]);
            // Which link leads to a new site first depends on timing, and so does its start URL.
            program.args(["--feed-back", if round == 0 { "link" } else { "off" }]);
            program
        };
        let request_count = || space.accesses().len();
        let mut undisturbed = Cuts::new(&request_count, &begin);
        undisturbed.finish();
        let baseline = space.accesses();

        let mut cuts = Cuts::new(&request_count, &begin);
        // In later rounds it works for longer before each cut, and ends after fewer cuts.
        let longer = 1 + round % 4;
        let number = (0..CUTS)
            .take_while(|turn| cuts.cut_after(longer * pseudo_random_count(CUTS * round + turn)))
            .count();
        assert!(number >= CUTS / longer, "{number} cuts of a survey that takes {} requests", baseline.len());
        let manifest = cuts.finish();
        assert_same_tables(&timeless_tables(&cuts.dir), &timeless_tables(&undisturbed.dir));
        let log = space.accesses().split_off(baseline.len());
        let (repeated, lost) = ((log.len() - baseline.len()) as u64, manifest.unrecorded_exchanges);
        assert!(
            0 < repeated && repeated <= lost,
            "{repeated} requests were repeated, {lost} are said to be lost"
        );
        let ages = ages_of_lost(&baseline, &log, &cuts.cuts);
        let oldest = ages.iter().max().copied().unwrap_or_default();
        assert!(oldest < MAX_AGE, "a response was {oldest:?} old that a cut took");
        append_row(&serde_json::json!({
            "what": "trees", "round": round, "cuts": number, "requests": log.len(), "repeated": repeated, "lost": lost,
            "responses_lost": ages.len(), "oldest_ms": u64::try_from(oldest.as_millis()).unwrap(),
            "trees": rows::<SiteRow>(&cuts.dir).len(),
        }));
    }
}

#[test]
fn a_power_cut_makes_no_pause_shorter() {
    const PAUSE: Duration = Duration::from_millis(2000);
    if !can_trace("power_cuts_and_pauses") {
        return;
    }
    let space = FixedSpace::serve(Duration::from_millis(100));
    let starts = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&starts, few_starts()).unwrap();
    let flags = ["--sites", "32", "--min-delay", "2s", "--max-delay", "3s"];
    let begin = |program: Command, dir: &Path| {
        let mut begun = space.command(program, dir, starts.path(), &flags);
        begun.args(FEW_FLAGS);
        begun
    };
    let request_count = || space.accesses().iter().filter(|access| access.status.is_some()).count();
    let mut cuts = Cuts::new(&request_count, &begin);
    for turn in 0..5 {
        assert!(cuts.cut_after(6 + turn));
    }
    cuts.finish();
    let mut log = space.accesses();
    log.sort_by_key(|access| (access.address, access.arrival_us));
    let mut over_a_cut = 0;
    for pair in log.windows(2).filter(|pair| pair[0].address == pair[1].address) {
        let [ended, next] = [pair[0].end_us, pair[1].arrival_us].map(Duration::from_micros);
        assert!(
            next >= ended + PAUSE,
            "{:?} between {:?} and {:?}",
            next.checked_sub(ended),
            pair[0],
            pair[1]
        );
        over_a_cut += cuts.cuts.iter().filter(|(died, _)| ended < *died && next > *died).count();
    }
    assert!(over_a_cut >= 8, "{over_a_cut} pauses over a cut");
}

#[test]
fn no_site_bears_more_than_its_budget_over_power_cuts() {
    const BUDGET: usize = 10;
    if !can_trace("power_cuts_and_budgets") {
        return;
    }
    for round in rounds() {
        let space = FixedSpace::serve(Duration::from_millis(20));
        let starts = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&starts, few_starts()).unwrap();
        let budget = BUDGET.to_string();
        let flags =
            ["--sites", "32", "--min-delay", "100ms", "--max-delay", "200ms", "--max-requests", &budget];
        let begin = |program: Command, dir: &Path| {
            let mut begun = space.command(program, dir, starts.path(), &flags);
            begun.args(FEW_FLAGS);
            begun
        };
        let request_count = || space.accesses().iter().filter(|access| access.status.is_some()).count();
        let mut cuts = Cuts::new(&request_count, &begin);
        let number =
            (0..8).take_while(|turn| cuts.cut_after(2 + pseudo_random_count(8 * round + turn) % 5)).count();
        assert!(number >= 3, "{number} cuts");
        cuts.finish();
        let mut requests_by_host = BTreeMap::<String, usize>::new();
        for access in space.accesses() {
            *requests_by_host.entry(access.host).or_default() += 1;
        }
        assert!(requests_by_host.values().all(|requests| *requests <= BUDGET), "{requests_by_host:?}");
        let max_requests = requests_by_host.values().max();
        append_row(&serde_json::json!({
            "what": "budgets", "round": round, "cuts": number, "requests": request_count(), "budget": BUDGET, "most": max_requests,
        }));
    }
}

#[test]
fn a_survey_that_is_over_stays_so_over_a_power_cut() {
    if !can_trace("power_cut_at_the_end") {
        return;
    }
    let space = FixedSpace::serve(Duration::ZERO);
    let folder = tempfile::tempdir().unwrap();
    let (start, dir) = (folder.path().join("start.txt"), folder.path().join("above/survey"));
    std::fs::write(&start, few_starts()).unwrap();
    let trace = folder.path().join("trace");
    let flags = ["--min-delay", "1ms", "--max-delay", "10ms", "--record-links"];
    let mut survey = space.command(traced(Path::new(PROGRAM), &trace), &dir, &start, &flags);
    assert!(survey.spawn().unwrap().wait().unwrap().success());
    let surviving = folder.path().join("left");
    Disk::default().apply_trace(&trace).cut(folder.path(), &surviving);
    let surviving = surviving.join("above/survey");
    assert_same_tables(&timeless_tables(&surviving), &timeless_tables(&dir));
    assert_eq!(Manifest::load(&surviving).unwrap(), Manifest::load(&dir).unwrap());
    assert_eq!(Snapshot::read(&surviving).unwrap(), Snapshot::read(&dir).unwrap());
    let resumed = Command::new(PROGRAM).arg("resume").arg(&surviving).output().unwrap();
    assert!(
        String::from_utf8_lossy(&resumed.stderr).contains("the survey is finished, nothing is left to do")
    );
}
