//! Start lists in every form that people have, read by the program as a user runs it.
//!
//! A survey of each list begins on this machine, with a socket of the test that never responds as its name
//! server. The tests check its messages about the list, and its `start.csv`.

#![allow(clippy::disallowed_methods)] // Binds a name server that never responds, and measures time.

use std::fs;
use std::io::Write;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};

use ccsurvey::starts::StartList;
use tempfile::TempDir;

/// A folder in which the program is run.
struct Workspace {
    folder: TempDir,
    /// Never responds.
    name_server: UdpSocket,
}

/// The result of reading a list.
struct Outcome {
    code: i32,
    /// Lines that were printed before the survey began, or why it did not begin.
    messages: Vec<String>,
    /// The start URLs that the survey took; none if no survey began.
    urls: Option<Vec<String>>,
}

impl Workspace {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), name_server: UdpSocket::bind("127.0.0.1:0").unwrap() }
    }

    fn read(&self, list: impl AsRef<[u8]>, flags: &[&str]) -> Outcome {
        fs::write(self.folder.path().join("list"), list).unwrap();
        self.survey(&[&["--start", "list"], flags].concat(), None)
    }

    fn survey(&self, flags: &[&str], input: Option<&[u8]>) -> Outcome {
        let dns = self.name_server.local_addr().unwrap().to_string();
        let _ = fs::remove_dir_all(self.folder.path().join("d"));
        let begin = "survey d --cctld ke --gateway 127.0.0.1:9 --dns-timeout 50ms --dns";
        self.run(&[&begin.split(' ').collect::<Vec<_>>()[..], &[dns.as_str()], flags].concat(), input)
    }

    fn run(&self, arguments: &[&str], input: Option<&[u8]>) -> Outcome {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ccsurvey"))
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        program.stdin.take().unwrap().write_all(input.unwrap_or_default()).unwrap();
        let output = program.wait_with_output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        let messages = messages.lines().map(|line| line.strip_prefix("ccsurvey: ").unwrap().to_owned());
        let messages =
            messages.filter(|line| !line.starts_with("error: name server") && !line.ends_with(" to survey"));
        let messages = messages.filter(|line| !line.contains(" elapsed: "));
        Outcome { code: output.status.code().unwrap(), messages: messages.collect(), urls: self.start_urls() }
    }

    fn start_urls(&self) -> Option<Vec<String>> {
        self.urls_of("start.csv")
    }

    fn left_out(&self) -> Vec<String> {
        self.urls_of("outside.csv").unwrap_or_default()
    }

    fn skipped(&self) -> Option<String> {
        fs::read_to_string(self.folder.path().join("d/skipped.csv")).ok()
    }

    fn urls_of(&self, file: &str) -> Option<Vec<String>> {
        let text = fs::read_to_string(self.folder.path().join("d").join(file)).ok()?;
        Some(text.lines().skip(1).map(str::to_owned).collect())
    }

    /// Checks that a list is read as `http://a.ke/` and `http://b.ke/`, with this message about its form.
    #[track_caller]
    fn assert_reads(&self, list: impl AsRef<[u8]>, form: &str) {
        let read = self.read(list, &[]);
        let (messages, counts) = (read.messages.join("\n"), "list: 2 start URLs on 2 sites".to_owned());
        let expected = if form.is_empty() { counts } else { format!("list: {form}\n{counts}") };
        assert_eq!((messages, read.code), (expected, 1));
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
    let workspace = Workspace::new();
    workspace.assert_reads("a.ke\nb.ke\n", "");
    workspace.assert_reads("# mine\nhttp://a.ke # first\n\nb.ke.\r\n", "");
    workspace.assert_reads("url\nhttp://a.ke/\nhttp://b.ke/\n", "");
    workspace.assert_reads(
        "url,site\nhttp://a.ke/,x\nhttp://b.ke/,y\n",
        "columns separated by commas: 'url', column 1 of 2, is used",
    );
    workspace.assert_reads(
        "Domain;Status\na.ke;ok\nb.ke;ok\n",
        "columns separated by semicolons: 'Domain', column 1 of 2, is used",
    );
    workspace
        .assert_reads("1,a.ke\n2,b.ke\n", "columns separated by commas, no header: column 2 of 2 is used");
    workspace.assert_reads(
        "a.ke;active\nb.ke;active\n",
        "columns separated by semicolons, no header: column 1 of 2 is used",
    );
    workspace.assert_reads(
        "7\ta.ke\tx\n8\tb.ke\ty\n",
        "columns separated by tabs, no header: column 2 of 3 is used",
    );
    workspace.assert_reads(ZONE, "a zone file of ke.: names below it with NS records are used");
    workspace.assert_reads(gzip("a.ke\nb.ke\n"), "compressed with gzip; one URL or host name per line");
    workspace.assert_reads(
        gzip(ZONE),
        "compressed with gzip; a zone file of ke.: names below it with NS records are used",
    );
    workspace.assert_reads(
        zstd::encode_all("1,a.ke\n2,b.ke\n".as_bytes(), 3).unwrap(),
        "compressed with zstd; columns separated by commas, no header: column 2 of 2 is used",
    );
}

