//! README.md and GUIDE.md as their readers use them: every command in them runs, one after the other in one
//! folder, with a virtual country in place of the Internet.
//!
//! A block of `sh` contains commands. A block with a name after its language (`toml thin.toml`) is a file
//! that commands read. Blocks of `python` and `sql` are run on the tables. All other blocks are only shown.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use ccsurvey::cli::command::Cli;
use ccsurvey::records::units::{percent, thousands};
use clap::{CommandFactory, Parser};

use crate::common::Space;
use crate::common::python::interpreter;

const README: &str = include_str!("../../README.md");
const GUIDE: &str = include_str!("../../GUIDE.md");

/// Commands that this test cannot run, with the reason. For commands of the program, it checks that they
/// parse.
const NOT_RUN: [(&str, &str); 8] = [
    ("bash tests/run", "runs this test"),
    ("cargo install --locked --path .", "builds the program once more, for minutes"),
    (
        "ccsurvey survey by-night",
        "waits for the evening in Kenya; tests/rehearsal/simulate.rs does, on a virtual clock",
    ),
    ("chromium --user-data-dir=\"$PWD/virtual-browser\" --no-first-run", "opens a window"),
    ("ccsurvey demo --agents", "takes a minute; tests/cluster has agents walk a Web"),
    ("nats-server -c", "does not end"),
    ("ccsurvey survey kenya-by-agents", "waits for agents; tests/cluster has some"),
    ("ccsurvey agent", "waits for that survey"),
];

/// Addresses of a served world in the documents; the test replaces them by free ports.
const DNS: &str = "127.0.0.1:5300";
const GATEWAY: &str = "127.0.0.1:8080";

/// Replaces the program in the commands: requests that would leave the machine go to the virtual country,
/// without pauses, and large worlds are sampled.
const PROGRAM: &str = r#"#!/usr/bin/env bash
set -euo pipefail
args=()
pace=(--min-delay --delay-factor --max-delay --harm --rate)
is_pace() { [[ " ${pace[*]} " == *" $1 "* ]]; }
while (($#)); do
    if is_pace "$1"; then shift 2; else args+=("$1"); shift; fi
done
add() { [[ " ${args[*]} " == *" $1 "* ]] || args+=("$@"); }
case "${args[*]}" in
"survey "*)
    add --dns "$COUNTRY_DNS"
    add --gateway "$COUNTRY_GATEWAY"
    args+=(--min-delay 1ms --delay-factor 0 --max-delay 20ms --harm none --rate none)
    ;;
"simulate demo "*) add --sample 0.1 && add --feed-back off ;;
"simulate africa-2006 "*) add --sample 0.005 && add --feed-back off ;;
"space serve "*) args+=(--dns 127.0.0.1:0 --gateway 127.0.0.1:0) ;;
esac
exec "$PROGRAM" "${args[@]}"
"#;

/// `cargo run -- …` without a build: this test is about the program that cargo has built.
const CARGO: &str = "#!/bin/sh\n[ \"$1 $2\" = 'run --' ] || exit 64\nshift 2\nexec ccsurvey \"$@\"\n";

/// No sandbox for root, which often runs the tests.
const CHROMIUM: &str = "#!/bin/sh\nexec \"$CHROMIUM\" --no-sandbox \"$@\"\n";

#[test]
fn every_command_of_the_readme_runs() {
    let printed = Workspace::with(README).run_all();
    let shown = README.lines().skip_while(|line| !line.starts_with("  depth  pages")).take(5);
    for row in shown {
        let is_printed = printed.lines().any(|line| same_but_busy(line, row));
        assert!(is_printed, "the demo does not print what README.md shows: {row}\n{printed}");
    }
}

#[test]
fn every_command_of_the_guide_runs() {
    Workspace::with(GUIDE).run_all();
}

#[test]
fn the_readme_is_short_and_begins_with_the_demo_and_the_tests() {
    assert!(README.lines().count() <= 150);
    let commands: Vec<String> = blocks(README).iter().flat_map(Block::commands).take(2).collect();
    assert_eq!(commands, ["cargo run -- demo", "bash tests/run"]);
}

