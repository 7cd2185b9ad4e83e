//! Lists in the forms that people have them in: each is read as it was meant, or refused with the reason.

use std::io::Write;

use super::tests::area;
use super::{Area, ColumnChoice, StartList};
use crate::address::CountryDomains;

/// The expected result of a list.
pub(super) enum Expected<'a> {
    /// The start URLs are `http://siteN.ke/` with N from 0 on, and nothing is bad.
    Sites(usize),
    /// The start URLs, and nothing is bad.
    Urls(&'a [&'a str]),
    /// Start URLs, and the reasons of bad lines.
    Mixed(&'a [&'a str], &'a [&'a str]),
    /// It is not read, or the survey does not begin, for this reason.
    Refused(&'a str),
}

use Expected::{Mixed, Refused, Sites, Urls};

/// One line for each number.
pub(super) fn lines(count: usize, line: impl Fn(usize) -> String) -> Vec<u8> {
    (0..count).map(|n| line(n) + "\n").collect::<String>().into_bytes()
}

/// The result of a list in a survey: its start URLs and the reasons of its bad lines, or why the survey does
/// not begin.
pub(super) fn read(
    list: &[u8],
    area: &Area,
    column: Option<&str>,
) -> Result<(Vec<String>, Vec<String>), String> {
    let column = column.map(|column| column.parse::<ColumnChoice>().unwrap());
    let list =
        StartList::read_column(list, Some(area), column.as_ref()).map_err(|error| error.to_string())?;
    if list.is_mostly_bad() {
        return Err(format!("bad: {}", list.bad[0].why));
    }
    if list.is_mostly_outside() {
        return Err(format!("outside: {}", list.left_out[0].url));
    }
    let urls = list.urls().map(|url| url.as_str().to_owned()).collect();
    Ok((urls, list.bad.into_iter().map(|bad| bad.why).collect()))
}

#[track_caller]
fn check_column(name: &str, list: &[u8], column: Option<&str>, expected: &Expected<'_>) {
    let (read, expected) = compared(list, column, expected);
    assert_eq!(read, expected, "{name}");
}

/// The actual or the expected result of a list.
type ListOutcome = Result<(Vec<String>, Vec<String>), String>;

fn compared(list: &[u8], column: Option<&str>, expected: &Expected<'_>) -> (ListOutcome, ListOutcome) {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let expected = match expected {
        Sites(count) => Ok(((0..*count).map(|n| format!("http://site{n}.ke/")).collect(), Vec::new())),
        Urls(urls) => Ok((owned(urls), Vec::new())),
        Mixed(urls, bad) => Ok((owned(urls), owned(bad))),
        Refused(why) => Err((*why).to_owned()),
    };
    (read(list, &area(1.0), column), expected)
}

/// Lists of one kind. All of them are tried before the first misread list fails the test.
#[derive(Default)]
pub(super) struct ListKind(Vec<String>);

impl ListKind {
    pub(super) fn check(&mut self, name: &str, list: &[u8], expected: &Expected<'_>) {
        let (read, expected) = compared(list, None, expected);
        if read != expected {
            self.add(format!("{name}:\n  {read:?} in place of\n  {expected:?}"));
        }
    }

    pub(super) fn add(&mut self, misread: String) {
        self.0.push(misread);
    }

    #[track_caller]
    pub(super) fn end(self) {
        assert!(self.0.is_empty(), "{} misread: {}", self.0.len(), self.0.join("\n"));
    }
}

#[track_caller]
fn check(name: &str, list: &[u8], expected: &Expected<'_>) {
    check_column(name, list, None, expected);
}

/// A file of `tests/data/lists`; its README gives the sources.
macro_rules! file {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../../../tests/data/lists/", $name)).as_slice())
    };
}