#[test]
fn standard_input_is_read_packed_or_not() {
    let workspace = Workspace::new();
    for input in [b"1,a.ke\n2,b.ke\n".to_vec(), gzip("1,a.ke\n2,b.ke\n")] {
        let read = workspace.survey(&["--start", "-"], Some(&input));
        assert_eq!(read.urls.unwrap(), ["http://a.ke/", "http://b.ke/"]);
        assert_eq!(read.messages[1], "standard input: 2 start URLs on 2 sites");
    }
}

#[test]
fn what_is_in_a_list_is_counted() {
    let workspace = Workspace::new();
    let read = workspace.read(
        "a.ke\nwww.a.ke\nhttp://a.ke/#top\nexample.com\nb.tz\nc.ke\nd.ke\ne.ke\nf.ke\ng.ke\nh.ke\nme@i.ke\n",
        &[],
    );
    assert_eq!(
        read.messages,
        [
            "list: line 12: 'me@i.ke' is skipped: a mail address, not a host name",
            "list: line 4: http://example.com/ is left out: it is outside .ke",
            "list: line 5: http://b.tz/ is left out: it is outside .ke",
            "list: 8 start URLs on 7 sites; 1 duplicate, 2 outside .ke left out, 1 bad line skipped",
            "7 sites to survey; 1 start URL skipped: known already, or more than --seeds-per-site allows",
        ]
    );
    assert_eq!(read.urls.unwrap().len(), 8);
    assert_eq!(workspace.left_out(), ["http://example.com/", "http://b.tz/"]);
}

#[test]
fn what_lies_outside_the_country_domains_is_surveyed_only_if_that_is_wished() {
    let workspace = Workspace::new();
    let list = "a.ke\nexample.com\n41.90.0.1\nb.tz\n";
    let read = workspace.read(list, &[]);
    assert_eq!((read.code, read.urls.unwrap()), (1, vec!["http://a.ke/".to_owned()]));
    assert_eq!(read.messages[3], "list: 1 start URL on 1 site; 3 outside .ke left out");
    let read = workspace.read(list, &["--outside-cctld"]);
    assert_eq!(
        read.urls.unwrap(),
        ["http://a.ke/", "http://example.com/", "http://41.90.0.1/", "http://b.tz/"]
    );
    assert_eq!(read.messages[0], "list: 4 start URLs on 4 sites; 3 outside .ke");
    let read = workspace.read(list, &["--cctld", "tz"]);
    assert_eq!(read.urls.unwrap(), ["http://a.ke/", "http://b.tz/"]);
    assert_eq!(read.messages[2], "list: 2 start URLs on 2 sites; 2 outside .ke, .tz left out");
    // URLs that are added later are treated in the same way.
    let add = |flags: &[&str]| {
        fs::write(workspace.folder.path().join("more"), "c.ke\nc.tz\nc.com\n").unwrap();
        workspace.run(&[&["add", "d", "--start", "more"], flags].concat(), None)
    };
    assert!(
        add(&[])
            .messages
            .contains(&"more: line 3: http://c.com/ is left out: it is outside .ke, .tz".to_owned())
    );
    assert_eq!(
        workspace.start_urls().unwrap(),
        ["http://a.ke/", "http://b.tz/", "http://c.ke/", "http://c.tz/"]
    );
    assert_eq!(workspace.left_out(), ["http://example.com/", "http://41.90.0.1/", "http://c.com/"]);
    add(&["--outside-cctld"]);
    assert_eq!(workspace.start_urls().unwrap().last().unwrap(), "http://c.com/");
}

