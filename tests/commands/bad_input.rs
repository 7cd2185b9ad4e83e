//! Bad input of every kind is rejected with a message that says what to do, and nothing that existed is lost.
//!
//! Each test runs the program as a user does and compares the whole message. A survey that began would stay
//! on this machine: its name server and gateway are sockets of the test that never respond.

#![allow(clippy::disallowed_methods)] // Binds a name server that never responds.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

const START_LIST_MESSAGE: &str = "ccsurvey: s.csv: 1 start URL on 1 site\n";

/// A folder with a start list, in which the program is run.
struct Workspace {
    folder: TempDir,
    /// Never responds.
    name_server: UdpSocket,
}

impl Workspace {
    fn new() -> Self {
        let workspace = Self {
            folder: tempfile::tempdir().unwrap(),
            name_server: UdpSocket::bind("127.0.0.1:0").unwrap(),
        };
        workspace.write("s.csv", "url\nhttp://www.a.ke/\n");
        workspace
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(file), content).unwrap();
    }

    /// Runs the program; returns its exit code and standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
            .args(arguments)
            .current_dir(self.path())
            .env_remove("RUST_BACKTRACE")
            .output()
            .unwrap();
        assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
        // The lines about the start list are printed whatever happens to the survey.
        let messages = String::from_utf8(output.stderr).unwrap().replace(START_LIST_MESSAGE, "");
        (output.status.code().unwrap(), messages)
    }

    /// Starts a survey of the start list into `d`, with these further flags, which take precedence.
    fn survey(&self, flags: &[&str]) -> (i32, String) {
        let dns = self.name_server.local_addr().unwrap().to_string();
        let given = |flag: &str| flags.contains(&flag);
        let mut arguments =
            vec!["survey", "d", "--dns", &dns, "--gateway", "127.0.0.1:9", "--dns-timeout", "200ms"];
        if !given("--start") {
            arguments.extend(["--start", "s.csv"]);
        }
        if !given("--cctld") && !given("--config") {
            arguments.extend(["--cctld", "ke"]);
        }
        arguments.extend(flags);
        self.run(&arguments)
    }

    /// Checks that a survey with these flags is wrong usage with this message, and leaves nothing behind.
    fn assert_refused(&self, flags: &[&str], message: &str) {
        assert_eq!(self.survey(flags), (2, format!("ccsurvey: error: {message}\n")), "{flags:?}");
        assert!(!self.path().join("d").exists(), "{flags:?}");
    }

    /// The absolute path of a file in the folder, as messages show it.
    fn name(&self, file: &str) -> String {
        self.path().join(file).display().to_string()
    }
}

#[test]
fn a_start_list_that_cannot_be_read_is_named() {
    let workspace = Workspace::new();
    workspace.assert_refused(
        &["--start", "none.csv"],
        "cannot read the start list none.csv: No such file or directory (os error 2)",
    );
    workspace.assert_refused(&["--start", "."], "cannot read the start list .: Is a directory (os error 21)");
}

#[test]
fn bad_lines_are_named_with_number_and_value_and_the_rest_is_used() {
    let workspace = Workspace::new();
    workspace.write("s.csv", "url\nftp://b.ke/\nhttp://www.a.ke/\nno host at all\n");
    let dns = workspace.name_server.local_addr().unwrap();
    let (code, messages) = workspace.survey(&["--skip-bad"]);
    assert_eq!(code, 1);
    let lines: Vec<&str> = messages.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "ccsurvey: s.csv: line 2: 'ftp://b.ke/' is skipped: not an http or https URL",
            "ccsurvey: s.csv: line 4: 'no host at all' is skipped: neither a URL nor a host name",
            "ccsurvey: s.csv: 1 start URL on 1 site; 2 bad lines skipped",
            "ccsurvey: 1 site to survey",
        ]
    );
    assert_eq!(
        lines.last().unwrap(),
        &format!(
            "ccsurvey: error: name server {dns} does not respond (queried for ke): name another with --dns, or in survey.toml if the survey has begun"
        )
    );
}