/// `reports/low-load/run` measures it: the row without flags has the defaults, the last one lifts the script
/// rule.
#[test]
fn what_the_script_rule_saves_and_loses_is_as_it_was_measured() {
    let measured = fs::read_to_string(project().join("reports/low-load/results.json")).unwrap();
    let measured: serde_json::Value = serde_json::from_str(&measured).unwrap();
    let rows = measured["rows"].as_array().unwrap();
    let defaults = rows.iter().find(|row| row["flags"].as_object().unwrap().is_empty()).unwrap();
    let every_query = rows.last().unwrap();
    assert_eq!(every_query["flags"], serde_json::json!({ "queries-per-script": "1000000" }));
    let less = |quantity: &str| {
        let [some, all] = [defaults, every_query].map(|row| row[quantity].as_f64().unwrap());
        format!("{:.0} %", 100.0 * (1.0 - some / all))
    };
    let (requests, urls) = (less("requests"), less("urls"));
    let sentence = format!(
        "against every query URL, it needs {requests} fewer requests and loses {urls} of the external URLs"
    );
    let guide = GUIDE.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(guide.contains(&sentence), "GUIDE.md does not say what was measured: {sentence}");
}

/// `reports/adaptive/run` measures it: surveys with the command, and simple rules applied to the same pages.
#[test]
fn what_auto_finds_and_costs_is_as_it_was_measured() {
    let measured = results("adaptive");
    let graphs = [
        ("packages of Debian and npm", "packages (judged)"),
        ("`africa-2006`, seed 1", "africa-2006 (1)"),
        ("`africa-2006`, seed 2", "africa-2006 (2)"),
        ("`africa-2006`, seed 3", "africa-2006 (3)"),
        ("`africa-2006`, seed 4", "africa-2006 (4)"),
        ("`africa-2006`, seed 5", "africa-2006 (5)"),
        ("`cctld-2026`", "cctld-2026 (1)"),
        ("every site and branch alike", "homogeneous (1)"),
    ];
    for (name, graph) in graphs {
        let played = &measured["grounds"][graph]["played"];
        let shipped = played["shipped"].as_array().unwrap();
        let shipped = shipped.iter().find(|entry| entry["wanted"].as_f64() == Some(0.95)).unwrap();
        let [found, load, ratio] = ["coverage", "load", "ratio"].map(|figure| {
            with_interval(["value", "low", "high"].map(|key| shipped[figure][key].as_f64().unwrap()))
        });
        let trees = thousands(played["trees"].as_u64().unwrap());
        let rule_load = percent(shipped["rule_load"].as_f64().unwrap());
        let row = format!("| {name} | {trees} | {found} | {load} | {rule_load} | {ratio} |");
        assert!(GUIDE.contains(&row), "GUIDE.md does not have what was measured: {row}");
    }
}

/// `reports/resurvey/run` measures it.
#[test]
fn what_a_focus_finds_and_costs_is_as_it_was_measured() {
    for trial in results("resurvey").as_array().unwrap() {
        let [requests, hosts, new_hosts] = ["requests", "hosts", "born"]
            .map(|figure| with_interval([0, 1, 2].map(|end| trial["guide"][figure][end].as_f64().unwrap())));
        let list_share = percent(trial["hosts_of_old"].as_f64().unwrap());
        let world = trial["world"].as_str().unwrap();
        let changed =
            if trial["changed"] == "little" { "little changed" } else { "half of the pages changed" };
        let row = format!("| `{world}`, {changed} | {requests} | {hosts} | {new_hosts} | {list_share} |");
        assert!(GUIDE.contains(&row), "GUIDE.md does not have what was measured: {row}");
    }
}

/// `11.1 % (8.4–15.6 %)`
fn with_interval([value, low, high]: [f64; 3]) -> String {
    let low = percent(low);
    format!("{} ({}–{})", percent(value), low.trim_end_matches(" %"), percent(high))
}

