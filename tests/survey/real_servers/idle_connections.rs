use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::common::python::interpreter;

/// `reports/low-load/idle-connections` judges by the tables and by the servers' logs; here with five of its
/// cases, and few sites.
#[test]
fn no_page_is_lost_where_servers_close_idle_connections_as_the_pause_ends() {
    let run = python(&[&script(), "--quick"]);
    let (printed, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "pages were lost, or a rule was broken:\n{printed}{errors}");
    print!("{printed}");
}

/// Judges requests of a log, each with path, status, start and end in seconds; the pause is 2 s, the
/// Crawl-delay 5 s.
const JUDGE: &str = r#"
import importlib.machinery, importlib.util, json, sys
loader = importlib.machinery.SourceFileLoader("idle", sys.argv[1])
idle = importlib.util.module_from_spec(importlib.util.spec_from_loader("idle", loader))
loader.exec_module(idle)
requests = [idle.Request("a.ke", *request) for request in json.loads(sys.argv[2])]
print(json.dumps(idle.judge(requests, ["a.ke"], 2, 5)["broken"]))
"#;

#[track_caller]
fn assert_judged(requests: Value, broken: Value) {
    let run = python(&["-c", JUDGE, &script(), &requests.to_string()]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let judged: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(judged, broken, "{requests}");
}

#[test]
fn the_judge_of_the_logs_finds_what_is_broken() {
    let robots = json!(["/robots.txt", 200, 0.0, 0.1]);
    let front = json!(["/", 200, 5.1, 5.2]);
    assert_judged(json!([robots, front]), json!({}));
    // A request that the server dropped is sent again, after a pause.
    assert_judged(json!([robots, ["/", 0, 5.1, 5.2], ["/", 200, 10.2, 10.3]]), json!({}));
    assert_judged(json!([robots, front, ["/", 200, 10.2, 10.3]]), json!({ "answered more than once": 1 }));
    assert_judged(
        json!([robots, ["/", 0, 5.1, 5.2], ["/", 200, 7.2, 7.3]]),
        json!({ "pauses too short": 1 }),
    );
    assert_judged(
        json!([robots, ["/", 200, 5.1, 5.9], ["/x", 200, 5.5, 5.6]]),
        json!({ "requests at once": 1 }),
    );
    assert_judged(json!([front]), json!({ "robots.txt not first": 1 }));
}

fn script() -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/low-load/idle-connections");
    script.to_string_lossy().into_owned()
}

fn python(arguments: &[&str]) -> Output {
    let mut command = Command::new(interpreter());
    command.arg("-B").args(arguments).env("CCSURVEY", env!("CARGO_BIN_EXE_ccsurvey"));
    command.output().unwrap_or_else(|error| panic!("cannot run Python ({error}): run tests/setup first"))
}
