//! A process that waits for the bus says so, with the reason and the remedy, and ends when it is told to.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ccsurvey::survey::Snapshot;

use super::processes::{assert_polite, coordinator, coordinator_command, survey_alone};
use crate::common::bus::{Bus, Process, agent, agent_command, program};
use crate::common::fixed_web::{FixedSpace, start_list};
use crate::common::ports::free_port;
use crate::common::waiting::until;
use crate::common::{Space, assert_same_tables, timeless_tables};

/// A process and its output.
struct LoggedProcess {
    process: Process,
    messages_file: PathBuf,
}

impl LoggedProcess {
    fn start(mut command: Command, messages_file: PathBuf) -> Self {
        let file = File::create(&messages_file).unwrap();
        Self { process: Process(command.stdout(Stdio::null()).stderr(file).spawn().unwrap()), messages_file }
    }

    fn messages(&self) -> String {
        fs::read_to_string(&self.messages_file).unwrap()
    }

    #[track_caller]
    fn await_message(&self, text: &str) {
        assert!(until(|| self.messages().contains(text)), "it never said '{text}': {}", self.messages());
    }

    /// Checks that it ends before the ten minutes are over for which a process waits for the bus.
    #[track_caller]
    fn assert_exit_code(&mut self, code: i32) {
        let mut ended = None;
        until(|| {
            ended = self.process.0.try_wait().unwrap();
            ended.is_some()
        });
        let ended = ended.unwrap_or_else(|| panic!("it does not end: {}", self.messages()));
        assert_eq!(ended.code(), Some(code), "{}", self.messages());
    }
}

/// A survey of a small country with one agent.
struct Case {
    space: Space,
    folder: tempfile::TempDir,
    survey: LoggedProcess,
    agent: LoggedProcess,
}

impl Case {
    fn begin(bus: &Bus, login: &[&str]) -> Self {
        let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
        let survey = survey(&space, bus, folder.path(), login);
        let mut command = agent_command(program(), bus, "one");
        command.args(login);
        let agent = LoggedProcess::start(command, folder.path().join("agent.words"));
        let case = Self { space, folder, survey, agent };
        case.await_requests(30);
        case
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("survey")
    }

    fn await_requests(&self, requests: usize) {
        let target = self.space.accesses().len() + requests;
        assert!(until(|| self.space.accesses().len() >= target), "it goes on: {}", self.survey.messages());
    }

    /// Status, log, display and agent show these words while the survey waits.
    #[track_caller]
    fn assert_all_report(&mut self, text: &str) {
        let dir = self.dir();
        let problem = || problem(&dir).unwrap_or_default();
        assert!(until(|| problem().contains(text)), "the status never said '{text}': {}", problem());
        let log = || fs::read_to_string(dir.join("log.jsonl")).unwrap();
        assert!(until(|| log().contains(text)), "the log never said '{text}': {}", log());
        self.survey.await_message(&format!("WAITING for the bus: nats://127.0.0.1:{}", port(&self.survey)));
        self.survey.await_message(text);
        self.agent.await_message(text);
        assert!(self.survey.process.0.try_wait().unwrap().is_none(), "it waits: {}", self.survey.messages());
        let status = program().arg("status").arg(&dir).output().unwrap();
        let status = String::from_utf8(status.stdout).unwrap();
        assert!(status.contains("bus  ") && status.contains(text), "{status}");
    }

    /// The survey ends as if nothing had happened.
    fn assert_finishes(mut self) {
        self.survey.assert_exit_code(0);
        self.agent.assert_exit_code(0);
        self.agent.await_message("the survey is finished");
        assert_eq!(problem(&self.dir()), None);
        self.assert_equals_one_machine();
    }

    fn assert_equals_one_machine(&self) {
        assert_polite(&self.space);
        let alone_dir = self.folder.path().join("alone");
        survey_alone(&self.space, &alone_dir);
        assert_same_tables(&timeless_tables(&self.dir()).without_agents(), &timeless_tables(&alone_dir));
    }
}

