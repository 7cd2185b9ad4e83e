use std::io::Write;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use super::*;
use crate::address::{CountryDomains, SuffixSection, Suffixes, WebUrl};

fn read(text: impl AsRef<[u8]>) -> StartList {
    StartList::read(text.as_ref(), None).unwrap()
}

fn urls(list: &StartList) -> Vec<String> {
    list.urls().map(|url| url.as_str().to_owned()).collect()
}

/// The URLs of a list without a bad line.
#[track_caller]
fn good(text: impl AsRef<[u8]>) -> Vec<String> {
    let list = read(text);
    assert_eq!(list.bad, []);
    urls(&list)
}

fn bad(list: &StartList) -> Vec<(u64, &str, &str)> {
    list.bad.iter().map(|bad| (bad.line, bad.value.as_str(), bad.why.as_str())).collect()
}

fn columns(separator: Separator, column: usize, columns: usize, header: Option<&str>) -> Form {
    let labels = Labels::Usual;
    Form::Columns { separator, column, columns, header: header.map(str::to_owned), labels }
}

pub(super) fn area(share: f64) -> Area {
    static SUFFIXES: LazyLock<Arc<Suffixes>> = LazyLock::new(|| {
        let list = include_str!("../../../data/public_suffix_list.dat");
        Arc::new(Suffixes::parse(list, SuffixSection::Icann).unwrap())
    });
    let countries = CountryDomains::parse(["ke"], &SUFFIXES).unwrap();
    let sample = Sample { share, seed: 7 };
    Area { suffixes: SUFFIXES.clone(), countries, sample, includes_outside: false, permits_special: false }
}

#[test]
fn a_column_with_a_known_name_is_read_wherever_it_stands() {
    for (text, form) in [
        ("site,URL\na,http://a.ke/\nb,\"http://b.ke/\"\n", columns(Separator::Comma, 1, 2, Some("URL"))),
        ("Domain;Status\na.ke;active\nb.ke;active\n", columns(Separator::Semicolon, 0, 2, Some("Domain"))),
        ("rank\thostname\n1\ta.ke\n2\tb.ke\n", columns(Separator::Tab, 1, 2, Some("hostname"))),
        (
            "\u{feff}\"n\",\"Domain Name\",\"x\"\r\n1,a.ke,\r\n2,b.ke,\r\n",
            columns(Separator::Comma, 1, 3, Some("Domain Name")),
        ),
    ] {
        assert_eq!(read(text).form, form, "{text}");
        assert_eq!(good(text), ["http://a.ke/", "http://b.ke/"], "{text}");
    }
}

#[test]
fn without_a_header_the_column_of_names_is_found() {
    for (text, form) in [
        ("1,a.ke\n2,b.ke\n", columns(Separator::Comma, 1, 2, None)),
        ("a.ke;active\nb.ke;active\n", columns(Separator::Semicolon, 0, 2, None)),
        ("a.ke;1,5;x\nb.ke;1,5;x\n", columns(Separator::Semicolon, 0, 3, None)),
        ("192.0.2.1\ta.ke\n192.0.2.2\tb.ke\n", columns(Separator::Tab, 1, 2, None)),
        (
            "2026-01-02,\"a.ke\",ns1.x.ke\n2026-01-02,\"b.ke\",ns1.x.ke\n",
            columns(Separator::Comma, 1, 3, None),
        ),
        ("Rang,Name der Seite\n1,a.ke\n2,b.ke\n", columns(Separator::Comma, 1, 2, Some("Name der Seite"))),
        ("   12 a.ke\n    7 b.ke\n", columns(Separator::Blanks, 1, 2, None)),
        ("1|a.ke|x\n2|b.ke|x\n", columns(Separator::Bar, 1, 3, None)),
        ("# a ranking\n1,a.ke # big\n2,b.ke\n", columns(Separator::Comma, 1, 2, None)),
    ] {
        assert_eq!(read(text).form, form, "{text}");
        assert_eq!(good(text), ["http://a.ke/", "http://b.ke/"], "{text}");
    }
    assert_eq!(good("1,google.co.ke"), ["http://google.co.ke/"]);
    assert_eq!(good("kplc.co.ke;active"), ["http://kplc.co.ke/"]);
}

