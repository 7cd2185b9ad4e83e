//! The judge of `reports/low-load/politeness`: what the log of a server shows, and what it cannot show.

use std::process::Command;

use serde_json::Value;

/// Loads the script and judges rows of one server. Each row has arrival, end, path and status, times in
/// milliseconds, and one optional value: 1 if the request was for the server's HTTPS door, which has no
/// robots.txt; "left" if the client hung up before the end; or another address of the host. Each kill is a
/// pair of times: the survey was killed at the first and dead at the second.
const JUDGE: &str = r#"
import importlib.machinery, importlib.util, json, sys
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("politeness", "reports/low-load/politeness")
script = importlib.util.module_from_spec(importlib.util.spec_from_loader("politeness", loader))
loader.exec_module(script)
rows = [{"address": door[0] if "41.90.0.2" in door else "41.90.0.1", "host": "a.ke", "path": path, "status": status,
         "sent_bytes": "1", "received_bytes": "1",
         "arrival_us": str(arrival * 1000), "end_us": str(end * 1000), "is_https": str(door == [1]).lower(),
         "client_left": str(door == ["left"]).lower()}
        for arrival, end, path, status, *door in json.loads(sys.argv[1])]
kills = [(killed * 1000, dead * 1000) for killed, dead in json.loads(sys.argv[2])]
class Rules:
    delay = 0.1
    def allow(self, path):
        return not path.startswith("/private")
told = script.judge(rows, script.SMALL, [], script.FACTOR, {("a.ke", False): Rules()}, 0, kills)
print(json.dumps([told["broken"], told["unsure"]]))
"#;

#[track_caller]
fn assert_judged(rows: &str, kills: &str, broken: &str, unsure: u64) {
    let judged = Command::new("python3")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["-c", JUDGE, rows, kills])
        .output()
        .unwrap();
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    let [found, doubts]: [Value; 2] = serde_json::from_slice(&judged.stdout).unwrap();
    assert_eq!((found.to_string().as_str(), doubts["pauses"].as_u64()), (broken, Some(unsure)), "{rows}");
}

#[test]
fn a_pause_that_is_too_short_after_a_whole_answer_is_broken() {
    assert_judged(r#"[[0, 100, "/", "200"], [600, 700, "/x", "200"]]"#, "[]", "{}", 0);
    let short = r#"{"pauses shorter than the rule":1}"#;
    assert_judged(r#"[[0, 100, "/", "200"], [597, 700, "/x", "200"]]"#, "[]", short, 0);
    let hasty = r#"{"pauses shorter than the Crawl-delay":1}"#;
    assert_judged(r#"[[0, 10, "/", "200"], [108, 120, "/x", "200"]]"#, "[]", hasty, 0);
}

#[test]
fn what_a_server_may_have_noted_late_is_unsure() {
    assert_judged(r#"[[0, 100, "/", "200"], [599, 700, "/x", "200"]]"#, "[]", "{}", 1);
    // A hundredth of a short pause is less than the 2 ms that are missing.
    let hasty = r#"{"pauses shorter than the Crawl-delay":1}"#;
    assert_judged(r#"[[0, 2, "/", "200"], [100, 120, "/x", "200"]]"#, "[]", hasty, 0);
}

#[test]
fn what_robots_txt_disallows_and_was_requested_is_broken() {
    let rows = r#"[[0, 100, "/private/x", "200"], [600, 700, "/x", "200"]]"#;
    assert_judged(rows, "[]", r#"{"requests that robots.txt disallows":1}"#, 0);
}

#[test]
fn the_robots_txt_of_one_door_says_nothing_of_the_other() {
    let rows = r#"[[0, 100, "/private/x", "200", 1], [600, 700, "/x", "200", 1]]"#;
    assert_judged(rows, "[]", "{}", 0);
}

#[test]
fn where_the_survey_broke_off_a_pause_may_be_unsure() {
    // The survey gave up after three seconds and paused for six; the server saw that 20 ms late.
    assert_judged(r#"[[0, 3020, "/", ""], [9000, 9010, "/x", "200"]]"#, "[]", "{}", 1);
    // The response came when the survey no longer waited for it.
    assert_judged(r#"[[0, 3500, "/", "200"], [9000, 9010, "/x", "200"]]"#, "[]", "{}", 1);
    // The survey hung up in the middle of an endless response.
    assert_judged(r#"[[0, 700, "/", "200", "left"], [3600, 3700, "/x", "200"]]"#, "[]", "{}", 1);
    // The next request arrived before the server knew that the survey had hung up.
    assert_judged(r#"[[0, 6050, "/", "200", "left"], [6045, 6050, "/x", "200"]]"#, "[]", "{}", 2);
    // The survey died, and its server responded all the same.
    let rows = r#"[[0, 2000, "/", "200"], [7000, 7010, "/x", "200"]]"#;
    assert_judged(rows, "[[400, 410]]", "{}", 1);
    let short = r#"{"pauses shorter than the rule":1}"#;
    assert_judged(rows, "[[2400, 2410]]", short, 0);
    let overlap = r#"{"overlaps at an address":1,"overlaps in a site":1}"#;
    assert_judged(r#"[[0, 1050, "/", "200"], [1045, 1050, "/x", "200"]]"#, "[]", overlap, 0);
    // While the survey still waited for a response, it sent a request to another server of the site, and to
    // the same.
    let overlap = r#"{"overlaps in a site":1}"#;
    assert_judged(r#"[[0, 3010, "/", ""], [200, 210, "/x", "200", "41.90.0.2"]]"#, "[]", overlap, 0);
    let overlap = r#"{"overlaps at an address":1,"overlaps in a site":1}"#;
    assert_judged(r#"[[0, 3010, "/", "200"], [200, 210, "/x", "200"]]"#, "[]", overlap, 0);
    assert_judged(r#"[[0, 2000, "/", "200"], [200, 210, "/x", "200"]]"#, "[[1500, 1510]]", overlap, 0);
    // An end that was seen late counts for the next request only.
    let rows = r#"[[0, 9000, "/", "200", "left"], [6500, 6600, "/x", "200"], [7200, 7300, "/y", "200"]]"#;
    assert_judged(rows, "[]", "{}", 2);
    // Too short even when measured from the beginning.
    assert_judged(r#"[[0, 3020, "/", ""], [5900, 5910, "/x", "200"]]"#, "[]", short, 0);
}

#[test]
fn a_robots_txt_waits_for_no_crawl_delay_and_neither_does_a_handshake_before_it() {
    for path in ["/robots.txt", ""] {
        let rows = format!(r#"[[0, 10, "/", "200"], [60, 70, "{path}", ""]]"#);
        assert_judged(&rows, "[]", "{}", 0);
    }
}
