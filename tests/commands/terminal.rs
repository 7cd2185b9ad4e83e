//! The commands as a user sees them: help with correct examples, results on standard output, and a quiet end
//! when nothing reads the output any more.

use std::io::Read;
use std::process::{Command, Stdio};

use ccsurvey::cli::command::Cli;
use clap::{CommandFactory, Parser};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
}

fn printed(arguments: &[&str]) -> String {
    let output = program().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every command and subcommand, as the list of words that names it.
fn commands() -> Vec<Vec<String>> {
    fn below(command: &clap::Command, words: &[String], all: &mut Vec<Vec<String>>) {
        all.push(words.to_vec());
        // Commands that no user types are hidden.
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            below(inner, &[words, &[inner.get_name().to_owned()]].concat(), all);
        }
    }
    let mut all = Vec::new();
    below(&Cli::command(), &[], &mut all);
    all
}

fn help(command: &[String]) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    printed(&words)
}

/// The program's command lines in the examples of a help text, without pipes and redirections.
fn examples(help: &str) -> Vec<Vec<&str>> {
    let Some((_, examples)) = help.split_once("\nExamples:\n") else { return Vec::new() };
    examples
        .lines()
        .take_while(|line| line.starts_with("  ccsurvey "))
        .flat_map(|line| line.split('|'))
        .map(|call| call.split('>').next().unwrap_or(call).split_whitespace().collect::<Vec<_>>())
        .filter(|call| call.first() == Some(&"ccsurvey"))
        .collect()
}

#[test]
fn the_help_of_every_command_has_examples_that_it_accepts() {
    for command in commands() {
        let help = help(&command);
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{command:?}: {help}");
        for example in examples {
            if let Err(error) = Cli::try_parse_from(&example) {
                panic!("{example:?}: {error}");
            }
        }
        let is_shown = |example: &Vec<&str>| {
            example[1..].starts_with(&command.iter().map(String::as_str).collect::<Vec<_>>())
        };
        assert!(self::examples(&help).iter().any(is_shown), "{command:?}");
    }
}

#[test]
fn help_that_is_piped_has_no_colours() {
    assert!(commands().iter().all(|command| !help(command).contains('\u{1b}')));
}

#[test]
fn every_flag_of_a_survey_tells_its_default() {
    let command = Cli::command();
    let survey = command.find_subcommand("survey").unwrap();
    for flag in
        survey.get_arguments().filter(|flag| flag.get_action().takes_values() && !flag.is_required_set())
    {
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        let has_default =
            help.contains("[default: ") || help.contains("Required") || !flag.get_default_values().is_empty();
        assert!(has_default, "{}: {help}", flag.get_id());
    }
}

#[test]
fn the_version_is_told() {
    assert_eq!(printed(&["--version"]), format!("ccsurvey {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_a_command_the_help_is_shown_as_wrong_usage() {
    let output = program().output().unwrap();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: ccsurvey"));
}

#[test]
fn the_ground_truth_of_a_world_is_a_table_or_json() {
    let sites = printed(&["space", "truth", "demo", "--depth", "0"]);
    assert!(sites.starts_with("site,start_url,parent_site,generation,outcome,"), "{sites}");
    let all: serde_json::Value =
        serde_json::from_str(&printed(&["space", "truth", "demo", "--depth", "0", "--json"])).unwrap();
    assert_eq!(all["sites"].as_array().unwrap().len(), sites.lines().count() - 1);
    assert!(all["levels"].is_array() && all["links"].is_array());
}

#[test]
fn a_world_is_described_in_words_and_as_json() {
    assert!(printed(&["space", "describe", "demo"]).contains("sites.count"));
    let world: serde_json::Value =
        serde_json::from_str(&printed(&["space", "describe", "demo", "--json"])).unwrap();
    assert_eq!(world["keys"][0]["key"], "sites.count");
}

#[test]
fn the_start_list_of_a_world_is_csv() {
    let list = printed(&["space", "starts", "demo"]);
    assert!(list.starts_with("url\nhttp://"), "{list}");
}

#[test]
fn files_are_written_where_they_are_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("geo.mmdb");
    assert_eq!(printed(&["space", "geo", "-o", file.to_str().unwrap()]), "");
    assert!(maxminddb::Reader::from_source(std::fs::read(file).unwrap()).unwrap().verify().is_ok());
    assert!(printed(&["space", "ca"]).starts_with("-----BEGIN CERTIFICATE-----\n"));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    // More than a pipe holds, so that the program is still writing when the pipe is closed.
    let mut child = program()
        .args(["space", "truth", "demo", "--depth", "3", "--table", "links"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