#[test]
fn a_start_list_without_a_good_line_is_no_survey() {
    let workspace = Workspace::new();
    workspace.write("s.csv", "url\n");
    let (code, messages) = workspace.survey(&[]);
    let nothing = "ccsurvey: s.csv: 0 start URLs on 0 sites\nccsurvey: error: s.csv: no start URL found (0 bad lines)\n";
    assert_eq!((code, messages.as_str()), (2, nothing));
    workspace.write("s.csv", "nonsense\n");
    let (code, messages) = workspace.survey(&["--skip-bad"]);
    assert_eq!(code, 2);
    assert_eq!(
        messages,
        "ccsurvey: s.csv: line 1: 'nonsense' is skipped: neither a URL nor a host name\n\
         ccsurvey: s.csv: 0 start URLs on 0 sites; 1 bad line skipped\n\
         ccsurvey: error: s.csv: no start URL found (1 bad line)\n"
    );
}

#[test]
fn of_many_bad_lines_ten_are_told_and_where_the_others_stand() {
    let workspace = Workspace::new();
    workspace.write("s.csv", "nonsense\n".repeat(25));
    let (_, messages) = workspace.survey(&[]);
    assert_eq!(messages.lines().count(), 14, "{messages}");
    let expected_text = "\nccsurvey: s.csv: … and 15 more bad lines:\nccsurvey: s.csv: lines 11–25: neither a URL nor a host name\n";
    assert!(messages.contains(expected_text), "{messages}");
}

#[test]
fn an_unknown_country_domain_is_named() {
    Workspace::new().assert_refused(
        &["--cctld", "ke,kx"],
        "'kx' is not a country domain: the Public Suffix List has no such registry suffix (expected for example \
         'ke' or 'or.ke')",
    );
    Workspace::new().assert_refused(
        &["--cctld", " "],
        "no country domain given: add --cctld, for example --cctld ke or --cctld ke,tz,ug",
    );
}

#[test]
fn a_folder_that_exists_is_left_as_it_is() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path().join("d")).unwrap();
    workspace.write("d/mine.txt", "mine");
    let message = "ccsurvey: error: d exists and is not an empty folder: choose another one\n";
    assert_eq!(workspace.survey(&[]), (2, message.to_owned()));
    assert_eq!(workspace.run(&["demo", "d"]), (2, message.to_owned()));
    assert_eq!(fs::read_to_string(workspace.path().join("d/mine.txt")).unwrap(), "mine");
    assert_eq!(fs::read_dir(workspace.path()).unwrap().count(), 2);
}

#[test]
fn a_file_in_the_place_of_a_folder_is_left_as_it_is() {
    let workspace = Workspace::new();
    workspace.write("d", "mine");
    let message = "ccsurvey: error: d exists and is not an empty folder: choose another one\n";
    assert_eq!(workspace.survey(&[]), (2, message.to_owned()));
    assert_eq!(workspace.run(&["demo", "d"]), (2, message.to_owned()));
    assert_eq!(fs::read_to_string(workspace.path().join("d")).unwrap(), "mine");
    assert_eq!(fs::read_dir(workspace.path()).unwrap().count(), 2);
}

#[test]
fn only_where_there_is_a_survey_resume_is_named() {
    let workspace = Workspace::new();
    assert_eq!(workspace.survey(&[]).0, 1, "the name server does not answer");
    let message = "ccsurvey: error: d exists: choose another folder, or continue with `ccsurvey resume d`\n";
    assert_eq!(workspace.survey(&[]), (2, message.to_owned()));
}

#[test]
fn a_survey_of_a_newer_version_is_not_touched() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path().join("d")).unwrap();
    workspace.write("d/manifest.json", r#"{"format": 99, "news": true}"#);
    for command in ["resume", "status", "export"] {
        let message =
            "ccsurvey: error: d was written by a newer ccsurvey (format 99, this one reads up to 1)\n";
        assert_eq!(workspace.run(&[command, "d"]), (2, message.to_owned()), "{command}");
    }
    assert_eq!(fs::read_dir(workspace.path().join("d")).unwrap().count(), 1);
}