#[test]
fn one_url_or_name_a_line_needs_no_header() {
    let text =
        "# my list\nexample.ke\nhttps://b.ke/x#top\n\nwww.c.ke:8080/d,e\nD.ke. # mine\n\"http://e.ke/a,b\"\n";
    assert_eq!(
        good(text),
        [
            "http://example.ke/",
            "https://b.ke/x",
            "http://www.c.ke:8080/d,e",
            "http://d.ke/",
            "http://e.ke/a,b"
        ]
    );
    assert_eq!(good("http://a.ke/x,y;z?a=b,c"), ["http://a.ke/x,y;z?a=b,c"]);
    assert_eq!(good("domain\na.ke\rb.ke\r"), ["http://a.ke/", "http://b.ke/"]);
    assert_eq!(good("url\nhttp://a.ke/1,2\nhttp://a.ke/3,4\n"), ["http://a.ke/1,2", "http://a.ke/3,4"]);
}

#[test]
fn names_of_other_scripts_are_read_as_uts_46_has_them() {
    assert_eq!(
        good("bücher.ke\nBU\u{308}CHER2.ke\nxn--bcher-kva.tz\nfoo_bar.ke\n中国\u{3002}中国\n").len(),
        5
    );
    assert_eq!(good("bücher.ke"), ["http://xn--bcher-kva.ke/"]);
}

#[test]
fn names_in_ascii_that_do_not_decode_are_read_as_they_are() {
    let names = "XN--A.ke\nhttp://xn--0.ke/\nxn--1ug.ke:8080/x\nxn--zn7c.ke\nxn--fx-3s9cx68e-jpnet.ke\n";
    let expected = [
        "http://xn--a.ke/",
        "http://xn--0.ke/",
        "http://xn--1ug.ke:8080/x",
        "http://xn--zn7c.ke/",
        "http://xn--fx-3s9cx68e-jpnet.ke/",
    ];
    assert_eq!(good(names), expected);
    let zone = "$ORIGIN ke.\n@ IN SOA a b 1 2 3 4 5\nXN--A IN NS x\nxn--1ug IN NS x\n";
    assert_eq!(good(zone), ["http://xn--a.ke/", "http://xn--1ug.ke/"]);
    let list = read("xn--a.\u{65e5}\nxn--a,b.ke/x\nxn--\u{fffd}.ke\nxn--a..ke\n");
    assert_eq!((list.counts.urls, list.counts.bad), (0, 4));
}

#[test]
fn what_is_no_host_name_is_a_bad_line() {
    let text = "good.ke\nmailto:me@y.ke\nme@y.ke\nhttp://me@y.ke/\nftp://b.ke/\nnonsense\n1.5\nx.*.ke\na!b.ke\nhttp://1,google.co.ke/\n";
    assert_eq!(
        bad(&read(text)),
        [
            (2, "mailto:me@y.ke", "a mail address, not a host name"),
            (3, "me@y.ke", "a mail address, not a host name"),
            (4, "http://me@y.ke/", "the URL has a user name before the host: leave it out"),
            (5, "ftp://b.ke/", "not an http or https URL"),
            (6, "nonsense", "neither a URL nor a host name"),
            (7, "1.5", "neither a URL nor a host name"),
            (8, "x.*.ke", "a host name cannot contain '*'"),
            (9, "a!b.ke", "a host name cannot contain '!'"),
            (10, "http://1,google.co.ke/", "a host name cannot contain ','"),
        ]
    );
}

#[test]
fn lines_that_do_not_fit_the_others_are_bad() {
    let list = read(format!("{}7\n8,\n9,nonsense\n", "1,a.ke\n2,b.ke\n".repeat(20)));
    assert_eq!(bad(&list), [(43, "nonsense", "neither a URL nor a host name")]);
    assert_eq!((list.counts.lines, list.counts.urls, list.counts.doubled, list.counts.bad), (41, 2, 38, 1));
    assert_eq!(list.counts.without_value, 2);
    let joined = format!("{}c.ke\nd.ke\n", "1,a.ke\n2,b.ke\n".repeat(20));
    let list = StartList::read(joined.as_bytes(), Some(&area(1.0))).unwrap();
    let why = "the row has 1 column, but no column 2";
    assert_eq!(bad(&list), [(41, "c.ke", why), (42, "d.ke", why)]);
    assert!(!list.is_mostly_bad() && read("a.ke\nnonsense\n").is_mostly_bad());
    let tenth = read(format!("nonsense\n{}", (1..10).map(|n| format!("a{n}.ke\n")).collect::<String>()));
    assert!(!tenth.is_mostly_bad() && tenth.counts.bad == 1);
}