fn results(report: &str) -> serde_json::Value {
    let text = fs::read_to_string(project().join("reports").join(report).join("results.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_is_not_run_is_in_the_documents_and_understood() {
    for (begin, why) in NOT_RUN {
        let all = [README, GUIDE].map(blocks).concat();
        let command = all.iter().flat_map(Block::commands).find(|command| command.starts_with(begin));
        let command = command.unwrap_or_else(|| panic!("no command begins with '{begin}', which {why}"));
        if command.starts_with("ccsurvey ") {
            Cli::try_parse_from(command.split_whitespace()).unwrap();
        }
    }
}

#[test]
fn every_flag_that_is_named_exists() {
    let mut known_flags: BTreeSet<String> =
        ["--help", "--features", "--no-sandbox", "--ignore-certificate-errors"].map(str::to_owned).into();
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        known_flags.extend(
            command.get_arguments().filter_map(|flag| flag.get_long()).map(|long| format!("--{long}")),
        );
        commands.extend(command.get_subcommands().cloned());
    }
    let named = [README, GUIDE].iter().flat_map(|document| in_code(document));
    for word in named.filter(|word| word.starts_with("--")) {
        let is_known = match word.strip_suffix('…') {
            Some(begin) => known_flags.iter().any(|flag| flag.starts_with(begin)),
            None => known_flags.contains(&word),
        };
        assert!(is_known, "no command has the flag {word}");
    }
}

#[test]
fn every_link_leads_to_a_file_or_a_heading() {
    for (document, text) in [("README.md", README), ("GUIDE.md", GUIDE)] {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let (file, heading) = target.split_once('#').map_or((target, None), |(file, h)| (file, Some(h)));
            let file = if file.is_empty() { document } else { file };
            let path = project().join(file);
            assert!(path.exists(), "{document}: {target}");
            if let Some(heading) = heading {
                let found = fs::read_to_string(&path).unwrap().lines().any(|line| anchor(line) == heading);
                assert!(found, "{document}: {target}");
            }
        }
    }
}

#[test]
fn every_file_of_the_project_that_is_named_exists() {
    for word in [README, GUIDE].iter().flat_map(|document| in_code(document)) {
        let is_ours =
            ["src/", "tests/", "reports/", "data/", "notebooks/"].iter().any(|room| word.starts_with(room));
        assert!(!is_ours || project().join(&word).exists(), "{word}");
    }
}

#[test]
fn the_citation_is_of_this_version() {
    let citation = fs::read_to_string(project().join("CITATION.cff")).unwrap();
    assert!(citation.contains(&format!("\nversion: {}\n", env!("CARGO_PKG_VERSION"))), "{citation}");
}

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The words in the `code` of running text.
fn in_code(document: &str) -> Vec<String> {
    let prose: String = document.split("```").step_by(2).collect();
    prose.split('`').skip(1).step_by(2).flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// The anchor that GitHub gives a heading; empty for other lines.
fn anchor(line: &str) -> String {
    let Some(heading) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
    else {
        return String::new();
    };
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Compares rows of the demo's table, except for the busy time of its servers, which depends on the machine.
fn same_but_busy(printed: &str, shown: &str) -> bool {
    let cells = |row: &str| -> Vec<String> {
        let cells = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned);
        cells.enumerate().filter(|(column, _)| *column != 4).map(|(_, cell)| cell).collect()
    };
    cells(printed) == cells(shown)
}

/// A fenced block of a document.
#[derive(Clone, Debug)]
struct Block {
    language: String,
    file: Option<String>,
    text: String,
}

impl Block {
    /// The commands of a block of the shell, each on one line.
    fn commands(&self) -> Vec<String> {
        if self.language != "sh" {
            return Vec::new();
        }
        self.text.replace("\\\n", " ").lines().map(str::to_owned).collect()
    }
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.trim_start().strip_prefix("```") else { continue };
        let indent = line.len() - line.trim_start().len();
        let mut words = info.split_whitespace().map(str::to_owned);
        let language = words.next().unwrap_or_else(|| panic!("a block without a language after: {line}"));
        let inside = lines.by_ref().take_while(|line| line.trim_start() != "```");
        let text = inside.map(|line| format!("{}\n", line.get(indent..).unwrap_or_default())).collect();
        blocks.push(Block { language, file: words.next(), text });
    }
    blocks
}

/// The folder in which the commands of a document are run.
struct Workspace {
    document: &'static str,
    folder: tempfile::TempDir,
    country: Space,
    /// Processes that serve worlds. The last one replaces the addresses in the documents.
    served: Vec<Child>,
    dns: String,
    gateway: String,
}