#[test]
fn a_list_of_which_less_than_a_tenth_lies_inside_begins_nothing() {
    let workspace = Workspace::new();
    let list = format!("a.ke\n{}", (0..10).map(|n| format!("site{n}.com\n")).collect::<String>());
    let expected_text = "error: list: 1 of 11 start URLs is inside .ke, less than a tenth: is this the right list? \
                (--start-anyway starts anyway, --outside-cctld also surveys the others)";
    for flags in [&[][..], &["--outside-cctld"], &["--skip-bad"]] {
        let read = workspace.read(&list, flags);
        assert_eq!(
            (read.code, read.urls, read.messages.last().unwrap().as_str()),
            (2, None, expected_text),
            "{flags:?}"
        );
    }
    let read = workspace.read(&list, &["--start-anyway"]);
    assert_eq!((read.code, read.urls.unwrap()), (1, vec!["http://a.ke/".to_owned()]));
    assert_eq!(read.messages[0], "list: line 2: http://site0.com/ is left out: it is outside .ke");
    assert_eq!(workspace.read(&list, &["--start-anyway", "--outside-cctld"]).urls.unwrap().len(), 11);
    let none = workspace.read("a.tz\nb.tz\n", &["--start-anyway"]);
    let expected_text =
        "error: list: none of its start URLs is inside .ke (--outside-cctld also surveys the others)";
    assert_eq!((none.code, none.urls, none.messages.last().unwrap().as_str()), (2, None, expected_text));
    let tenth = format!("a.ke\n{}", (0..9).map(|n| format!("site{n}.com\n")).collect::<String>());
    assert_eq!(workspace.read(&tenth, &[]).urls.unwrap(), ["http://a.ke/"]);
}

/// The lists of `tests/data/lists`; `src/core/starts/lists_tests.rs` has many more.
#[test]
fn lists_that_were_misread_are_surveyed_as_they_were_meant() {
    let workspace = Workspace::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lists");
    let numbered = |count: usize, form: &str| {
        (0..count).map(|n| form.replace('N', &n.to_string())).collect::<Vec<String>>()
    };
    for (file, urls) in [
        ("certificate-names.txt", numbered(30, "http://siteN.ke/")),
        ("empty-rows.csv", numbered(30, "http://siteN.ke/")),
        ("excel-sep.csv", vec!["http://a.ke/".to_owned(), "http://b.ke/".to_owned()]),
        ("file-first.csv", numbered(30, "http://siteN.ke/pageN.html")),
        ("mail-server-first.csv", numbered(30, "http://siteN.ke/")),
        ("misleading-header.csv", numbered(30, "https://siteN.ke/")),
        ("names-on-one-line.txt", numbered(30, "http://siteN.ke/")),
        ("registrar-first.csv", numbered(30, "http://siteN.ke/")),
        ("reversed-names.tsv", numbered(30, "http://siteN.co.ke/")),
        ("score-first.tsv", numbered(30, "http://siteN.ke/")),
        ("zone-soa-parenthesis.zone", vec!["http://a.ke/".to_owned(), "http://b.ke/".to_owned()]),
    ] {
        let read = workspace.survey(&["--start", folder.join(file).to_str().unwrap()], None);
        assert_eq!(read.urls, Some(urls), "{file}: {:?}", read.messages);
    }
}

#[test]
fn a_column_is_chosen_by_its_name_or_number() {
    let workspace = Workspace::new();
    let list = "Domain;Mirror\na.ke;c.ke\nb.ke;d.ke\n";
    for column in ["mirror", "2"] {
        let read = workspace.read(list, &["--column", column]);
        assert_eq!(
            read.messages[0],
            "list: columns separated by semicolons: 'Mirror', column 2 of 2, is used"
        );
        assert_eq!(read.urls.unwrap(), ["http://c.ke/", "http://d.ke/"]);
    }
    for (column, why) in [
        ("site", "it has no column 'site': its first line has 'Domain', 'Mirror'"),
        ("3", "it has no column 3: the number of columns is 2"),
    ] {
        let read = workspace.read(list, &["--column", column]);
        assert_eq!(read.messages, [format!("error: cannot read the start list list: {why}")]);
        assert_eq!((read.code, read.urls), (2, None));
    }
    let read = workspace.read("domain,mirror\na.tz,c.ke\n", &["--column", "domain"]);
    assert!(
        read.messages
            .last()
            .unwrap()
            .ends_with("(--start-anyway starts anyway, --outside-cctld also surveys the others)")
    );
    assert_eq!((read.code, read.urls), (2, None));
}

