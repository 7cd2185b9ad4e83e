//! Every hostile and broken server of the virtual Web in one survey: it ends, uses little memory, records an
//! outcome for each, and finds the sound sites beside them as if they were alone.
#![cfg(target_os = "linux")] // Linux shows the peak memory of a process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use ccsurvey::address::{OptOuts, WebUrl, special_range};
use ccsurvey::exchange::{Class, Depth, Failure, Purpose, Request};
use ccsurvey::fetch::{Clock, Fetcher, Settings};
use ccsurvey::records::{ExchangeRow, LevelRow};
use ccsurvey::space::{Access, FeedBack, Truth, Web, ca_certificate_pem};

use crate::common::truths::assert_matches_truth;
use crate::common::{Space, TimelessTables, timeless_tables};

const WORLD: &str = include_str!("../../data/worlds/hostile.toml");

/// Memory that issue 5 allows for a survey of all cases.
const MAX_MEMORY_KIB: u64 = 300 * 1024;

/// Servers that must not be contacted, by host and by address.
const OPT_OUT: &str = "opted-out.ke\nleft-alone.opted-out-part.ke\n41.139.255.0/24\n";

/// Time-outs that are short for responses that never come and long for those that do, even on a busy machine.
/// All other settings are the defaults. A circle of aliases takes sixteen DNS queries one after another
/// within one DNS time-out.
const WAITS: &str = "dns-timeout = '40s'\nconnect-timeout = '10s'\ntls-timeout = '10s'\n\
                     first-byte-timeout = '20s'\nidle-timeout = '10s'\nexchange-timeout = '50s'\n";