#[test]
fn the_eleven_lists_that_were_misread_are_read_as_they_were_meant() {
    let reversed: Vec<String> = (0..30).map(|n| format!("http://site{n}.co.ke/")).collect();
    let reversed: Vec<&str> = reversed.iter().map(String::as_str).collect();
    let pages: Vec<String> = (0..30).map(|n| format!("http://site{n}.ke/page{n}.html")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let homepages: Vec<String> = (0..30).map(|n| format!("https://site{n}.ke/")).collect();
    let homepages: Vec<&str> = homepages.iter().map(String::as_str).collect();
    let two = ["http://a.ke/", "http://b.ke/"];
    for ((name, list), expected) in [
        (file!("certificate-names.txt"), Sites(30)),
        (file!("empty-rows.csv"), Sites(30)),
        (file!("excel-sep.csv"), Urls(&two)),
        (file!("file-first.csv"), Urls(&pages)),
        (file!("mail-server-first.csv"), Sites(30)),
        (file!("misleading-header.csv"), Urls(&homepages)),
        (file!("names-on-one-line.txt"), Sites(30)),
        (file!("registrar-first.csv"), Sites(30)),
        (file!("reversed-names.tsv"), Urls(&reversed)),
        (file!("score-first.tsv"), Sites(30)),
        (file!("zone-soa-parenthesis.zone"), Urls(&two)),
    ] {
        check(name, list, &expected);
    }
}

#[test]
fn of_several_columns_with_names_the_one_with_those_of_the_country_is_taken() {
    for (name, list, expected) in [
        ("real mail servers first", lines(30, |n| format!("mx{}.google.com,site{n}.ke", n % 2)), Sites(30)),
        ("one mail server each, abroad", lines(30, |n| format!("mx{n}.google.com;site{n}.ke")), Sites(30)),
        ("registrars of the country", lines(30, |n| format!("reg-{}.co.ke,site{n}.ke", n % 3)), Sites(30)),
        (
            "name servers behind, in the country",
            lines(30, |n| format!("site{n}.ke\tns{}.host.ke", n % 2)),
            Sites(30),
        ),
        ("name servers below the names", lines(30, |n| format!("site{n}.ke ns1.site{n}.ke")), Sites(30)),
        ("addresses first", lines(30, |n| format!("41.90.0.{n},site{n}.ke")), Sites(30)),
        ("scores that look like addresses", lines(30, |n| format!("1.2.3.{n}|3.1e7|site{n}.ke")), Sites(30)),
        ("file names of known endings", lines(30, |n| format!("page{n}.md,site{n}.ke")), Sites(30)),
        (
            "a header that names another source",
            {
                let rows = String::from_utf8(lines(30, |n| {
                    format!("https://registry.example.com/?d={n},site{n}.ke")
                }))
                .unwrap();
                format!("url,domain\n{rows}").into_bytes()
            },
            Sites(30),
        ),
        (
            "an identifier, a name, a site",
            {
                let rows =
                    String::from_utf8(lines(30, |n| format!("{n},School No. {n},site{n}.ke"))).unwrap();
                format!("id,name,website\n{rows}").into_bytes()
            },
            Sites(30),
        ),
        (
            "a header without any known name",
            {
                let rows = String::from_utf8(lines(30, |n| format!("{n}\tsite{n}.ke\tx"))).unwrap();
                format!("Nr\tAdresse\tNotiz\n{rows}").into_bytes()
            },
            Sites(30),
        ),
        ("mail addresses beside the names", lines(30, |n| format!("info@site{n}.ke,site{n}.ke")), Sites(30)),
        ("hosts beside their sites", lines(30, |n| format!("site{n}.ke,www.site{n}.ke")), Sites(30)),
    ] {
        check(name, &list, &expected);
    }
}

#[test]
fn names_on_one_line_are_all_taken() {
    let three = ["http://a.ke/", "http://b.ke/", "http://c.ke/"];
    for list in [
        "a.ke, b.ke, c.ke\n",
        "a.ke;b.ke;c.ke",
        "a.ke b.ke c.ke\n",
        "a.ke\tb.ke\tc.ke",
        "a.ke | b.ke | c.ke |\n",
        "\"a.ke\",\"b.ke\",\"c.ke\"\n",
        "a.ke, b.ke,\nc.ke\n",
        "a.ke\nb.ke c.ke\n",
        "http://a.ke/, http://b.ke/ http://c.ke/\n",
        "http://a.ke/,http://b.ke/,http://c.ke/",
        "domain\na.ke, b.ke\nc.ke\n",
        "# mine\na.ke,b.ke,c.ke # all\n",
        "sep=,\na.ke,b.ke,c.ke\n",
    ] {
        check(list, list.as_bytes(), &Urls(&three));
    }
    check(
        "two lines of three",
        b"a.ke,b.ke,c.ke\nd.ke,e.ke,f.ke\n",
        &Urls(&[
            "http://a.ke/",
            "http://b.ke/",
            "http://c.ke/",
            "http://d.ke/",
            "http://e.ke/",
            "http://f.ke/",
        ]),
    );
    check(
        "a comma in a path",
        b"http://a.ke/x,nairobi.html\nhttp://b.ke/y,mombasa.html\n",
        &Urls(&["http://a.ke/x,nairobi.html", "http://b.ke/y,mombasa.html"]),
    );
    let list =
        [lines(19, |n| format!("site{}.ke site{}.ke", 2 * n, 2 * n + 1)), b"-i.ke site38.ke\n".to_vec()]
            .concat();
    let urls: Vec<String> = (0..39).map(|n| format!("http://site{n}.ke/")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let hyphen = "a label of the host name begins or ends with '-', which is not allowed";
    check("one bad name of many", &list, &Mixed(&urls, &[hyphen]));
}

#[test]
fn what_people_put_around_names_is_left_out() {
    for list in [
        "\u{201c}a.ke\u{201d}\n\u{201e}b.ke\u{201c}\n",
        "'a.ke'\n`b.ke`\n",
        "<http://a.ke/>\n<http://b.ke/>\n",
        "«a.ke»,\n‹b.ke›;\n",
        "*.a.ke\na.ke\n*.b.ke\n",
        ".\na.ke.\n.\nb.ke.\n".trim_start_matches(".\n").replace("\n.\n", "\n").as_str(),
        "\u{feff}a.ke\r\n\u{feff}b.ke\r\n",
        "\u{a0}a.ke\u{a0}\n\u{3000}b.ke\n",
        "A.KE\nB.ke:80\n",
        "name\n\"\u{2018}a.ke\u{2019}\"\n\"b.ke\"\n",
    ] {
        check(list, list.as_bytes(), &Urls(&["http://a.ke/", "http://b.ke/"]));
    }
}

#[test]
fn exports_of_known_programs_are_read() {
    let gzip = |bytes: &[u8]| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    };
    let crt_sh = "crt.sh ID,Logged At,Not Before,Common Name,Matching Identities,Issuer Name\n\
                  1,2026-01-02,2026-01-01,a.ke,\"a.ke\nwww.a.ke\",\"C=US, O=Let's Encrypt, CN=R3\"\n\
                  2,2026-01-02,2026-01-01,*.b.ke,\"*.b.ke\nb.ke\",\"C=US, O=Let's Encrypt, CN=R3\"\n\
                  3,2026-01-02,2026-01-01,c.ke,c.ke,\"C=US, O=Let's Encrypt, CN=R3\"\n";
    let ranks = "#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\t#n_hosts\n\
                 1\t3.055844E7\t5\t0.0061\tke.co.safaricom\t12\n2\t2.9E7\t3\t0.0099\tke.go.kra\t40\n3\t2.8E7\t4\t0.009\tke.uon.www\t7\n";
    let cdxj = "ke,a)/ 20260101000000 {\"url\": \"http://a.ke/\", \"mime\": \"text/html\", \"status\": \"200\"}\n\
                ke,b)/x 20260101000001 {\"url\": \"http://b.ke/x\", \"mime\": \"text/html\", \"status\": \"200\"}\n";
    let cdx = " CDX N b a m s k r M S V g\nke,a)/ 20260101000000 http://a.ke/ text/html 200 AAAA - - 1043 333 w.warc.gz\n\
               ke,b)/x 20260101000001 http://b.ke/x text/html 200 AAAA - - 1043 333 w.warc.gz\n";
    let dig = "\n; <<>> DiG 9.18.28 <<>> axfr ke. @192.0.2.1\n;; global options: +cmd\n\
               ke.\t\t\t3600\tIN\tSOA\tns.ke. host.ke. 1 2 3 4 5\nke.\t\t\t3600\tIN\tNS\tns.ke.\n\
               a.ke.\t\t\t3600\tIN\tNS\tx.\nb.ke.\t\t\t3600\tIN\tNS\tx.\nns.b.ke. 3600 IN A 41.90.0.1\n\
               ke.\t\t\t3600\tIN\tSOA\tns.ke. host.ke. 1 2 3 4 5\n;; Query time: 7 msec\n;; XFR size: 6 records\n";
    let hosts = "41.90.0.1 a.ke www.a.ke # main\n41.90.0.2\tb.ke\n";
    let majestic = "GlobalRank,TldRank,Domain,TLD,RefSubNets,RefIPs,IDN_Domain,IDN_TLD,PrevGlobalRank\n\
                    1,1,a.ke,ke,1,1,a.ke,ke,1\n2,2,b.ke,ke,1,1,b.ke,ke,2\n";
    let sep = "\u{feff}\"sep=;\"\r\nNr;Domain;Notiz\r\n1;a.ke;\"x;y\"\r\n2;b.ke;\r\n;;\r\n;;\r\n";
    let latin: &[u8] = b"Universit\xe4t;Stra\xdfe;Seite\nNairobi;M\xfcllerweg;a.ke\nMombasa;x;b.ke\n";
    let two: &[&str] = &["http://a.ke/", "http://b.ke/"];
    let safaricom: &[&str] = &["http://safaricom.co.ke/", "http://kra.go.ke/", "http://www.uon.ke/"];
    for (name, list, expected) in [
        ("crt.sh", crt_sh.as_bytes().to_vec(), Urls(&["http://a.ke/", "http://www.a.ke/", "http://b.ke/", "http://c.ke/"])),
        (
            "a table of certificates",
            b"Common Name,Matching Identities\na.ke,\"a.ke\nwww.a.ke\"\n*.b.ke,\"*.b.ke\nb.ke\nx.b.ke\"\n".to_vec(),
            Urls(&["http://a.ke/", "http://www.a.ke/", "http://b.ke/", "http://x.b.ke/"]),
        ),
        (
            "what a checker of links wrote",
            b"http://a.ke/ 200 text/html\nhttp://b.ke/ 404 text/html\n".to_vec(),
            Urls(two),
        ),
        ("names below a title", b"Alle Namen\na.ke, b.ke\n".to_vec(), Urls(two)),
        ("Common Crawl's ranks", ranks.as_bytes().to_vec(), Urls(safaricom)),
        ("the same, packed in two members and padded", [gzip(&ranks.as_bytes()[..100]), gzip(&ranks.as_bytes()[100..]), vec![0; 512]].concat(), Urls(safaricom)),
        ("reversed names alone", b"ke.co.safaricom\nke.go.kra\nke.uon.www\n".to_vec(), Urls(safaricom)),
        ("reversed names below their header", b"host_rev\nke.co.safaricom\nke.go.kra\nke.uon.www\n".to_vec(), Urls(safaricom)),
        ("an index of Common Crawl", cdxj.as_bytes().to_vec(), Urls(&["http://a.ke/", "http://b.ke/x"])),
        ("an index of the Internet Archive", cdx.as_bytes().to_vec(), Urls(&["http://a.ke/", "http://b.ke/x"])),
        ("dig", dig.as_bytes().to_vec(), Urls(two)),
        ("CZDS", gzip(b"ke.\t900\tin\tsoa\tns. host. 1 2 3 4 5\na.ke.\t900\tin\tns\tx.\na.ke.\t900\tin\tns\ty.\nb.ke.\t900\tin\tns\tx.\n"), Urls(two)),
        ("BIND, all on several lines", b"$TTL 1d\n$ORIGIN ke.\n@ IN SOA (\n ns host ; who\n 1 2 3 4 5 )\n (\n NS ns )\na NS x\n$ORIGIN co.ke.\nb (\n NS x )\n".to_vec(), Urls(&["http://a.ke/", "http://b.co.ke/"])),
        ("Majestic", majestic.as_bytes().to_vec(), Urls(two)),
        ("CrUX", b"origin,rank\nhttps://a.ke,1000\nhttps://b.ke,1000\n".to_vec(), Urls(&["https://a.ke/", "https://b.ke/"])),
        ("Excel with a line for the separator", sep.as_bytes().to_vec(), Urls(two)),
        ("Windows-1252 beside the names", latin.to_vec(), Urls(two)),
        ("an hosts file", hosts.as_bytes().to_vec(), Urls(&["http://a.ke/", "http://www.a.ke/", "http://b.ke/"])),
        ("tables below a title", b"domain;note\n\"a.ke\";\"two\nlines\"\n;\nb.ke;\n".to_vec(), Urls(two)),
    ] {
        check(name, &list, &expected);
    }
}

#[test]
fn what_is_meant_for_something_else_is_refused_with_the_reason() {
    for (name, list, why) in [
        ("another country's", lines(30, |n| format!("site{n}.tz")), "outside: http://site0.tz/"),
        (
            "a ranking of the world",
            lines(30, |n| format!("{n},site{n}.{}", if n % 15 == 14 { "ke" } else { "com" })),
            "outside: http://site0.com/",
        ),
        ("addresses alone", lines(30, |n| format!("41.90.0.{n}")), "outside: http://41.90.0.0/"),
        ("addresses of version 6", lines(3, |n| format!("2c0f:fe38::{n}")), "outside: http://[2c0f:fe38::]/"),
        (
            "private addresses",
            lines(30, |n| format!("192.168.1.{n}")),
            "bad: a special address that no server of the public Web has (private); --permit-special-addresses permits it",
        ),
        (
            "networks",
            lines(30, |n| format!("41.90.{n}.0/24")),
            "bad: a network of addresses, not a host name",
        ),
        (
            "file names",
            lines(30, |n| format!("page{n}.html")),
            "bad: not a host name: 'html' is not a top-level domain",
        ),
        ("people", lines(30, |n| format!("me{n}@site{n}.ke")), "bad: a mail address, not a host name"),
        (
            "user names in URLs",
            lines(30, |n| format!("http://me:secret@site{n}.ke/")),
            "bad: the URL has a user name before the host: leave it out",
        ),
        (
            "hyphens at the ends",
            lines(30, |_| "-bad-.ke".to_owned()),
            "bad: a label of the host name begins or ends with '-', which is not allowed",
        ),
        (
            "names that are too long",
            lines(3, |n| format!("{}{n}.ke", "a.".repeat(130))),
            "bad: not a host name: it has more than 253 octets",
        ),
        (
            "labels that are too long",
            lines(3, |n| format!("{}{n}.ke", "a".repeat(64))),
            "bad: not a host name: a label has more than 63 octets",
        ),
        (
            "joiners without need",
            lines(3, |n| format!("a\u{200d}{n}.ke")),
            "bad: not a host name: IDNA has no form of these characters for DNS",
        ),
        ("mail at a port", lines(3, |n| format!("site{n}.ke:25")), "bad: a port that browsers refuse"),
        ("edges of a graph", lines(30, |n| format!("{n}\t{}", n + 1)), "bad: neither a URL nor a host name"),
        (
            "JSON Lines",
            lines(3, |n| format!("{{\"domain\":\"site{n}.ke\"}}")),
            "it is JSON: extract the names, for example with 'jq -r .domain list.json > list.txt'",
        ),
        (
            "a sitemap",
            b"<?xml version=\"1.0\"?>\n<urlset><url><loc>http://a.ke/</loc></url></urlset>\n".to_vec(),
            "it is XML or HTML: extract the URLs, one per line",
        ),
        (
            "UTF-16 without a mark",
            b"a\0.\0k\0e\0\n\0".to_vec(),
            "it is not text (UTF-16 without a byte order mark, or binary data): save it as UTF-8",
        ),
    ] {
        check(name, &list, &Refused(why));
    }
}

#[test]
fn a_few_bad_names_are_skipped_with_the_reason() {
    let list = format!(
        "{}\n-bad-.ke\nwww.bad-.ke\n10.0.0.1\n",
        (0..30).map(|n| format!("site{n}.ke")).collect::<Vec<_>>().join("\n")
    );
    let urls: Vec<String> = (0..30).map(|n| format!("http://site{n}.ke/")).collect();
    let hyphen = "a label of the host name begins or ends with '-', which is not allowed";
    let private = "a special address that no server of the public Web has (private); --permit-special-addresses permits it";
    check(
        "bad names",
        list.as_bytes(),
        &Mixed(&urls.iter().map(String::as_str).collect::<Vec<_>>(), &[hyphen, hyphen, private]),
    );
    check(
        "names as DNS has them",
        b"xn--a.ke\nxn--1ug.ke\nfoo-.a.ke\nr2---sn.ke\nfoo_bar.ke\n\xe1\x88\xb0.ke\n",
        &Urls(&[
            "http://xn--a.ke/",
            "http://xn--1ug.ke/",
            "http://foo-.a.ke/",
            "http://r2---sn.ke/",
            "http://foo_bar.ke/",
            "http://xn--nyd.ke/",
        ]),
    );
}

#[test]
fn a_column_is_chosen_by_name_or_number() {
    let list = "id,Name,mirror of,Website\n1,x,a.tz,a.ke\n2,y,b.tz,b.ke\n3,z,c.tz,c.ke\n".as_bytes();
    let three = ["http://a.ke/", "http://b.ke/", "http://c.ke/"];
    for column in ["website", "WEBSITE", "4"] {
        check_column(column, list, Some(column), &Urls(&three));
    }
    for (column, why) in [
        ("mirror of", "outside: http://a.tz/"),
        ("3", "outside: http://a.tz/"),
        ("name", "bad: neither a URL nor a host name"),
        ("5", "it has no column 5: the number of columns is 4"),
        ("domain", "it has no column 'domain': its first line has 'id', 'Name', 'mirror of', 'Website'"),
    ] {
        check_column(column, list, Some(column), &Refused(why));
    }
    let chosen = |column: &str, list: &str, expected| {
        check_column(list, list.as_bytes(), Some(column), &expected);
    };
    chosen("2", "ns1.a.ke,a.ke\nns1.b.ke,b.ke\n", Urls(&["http://a.ke/", "http://b.ke/"]));
    chosen("1", "a.ke\nb.ke\n", Urls(&["http://a.ke/", "http://b.ke/"]));
    chosen("seite", "Seite\na.ke\nb.ke\n", Urls(&["http://a.ke/", "http://b.ke/"]));
    for name in ["host_rev", "#host_rev"] {
        chosen(name, "#pos\t#host_rev\n1\tke.a\n2\tke.b\n", Urls(&["http://a.ke/", "http://b.ke/"]));
    }
    chosen("host_rev", "# pos\thost_rev\n1\tke.a\n2\tke.b\n", Urls(&["http://a.ke/", "http://b.ke/"]));
    chosen("2", "a.ke\nb.ke\n", Refused("it has no column 2: the number of columns is 1"));
    chosen(
        "1",
        "ke. IN SOA (\nns. host. 1 2 3 4 5 )\na.ke. IN NS x.\n",
        Refused("a zone file has no columns"),
    );
    assert!("0".parse::<ColumnChoice>().is_err() && " ".parse::<ColumnChoice>().is_err());
}

#[test]
fn a_list_that_a_survey_wrote_is_read_as_it_was_written() {
    let written = "url\n\"http://a.ke/x,http://b.ke/\"\nhttp://c.ke/y;http://d.ke/\n\"http://e.ke/f,g.ke\"\n";
    let urls: Vec<String> =
        StartList::read(written.as_bytes(), None).unwrap().urls().map(|url| url.to_string()).collect();
    assert_eq!(urls, ["http://a.ke/x,http://b.ke/", "http://c.ke/y;http://d.ke/", "http://e.ke/f,g.ke"]);
}

#[test]
fn the_country_may_be_several_domains_of_any_script_and_level() {
    let urls_in = |domains: &[&str], list: &str| {
        let whole = area(1.0);
        let countries = CountryDomains::parse(domains.iter().copied(), &whole.suffixes).unwrap();
        read(list.as_bytes(), &Area { countries, ..whole }, None).map(|(urls, _)| urls)
    };
    let list = "пример.рф\nxn--e1afmkfd.xn--p1ai\na.ru\nb.co.ke\nc.ke\n192.0.2.1.np\nd.com.np\n";
    assert_eq!(urls_in(&["рф"], list).unwrap(), ["http://xn--e1afmkfd.xn--p1ai/"]);
    assert_eq!(
        urls_in(&["xn--p1ai", ".RU"], list).unwrap(),
        ["http://xn--e1afmkfd.xn--p1ai/", "http://a.ru/"]
    );
    assert_eq!(urls_in(&["co.ke"], list).unwrap(), ["http://b.co.ke/"]);
    assert_eq!(urls_in(&["np"], list).unwrap(), ["http://192.0.2.1.np/", "http://d.com.np/"]);
}

#[test]
fn what_lies_outside_is_taken_where_that_is_wished() {
    let list = "a.ke\nb.tz\n41.90.0.1\nb.tz\n";
    let outside =
        StartList::read(list.as_bytes(), Some(&Area { includes_outside: true, ..area(1.0) })).unwrap();
    assert_eq!(
        (outside.counts.urls, outside.counts.sites, outside.counts.outside, outside.counts.doubled),
        (3, 3, 2, 1)
    );
    assert_eq!((outside.left_out.len(), outside.left_out_urls().count()), (0, 0));
    let owners = lines(30, |n| format!("owner {n},41.90.0.{n},AS{n}"));
    let addresses = Area { includes_outside: true, ..area(1.0) };
    let found = StartList::read(owners.as_slice(), Some(&addresses)).unwrap();
    assert_eq!((found.counts.urls, found.counts.bad), (30, 0));
    let inside = StartList::read(list.as_bytes(), Some(&area(1.0))).unwrap();
    assert_eq!((inside.counts.urls, inside.counts.sites, inside.counts.outside), (1, 1, 2));
    assert_eq!(
        inside.left_out_urls().map(|url| url.to_string()).collect::<Vec<_>>(),
        ["http://b.tz/", "http://41.90.0.1/"]
    );
}
