//! Test cases that other implementations publish, and the differences of this room.
//!
//! The cases are facts, noted in a format of our own in `tests/data/robots_cases.txt`, each with its source.
//! A difference is written next to its case with the argument for it, and is asserted as a difference.

use std::time::Duration;

use super::Rules;
use crate::address::WebUrl;

const CASES: &str = include_str!("../../../tests/data/robots_cases.txt");

/// The state of reading the table: the source, the file and the crawler of the next lines.
#[derive(Default)]
struct Context {
    source: String,
    body: Vec<u8>,
    body_is_whole: bool,
    token: String,
    agreeing: usize,
    differing: usize,
}

impl Context {
    fn read(&mut self, line: &str) {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        if mark != "|" {
            self.body_is_whole = true;
        }
        match mark {
            "" | "//" => {}
            "from" => rest.clone_into(&mut self.source),
            "|" => self.add_to_body(rest),
            "as" => rest.clone_into(&mut self.token),
            "+" => self.agreeing += self.check(rest, true),
            "-" => self.agreeing += self.check(rest, false),
            "+!" => self.differing += self.check(argued(line, rest), false),
            "-!" => self.differing += self.check(argued(line, rest), true),
            "delay" => self.agreeing += self.check_delay(rest),
            "delay!" => {
                let (published, ours) = argued(line, rest).split_once(" ours ").expect(line);
                assert_ne!(published, ours);
                self.differing += self.check_delay(ours);
            }
            _ => panic!("no such line: {line}"),
        }
    }

    fn add_to_body(&mut self, line: &str) {
        if std::mem::take(&mut self.body_is_whole) {
            self.body.clear();
        }
        let mut rest = line;
        while let Some((before, escape)) = rest.split_once("\\x") {
            self.body.extend_from_slice(before.as_bytes());
            let (digits, after) = escape.split_at(2);
            self.body.push(u8::from_str_radix(digits, 16).expect(line));
            rest = after;
        }
        self.body.extend_from_slice(rest.as_bytes());
        self.body.push(b'\n');
    }

    fn check(&self, urls: &str, expected: bool) -> usize {
        let rules = Rules::parse(&self.body, &self.token);
        let body = String::from_utf8_lossy(&self.body);
        for url in urls.split(' ') {
            let whole = if url.starts_with('/') { format!("http://foo.bar{url}") } else { url.to_owned() };
            let found = rules.allows(&WebUrl::parse(&whole).expect(url));
            assert_eq!(found, expected, "{}: {} and {url}:\n{body}", self.source, self.token);
        }
        urls.split(' ').count()
    }

    fn check_delay(&self, seconds: &str) -> usize {
        let expected = seconds.parse().ok().map(Duration::from_secs_f64);
        let found = Rules::parse(&self.body, &self.token).crawl_delay();
        assert_eq!(found, expected, "{}: {}", self.source, self.token);
        1
    }
}

/// A difference must give its reason.
fn argued<'a>(line: &str, rest: &'a str) -> &'a str {
    let (case, argument) = rest.split_once(" because ").expect(line);
    assert!(argument.len() > 20, "{line}");
    case
}

#[test]
fn published_cases_are_answered_as_published_or_differ_for_a_reason() {
    let mut context = Context::default();
    CASES.lines().for_each(|line| context.read(line));
    // The numbers are asserted so that a truncated table does not pass.
    assert_eq!((context.agreeing, context.differing), (594, 26));
}