/// The case, the outcome of its site, the number of pages read, and the failures of its exchanges; those of
/// robots.txt have that word as a prefix.
type Row = (&'static str, &'static str, u64, &'static [&'static str]);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("endless-body", "complete", 2, &["body_too_large"]),
    ("one-byte-a-second", "complete", 2, &["too_slow"]),
    ("header-byte-a-second", "no_page", 0, &["first_byte_timeout"]),
    ("stalled-body", "complete", 2, &["idle_timeout"]),
    ("stalled-header", "no_page", 0, &["first_byte_timeout"]),
    ("header-of-1-mb", "no_page", 0, &["header_too_large"]),
    ("endless-header", "no_page", 0, &["header_too_large"]),
    ("thousands-of-headers", "complete", 2, &["header_too_large"]),
    ("length-too-long", "complete", 2, &["body_truncated"]),
    ("length-too-short", "complete", 2, &[]),
    ("two-lengths", "no_page", 0, &["bad_http", "odd_http"]),
    ("absurd-length", "complete", 2, &["odd_http"]),
    ("negative-length", "complete", 2, &["odd_http"]),
    ("length-and-chunks", "complete", 2, &[]),
    ("broken-chunks", "complete", 2, &["body_truncated"]),
    ("unended-chunks", "complete", 2, &["body_truncated"]),
    ("absurd-chunk", "complete", 2, &["body_truncated"]),
    ("endless-chunk-size", "complete", 2, &["idle_timeout"]),
    ("endless-chunk-extension", "complete", 2, &["body_truncated"]),
    ("endless-trailer", "complete", 2, &["body_truncated"]),
    ("one-byte-chunks", "complete", 2, &[]),
    ("http-0-9", "complete", 2, &[]),
    ("http-1-0-without-length", "complete", 2, &[]),
    ("http-3-in-plain-text", "no_page", 0, &["odd_http"]),
    ("bodies-for-head", "complete", 2, &[]),
    ("continue-flood", "no_page", 0, &["first_byte_timeout"]),
    ("early-hints-flood", "no_page", 0, &["first_byte_timeout"]),
    ("some-continues", "complete", 2, &[]),
    ("switching-protocols", "no_page", 0, &[]),
    ("not-modified-unasked", "no_page", 0, &[]),
    ("partial-unasked", "complete", 2, &[]),
    ("front-page-401", "no_page", 0, &[]),
    ("status-999", "no_page", 0, &[]),
    ("status-of-five-digits", "no_page", 0, &["bad_http", "odd_http"]),
    ("no-answer", "no_page", 0, &["idle_closed", "reset"]),
    ("another-protocol", "no_page", 0, &["bad_http", "odd_http"]),
    ("zeros", "no_page", 0, &["bad_http", "odd_http"]),
    ("bare-newlines", "complete", 2, &[]),
    ("nul-in-field", "no_page", 0, &["bad_http", "odd_http"]),
    ("broken-fields", "complete", 2, &[]),
    ("hundreds-of-headers", "complete", 2, &[]),
    ("length-with-a-unit", "complete", 2, &["odd_http"]),
    ("empty-length", "complete", 2, &["robots odd_http"]),
    ("http-1-0-with-chunks", "complete", 2, &["robots odd_http"]),
    ("bare-newlines-in-chunks", "complete", 2, &["odd_http"]),
    ("spaces-in-chunk-sizes", "complete", 2, &["odd_http"]),
    ("gzip-on-its-way", "complete", 2, &[]),
    ("unknown-transfer-coding", "no_page", 0, &["body_encoding"]),
    ("two-spaces-in-status", "complete", 2, &["odd_http"]),
    ("tabs-in-status", "complete", 2, &[]),
    ("http-1-2", "complete", 2, &["odd_http"]),
    ("http-2-in-plain-text", "complete", 2, &[]),
    ("http-in-lower-case", "complete", 2, &[]),
    ("control-byte-in-reason", "complete", 2, &["odd_http"]),
    ("status-without-space", "complete", 2, &["odd_http"]),
    ("bare-return-in-field", "complete", 2, &["odd_http"]),
    ("odd-redirect", "complete", 1, &["odd_http"]),
    ("two-answers", "complete", 2, &[]),
    ("reset-in-handshake", "complete", 2, &["robots reset"]),
    ("reset-before-answer", "no_page", 0, &["idle_closed", "reset"]),
    ("reset-in-header", "no_page", 0, &["idle_closed", "reset"]),
    ("reset-in-body", "complete", 2, &["body_truncated"]),
    ("reset-in-chunk", "complete", 2, &["body_truncated"]),
    ("reset-between-requests", "complete", 2, &["idle_closed"]),
    ("close-under-every-second-request", "complete", 2, &["idle_closed"]),
    ("keep-alive-not-kept", "complete", 2, &["idle_closed"]),
    ("close-without-a-word", "complete", 2, &[]),
    ("close-under-a-request-then-for-good", "no_page", 0, &["idle_closed", "reset"]),
    ("reset-always", "unreachable", 0, &["robots reset"]),
    ("reset-by-http", "complete", 2, &["robots reset"]),
    ("gzip-bomb", "complete", 2, &["body_too_large"]),
    ("gzip-in-gzip-bomb", "complete", 2, &["body_too_large"]),
    ("deflate-bomb", "complete", 2, &["body_too_large"]),
    ("brotli-bomb", "complete", 2, &["body_too_large"]),
    ("zstd-bomb", "complete", 2, &["body_too_large"]),
    ("zstd-window", "no_page", 0, &["body_encoding"]),
    ("coding-that-is-not", "no_page", 0, &["body_encoding"]),
    ("unsaid-coding", "complete", 1, &[]),
    ("unknown-coding", "complete", 1, &[]),
    ("coding-none", "complete", 2, &[]),
    ("coding-utf-8", "complete", 2, &[]),
    ("coding-and-a-word", "complete", 2, &[]),
    ("compress", "no_page", 0, &["body_encoding"]),
    ("dictionary-coding", "no_page", 0, &["body_encoding"]),
    ("gzip-in-members", "complete", 2, &[]),
    ("many-codings", "no_page", 0, &["body_encoding"]),
    ("truncated-gzip", "complete", 2, &["body_encoding"]),
    ("gzip-and-more", "complete", 2, &[]),
    ("endless-gzip", "complete", 2, &["body_too_large"]),
    ("type-with-a-comma", "complete", 2, &[]),
    ("type-twice", "complete", 2, &[]),
    ("type-of-anything", "complete", 2, &[]),
    ("type-without-semicolon", "complete", 2, &[]),
    ("type-unknown", "complete", 2, &[]),
    ("type-missing", "complete", 2, &[]),
    ("type-missing-of-text", "no_page", 0, &[]),
    ("type-missing-without-end", "no_page", 0, &[]),
    ("html-as-text", "no_page", 0, &[]),
    ("xhtml-as-xml", "complete", 2, &[]),
    ("xhtml-of-phones", "complete", 2, &[]),
    ("feed-as-xml", "no_page", 0, &[]),
    ("mixed-charsets", "complete", 5, &[]),
    ("mixed-charsets-declared", "complete", 5, &[]),
    ("unended-shift", "complete", 1, &[]),
    ("utf-16-with-mark", "complete", 2, &[]),
    ("utf-16-declared", "complete", 2, &[]),
    ("utf-16-in-vain", "complete", 2, &[]),
    ("unknown-charset", "complete", 2, &[]),
    ("charset-of-10-kb", "complete", 2, &[]),
    ("utf-7", "complete", 1, &[]),
    ("no-text-at-all", "complete", 2, &[]),
    ("tls-expired", "complete", 2, &[]),
    ("tls-self-signed", "complete", 2, &[]),
    ("tls-wrong-name", "complete", 2, &[]),
    ("tls-version-1", "complete", 2, &[]),
    ("tls-critical-extension", "complete", 2, &[]),
    ("tls-broken-extension", "complete", 2, &[]),
    ("tls-trailing-bytes", "complete", 2, &[]),
    ("tls-1-0", "complete", 2, &["robots tls_too_old"]),
    ("tls-alert", "complete", 2, &["robots tls_too_old"]),
    ("tls-1-2-with-old-suites", "complete", 2, &["robots tls_too_old"]),
    ("tls-nothing-in-common", "complete", 2, &["robots tls_alert"]),
    ("tls-no-such-name", "complete", 2, &["robots tls_alert"]),
    ("tls-http-2-only", "complete", 2, &["robots tls_http2_only"]),
    ("tls-http-2-frames", "no_page", 0, &["robots bad_http", "robots tls_http2_only"]),
    ("tls-another-protocol", "no_page", 0, &["robots bad_http"]),
    ("tls-stalled", "complete", 2, &["robots tls_timeout"]),
    ("tls-byte-a-second", "complete", 2, &["robots tls_timeout"]),
    ("tls-closed", "complete", 2, &["robots tls_handshake"]),
    ("tls-plain-answer", "complete", 2, &["robots tls_handshake"]),
    ("tls-flood", "complete", 2, &["robots tls_handshake"]),
    ("tls-huge-certificate", "complete", 2, &["robots tls_handshake"]),
    ("redirect-to-itself", "no_page", 0, &[]),
    ("redirect-loop", "no_page", 0, &[]),
    ("redirects-without-end", "no_page", 0, &[]),
    ("redirect-chain", "complete", 1, &[]),
    ("redirect-between-schemes", "no_page", 0, &[]),
    ("redirects-round-all-doors", "no_page", 0, &[]),
    ("redirect-to-other-schemes", "complete", 1, &[]),
    ("redirect-to-private-address", "moved", 0, &[]),
    ("redirect-to-link-local", "moved", 0, &[]),
    ("redirect-to-disguised-loopback", "complete", 1, &[]),
    ("redirect-to-opted-out", "moved", 0, &[]),
    ("opted-out", "opt_out", 0, &[]),
    ("opted-out-part", "opt_out", 2, &[]),
    ("redirect-without-location", "no_page", 0, &[]),
    ("redirect-to-nonsense", "complete", 1, &[]),
    ("redirect-to-long-url", "no_page", 0, &[]),
    ("redirect-to-many-places", "complete", 1, &[]),
    ("robots-to-private-address", "no_page", 0, &["robots address_refused"]),
    ("robots-to-opted-out", "no_page", 0, &["robots opted_out"]),
    ("redirect-in-latin-1", "complete", 2, &[]),
    ("redirect-in-shift-jis", "complete", 2, &[]),
    ("redirect-in-utf-8", "complete", 2, &[]),
    ("header-refresh", "complete", 2, &[]),
    ("header-refresh-and-base", "complete", 2, &[]),
    ("redirect-and-refresh", "complete", 1, &[]),
    ("robots-to-other-scheme", "complete", 2, &[]),
    ("dns-private-address", "unreachable", 0, &["robots address_refused"]),
    ("dns-link-local", "unreachable", 0, &["robots address_refused"]),
    ("dns-loopback", "unreachable", 0, &["robots address_refused"]),
    ("dns-this-network", "unreachable", 0, &["robots address_refused"]),
    ("dns-broadcast", "unreachable", 0, &["robots address_refused"]),
    ("dns-mapped-address", "unreachable", 0, &["robots address_refused"]),
    ("dns-six-loopback", "unreachable", 0, &["robots address_refused"]),
    ("dns-private-and-public", "complete", 2, &[]),
    ("dns-rebinding", "complete", 2, &[]),
    ("dns-rebinding-back", "unreachable", 0, &["robots address_refused"]),
    ("dns-opted-out-address", "opt_out", 0, &["robots opted_out"]),
    ("cname-chain", "complete", 2, &[]),
    ("cname-without-end", "unreachable", 0, &["robots dns_no_address"]),
    ("cname-loop", "unreachable", 0, &["robots dns_no_address"]),
    ("cname-to-itself", "unreachable", 0, &["robots dns_no_address"]),
    ("cname-to-private-address", "unreachable", 0, &["robots address_refused"]),
    ("cname-to-opted-out", "opt_out", 0, &["robots opted_out"]),
    ("dns-silence", "unreachable", 0, &["robots dns_timeout"]),
    ("dns-failure", "unreachable", 0, &["robots dns_servfail"]),
    ("dns-without-address", "unreachable", 0, &["robots dns_no_address"]),
    ("dns-many-addresses", "complete", 2, &[]),
    ("undecoded-name", "complete", 5, &[]),
    ("undecoded-name-in-letters", "complete", 2, &[]),
    ("undecoded-long-name", "complete", 2, &[]),
    ("idn-host", "complete", 3, &[]),
    ("broken-idn-host", "complete", 4, &[]),
    ("mixed-case-host", "complete", 2, &[]),
    ("underscore-host", "complete", 3, &[]),
    ("odd-hosts", "complete", 3, &[]),
    ("ports", "complete", 3, &[]),
    ("dns-cut-within-record", "complete", 2, &[]),
    ("dns-cut-unsaid", "complete", 2, &[]),
    ("dns-broken-additional", "complete", 2, &[]),
    ("dns-short-address", "complete", 2, &[]),
    ("dns-foreign-class", "complete", 2, &[]),
    ("dns-v4-fails", "complete", 2, &[]),
    ("dns-v6-fails", "complete", 2, &[]),
    ("dns-v6-denied", "complete", 2, &[]),
    ("dns-v6-silent", "complete", 2, &[]),
    ("dns-refused-tersely", "unreachable", 0, &["robots dns_servfail"]),
    ("userinfo", "complete", 2, &[]),
    ("control-bytes", "complete", 4, &[]),
    ("nul-bytes", "complete", 5, &[]),
    ("request-in-a-link", "complete", 3, &[]),
    ("invalid-percent", "complete", 7, &[]),
    ("backslashes", "complete", 2, &[]),
    ("many-slashes", "complete", 6, &[]),
    ("carets-and-bars", "complete", 4, &[]),
    ("long-urls", "complete", 3, &["body_too_large"]),
    ("odd-schemes", "complete", 3, &[]),
    ("addresses-as-hosts", "complete", 2, &[]),
    ("robots-of-5-mb", "complete", 2, &["robots body_too_large"]),
    ("endless-robots", "complete", 2, &["robots body_too_large"]),
    ("robots-in-one-line", "complete", 2, &["robots body_too_large"]),
    ("robots-with-mark", "complete", 2, &[]),
    ("robots-in-utf-16", "complete", 3, &[]),
    ("robots-as-html", "complete", 3, &[]),
    ("robots-401", "complete", 3, &[]),
    ("robots-403", "complete", 3, &[]),
    ("robots-410", "complete", 3, &[]),
    ("robots-429", "no_page", 0, &[]),
    ("robots-500", "no_page", 0, &[]),
    ("robots-503", "no_page", 0, &[]),
    ("robots-time-out", "unreachable", 0, &["robots first_byte_timeout"]),
    ("robots-reset", "unreachable", 0, &["robots reset"]),
    ("robots-five-redirects", "complete", 2, &[]),
    ("robots-six-redirects", "complete", 3, &[]),
    ("robots-redirect-loop", "complete", 3, &[]),
    ("robots-broken-gzip", "no_page", 0, &["robots body_encoding"]),
    ("robots-truncated", "no_page", 0, &["robots body_truncated"]),
    ("robots-stalled", "no_page", 0, &["robots idle_timeout"]),
    ("robots-in-members", "complete", 2, &[]),
    ("robots-coding-utf-8", "complete", 2, &[]),
    ("robots-with-many-headers", "complete", 3, &[]),
    ("robots-without-http", "no_page", 0, &["robots bad_http"]),
    ("robots-of-nul", "complete", 3, &["robots body_too_large"]),
    ("robots-challenge", "no_page", 0, &[]),
    ("robots-interstitial", "no_page", 0, &[]),
    ("robots-captcha-202", "no_page", 0, &[]),
    ("robots-evil-patterns", "complete", 2, &[]),
    ("ban-403", "refused", 21, &[]),
    ("ban-by-challenge", "refused", 21, &[]),
    ("ban-406", "refused", 21, &[]),
    ("ban-by-interstitial", "refused", 21, &[]),
    ("ban-by-captcha-202", "refused", 21, &[]),
    ("ban-by-resets", "refused", 21, &["idle_closed", "reset"]),
    ("ban-by-closing", "refused", 21, &["idle_closed", "reset"]),
    ("ban-503", "refused", 21, &["given_up"]),
    ("ban-429", "refused", 21, &["given_up"]),
    ("ban-in-words", "refused", 21, &[]),
    ("ban-at-one-host", "refused", 71, &[]),
    ("ban-beside-one-refusal", "refused", 31, &[]),
    ("forbidden-folder", "complete", 31, &[]),
    ("forbidden-run", "complete", 41, &[]),
    ("members-only", "complete", 1, &[]),
    ("challenge-at-once", "no_page", 0, &[]),
    ("interstitial-at-once", "no_page", 0, &[]),
    ("page-about-a-challenge", "complete", 13, &[]),
    ("retry-after-everywhere", "complete", 3, &[]),
    ("https-closed-behind-redirect", "no_page", 0, &["robots tls_handshake"]),
    ("https-alert-behind-redirect", "no_page", 0, &["robots tls_alert"]),
    ("https-reset-behind-redirect", "no_page", 0, &["robots reset"]),
    ("robots-missing-host", "no_page", 0, &["robots dns_nxdomain"]),
    ("robots-forbidding-all", "robots", 0, &[]),
    ("hundred-thousand-links", "request_budget", 199, &["body_too_large"]),
    ("hundred-thousand-externals", "complete", 1, &["body_too_large"]),
    ("deep-nesting", "complete", 2, &[]),
    ("many-attributes", "complete", 2, &[]),
    ("unended-markup", "complete", 2, &[]),
    ("evil-base", "complete", 2, &[]),
    ("frames", "complete", 3, &[]),
    ("refresh-loop", "complete", 3, &[]),
    ("refresh-without-end", "depth", 9, &[]),
    ("calendar", "depth", 17, &[]),
    ("session-ids", "trap", 40, &[]),
    ("relative-paths", "trap", 5, &[]),
    ("facets", "trap", 42, &[]),
    ("soft-404", "trap", 31, &[]),
    ("wildcard-subdomains", "trap", 31, &[]),
    ("endless-scripts", "complete", 2, &[]),
    ("renamed-folders", "trap", 127, &[]),
    ("renamed-in-letters", "trap", 127, &[]),
    ("wide-and-deep", "trap", 100, &[]),
    ("links-in-svg", "complete", 3, &[]),
    ("style-in-svg", "complete", 4, &[]),
    ("unended-title-in-svg", "complete", 2, &[]),
    ("script-in-svg", "complete", 3, &[]),
    ("unended-svg", "complete", 2, &[]),
    ("html-in-svg", "complete", 2, &[]),
    ("font-in-svg", "complete", 3, &[]),
    ("text-in-math", "complete", 3, &[]),
    ("page-in-svg", "complete", 3, &[]),
    ("template-in-svg", "complete", 3, &[]),
    ("base-in-svg", "complete", 2, &[]),
    ("page-in-a-page", "complete", 3, &[]),
    ("pages-in-pages", "complete", 6, &[]),
    ("file-base", "complete", 2, &[]),
    ("refused-base", "complete", 2, &[]),
    ("script-base", "complete", 2, &[]),
    ("xhtml-with-prefix", "complete", 2, &[]),
    ("frames-in-a-body", "complete", 2, &[]),
    ("one-page-for-every-path", "trap", 31, &[]),
    ("path-info", "trap", 36, &[]),
    ("path-info-first", "trap", 35, &[]),
    ("ever-new-text", "trap", 31, &[]),
    ("ever-new-short-text", "trap", 31, &[]),
    ("links-without-protocol", "trap", 43, &[]),
    ("menu-without-itself", "trap", 110, &[]),
    ("queries-below-every-path", "trap", 33, &[]),
    ("relative-links-of-all-lengths", "trap", 58, &[]),
    ("redirects-below-every-path", "trap", 31, &[]),
    ("untranslated-languages", "complete", 125, &[]),
    ("empty-catalogue", "complete", 40, &[]),
    ("not-found-below-folders", "complete", 49, &[]),
    ("asp-net-sessions", "complete", 25, &[]),
    ("asp-net-sessions-in-links", "complete", 25, &[]),
    ("asp-net-cookie-check", "complete", 25, &[]),
    ("jsessionid-in-links", "complete", 25, &[]),
    ("jsessionid-taken-out", "complete", 25, &[]),
    ("php-sessions", "complete", 25, &[]),
];