#[test]
fn a_quote_that_is_not_closed_costs_its_own_line() {
    let list = read("url\nhttp://a.ke/\n\"http://b.ke/\nhttp://c.ke/\n");
    assert_eq!(urls(&list), ["http://a.ke/", "http://c.ke/"]);
    assert_eq!(bad(&list), [(3, "http://b.ke/", "a quote is opened here but not closed")]);
    let list = read("url,x\nhttp://a.ke/,1\n\"http://b.ke/,2\nhttp://c.ke/,3\n");
    assert_eq!(urls(&list), ["http://a.ke/", "http://c.ke/"]);
    assert_eq!(bad(&list), [(3, "http://b.ke/,2", "a quote is opened here but not closed")]);
}

#[test]
fn a_cell_of_several_lines_is_one_cell() {
    let text = "note,domain\n\"two\nlines, \"\"quoted\"\"\",a.ke\nnone,b.ke\n";
    assert_eq!(good(text), ["http://a.ke/", "http://b.ke/"]);
    assert_eq!(
        bad(&read("domain,note\n\"a\nb.ke\",x\nb.ke,y\n")),
        [(2, "a", "a URL that continues on the next line")]
    );
}

#[test]
fn what_is_no_text_is_a_bad_line() {
    let list = read(b"url\n\xe9t\xe9.ke\nhttp://a.ke/\n");
    assert_eq!(
        (list.counts.urls, bad(&list)[0].2),
        (1, "not valid UTF-8: convert the list to UTF-8, e.g. with iconv")
    );
    let long = read([b"a.ke\n".as_slice(), &vec![b'x'; MOST_LINE_BYTES + 1], b"\nb.ke\n"].concat());
    assert_eq!(
        (urls(&long).len(), bad(&long)[0].2),
        (2, "a line of more than 65536 bytes: put one URL or name on each line")
    );
}

#[test]
fn a_zone_file_gives_the_names_below_it_each_once() {
    let zone = "$TTL 3600\n$ORIGIN ke.\n@ IN SOA ns1 host ( 1 2 ; serial\n 3 4 5 )\n IN NS ns1\na NS x\n NS y\nb.co 60 IN NS x\n\
                a IN DS 1 2 3 AB\n*.c NS x\na NS z\nxn--bcher-kva IN 60 NS x\n";
    let list = read(zone);
    assert_eq!((list.form.clone(), list.zone.as_deref()), (Form::Zone, Some("ke.")));
    assert_eq!(urls(&list), ["http://a.ke/", "http://b.co.ke/", "http://xn--bcher-kva.ke/"]);
    assert_eq!(bad(&list), [(10, "*.c.ke", "a host name cannot contain '*'")]);
    assert_eq!(list.counts.doubled, 0);
    assert_eq!(
        good("; <<>> DiG <<>> axfr\nke.\t900\tin\tsoa\ta. b. 1 2 3 4 5\na.ke.\t900\tin\tns\tx.\n"),
        ["http://a.ke/"]
    );
}

#[test]
fn all_forms_are_read_packed_too() {
    for text in ["1,a.ke\n2,b.ke\n", "a.ke\nb.ke\n", "ke. SOA a. b. 1 2 3 4 5\na.ke. NS x.\nb.ke. NS x.\n"] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        for packed in [gzip.finish().unwrap(), zstd::encode_all(text.as_bytes(), 1).unwrap()] {
            assert_ne!(read(&packed).packing, Packing::None);
            assert_eq!(good(&packed), ["http://a.ke/", "http://b.ke/"]);
        }
    }
}

#[test]
fn sites_doubles_and_what_lies_outside_are_counted() {
    let list =
        StartList::read(&b"a.ke\nwww.a.ke/x\nhttps://a.ke/\nb.co.ke\nc.tz\nnonsense\n"[..], Some(&area(1.0)))
            .unwrap();
    let counts = Counts {
        lines: 6,
        urls: 3,
        sites: 2,
        inside: 3,
        outside: 1,
        doubled: 1,
        bad: 1,
        sites_in_list: 2,
        ..Counts::default()
    };
    assert_eq!(list.counts, counts);
    assert_eq!(urls(&list), ["http://a.ke/", "http://www.a.ke/x", "http://b.co.ke/"]);
    assert_eq!(list.left_out, [OutsideUrl { line: 5, url: WebUrl::parse("http://c.tz/").unwrap() }]);
    assert_eq!(list.left_out_urls().collect::<Vec<_>>(), [list.left_out[0].url.clone()]);
}