#[test]
fn special_addresses_are_start_urls_only_with_permission() {
    let workspace = Workspace::new();
    let read = workspace.read("192.168.1.1\na.ke\n", &["--skip-bad", "--outside-cctld"]);
    assert_eq!(
        read.messages[0],
        "list: line 1: '192.168.1.1' is skipped: a special address that no server of the public Web has (private); \
         --permit-special-addresses permits it"
    );
    assert_eq!(read.urls.unwrap(), ["http://a.ke/"]);
    let read = workspace.read("192.168.1.1\na.ke\n", &["--permit-special-addresses", "--outside-cctld"]);
    assert_eq!(read.urls.unwrap(), ["http://192.168.1.1/", "http://a.ke/"]);
}

#[test]
fn a_suffix_list_without_marks_of_sections_is_read() {
    let workspace = Workspace::new();
    fs::write(workspace.folder.path().join("own.dat"), "// mine\nke\nco.ke\n").unwrap();
    let read = workspace.read("www.a.co.ke\nb.co.ke\nc.com\n", &["--suffix-list", "own.dat"]);
    assert_eq!(read.messages[1], "list: 2 start URLs on 2 sites; 1 outside .ke left out");
}

#[test]
fn a_list_of_which_more_than_a_tenth_is_bad_begins_nothing() {
    let workspace = Workspace::new();
    let list = "a.ke\nmailto:me@y.ke\n1,google.co.ke\n";
    let read = workspace.read(list, &[]);
    assert_eq!((read.code, read.urls), (2, None));
    assert_eq!(
        read.messages,
        [
            "list: line 2: 'mailto:me@y.ke' is skipped: a mail address, not a host name",
            "list: line 3: '1,google.co.ke' is skipped: a host name cannot contain ','",
            "list: 1 start URL on 1 site; 2 bad lines skipped",
            "error: list: 2 of 3 lines are bad, more than a tenth: is this the right list? (--skip-bad uses the other lines)",
        ]
    );
    let read = workspace.read(list, &["--skip-bad"]);
    assert_eq!((read.code, read.urls.unwrap()), (1, vec!["http://a.ke/".to_owned()]));
}

#[test]
fn every_bad_line_is_told_with_its_reason() {
    let workspace = Workspace::new();
    let good: String = (0..400).map(|n| format!("s{n}.ke\n")).collect();
    let bad: String = (0..37).map(|n| format!("=me{n}@y.ke\n")).collect();
    let read = workspace.read(format!("{good}{bad}"), &[]);
    assert_eq!((read.code, read.urls.unwrap().len()), (1, 400));
    assert_eq!(
        read.messages[10..12],
        [
            "list: … and 27 more bad lines: all are listed in skipped.csv in the survey's folder",
            "list: 400 start URLs on 400 sites; 37 bad lines skipped",
        ]
    );
    let rows: String =
        (0..37).map(|n| format!("{},'=me{n}@y.ke,\"a mail address, not a host name\"\n", n + 401)).collect();
    assert_eq!(workspace.skipped().unwrap(), format!("line,value,reason\n{rows}"));
    fs::write(workspace.folder.path().join("more"), format!("{good}t.ke\nnonsense\n")).unwrap();
    workspace.run(&["add", "d", "--start", "more"], None);
    let added = format!("line,value,reason\n{rows}402,nonsense,neither a URL nor a host name\n");
    assert_eq!(workspace.skipped().unwrap(), added);
    // If no survey begins, there is no folder.
    let read = workspace.read(format!("a.ke\n{bad}"), &[]);
    assert_eq!((read.code, read.urls, workspace.skipped()), (2, None, None));
    assert_eq!(
        read.messages[10..12],
        ["list: … and 27 more bad lines:", "list: lines 12–38: a mail address, not a host name"]
    );
    workspace.assert_reads("a.ke\nb.ke\n", "");
    assert_eq!(workspace.skipped(), None);
}

#[test]
fn rows_without_a_website_are_counted_and_not_bad() {
    let workspace = Workspace::new();
    let list = "Shule,Website\nA,a.ke\nB,N/A\nC,\nD,-\nE,b.ke\nF\n";
    let read = workspace.read(list, &[]);
    assert_eq!(
        (read.code, read.urls.unwrap()),
        (1, vec!["http://a.ke/".to_owned(), "http://b.ke/".to_owned()])
    );
    assert_eq!(
        read.messages,
        [
            "list: columns separated by commas: 'Website', column 2 of 2, is used",
            "list: 2 start URLs on 2 sites; 4 rows without a value",
        ]
    );
    let read = workspace.read("School,Website\nA,\nB,none\n", &[]);
    let expected_text = "error: list: no start URL found (0 bad lines, 2 rows without a value)";
    assert_eq!((read.code, read.urls, read.messages.last().unwrap().as_str()), (2, None, expected_text));
}