#[test]
fn a_survey_is_called_running_by_how_old_its_status_is_whatever_clock_it_began_with() {
    let workspace = Workspace::new();
    workspace.survey(&[]);
    let file = workspace.path().join("d/status.json");
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for updated in [1_577_836_800_u64, 4_070_908_800] {
        for (age, alive) in [(0, true), (40, false)] {
            let mut status = written.clone();
            status["state"] = "running".into();
            status["updated"] = serde_json::json!({ "secs_since_epoch": updated, "nanos_since_epoch": 0 });
            fs::write(&file, status.to_string()).unwrap();
            let modified = SystemTime::now() - Duration::from_secs(age);
            fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_ccsurvey"));
            let output =
                command.args(["status", "d", "--json"]).current_dir(workspace.path()).output().unwrap();
            let status_json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(status_json["alive"], alive, "{updated}, {age} s old");
        }
    }
}

#[test]
fn a_status_that_is_missing_or_damaged_is_named() {
    let workspace = Workspace::new();
    let (code, _) = workspace.survey(&[]);
    assert_eq!(code, 1, "the name server does not answer");
    let end = "; the results so far are in the tables (`ccsurvey report d`)";
    for (content, what) in [
        (None, "is missing: a survey writes it every second, from its first request on"),
        (Some("{\"state\": \"fin"), "is damaged: EOF while parsing a string at line 1 column 14"),
    ] {
        let _ = fs::remove_file(workspace.path().join("d/status.json"));
        if let Some(content) = content {
            workspace.write("d/status.json", content);
        }
        for flags in [&[][..], &["--json"], &["--watch"]] {
            let messages = workspace.run(&[&["status", "d"], flags].concat());
            assert_eq!(messages, (1, format!("ccsurvey: error: d/status.json {what}{end}\n")), "{flags:?}");
        }
    }
}

#[test]
fn a_folder_that_is_no_survey_is_named() {
    let workspace = Workspace::new();
    for command in ["resume", "status", "export"] {
        let message = "ccsurvey: error: d is not a survey: it has no manifest.json\n";
        assert_eq!(workspace.run(&[command, "d"]), (2, message.to_owned()), "{command}");
    }
}