/// External links of each case whose requests are counted: all of them must be found.
const SOUND_LINKS: usize = 12;

/// The result of the survey, and the requests that the servers saw.
struct Surveyed {
    exit: ExitStatus,
    peak_memory_kib: u64,
    tables: TimelessTables,
    truth: Truth,
    accesses: Vec<Access>,
    cases: Vec<String>,
    /// The maximum number of requests, for cases whose requests are counted.
    most_requests: Vec<(String, u64)>,
}

static SURVEYED: LazyLock<Surveyed> = LazyLock::new(survey);

fn survey() -> Surveyed {
    let space = Space::from_toml(WORLD);
    let cases: Vec<String> = space.world.hostile_cases().iter().map(|case| case.name.to_owned()).collect();
    let counted = space
        .world
        .hostile_cases()
        .iter()
        .filter_map(|case| Some((format!("{}.ke", case.name), case.most_requests?)));
    let most_requests = counted.collect();
    // Bombs are made at their first request, which takes longer than a survey waits for a name.
    for case in &cases {
        space.world.respond(false, &format!("{case}.ke"), "/");
    }
    let folder = tempfile::tempdir().unwrap();
    let (exit, peak_memory_kib) = run(&space, folder.path());
    let tables = timeless_tables(&folder.path().join("s"));
    let truth = space.truth(8, FeedBack::Link);
    Surveyed { exit, peak_memory_kib, tables, truth, accesses: space.accesses(), cases, most_requests }
}