fn survey(space: &Space, bus: &Bus, folder: &Path, login: &[&str]) -> LoggedProcess {
    let command = coordinator_command(space, bus, &folder.join("survey"), login);
    LoggedProcess::start(command, folder.join("survey.words"))
}

/// The port of the bus, as the survey prints it for users who start agents.
fn port(survey: &LoggedProcess) -> String {
    let messages = survey.messages();
    let (_, after) = messages.split_once("--nats nats://127.0.0.1:").unwrap();
    after.chars().take_while(char::is_ascii_digit).collect()
}

fn problem(dir: &Path) -> Option<String> {
    let now = Snapshot::load(dir).ok().flatten()?;
    now.bus_problem.map(|problem| problem.what)
}

const PLAIN: &str = "jetstream {}";

#[test]
fn a_bus_that_dies_is_told_of_by_all_and_the_survey_goes_on_when_it_is_back() {
    let Some(mut bus) = Bus::start("cluster_away") else { return };
    let mut case = Case::begin(&bus, &[]);
    bus.kill();
    case.assert_all_report("no NATS server responds there (start it again");
    bus.start_again(PLAIN);
    case.survey.await_message("elapsed");
    case.agent.await_message("the NATS server works again");
    case.assert_finishes();
}

#[test]
fn a_bus_that_refuses_the_login_is_told_of_by_all_and_who_waits_for_it_ends_when_asked_to() {
    let configuration = |password| format!("{PLAIN}\nauthorization {{ user: me, password: \"{password}\" }}");
    let Some(mut bus) = Bus::start_with("cluster_refused", &configuration("old")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let login = folder.path().join("login.toml");
    fs::write(&login, "user = \"me\"\npassword = \"old\"\n").unwrap();
    let login = ["--nats-login", login.to_str().unwrap()];
    let mut case = Case::begin(&bus, &login);
    bus.kill();
    bus.start_again(&configuration("new"));
    case.assert_all_report("the NATS server now refuses our login");
    for process in [&mut case.survey, &mut case.agent] {
        process.process.signal("TERM");
        process.assert_exit_code(130);
    }
    bus.kill();
    bus.start_again(&configuration("old"));
    let mut again = survey(&case.space, &bus, case.folder.path(), &login);
    let mut command = agent_command(program(), &bus, "two");
    command.args(login);
    let mut two = LoggedProcess::start(command, case.folder.path().join("two.words"));
    again.assert_exit_code(0);
    two.assert_exit_code(0);
    case.assert_equals_one_machine();
}

#[test]
fn a_bus_that_stands_still_is_told_of_by_all_and_who_waits_for_it_ends_when_asked_to() {
    let Some(bus) = Bus::start("cluster_silent") else { return };
    let mut case = Case::begin(&bus, &[]);
    bus.signal("STOP");
    // JetStream reacts in the same way to a full disk.
    case.assert_all_report("the JetStream of the NATS server does not respond: its disk may be full");
    for process in [&mut case.survey, &mut case.agent] {
        process.process.signal("TERM");
        process.assert_exit_code(130);
    }
    bus.signal("CONT");
    let mut again = coordinator(&case.space, &bus, &case.dir());
    let mut two = agent(&bus, "two");
    assert!(again.wait().success() && two.wait().success());
    case.assert_equals_one_machine();
}

#[test]
fn who_is_asked_to_end_while_the_bus_is_away_ends_with_the_exchange_that_it_is_at() {
    let Some(mut bus) = Bus::start("cluster_stops") else { return };
    // Time that each server takes for each response.
    let space = FixedSpace::serve(Duration::from_secs(3));
    let folder = tempfile::tempdir().unwrap();
    let (dir, start) = (folder.path().join("survey"), folder.path().join("starts"));
    fs::write(&start, start_list()).unwrap();
    let mut command = program();
    command.arg("survey").arg(&dir).args(["--cctld", "ke", "--contact", "https://survey.example"]);
    command.args(["--dns", &space.dns(), "--gateway", &space.gateway(), "--nats", &bus.url()]);
    command.arg("--start").arg(&start);
    let mut survey = LoggedProcess::start(command, folder.path().join("survey.words"));
    bus.set_agent_flags(&["--gateway", &space.gateway()]);
    let mut agent =
        LoggedProcess::start(agent_command(program(), &bus, "one"), folder.path().join("agent.words"));
    let requests =
        || Snapshot::load(&dir).ok().flatten().map_or(0, |now| now.agents.iter().map(|it| it.requests).sum());
    assert!(until(|| requests() > 0), "{}", survey.messages());
    bus.kill();
    survey.process.signal("INT");
    agent.process.signal("INT");
    survey.assert_exit_code(130);
    agent.assert_exit_code(130);
}

#[test]
fn a_store_that_is_lost_under_way_ends_the_survey_with_that_reason_and_no_agent_calls_it_finished() {
    let Some(mut bus) = Bus::start("cluster_lost") else { return };
    let mut case = Case::begin(&bus, &[]);
    bus.kill();
    bus.lose_store();
    bus.start_again(PLAIN);
    case.survey.assert_exit_code(1);
    case.survey
        .await_message("the NATS server no longer has the stream of the survey: its store was emptied");
    case.survey.await_message("`ccsurvey resume ");
    assert!(problem(&case.dir()).unwrap().contains("no longer has the stream of the survey"));
    case.agent.assert_exit_code(1);
    case.agent.await_message("the survey 'survey' is no longer on the NATS server");
    assert!(!case.agent.messages().contains("the survey is finished"), "{}", case.agent.messages());
    let mut again = coordinator(&case.space, &bus, &case.dir());
    let mut two = agent(&bus, "two");
    assert!(again.wait().success() && two.wait().success());
    case.assert_equals_one_machine();
}

#[test]
fn a_store_that_is_lost_while_the_survey_rests_makes_no_finished_survey_for_agents() {
    let Some(mut bus) = Bus::start("cluster_lost_at_rest") else { return };
    let mut case = Case::begin(&bus, &[]);
    case.survey.process.signal("TERM");
    case.survey.assert_exit_code(130);
    case.agent.await_message("waiting for the coordinator of 'survey'");
    bus.kill();
    bus.lose_store();
    bus.start_again(PLAIN);
    case.agent.assert_exit_code(1);
    case.agent.await_message("the survey 'survey' is no longer on the NATS server");
    assert!(!case.agent.messages().contains("the survey is finished"), "{}", case.agent.messages());
}

#[test]
fn a_store_that_is_full_is_told_of_and_agents_wait_for_the_survey_to_go_on_with_room() {
    let Some(mut bus) = Bus::start_with("cluster_no_room", "jetstream { max_file_store: 60KB }") else {
        return;
    };
    let mut case = Case::begin(&bus, &[]);
    case.survey.assert_exit_code(1);
    case.survey.await_message("the NATS server cannot store more: ");
    case.survey.await_message("(free some space there); the state is kept, and `ccsurvey resume ");
    let status = program().arg("status").arg(case.dir()).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("the NATS server cannot store more: "), "{status}");
    assert!(fs::read_to_string(case.dir().join("log.jsonl")).unwrap().contains("(free some space there)"));
    bus.kill();
    bus.start_again("jetstream { max_file_store: 60MB }");
    case.survey = survey(&case.space, &bus, case.folder.path(), &[]);
    case.assert_finishes();
}

