//! Start lists in every form that people have, read by the program as a user runs it.
//!
//! A survey of each begins on this machine, where its name server is a socket of the test that answers nobody: what it
//! says of the list, and its `start.csv`, are what counts.

#![allow(clippy::disallowed_methods)] // A name server that says nothing is bound here, and time is taken.

use std::fs;
use std::io::Write;
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use ccsurvey::starts::StartList;
use tempfile::TempDir;

/// A folder in which the program is run.
struct Desk {
    folder: TempDir,
    /// Never answers.
    name_server: UdpSocket,
}

/// What came of a list.
struct Read {
    code: i32,
    /// What was said before the survey began, or why it did not.
    said: Vec<String>,
    /// The start URLs that the survey took; none where none was begun.
    urls: Option<Vec<String>>,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), name_server: UdpSocket::bind("127.0.0.1:0").unwrap() }
    }

    fn read(&self, list: impl AsRef<[u8]>, flags: &[&str]) -> Read {
        fs::write(self.folder.path().join("list"), list).unwrap();
        self.survey(&[&["--start", "list"], flags].concat(), None)
    }

    fn survey(&self, flags: &[&str], input: Option<&[u8]>) -> Read {
        let dns = self.name_server.local_addr().unwrap().to_string();
        let dir = self.folder.path().join("d");
        let _ = fs::remove_dir_all(&dir);
        let mut program = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
            .args([
                "survey",
                "d",
                "--cctld",
                "ke",
                "--dns",
                &dns,
                "--gateway",
                "127.0.0.1:9",
                "--dns-timeout",
                "50ms",
            ])
            .args(flags)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        program.stdin.take().unwrap().write_all(input.unwrap_or_default()).unwrap();
        let output = program.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let said = said.lines().map(|line| line.strip_prefix("ccsurvey: ").unwrap().to_owned());
        let said =
            said.filter(|line| !line.starts_with("error: name server") && !line.ends_with(" to survey"));
        let said = said.filter(|line| !line.contains(" elapsed: "));
        let urls = fs::read_to_string(dir.join("start.csv"));
        let urls = urls.ok().map(|text| text.lines().skip(1).map(str::to_owned).collect());
        Read { code: output.status.code().unwrap(), said: said.collect(), urls }
    }

    /// That a list is read as `http://a.ke/` and `http://b.ke/`, with these words about its form.
    #[track_caller]
    fn reads(&self, list: impl AsRef<[u8]>, form: &str) {
        let read = self.read(list, &[]);
        let (said, counts) = (read.said.join("\n"), "list: 2 start URLs on 2 sites".to_owned());
        let expected = if form.is_empty() { counts } else { format!("list: {form}\n{counts}") };
        assert_eq!((said, read.code), (expected, 1));
        assert_eq!(read.urls.unwrap(), ["http://a.ke/", "http://b.ke/"]);
    }
}

fn gzip(text: &str) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

const ZONE: &str = "\
$TTL 3600 ; an hour
$ORIGIN ke.
@       IN SOA ns1.registry host.registry (
            2026112200 ; serial
            3600 900 1209600 900 )
        IN NS  ns1.registry
        IN NS  ns2.registry
a       IN 60 NS ns1.a
        60 IN NS ns2.a
ns1.a   IN A 192.0.2.1
b.ke.   NS ns.elsewhere.example.
b       IN DS 1 8 2 ABCD
a       NS ns3.a
";