#[test]
fn bad_values_of_flags_are_named_with_what_is_expected() {
    let workspace = Workspace::new();
    for (flags, message) in [
        (
            ["--depth", "deep"],
            "invalid value 'deep' for '--depth <LEVELS|auto>': expected 0 to 1000 levels, or auto",
        ),
        (
            ["--depth", "70000"],
            "invalid value '70000' for '--depth <LEVELS|auto>': expected 0 to 1000 levels, or auto",
        ),
        (
            ["--trap-levels", "2.5"],
            "invalid value '2.5' for '--trap-levels <LEVELS|none>': '2.5' is not valid (expected none, or a whole \
             number from 0 to 65535)",
        ),
        (
            ["--min-delay", "soon"],
            "invalid value 'soon' for '--min-delay <TIME>': 'soon' is not a duration (expected for example '2s', \
             '500ms' or '1h 30m')",
        ),
        (
            ["--max-bytes", "lots"],
            "invalid value 'lots' for '--max-bytes <BYTES|none>': 'lots' is not a number of bytes (expected for example \
             '500kB' or '1MiB')",
        ),
        (
            ["--feed-back", "all"],
            "invalid value 'all' for '--feed-back <RULE>' [possible values: link, door, off]",
        ),
        (
            ["--delay-factor", "x"],
            "invalid value 'x' for '--delay-factor <FACTOR>': expected a number such as 5 or 2.5",
        ),
        (
            ["--harm", "little"],
            "invalid value 'little' for '--harm <SHARE|none>': expected a share above 0 and up to 1, such as \
             0.02, or none",
        ),
        (
            ["--per-neighbourhood", "few"],
            "invalid value 'few' for '--per-neighbourhood <N|none>': 'few' is not valid (expected none, or a \
             whole number from 0 to 4294967295)",
        ),
        (
            ["--quiet-hours", "8-18"],
            "invalid value '8-18' for '--quiet-hours <HOURS|none>': '8-18' is not a time range (expected for example \
             '08:00-18:00' or '22:00-06:00')",
        ),
    ] {
        workspace.assert_refused(&flags, &format!("{message} (`--help` shows what is allowed)"));
    }
    let message = "is not a URL pattern (expected for example '*list*', '/list/' or 'list.example.ke/')";
    for flag in ["exclude", "include"] {
        let refused = format!("invalid value 'list' for '--{flag} <PATTERN>': 'list' {message}");
        workspace.assert_refused(
            &[&format!("--{flag}"), "list"],
            &format!("{refused} (`--help` shows what is allowed)"),
        );
    }
    workspace.write("run.toml", "cctld = [\"ke\"]\nexclude = [\"/shop/\", \"list\"]\n");
    workspace.assert_refused(
        &["--config", "run.toml"],
        &format!("run.toml: line 2: key 'exclude': 'list' {message}"),
    );
    for (flags, message) in [
        (["--depth", "1001"], "--depth is 1001, expected 0 to 1000 levels, or auto"),
        (["--sites", "0"], "--sites is 0, expected more than 0"),
        (["--queries-per-script", "0"], "--queries-per-script is 0, expected more than 0"),
        (["--delay-factor", "inf"], "--delay-factor is inf, expected a number of 0 or more"),
        (["--harm", "1.5"], "--harm is 1.5, expected a share above 0 and up to 1, such as 0.02, or none"),
        (["--max-network-requests", "0"], "--max-network-requests is 0, expected more than 0"),
        (
            ["--max-as-busy-per-day", "1h"],
            "--max-as-busy-per-day cannot be applied: no database has the autonomous systems of IPv4 addresses (name one with --geo)",
        ),
        (["--per-neighbourhood", "0"], "--per-neighbourhood is 0, expected more than 0"),
        (["--min-delay", "2h"], "--min-delay is 2h, expected at most --max-delay, which is 1m"),
        (
            ["--contact", "me"],
            "--contact is 'me', expected a URL or mail address, for example https://example.org/survey or \
             survey@example.org",
        ),
    ] {
        workspace.assert_refused(&flags, message);
    }
    let message = "invalid value 'there' for '--dns <ADDR:PORT>': expected an address and a port, for example \
                   127.0.0.1:53 (`--help` shows what is allowed)";
    let messages = workspace.run(&["survey", "d", "--start", "s.csv", "--cctld", "ke", "--dns", "there"]);
    assert_eq!(messages, (2, format!("ccsurvey: error: {message}\n")));
}

#[test]
fn flags_that_break_what_owners_of_servers_are_promised_are_refused() {
    let workspace = Workspace::new();
    let hint = "add --impolite if the servers are yours or their owners have agreed (not needed if --dns and \
                  --gateway are on this machine)";
    let per_address = "--per-address 50 breaks the promise of one request at a time per server (polite: 1)";
    let rate =
        "--rate none breaks the promise of the limit on the rate of the whole survey (polite: 1048576)";
    let pause = "--min-delay 0s breaks the promise of the minimum pause at each server (polite: 2s)";
    workspace.write("run.toml", "min-delay = \"0s\"\n");
    for (flags, expected_text) in [
        (&["--per-address", "50", "--rate", "none"][..], format!("{per_address}; {rate}")),
        (
            &["--per-address", "50", "--rate", "none", "--dns", "127.0.0.1:53"],
            format!("{per_address}; {rate}"),
        ),
        (&["--config", "run.toml"], pause.to_owned()),
        (&["--config", "run.toml", "--impolite=false"], pause.to_owned()),
    ] {
        let survey =
            ["survey", "d", "--start", "s.csv", "--cctld", "ke", "--contact", "https://example.org/survey"];
        let messages = workspace.run(&[&survey[..], flags].concat());
        assert_eq!(messages, (2, format!("ccsurvey: error: {expected_text}; {hint}\n")));
        assert!(!workspace.path().join("d").exists(), "nothing is begun");
    }
}