#[test]
fn an_agent_without_a_right_on_the_bus_says_which() {
    let users = "authorization { users: [ { user: all, password: a }, \
                 { user: some, password: a, permissions: { publish: [\"_INBOX.>\"], subscribe: [\">\"] } } ] }";
    let Some(bus) = Bus::start_with("cluster_rights", &format!("{PLAIN}\n{users}")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let login = folder.path().join("login.toml");
    fs::write(&login, "user = \"some\"\npassword = \"a\"\n").unwrap();
    let mut command = agent_command(program(), &bus, "one");
    command.arg("--nats-login").arg(&login);
    let agent = LoggedProcess::start(command, folder.path().join("agent.words"));
    agent.await_message("warning: ");
    agent.await_message("users other than its owner can read this file");
    agent.await_message(
        "our user lacks a permission on the NATS server: Permissions Violation for Publish to \"$JS.API.STREAM.NAMES\"",
    );
}

#[test]
fn an_agent_that_may_not_listen_to_the_survey_says_so() {
    let users = "authorization { users: [ { user: all, password: a }, { user: some, password: a, \
                 permissions: { publish: [\">\"], subscribe: { deny: [\"ccsurvey.*.orders.*\"] } } } ] }";
    let Some(bus) = Bus::start_with("cluster_orders", &format!("{PLAIN}\n{users}")) else { return };
    let (space, folder) = (Space::serve("a_small_country"), tempfile::tempdir().unwrap());
    let login = |user: &str| {
        let path = folder.path().join(user);
        fs::write(&path, format!("user = \"{user}\"\npassword = \"a\"\n")).unwrap();
        ["--nats-login".to_owned(), path.to_string_lossy().into_owned()]
    };
    let all = login("all");
    let _survey = survey(&space, &bus, folder.path(), &[&all[0], &all[1]]);
    let mut command = agent_command(program(), &bus, "one");
    command.args(login("some"));
    let agent = LoggedProcess::start(command, folder.path().join("agent.words"));
    agent.await_message(
        "our user lacks a permission on the NATS server: Permissions Violation for Subscription to \"ccsurvey.survey.orders.",
    );
}

/// Runs an operation on the stream of the survey, as a server that loses entries or another process would.
fn on_the_stream<T>(bus: &Bus, work: impl AsyncFnOnce(async_nats::jetstream::Context) -> T) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let client = async_nats::connect(bus.url()).await.unwrap();
        work(async_nats::jetstream::new(client)).await
    })
}