#[test]
fn lists_are_read_in_every_form_that_people_have() {
    let desk = Desk::new();
    desk.reads("a.ke\nb.ke\n", "");
    desk.reads("# mine\nhttp://a.ke # first\n\nb.ke.\r\n", "");
    desk.reads("url\nhttp://a.ke/\nhttp://b.ke/\n", "");
    desk.reads(
        "url,site\nhttp://a.ke/,x\nhttp://b.ke/,y\n",
        "columns separated by commas: 'url', column 1 of 2, is taken",
    );
    desk.reads(
        "Domain;Status\na.ke;ok\nb.ke;ok\n",
        "columns separated by semicolons: 'Domain', column 1 of 2, is taken",
    );
    desk.reads("1,a.ke\n2,b.ke\n", "columns separated by commas, no header: column 2 of 2 is taken");
    desk.reads(
        "a.ke;active\nb.ke;active\n",
        "columns separated by semicolons, no header: column 1 of 2 is taken",
    );
    desk.reads("7\ta.ke\tx\n8\tb.ke\ty\n", "columns separated by tabs, no header: column 2 of 3 is taken");
    desk.reads(ZONE, "a zone file of ke.: names below it with NS records are taken");
    desk.reads(gzip("a.ke\nb.ke\n"), "packed with gzip; a URL or host name a line");
    desk.reads(gzip(ZONE), "packed with gzip; a zone file of ke.: names below it with NS records are taken");
    desk.reads(
        zstd::encode_all("1,a.ke\n2,b.ke\n".as_bytes(), 3).unwrap(),
        "packed with zstd; columns separated by commas, no header: column 2 of 2 is taken",
    );
}

#[test]
fn standard_input_is_read_packed_or_not() {
    let desk = Desk::new();
    for input in [b"1,a.ke\n2,b.ke\n".to_vec(), gzip("1,a.ke\n2,b.ke\n")] {
        let read = desk.survey(&["--start", "-"], Some(&input));
        assert_eq!(read.urls.unwrap(), ["http://a.ke/", "http://b.ke/"]);
        assert_eq!(read.said[1], "standard input: 2 start URLs on 2 sites");
    }
}

#[test]
fn what_is_in_a_list_is_counted() {
    let read = Desk::new().read(
        "a.ke\nwww.a.ke\nhttp://a.ke/#top\nexample.com\nb.tz\nc.ke\nd.ke\ne.ke\nf.ke\ng.ke\nh.ke\nme@i.ke\n",
        &[],
    );
    assert_eq!(
        read.said,
        [
            "list: line 12: 'me@i.ke' is skipped: a mail address, not a host name",
            "list: 10 start URLs on 9 sites; 1 doubled, 2 outside .ke, 1 bad line skipped",
            "9 sites to survey; 1 start URL passed over: the site has as many as --seeds-per-site allows",
        ]
    );
    assert_eq!(read.urls.unwrap().len(), 10);
}

#[test]
fn a_list_of_which_more_than_a_tenth_is_bad_begins_nothing() {
    let desk = Desk::new();
    let list = "a.ke\nmailto:me@y.ke\n1,google.co.ke\n";
    let read = desk.read(list, &[]);
    assert_eq!((read.code, read.urls), (2, None));
    assert_eq!(
        read.said,
        [
            "list: line 2: 'mailto:me@y.ke' is skipped: a mail address, not a host name",
            "list: line 3: '1,google.co.ke' is skipped: no host name has ',' in it",
            "list: 1 start URL on 1 site; 2 bad lines skipped",
            "error: list: 2 of 3 lines are bad, more than a tenth: is it the list that you mean? (--skip-bad takes the rest)",
        ]
    );
    let read = desk.read(list, &["--skip-bad"]);
    assert_eq!((read.code, read.urls.unwrap()), (1, vec!["http://a.ke/".to_owned()]));
}

#[test]
fn what_cannot_be_read_is_named_with_its_reason_and_begins_nothing() {
    let desk = Desk::new();
    for (list, why) in [
        (
            b"PK\x03\x04xyz".as_slice(),
            "it is a zip archive (or a spreadsheet, which is one): unpack it, or save it as CSV",
        ),
        (b"\xff\xfea\0", "it is UTF-16: save it as UTF-8"),
        (
            b"$TTL 1d\n@ IN SOA a b 1 2 3 4 5\n",
            "line 2: '@' is a relative name, and nothing tells the zone's name: put a line such as '$ORIGIN ke.' before the first",
        ),
        (b"$ORIGIN ke.\na NS (\nb NS x\n", "line 2: a parenthesis is opened here and not closed"),
    ] {
        let read = desk.read(list, &[]);
        assert_eq!(read.said, [format!("error: cannot read the start list list: {why}")]);
        assert_eq!((read.code, read.urls), (2, None));
    }
}