#[test]
fn a_zone_that_stands_for_more_names_than_it_has_begins_nothing() {
    let workspace = Workspace::new();
    let names: String = (0..30).map(|n| format!("s{n} NS x\n")).collect();
    let zone = |directives: &str| format!("$ORIGIN ke.\n@ IN SOA a b 1 2 3 4 5\n{names}{directives}");
    for (directives, line, expected_text) in [
        (
            "$INCLUDE more.zone\n",
            "line 33: '$INCLUDE more.zone' is skipped: the names in the file more.zone are not read: put them in place of this line",
            "1 line in it stands",
        ),
        (
            "$include /etc/bind/go.zone go.ke.\n$GENERATE 1-100000 h$ NS x\n",
            "line 34: '$GENERATE 1-100000 h$ NS x' is skipped: it makes 100000 names, but the limit is 65536: write them out",
            "2 lines in it stand",
        ),
    ] {
        let read = workspace.read(zone(directives), &[]);
        assert_eq!((read.code, read.urls), (2, None));
        assert!(read.messages.contains(&format!("list: {line}")), "{:?}", read.messages);
        let expected_text = format!(
            "error: list: {expected_text} for names that are not in the list: write out the names instead (--skip-bad starts without them)"
        );
        assert_eq!(read.messages.last().unwrap(), &expected_text);
        assert_eq!(workspace.read(zone(directives), &["--skip-bad"]).urls.unwrap().len(), 30);
    }
    let read = workspace.read(zone("$GENERATE 1-20 h${0,2} NS ns\n$GENERATE 1-254 $ A 41.90.0.$\n"), &[]);
    let urls = read.urls.unwrap();
    assert_eq!((urls.len(), urls[30].as_str(), urls[49].as_str()), (50, "http://h01.ke/", "http://h20.ke/"));
}

#[test]
fn names_without_name_servers_are_counted_in_a_zone() {
    let workspace = Workspace::new();
    let form = "list: a zone file: names below it with NS records are used";
    let advice = "to survey the names of other records, list only the names, one per line";
    // In the formats in which massdns and dig write their results.
    for (list, names) in [
        (
            "a.ke. A 41.90.0.1\nb.ke. A 41.90.0.2\nb.ke. AAAA 2c0f::1\nwww.c.ke. CNAME c.ke.\nd.ke. MX 1 x.\n",
            4,
        ),
        ("a.ke.\t300\tIN\tA\t41.90.0.1\na.ke.\t300\tIN\tA\t41.90.0.2\n", 1),
        ("; <<>> DiG 9.18 <<>> a.ke\n;a.ke. IN A\na.ke. 60 IN CNAME b.ke.\nb.ke. 60 IN A 41.90.0.1\n", 2),
    ] {
        let read = workspace.read(list, &[]);
        let (count, have) =
            if names == 1 { ("1 name".to_owned(), "has") } else { (format!("{names} names"), "have") };
        let expected_text =
            format!("error: list: no start URL found (0 bad lines, {count} {have} no NS record): {advice}");
        assert_eq!((read.code, read.messages.last().unwrap()), (2, &expected_text));
    }
    let read = workspace.read("a.ke. IN NS x.\nb.ke. IN A 41.90.0.1\nc.ke. IN A 41.90.0.1\nd.ke. IN TXT x\nns.a.ke. IN A 41.90.0.3\n", &[]);
    assert_eq!(read.messages[0], format!("{form}; 3 names without NS records are not"));
    let read = workspace.read(
        "ke. IN SOA a. b. 1 2 3 4 5\na.ke. IN NS x.\nwww.ke. IN A 41.90.0.1\n_dmarc.ke. IN TXT x\n",
        &[],
    );
    assert!(
        read.messages[0].ends_with(" are used; 1 name without an NS record is not"),
        "{:?}",
        read.messages
    );
}