#[test]
fn entries_that_the_bus_lost_are_told_from_those_of_another_coordinator() {
    let Some(bus) = Bus::start("cluster_entries") else { return };
    let mut lost = Case::begin(&bus, &[]);
    on_the_stream(&bus, async |context| {
        let stream = context.get_stream("ccsurvey_survey").await.unwrap();
        stream.purge().filter("ccsurvey.survey.coordinator").await.unwrap();
    });
    lost.survey.assert_exit_code(1);
    lost.survey.await_message("the NATS server has lost entries of the survey 'survey'");
    let mut again = survey(&lost.space, &bus, lost.folder.path(), &[]);
    lost.await_requests(10);
    on_the_stream(&bus, async |context| {
        context.publish("ccsurvey.survey.coordinator", "x".into()).await.unwrap().await.unwrap();
    });
    again.assert_exit_code(1);
    again.await_message("another process has taken over the survey 'survey'");
}

#[test]
fn a_cluster_begun_with_a_server_down_warns_of_its_one_copy_and_keeps_three_when_the_third_is_there() {
    let ports = [(); 3].map(|()| free_port(Ipv4Addr::LOCALHOST));
    let routes = ports.map(|port| format!("nats://127.0.0.1:{port}")).join(", ");
    let server = |number: usize| {
        let cluster = format!("name: c, listen: \"127.0.0.1:{}\", routes: [ {routes} ]", ports[number]);
        Bus::start_with(
            "cluster_copies",
            &format!("server_name: s{number}\n{PLAIN}\ncluster {{ {cluster} }}"),
        )
    };
    let (Some(first), Some(_second)) = (server(0), server(1)) else { return };
    let case = Case::begin(&first, &[]);
    let warning = || Snapshot::load(&case.dir()).ok().flatten().and_then(|now| now.bus_warning);
    assert!(until(|| warning().is_some_and(|text| text.contains("keeps one copy of the survey"))));
    let _third = server(2);
    assert!(until(|| warning().is_none()), "{:?}", warning());
    let copies = on_the_stream(&first, async |context| {
        context.get_stream("ccsurvey_survey").await.unwrap().cached_info().config.num_replicas
    });
    assert_eq!(copies, 3);
    case.assert_finishes();
}