impl Workspace {
    /// A folder with the files that the document shows, and with those that it assumes.
    fn with(document: &'static str) -> Self {
        let workspace = Self {
            document,
            folder: tempfile::tempdir().unwrap(),
            country: Space::serve("a_small_country"),
            served: Vec::new(),
            dns: DNS.to_owned(),
            gateway: GATEWAY.to_owned(),
        };
        let write = |name: &str, text: &str| fs::write(workspace.path(name), text).unwrap();
        write("start.csv", "url\n");
        write("opt-out.txt", "complained.ke\n");
        for Block { file, text, .. } in blocks(document) {
            file.iter().for_each(|file| write(file, &text));
        }
        let start = fs::read_to_string(workspace.path("start.csv")).unwrap();
        write("start.csv", &(start + &workspace.country.world.start_urls().join("\n")));
        write("more.csv", "url\nhttp://www.one-more.ke/\n");
        let first = workspace.country.world.start_urls().first().cloned().unwrap_or_default();
        write("schools.csv", &format!("id,name,website\n1,School,{first}\n"));
        write("members.txt", &format!("{first}\nhttp://www.abroad.tz/\n"));
        for database in ["GeoLite2-Country.mmdb", "GeoLite2-ASN.mmdb"] {
            fs::copy(project().join("data/demo-geo.mmdb"), workspace.path(database)).unwrap();
        }
        fs::create_dir(workspace.path("bin")).unwrap();
        for (name, script) in [("ccsurvey", PROGRAM), ("cargo", CARGO), ("chromium", CHROMIUM)] {
            let path = workspace.path("bin").join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        workspace
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs every block and returns the output.
    fn run_all(mut self) -> String {
        let mut printed = String::new();
        for block in blocks(self.document) {
            match block.language.as_str() {
                "sh" => {
                    for command in block.commands() {
                        printed += &self.run(&command);
                    }
                }
                "python" => printed += &self.run_python(&block.text),
                "sql" => {
                    printed +=
                        &self.run_python(&format!("import duckdb\nprint(duckdb.sql('''{}'''))", block.text));
                }
                _ => {}
            }
        }
        printed
    }

    fn run(&mut self, command: &str) -> String {
        if NOT_RUN.iter().any(|(begin, _)| command.starts_with(begin)) {
            return String::new();
        }
        let command = command.replace(DNS, &self.dns).replace(GATEWAY, &self.gateway);
        if command.starts_with("ccsurvey space serve ") {
            self.serve(&command);
            return String::new();
        }
        if command.starts_with("chromium ") && installed("chromium").is_none() {
            crate::common::skipped::skip("a command of GUIDE.md", "chromium is not installed");
            return String::new();
        }
        let output = self.shell(&command).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\nended with {}:\n{printed}{errors}", output.status);
        printed
    }

    /// Serves a world until the document ends, and uses its addresses in place of those in the document.
    fn serve(&mut self, command: &str) {
        let mut child = self.shell(&format!("exec {command}")).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let survey = lines.find(|line| line.trim_start().starts_with("ccsurvey survey ")).unwrap();
        self.served.push(child);
        let flag_value =
            |flag| survey.split_whitespace().skip_while(|word| *word != flag).nth(1).unwrap().to_owned();
        (self.dns, self.gateway) = (flag_value("--dns"), flag_value("--gateway"));
        // Its further output must be read.
        std::thread::spawn(move || lines.count());
    }

    fn run_python(&self, script: &str) -> String {
        let python = interpreter();
        assert!(python.exists(), "{} is missing: run tests/setup first", python.display());
        let output =
            Command::new(python).args(["-B", "-c", script]).current_dir(self.folder.path()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn shell(&self, command: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = Command::new("bash");
        shell
            .args(["-euo", "pipefail", "-c", command])
            .current_dir(self.folder.path())
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("PROGRAM", env!("CARGO_BIN_EXE_ccsurvey"))
            .env("CHROMIUM", installed("chromium").unwrap_or_default())
            .env("COUNTRY_DNS", self.country.dns())
            .env("COUNTRY_GATEWAY", self.country.gateway());
        shell
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        for child in &mut self.served {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn installed(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}