#[test]
fn a_sample_draws_whole_sites_whatever_the_order() {
    let names: Vec<String> = (0..2000).map(|n| format!("s{n}.ke")).collect();
    let drawn = |names: &[String], share: f64| {
        let text: String =
            names.iter().flat_map(|name| [format!("{name}\n"), format!("www.{name}\n")]).collect();
        let list = StartList::read(text.as_bytes(), Some(&area(share))).unwrap();
        assert_eq!((list.counts.urls, list.counts.sites_in_list), (2 * list.counts.sites, 2000));
        let mut urls = urls(&list);
        urls.sort();
        urls
    };
    let tenth = drawn(&names, 0.1);
    assert!((150..250).contains(&(tenth.len() / 2)), "{}", tenth.len());
    let backwards: Vec<String> = names.iter().rev().cloned().collect();
    assert_eq!(drawn(&backwards, 0.1), tenth);
    let fifth = drawn(&names, 0.2);
    assert!(tenth.iter().all(|url| fifth.contains(url)));
    assert_eq!(drawn(&names, 1.0).len(), 4000);
}

#[test]
fn an_empty_list_is_one() {
    for text in ["", "\n\n", "# nothing\n", "url\n", "\u{feff}"] {
        let list = read(text);
        assert_eq!((list.is_empty(), list.counts.lines, list.urls().count()), (true, 0, 0), "{text:?}");
    }
}

#[test]
fn a_list_of_urls_gives_them_back() {
    let start: Vec<WebUrl> =
        ["http://a.ke/", "https://b.ke/x?y"].map(|url| WebUrl::parse(url).unwrap()).into();
    assert_eq!(StartList::from_urls(&start).unwrap().urls().collect::<Vec<_>>(), start);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = StartList::read(bytes.as_slice(), None);
    }

    #[test]
    fn pieces_of_lists_in_any_order_are_read_without_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..60)
    ) {
        if let Ok(list) = StartList::read(pieces.concat().as_bytes(), Some(&area(0.5))) {
            prop_assert_eq!(list.urls().count() as u64, list.counts.urls);
            let left_out: Vec<WebUrl> = list.left_out_urls().collect();
            prop_assert_eq!(left_out.len() as u64, list.counts.outside);
            prop_assert!(left_out.iter().all(|url| !area(0.5).contains(url)));
            prop_assert!(list.counts.urls <= list.counts.inside);
            prop_assert!(list.counts.inside + list.counts.outside + list.counts.bad + list.counts.doubled <= list.counts.lines);
            for url in list.urls() {
                let is_usual = |c: char| c.is_ascii_alphanumeric() || "-_.:[]".contains(c);
                prop_assert!(url.host().as_str().chars().all(is_usual), "{}", url);
                prop_assert!(area(0.5).contains(&url), "{}", url);
            }
        }
    }
}

/// Text that begins or ends something in one of the forms.
const PIECES: [&str; 53] = [
    "a.ke",
    "b.co.ke",
    "http://",
    "https://c.ke/x",
    "/",
    ":",
    "@",
    ",",
    ";",
    "\t",
    "|",
    " ",
    "\"",
    "\"\"",
    "#",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "$ORIGIN ke.",
    "$TTL 1h",
    " NS x.",
    " IN",
    " SOA",
    "(",
    ")",
    "\\",
    "\\046",
    "url",
    "domain",
    "\u{feff}",
    "sep=;\n",
    "*.",
    "ke.co.d",
    "41.90.0.1",
    "10.0.0.1",
    "e.tz",
    "page.html",
    "\u{201c}",
    "-",
    "name",
    "$GENERATE 1-3 h$ NS x\n",
    "$INCLUDE x\n",
    "[",
    "]",
    "'",
    "Sites: ",
    "sites = ",
    " and ",
    "N/A",
    "\u{202e}",
    "\u{1a}",
    "ns1.",
];