#[test]
fn negative_values_are_named_with_their_flag() {
    let workspace = Workspace::new();
    let expected_text = "(`--help` shows what is allowed)";
    for (flags, message) in [
        (
            ["--depth", "-1"],
            format!(
                "invalid value '-1' for '--depth <LEVELS|auto>': expected 0 to 1000 levels, or auto {expected_text}"
            ),
        ),
        (
            ["--min-delay", "-1s"],
            format!(
                "invalid value '-1s' for '--min-delay <TIME>': '-1s' is not a duration (expected for example '2s', \
                 '500ms' or '1h 30m') {expected_text}"
            ),
        ),
        (["--probe-scripts", "-0.1"], "--probe-scripts is -0.1, expected a share from 0 to 1".to_owned()),
        (["--delay-factor", "-1"], "--delay-factor is -1, expected a number of 0 or more".to_owned()),
    ] {
        workspace.assert_refused(&flags, &message);
    }
    let message = format!(
        "ccsurvey: error: invalid value '-1' for '--seed <N>': expected a whole number from 0 to {} {expected_text}\n",
        u64::MAX
    );
    assert_eq!(workspace.run(&["report", "d", "--seed", "-1"]), (2, message));
    let message = format!(
        "ccsurvey: error: a value is required for '--depth <LEVELS|auto>' but none was supplied {expected_text}\n"
    );
    assert_eq!(workspace.run(&["survey", "d", "--depth", "--start", "s.csv"]), (2, message));
}

#[test]
fn a_flag_that_does_not_exist_is_named_with_its_likeliest_meaning() {
    Workspace::new().assert_refused(
        &["--dept", "3"],
        "unexpected argument '--dept' found; a similar argument exists: '--depth' (`--help` shows what is allowed)",
    );
}

#[test]
fn a_survey_that_leaves_this_machine_needs_a_contact() {
    let workspace = Workspace::new();
    let (code, messages) = workspace.run(&["survey", "d", "--start", "s.csv", "--cctld", "ke"]);
    assert_eq!(
        (code, messages.as_str()),
        (
            2,
            "ccsurvey: error: no --contact given: site owners must be able to reach you; give a URL or mail \
             address, for example https://example.org/survey or survey@example.org (not needed if --dns and \
             --gateway are on this machine)\n"
        )
    );
}

#[test]
fn unknown_keys_and_bad_values_of_a_configuration_file_are_named_with_their_line() {
    let workspace = Workspace::new();
    workspace.write("run.toml", "cctld = [\"ke\"]\ndepht = 3\n");
    workspace.assert_refused(
        &["--config", "run.toml"],
        "run.toml: line 2: unknown key 'depht' (known keys are the flags of `ccsurvey survey --help`)",
    );
    workspace.write("run.toml", "cctld = [\"ke\"]\nrate = \"fast\"\n");
    workspace.assert_refused(
        &["--config", "run.toml"],
        "run.toml: line 2: key 'rate': 'fast' is not a number of bytes (expected for example '500kB' or '1MiB')",
    );
    workspace.write("run.toml", "cctld = [\"ke\"]\ndepth = 70000\n");
    workspace.assert_refused(
        &["--config", "run.toml"],
        "run.toml: line 2: key 'depth': '70000' is not a depth (expected 0 to 1000 levels, or auto)",
    );
    workspace.write("run.toml", "start = \"s.csv\"\n");
    workspace.assert_refused(
        &["--config", "run.toml"],
        "run.toml: line 1: 'start' is not allowed in a file: give --start on the command line",
    );
    workspace.write("run.toml", "cctld = [\"ke\"]\nsites = 0\n");
    workspace.assert_refused(&["--config", "run.toml"], "--sites is 0, expected more than 0");
    workspace.assert_refused(
        &["--config", "none.toml"],
        "cannot read none.toml: No such file or directory (os error 2)",
    );
}