#[test]
fn a_pilot_is_a_share_of_the_sites_and_recorded() {
    let desk = Desk::new();
    let list: String = (0..1000).map(|n| format!("s{n}.ke\nwww.s{n}.ke/x\n")).collect();
    let read = desk.read(&list, &["--sample", "0.02", "--seed", "5"]);
    let urls = read.urls.unwrap();
    let sites = urls.len() / 2;
    assert!((8..40).contains(&sites), "{sites}");
    assert_eq!(
        read.said[0],
        format!("list: {} start URLs on {sites} of 1,000 sites (--sample 0.02 --seed 5)", urls.len())
    );
    for file in ["survey.toml", "manifest.json"] {
        let text = fs::read_to_string(desk.folder.path().join("d").join(file)).unwrap();
        let told = if file == "survey.toml" {
            ["sample = 0.02", "seed = 5"]
        } else {
            ["\"sample\": 0.02", "\"seed\": 5"]
        };
        assert!(told.iter().all(|told| text.contains(told)), "{text}");
    }
    let mut backwards: Vec<&str> = list.lines().collect();
    backwards.reverse();
    let again = desk.read(backwards.join("\n"), &["--sample", "0.02", "--seed", "5"]);
    let mut same = again.urls.unwrap();
    same.reverse();
    assert_eq!(same, urls);
    let none = desk.read("a.ke\n", &["--sample", "0.0001"]);
    assert_eq!(
        none.said.last().unwrap(),
        "error: list: none of its 1 site is drawn by --sample 0.0001 (give a greater share or another --seed)"
    );
    assert_eq!((none.code, none.urls), (2, None));
}

#[test]
fn a_large_zone_is_read_with_the_right_counts() {
    let mut zone = "ke. 86400 IN SOA ns.ke. host.ke. 1 2 3 4 5\nke. 86400 IN NS ns.ke.\n".to_owned();
    for n in 0..100_000 {
        zone += &format!(
            "s{n}.co.ke.\t86400\tIN\tNS\tns1.h{}.ke.\ns{n}.co.ke.\t86400\tIN\tNS\tns2.h{}.ke.\n",
            n % 90,
            n % 90
        );
        zone += &format!("ns1.s{n}.co.ke.\t86400\tIN\tA\t192.0.2.1\n");
    }
    let desk = Desk::new();
    let read = desk.read(gzip(&zone), &["--sample", "0.001"]);
    assert!(read.said[1].contains(" of 100,000 sites (--sample 0.001 --seed 0)"), "{:?}", read.said);
}

#[test]
fn a_large_ranking_is_read_with_the_right_counts() {
    let ranking: String = (1..=200_000)
        .map(|n| format!("{n},s{}.{}\n", n % 150_000, if n % 4 == 0 { "tz" } else { "ke" }))
        .collect();
    let desk = Desk::new();
    let read = desk.read(&ranking, &["--sample", "0.001"]);
    assert_eq!(read.said[0], "list: columns separated by commas, no header: column 2 of 2 is taken");
    assert!(
        read.said[1].contains(" of 150,000 sites") && read.said[1].contains("50,000 doubled"),
        "{:?}",
        read.said
    );
}

/// Seconds that this thread had a processor, whatever else the machine did meanwhile.
#[cfg(target_os = "linux")]
fn processor_time() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    told.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// What was the slowest form for each byte: a list may take three times as much as eight lists of an eighth of it.
#[test]
#[cfg(target_os = "linux")]
fn reading_takes_time_in_proportion_to_the_bytes() {
    let time = |unit: &str, repeated: usize| {
        let text = format!("1,a.ke\n2,b.ke\n{}", unit.repeat(repeated));
        let begun = processor_time();
        let _ = StartList::read(text.as_bytes(), None);
        processor_time() - begun
    };
    for unit in ["1,\"\n", "a\"b,\"c\n", "\"", "(", "\\", ",", "#", "a.", "x NS (\n"] {
        let repeated = 40_000 / unit.len();
        let least = |seconds: &dyn Fn() -> f64| (0..3).map(|_| seconds()).fold(f64::MAX, f64::min);
        let parts = least(&|| (0..8).map(|_| time(unit, repeated)).sum());
        let whole = least(&|| time(unit, 8 * repeated));
        assert!(whole < 3.0 * parts.max(0.016), "{unit:?}: {parts} s in eight parts, {whole} s as a whole");
    }
}