/// Surveys the space with the program; returns its exit status and its peak memory.
fn run(space: &Space, folder: &Path) -> (ExitStatus, u64) {
    let write_file = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write_file("starts.csv", &space.world.start_urls().join("\n"));
    write_file("opt-out.txt", OPT_OUT);
    write_file("waits.toml", WAITS);
    write_file("ca.pem", ca_certificate_pem());
    let (dns, gateway) = (space.dns(), space.gateway());
    let arguments = format!(
        "survey s --cctld ke --contact https://survey.example/contact --start starts.csv --opt-out opt-out.txt \
         --config waits.toml --ca ca.pem --dns {dns} --gateway {gateway} --min-delay 0 --delay-factor 0 \
         --max-delay 20ms --harm none --rate none --max-requests 200"
    );
    let mut program = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", program.id());
    let (exit_sender, exit_receiver) = channel();
    thread::spawn(move || exit_sender.send(program.wait().unwrap()));
    let mut peak_memory_kib = 0;
    loop {
        peak_memory_kib = peak_memory_kib.max(peak_kib(&status).unwrap_or(0));
        match exit_receiver.recv_timeout(Duration::from_millis(20)) {
            Ok(exit) => return (exit, peak_memory_kib),
            Err(RecvTimeoutError::Timeout) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// The peak memory of a process so far.
fn peak_kib(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

fn is_hostile(site: &str) -> bool {
    SURVEYED.cases.iter().any(|case| site.strip_suffix(".ke") == Some(case.as_str()))
}

/// Failures of each site's exchanges; those of robots.txt are marked.
fn failures() -> BTreeMap<String, BTreeSet<String>> {
    let mut failures: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for exchange in &SURVEYED.tables.exchanges {
        let Some(failure) = &exchange.failure else { continue };
        let word = if exchange.purpose == "robots" { format!("robots {failure}") } else { failure.clone() };
        failures.entry(exchange.site.clone()).or_default().insert(word);
    }
    failures
}

/// A request was lost with a connection that its server had closed.
const IDLE_CLOSED: &str = "idle_closed";

#[test]
fn every_case_ends_as_its_row_says() {
    let failures = failures();
    let mut differences = Vec::new();
    // Whether a request meets a connection that is still kept depends on how soon it comes: on a busy machine
    // it may be too late.
    let (mut idle_closed_count, is_compared) = (0, |word: &&str| *word != IDLE_CLOSED);
    for (case, outcome, pages, expected) in ROWS {
        let site = format!("{case}.ke");
        let words: Vec<&str> = failures.get(&site).into_iter().flatten().map(String::as_str).collect();
        let (mut words, mut expected) = (words, expected.to_vec());
        if expected.contains(&IDLE_CLOSED) {
            idle_closed_count += usize::from(words.contains(&IDLE_CLOSED));
            expected.retain(is_compared);
            words.retain(is_compared);
        }
        let rows: Vec<_> = SURVEYED.tables.sites.iter().filter(|row| row.site == site).collect();
        let found: Vec<_> =
            rows.iter().map(|row| (row.outcome.as_str(), row.pages, words.as_slice())).collect();
        if found != [(*outcome, *pages, expected.as_slice())] {
            differences.push(format!("{case}: {found:?}, expected {:?}", (outcome, pages, expected)));
        }
    }
    assert!(idle_closed_count > 0, "no request met a connection that its server closed");
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn traps_are_named_by_their_patterns() {
    for (case, pattern) in [
        ("session-ids", "session-ids.ke/session/*/page#"),
        ("relative-paths", "relative-paths.ke/(news/archive)/**"),
        ("facets", "facets.ke/**"),
        ("soft-404", "soft-404.ke/gone/*"),
        ("wildcard-subdomains", "*.wildcard-subdomains.ke/"),
        ("renamed-folders", "renamed-folders.ke/s/**"),
        ("renamed-in-letters", "renamed-in-letters.ke/s/**"),
        ("wide-and-deep", "wide-and-deep.ke/*"),
        ("one-page-for-every-path", "one-page-for-every-path.ke/**"),
        ("path-info", "path-info.ke/**"),
        ("ever-new-short-text", "ever-new-short-text.ke/**"),
        ("redirects-below-every-path", "redirects-below-every-path.ke/**"),
    ] {
        let site = SURVEYED.tables.sites.iter().find(|row| row.site == format!("{case}.ke")).unwrap();
        assert_eq!(site.trap_pattern.as_deref(), Some(pattern), "{case}");
    }
}

#[test]
fn sites_without_end_cost_few_requests_and_all_that_is_sound_is_found() {
    assert!(SURVEYED.most_requests.len() >= 19);
    for (site, most) in &SURVEYED.most_requests {
        let requests = SURVEYED.accesses.iter().filter(|access| access.host == *site).count() as u64;
        assert!((1..=*most).contains(&requests), "{site}: {requests} requests, {most} at most");
        let found = SURVEYED.tables.links.iter().filter(|row| row.site == *site).count();
        assert_eq!(found, SOUND_LINKS, "{site}");
    }
}

#[test]
fn every_case_has_a_row_and_every_row_is_a_case() {
    let cases: BTreeSet<&str> = SURVEYED.cases.iter().map(String::as_str).collect();
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.0).collect();
    assert_eq!(rows, cases);
    assert_eq!(ROWS.len(), SURVEYED.cases.len());
}

#[test]
fn the_survey_ends_well_and_in_little_memory() {
    assert!(SURVEYED.exit.success(), "{}: a promise was broken, or it failed", SURVEYED.exit);
    let most = SURVEYED.peak_memory_kib;
    assert!((1..MAX_MEMORY_KIB).contains(&most), "{most} KiB");
}

#[test]
fn the_sound_sites_beside_them_are_complete_and_as_in_truth() {
    let TimelessTables { sites, levels, links, .. } = &SURVEYED.tables;
    let sound = TimelessTables {
        sites: sites.iter().filter(|row| !is_hostile(&row.site)).cloned().collect(),
        levels: levels.iter().filter(|row| !is_hostile(&row.site)).cloned().collect(),
        links: links.iter().filter(|row| !is_hostile(&row.site)).cloned().collect(),
        exchanges: Vec::new(),
    };
    assert!(sound.sites.len() >= 20 && sound.sites.iter().all(|row| row.outcome == "complete"));
    assert_matches_truth(&sound, &SURVEYED.truth, "beside hostile sites");
}

#[test]
fn every_url_found_is_in_one_class() {
    assert!(SURVEYED.tables.levels.iter().all(LevelRow::reconciles));
}

fn was_sent(row: &ExchangeRow) -> bool {
    row.failure.as_deref().and_then(Failure::named).is_none_or(Failure::reached_the_network)
}

/// A URL that was not requested is in no class of requested URLs, and requests are the exchanges that reached
/// the network.
#[test]
fn levels_count_what_was_requested() {
    let mut urls: BTreeMap<(&str, u16, u16), BTreeSet<&str>> = BTreeMap::new();
    let mut requests: BTreeMap<(&str, u16, u16), u64> = BTreeMap::new();
    for row in SURVEYED.tables.exchanges.iter().filter(|row| was_sent(row)) {
        let Some(depth) = row.depth else { continue };
        let level = (row.site.as_str(), row.seed, depth);
        *requests.entry(level).or_default() += 1;
        urls.entry(level).or_default().insert(row.url.trim_start_matches("https").trim_start_matches("http"));
    }
    for row in &SURVEYED.tables.levels {
        let level = (row.site.as_str(), row.seed, row.depth);
        assert_eq!(requests.get(&level).copied().unwrap_or_default(), row.requests, "{level:?}");
        let urls = urls.get(&level).map_or(0, BTreeSet::len) as u64;
        assert!(row.classes[Class::Fetched] <= urls, "{level:?}: {} of {urls}", row.classes[Class::Fetched]);
    }
}

/// The survey notices a ban after twenty refusals and a check, a ban by closed connections after five, and
/// trouble after nine.
#[test]
fn a_server_that_turns_us_away_gets_few_further_requests_and_the_rest_is_refused() {
    for (case, refusals, checks) in [
        ("ban-403", 20, 1),
        ("ban-by-challenge", 20, 1),
        ("ban-406", 20, 1),
        ("ban-by-interstitial", 20, 1),
        ("ban-by-captcha-202", 20, 1),
        ("ban-by-resets", 5, 0),
        ("ban-by-closing", 5, 0),
        ("ban-503", 9, 0),
        ("ban-429", 9, 0),
        ("ban-in-words", 20, 1),
    ] {
        let site = format!("{case}.ke");
        let site_exchanges =
            || SURVEYED.tables.exchanges.iter().filter(|row| row.site == site && was_sent(row));
        // The first request that is closed was sent over an idle connection, and again over a new one.
        let pages = site_exchanges()
            .filter(|row| row.purpose == "page" && row.failure.as_deref() != Some("idle_closed"));
        assert_eq!(pages.count(), 21 + refusals, "{case}");
        assert_eq!(site_exchanges().filter(|row| row.purpose == "check").count(), checks, "{case}");
        let levels: Vec<_> = SURVEYED.tables.levels.iter().filter(|row| row.site == site).collect();
        let classes = [Class::Fetched, Class::Refused].map(|class| levels[1].classes[class]);
        assert_eq!(classes, [20 + refusals as u64, 40 - refusals as u64], "{case}");
        let access_count = SURVEYED.accesses.iter().filter(|access| access.host == site).count();
        assert_eq!(access_count, site_exchanges().count(), "{case}: by its log");
    }
    // A site with a forbidden part is not taken for a ban: that costs a request or two.
    for (case, checks) in [("forbidden-folder", 2), ("forbidden-run", 2), ("members-only", 2)] {
        let site = format!("{case}.ke");
        let rows = SURVEYED.tables.exchanges.iter().filter(|row| row.site == site);
        assert_eq!(rows.filter(|row| row.purpose == "check").count(), checks, "{case}");
        let levels = SURVEYED.tables.levels.iter().filter(|row| row.site == site);
        assert!(levels.into_iter().all(|row| row.classes[Class::Refused] == 0), "{case}");
    }
}

#[test]
fn what_shows_a_challenge_is_told() {
    for (case, words) in [
        ("ban-403", &[][..]),
        ("ban-by-challenge", &["cf_mitigated"]),
        ("ban-by-interstitial", &["cloudflare_title"]),
        ("ban-by-captcha-202", &["sg_captcha"]),
        ("forbidden-run", &["ddos_guard"]),
        ("challenge-at-once", &["cf_mitigated"]),
        ("interstitial-at-once", &["anubis"]),
        ("robots-challenge", &["cf_mitigated"]),
        ("robots-interstitial", &["cloudflare_title"]),
        ("robots-captcha-202", &["sg_captcha"]),
        ("page-about-a-challenge", &[]),
    ] {
        let rows = SURVEYED.tables.exchanges.iter().filter(|row| row.site == format!("{case}.ke"));
        let recorded: BTreeSet<_> = rows.filter_map(|row| row.challenge.as_deref()).collect();
        assert_eq!(recorded, words.iter().copied().collect(), "{case}");
    }
    let links = SURVEYED.tables.links.iter();
    let of_makers = links.filter(|row| row.host.contains("cloudflare") || row.host.contains("anubis"));
    assert_eq!(of_makers.count(), 0, "links of interstitials are none of the site");
}

#[test]
fn who_is_not_to_be_contacted_is_not() {
    let special = |address: &str| special_range(address.parse::<IpAddr>().unwrap()).is_some();
    for exchange in &SURVEYED.tables.exchanges {
        let is_refused =
            ["address_refused", "opted_out"].contains(&exchange.failure.as_deref().unwrap_or(""));
        let is_special = exchange.address.as_deref().is_some_and(special);
        assert!(is_refused || !is_special, "{exchange:?}");
        assert!(!is_refused || exchange.sent_bytes + exchange.received_bytes == 0, "{exchange:?}");
    }
    let opted_out = ["opted-out.ke", "left-alone.opted-out-part.ke", "cname-to-opted-out.ke"];
    for access in &SURVEYED.accesses {
        assert!(!opted_out.contains(&access.host.as_str()), "{access:?}");
        assert!(access.address.is_none_or(|address| special_range(address).is_none()), "{access:?}");
    }
}

/// In the cases about markup, such links lead to `/no`.
#[test]
fn links_that_no_browser_follows_are_not_followed() {
    for exchange in &SURVEYED.tables.exchanges {
        assert!(!exchange.url.ends_with("/no"), "{exchange:?}");
    }
}

#[test]
fn a_link_that_holds_a_request_is_one_request() {
    let hosts: BTreeSet<&str> = SURVEYED.accesses.iter().map(|access| access.host.as_str()).collect();
    assert!(hosts.contains("request-in-a-link.ke") && !hosts.contains("victim.request-in-a-link.ke"));
}

#[test]
fn a_name_that_changes_its_address_is_looked_up_once() {
    let rebinding = SURVEYED.tables.exchanges.iter().filter(|row| row.site == "dns-rebinding.ke");
    let addresses: BTreeSet<_> = rebinding.map(|row| row.address.clone()).collect();
    assert_eq!(addresses.len(), 1);
}

#[test]
fn what_is_wrong_with_a_certificate_is_told() {
    for (site, defect) in [
        ("tls-expired.ke", Some("expired")),
        ("tls-self-signed.ke", Some("self_signed")),
        ("tls-wrong-name.ke", Some("wrong_name")),
        ("tls-version-1.ke", Some("old_version")),
        ("tls-critical-extension.ke", Some("critical_extension")),
        ("tls-broken-extension.ke", Some("bad_encoding")),
        ("tls-trailing-bytes.ke", Some("bad_encoding")),
    ] {
        let recorded: BTreeSet<_> = SURVEYED
            .tables
            .exchanges
            .iter()
            .filter(|row| row.site == site)
            .map(|row| row.tls_error.as_deref())
            .collect();
        assert_eq!(recorded, BTreeSet::from([defect]), "{site}");
    }
}

#[test]
fn a_server_is_greeted_by_older_tls_only_where_that_can_tell_more() {
    let tries = |site: &str| {
        let site_exchanges = SURVEYED.tables.exchanges.iter().filter(|row| row.site == site);
        site_exchanges.filter(|row| row.attempt == Some(1)).count()
    };
    for (site, has_tries) in [
        ("tls-1-0.ke", true),
        ("tls-nothing-in-common.ke", true),
        ("tls-no-such-name.ke", false),
        ("tls-http-2-only.ke", false),
    ] {
        assert_eq!(tries(site) > 0, has_tries, "{site}");
    }
}

/// A survey sends no HEAD requests, but its client can.
#[tokio::test]
async fn a_body_in_answer_to_head_is_not_taken_for_the_next_answer() {
    let world =
        ccsurvey::space::World::parse("[sites]\ncount = 1\n[hostile]\ncases = ['bodies-for-head']").unwrap();
    let served =
        ccsurvey::space::serve(Arc::new(world), ccsurvey::space::ServeSettings::default()).await.unwrap();
    let settings =
        Settings { dns: Some(served.dns_addr), gateway: Some(served.gateway_addr), ..Settings::default() };
    let fetcher = Fetcher::new(settings, Arc::new(OptOuts::default()), Clock::system()).unwrap();
    let host = WebUrl::parse("http://bodies-for-head.ke/").unwrap();
    let address = fetcher.locate(host.host()).await.address.unwrap();
    for (path, purpose, bytes) in
        [("", Purpose::Head, 0), ("next", Purpose::Page, 14), ("", Purpose::Head, 0)]
    {
        let url = WebUrl::parse(&format!("http://bodies-for-head.ke/{path}")).unwrap();
        let request = Request { number: 0, url, purpose, depth: Some(Depth(0)) };
        let (response, body) = fetcher.fetch(&request, address, u64::MAX).await;
        assert_eq!((response.status, response.failure, body.len()), (Some(200), None, bytes), "/{path}");
    }
}