#[test]
fn a_suffix_list_that_is_missing_or_corrupt_is_named_with_its_line() {
    let workspace = Workspace::new();
    let file = workspace.name("psl.dat");
    let flags = ["--suffix-list", "psl.dat"];
    workspace.assert_refused(&flags, &format!("cannot read {file}: No such file or directory (os error 2)"));
    workspace.write("psl.dat", "<html>\n");
    workspace.assert_refused(
        &flags,
        &format!(
            "{file}: line 1: '<html>' is not a suffix rule (expected a domain name such as 'co.ke', '*.ck' or \
             '!www.ck')"
        ),
    );
    workspace.write("psl.dat", "ke\n// ===END ICANN DOMAINS===\n");
    workspace.assert_refused(
        &flags,
        &format!(
            "{file}: no line '// ===BEGIN ICANN DOMAINS===': the list is cut short, or is not a Public Suffix List"
        ),
    );
    workspace.write("psl.dat", "// ===BEGIN ICANN DOMAINS===\nke\n");
    workspace.assert_refused(
        &flags,
        &format!("{file}: the list is cut short: no line '// ===END ICANN DOMAINS==='"),
    );
    workspace.write("psl.dat", "// ===BEGIN ICANN DOMAINS===\nke\nco..ke\n// ===END ICANN DOMAINS===\n");
    workspace.assert_refused(
        &flags,
        &format!(
            "{file}: line 3: 'co..ke' is not a suffix rule (expected a domain name such as 'co.ke', '*.ck' or \
             '!www.ck')"
        ),
    );
}

#[test]
fn a_location_database_that_is_missing_or_corrupt_is_named() {
    let workspace = Workspace::new();
    let file = workspace.name("geo.mmdb");
    let flags = ["--geo", "geo.mmdb"];
    workspace.assert_refused(&flags, &format!("cannot read {file}: No such file or directory (os error 2)"));
    workspace.write("geo.mmdb", "no database");
    let (code, messages) = workspace.survey(&flags);
    assert_eq!(code, 2);
    assert!(
        messages.starts_with(&format!("ccsurvey: error: {file} is not a valid address database (")),
        "{messages}"
    );
    assert!(
        messages.ends_with(
            "; expected a complete .mmdb file such as GeoLite2-Country, GeoLite2-ASN or DB-IP Lite\n"
        ),
        "{messages}"
    );
    assert!(!workspace.path().join("d").exists());
}

#[test]
fn a_line_of_an_opt_out_file_that_cannot_be_obeyed_is_an_error() {
    let workspace = Workspace::new();
    let file = workspace.name("no.txt");
    let flags = ["--opt-out", "no.txt"];
    workspace.assert_refused(&flags, &format!("cannot read {file}: No such file or directory (os error 2)"));
    workspace.write("no.txt", "a.ke\n41.0.0.0/99\n");
    workspace.assert_refused(
        &flags,
        &format!(
            "{file}: line 2: '41.0.0.0/99' is not a host name, a network or an autonomous system (expected for \
             example 'example.ke', '41.90.0.7', '41.90.0.0/16' or 'AS64500', optionally followed by a date \
             such as 2026-11-02)"
        ),
    );
    workspace.write("no.txt", "a.ke 2026-11-02\nAS64500 2026-11-03\n");
    workspace.assert_refused(
        &flags,
        &format!(
            "{file}: line 2: cannot apply 'AS64500': no database has the autonomous systems of IPv4 addresses (name one with --geo)"
        ),
    );
}

