//! How deep html5gum's states call one another. A state that calls the next one directly adds to the stack
//! until the chain returns to the tokenizer's loop, so `src/core/page/tokenize/shallow.rs` must cut each
//! cycle among these calls. A new release of html5gum that adds another cycle fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The states that each state calls directly, by name.
type Calls = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_only_cycle_of_direct_calls_runs_through_values_in_double_quotes() {
    let source = std::fs::read_to_string(html5gum().join("src/machine.rs")).unwrap();
    let calls = direct_calls(&source);
    assert!(calls.len() > 70, "the states of WHATWG HTML: {}", calls.len());
    let in_cycles: Vec<_> = calls.keys().filter(|state| reaches(&calls, state, state)).collect();
    assert_eq!(
        in_cycles,
        [
            "AfterAttributeValueQuoted",
            "AttributeName",
            "AttributeValueDoubleQuoted",
            "BeforeAttributeName",
            "BeforeAttributeValue",
        ]
    );
    // Without the state that `Shallow` makes return to the loop, no cycle is left.
    let mut cut = calls;
    cut.remove("AfterAttributeValueQuoted");
    assert!(cut.keys().all(|state| !reaches(&cut, state, state)));
}

/// Where cargo keeps the source of the html5gum that this package is built with.
fn html5gum() -> PathBuf {
    let lock: toml::Table = include_str!("../../Cargo.lock").parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"].as_str() == Some("html5gum")).unwrap();
    let folder = format!("html5gum-{}", package["version"].as_str().unwrap());
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cargo"));
    let registries = std::fs::read_dir(home.join("registry/src")).unwrap();
    let mut sources = registries.map(|registry| registry.unwrap().path().join(&folder));
    sources.find(|source| source.is_dir()).unwrap()
}

/// A state calls another if it expands `reconsume_in_inline!`, or calls `inline_next_state` on its result.
fn direct_calls(machine: &str) -> Calls {
    let mut calls = Calls::new();
    for state in machine.split("define_state!(").skip(1) {
        let Some((name, body)) = state.split_once(", slf") else { continue };
        let body: String = body.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let expected_calls =
            body.matches("inline_next_state").count() + body.matches("reconsume_in_inline!").count();
        let called: Vec<_> = ["switch_to!(", "reconsume_in!(", "reconsume_in_inline!("]
            .iter()
            .flat_map(|invocation| body.split(*invocation).skip(1).map(move |rest| (*invocation, rest)))
            .filter_map(|(invocation, rest)| called_state(invocation, rest))
            .collect();
        assert_eq!(called.len(), expected_calls, "each direct call in {name} is understood");
        calls.insert(name.to_owned(), called.into_iter().collect());
    }
    calls
}

/// The last argument of an invocation, if the state that it names is called directly.
fn called_state(invocation: &str, rest: &str) -> Option<String> {
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    let is_direct = invocation == "reconsume_in_inline!("
        || rest[end + 1..].trim_start_matches('?').trim_start().starts_with(".inline_next_state");
    let state = rest[..end].rsplit(',').next()?.trim();
    is_direct.then(|| state.to_owned())
}

fn reaches(calls: &Calls, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut pending = vec![from];
    while let Some(state) = pending.pop() {
        for next in calls.get(state).into_iter().flatten() {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                pending.push(next);
            }
        }
    }
    false
}