#[test]
fn what_cannot_be_read_is_named_with_its_reason_and_begins_nothing() {
    let workspace = Workspace::new();
    for (list, why) in [
        (b"PK\x03\x04xyz".as_slice(), "it is a zip archive or a spreadsheet: unpack it, or save it as CSV"),
        (b"\xff\xfea\0", "it is UTF-16: save it as UTF-8"),
        (
            b"$TTL 1d\n@ IN SOA a b 1 2 3 4 5\n",
            "line 2: '@' is a relative name, but the zone's name is not known: put a line such as '$ORIGIN ke.' before the first name",
        ),
        (b"$ORIGIN ke.\na NS (\nb NS x\n", "line 2: a parenthesis is opened here but not closed"),
    ] {
        let read = workspace.read(list, &[]);
        assert_eq!(read.messages, [format!("error: cannot read the start list list: {why}")]);
        assert_eq!((read.code, read.urls), (2, None));
    }
}

#[test]
fn a_pilot_is_a_share_of_the_sites_and_recorded() {
    let workspace = Workspace::new();
    let list: String = (0..1000).map(|n| format!("s{n}.ke\nwww.s{n}.ke/x\n")).collect();
    let read = workspace.read(&list, &["--sample", "0.02", "--seed", "5"]);
    let urls = read.urls.unwrap();
    let sites = urls.len() / 2;
    assert!((8..40).contains(&sites), "{sites}");
    assert_eq!(
        read.messages[0],
        format!("list: {} start URLs on {sites} of 1,000 sites (--sample 0.02 --seed 5)", urls.len())
    );
    for file in ["survey.toml", "manifest.json"] {
        let text = fs::read_to_string(workspace.folder.path().join("d").join(file)).unwrap();
        let expected_text = if file == "survey.toml" {
            ["sample = 0.02", "seed = 5"]
        } else {
            ["\"sample\": 0.02", "\"seed\": 5"]
        };
        assert!(expected_text.iter().all(|expected_text| text.contains(expected_text)), "{text}");
    }
    let mut backwards: Vec<&str> = list.lines().collect();
    backwards.reverse();
    let again = workspace.read(backwards.join("\n"), &["--sample", "0.02", "--seed", "5"]);
    let mut same = again.urls.unwrap();
    same.reverse();
    assert_eq!(same, urls);
    let none = workspace.read("a.ke\n", &["--sample", "0.0001"]);
    assert_eq!(
        none.messages.last().unwrap(),
        "error: list: --sample 0.0001 selects no site; the list has 1 site (use a larger share or another --seed)"
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
    let workspace = Workspace::new();
    let read = workspace.read(gzip(&zone), &["--sample", "0.001"]);
    assert!(read.messages[1].contains(" of 100,000 sites (--sample 0.001 --seed 0)"), "{:?}", read.messages);
}

#[test]
fn a_large_ranking_is_read_with_the_right_counts() {
    let ranking: String = (1..=200_000)
        .map(|n| format!("{n},s{}.{}\n", n % 150_000, if n % 4 == 0 { "tz" } else { "ke" }))
        .collect();
    let workspace = Workspace::new();
    let read = workspace.read(&ranking, &["--sample", "0.001"]);
    assert_eq!(read.messages[10], "list: … and 37,490 more start URLs outside .ke");
    assert_eq!(read.messages[11], "list: columns separated by commas, no header: column 2 of 2 is used");
    assert!(
        read.messages[12].contains(" of 112,500 sites")
            && read.messages[12].ends_with("50,000 duplicates, 37,500 outside .ke left out"),
        "{:?}",
        read.messages
    );
}

/// Processor seconds of this thread, whatever else the machine did meanwhile.
#[cfg(target_os = "linux")]
fn processor_time() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    schedstat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// The forms that were the slowest per byte. In at least one of ten tries, a list must take less than three
/// times as long as eight lists of an eighth of its size: other work on the machine costs time, too.
#[test]
#[cfg(target_os = "linux")]
fn reading_takes_time_in_proportion_to_the_bytes() {
    let time = |unit: &str, repeated: usize| {
        let text = format!("1,a.ke\n2,b.ke\n{}", unit.repeat(repeated));
        let started = processor_time();
        let _ = StartList::read(text.as_bytes(), None);
        processor_time() - started
    };
    for unit in [
        "1,\"\n",
        "a\"b,\"c\n",
        "\"",
        "(",
        "\\",
        ",",
        "#",
        "a.",
        "x NS (\n",
        "a.ke,",
        "a.ke b.ke\n",
        "\"a.ke\n",
    ] {
        let repeated = 40_000 / unit.len();
        let is_in_proportion = |_| {
            let parts: f64 = (0..8).map(|_| time(unit, repeated)).sum();
            time(unit, 8 * repeated) < 3.0 * parts.max(0.016)
        };
        assert!((0..10).any(is_in_proportion), "{unit:?}");
    }
}