#[test]
fn a_file_of_root_certificates_without_one_is_named() {
    let workspace = Workspace::new();
    let file = workspace.name("ca.pem");
    let flags = ["--ca", "ca.pem"];
    workspace.assert_refused(
        &flags,
        &format!("cannot read root certificates from '{file}': No such file or directory (os error 2)"),
    );
    workspace.write("ca.pem", "nothing");
    workspace.assert_refused(&flags, &format!("'{file}' contains no usable root certificate in PEM form"));
}

#[test]
fn a_name_server_that_does_not_answer_is_named_and_the_survey_is_kept() {
    let workspace = Workspace::new();
    workspace.write("s.csv", "a.ke\nb.ke\nc.ke\nd.ke\n");
    let dns = workspace.name_server.local_addr().unwrap();
    let expected = format!(
        "ccsurvey: error: name server {dns} does not respond (queried for ke): name another with --dns, or in survey.toml if the survey has begun"
    );
    let (code, messages) = workspace.survey(&[]);
    assert_eq!((code, messages.lines().last()), (1, Some(expected.as_str())));
    let (code, messages) = workspace.run(&["resume", "d"]);
    assert_eq!((code, messages.lines().last()), (1, Some(expected.as_str())));
}

#[test]
fn a_world_that_is_none_is_named_with_its_line() {
    let workspace = Workspace::new();
    workspace.write("w.toml", "[sites]\ncount = 0\n");
    for command in ["serve", "truth", "describe", "starts"] {
        let message = "w.toml: line 2: 'sites.count' is 0, expected an integer from 1 to 1000000 (sites)";
        assert_eq!(
            workspace.run(&["space", command, "w.toml"]),
            (2, format!("ccsurvey: error: {message}\n")),
            "{command}"
        );
    }
}

#[test]
fn a_world_that_cannot_be_simulated_is_named_and_nothing_is_begun() {
    let workspace = Workspace::new();
    for (text, message) in [
        (
            "seed = 1\n[traps]\ncalendar_share = -0.5\n",
            "w.toml: line 3: 'traps.calendar_share' is -0.5, expected a number from 0 to 1 (share of sites)",
        ),
        (
            "[faults]\nsilent_share = 1.5\n",
            "w.toml: line 2: 'faults.silent_share' is 1.5, expected a number from 0 to 1 (share of sites)",
        ),
        (
            "[sites]\none_page_share = 0.0\nbrochure_share = 0.0\ncms_share = 0.0\nlarge_share = 0.0\n",
            "w.toml: line 1: in [sites], one_page_share, brochure_share, cms_share and large_share sum to 0.0000, \
             expected 1",
        ),
        (
            "\nprofile = \"africa-2007\"\n",
            "w.toml: line 2: 'profile' is \"africa-2007\", expected one of africa-2006, cctld-2026, japan-encodings",
        ),
        (
            "[hostile]\ncases = [\"all\"]\n",
            "w.toml: hostile sites misbehave on network connections, which a simulation does not have: \
             serve the world with `ccsurvey space serve` and survey it instead",
        ),
        (
            "profile = \"cctld-2026\"\n[external]\nvariant = \"flat\"\n",
            "w.toml: line 3: 'external.variant' is \"flat\", expected \"heterogeneous\" or \"homogeneous\"",
        ),
    ] {
        workspace.write("w.toml", text);
        assert_eq!(
            workspace.run(&["simulate", "w.toml", "d"]),
            (2, format!("ccsurvey: error: {message}\n")),
            "{text}"
        );
    }
    for [flag, value] in [["--nats", "nats://127.0.0.1:4222"], ["--nats-login", "w.toml"]] {
        let message =
            format!("ccsurvey: error: {flag} cannot be used in a simulation, which sends nothing\n");
        assert_eq!(workspace.run(&["simulate", "demo", "d", flag, value]), (2, message));
    }
    let (code, messages) = workspace.run(&["simulate", "none.toml", "d"]);
    let missing =
        "ccsurvey: error: cannot read the world none.toml: No such file or directory (os error 2)\n";
    assert_eq!((code, messages.as_str()), (2, missing));
    assert!(!workspace.path().join("d").exists());
}
