//! Lists that were silently misread, by class: separators, columns, notes around names.

use super::StartList;
use super::lists_tests::Expected::{Mixed, Refused, Sites, Urls};
use super::lists_tests::{ListKind, lines};
use super::tests::area;

/// Rows below a header.
pub(super) fn below(header: &str, count: usize, row: impl Fn(usize) -> String) -> Vec<u8> {
    [format!("{header}\n").into_bytes(), lines(count, row)].concat()
}

#[test]
fn the_separator_is_the_one_that_leaves_no_other_beside_a_url() {
    let mut kind = ListKind::default();
    let eight: Vec<String> = (0..8).map(|n| format!("https://www.s{n}.ke/x")).collect();
    let eight: Vec<&str> = eight.iter().map(String::as_str).collect();
    let url = |n: usize| format!("https://www.s{n}.ke/x");
    for (name, list) in [
        ("commas", lines(8, |n| format!("{},200,text/html; charset=utf-8", url(n)))),
        ("commas, no blanks", lines(8, |n| format!("{},text/html;charset=utf-8", url(n)))),
        (
            "commas and a header",
            below("Address,Content Type,Status Code", 8, |n| {
                format!("{},text/html; charset=UTF-8,200", url(n))
            }),
        ),
        (
            "commas and a header in German",
            below("Zielseite,Inhaltstyp", 8, |n| format!("{},text/html;charset=utf-8", url(n))),
        ),
        ("commas and bars", below("Landing Page,Page Title", 8, |n| format!("{},Home | Site {n}", url(n)))),
        ("bars and semicolons", lines(8, |n| format!("{}|200|text/html; charset=utf-8", url(n)))),
        ("bars and commas", below("Adresse|Ort", 8, |n| format!("{}|Nairobi, Kenya {n}", url(n)))),
        ("semicolons and commas", lines(8, |n| format!("{};1,5;x{n}", url(n)))),
        ("semicolons and bars", lines(8, |n| format!("{};Home | Site {n}", url(n)))),
        ("tabs and semicolons", lines(8, |n| format!("{}\t200\ttext/html; charset=utf-8", url(n)))),
        ("tabs and commas", below("Lien\tVille", 8, |n| format!("{}\tMombasa, Kenya {n}", url(n)))),
        ("blanks and semicolons", lines(8, |n| format!("{} 200 text/html; charset=utf-8", url(n)))),
        (
            "the URL behind",
            below("Kode,Aina,Ukurasa", 8, |n| format!("200,text/html; charset=utf-8,{}", url(n))),
        ),
        (
            "the URL in the middle",
            below("Estado|Página|Tipo", 8, |n| format!("200|{}|text/html; charset=utf-8", url(n))),
        ),
        ("quoted", lines(8, |n| format!("\"{}\",\"200\",\"text/html; charset=utf-8\"", url(n)))),
        (
            "most rows with a charset",
            lines(8, |n| format!("{},200,text/html{}", url(n), if n == 3 { "" } else { "; charset=utf-8" })),
        ),
        ("two fields and three", lines(8, |n| format!("{},x; y{n}; z", url(n)))),
    ] {
        kind.check(name, &list, &Urls(&eight));
    }
    let long = below("Address,Content Type,Status Code", 40, |n| {
        format!("http://site{n}.ke/,text/html; charset=UTF-8,200")
    });
    kind.check("forty lines", &long, &Sites(40));
    let commas: Vec<String> = (0..9).map(|n| format!("http://s{n}.ke/x{}", ",y".repeat(n % 3))).collect();
    let list = below("Seite;Status", 9, |n| format!("{};aktiv", commas[n]));
    kind.check("commas in paths", &list, &Urls(&commas.iter().map(String::as_str).collect::<Vec<_>>()));
    let list = below("Seite;Status", 8, |n| format!("http://s{n}.ke/x,y.html;aktiv"));
    let same: Vec<String> = (0..8).map(|n| format!("http://s{n}.ke/x,y.html")).collect();
    kind.check("as many in each", &list, &Urls(&same.iter().map(String::as_str).collect::<Vec<_>>()));
    kind.end();
}

#[test]
fn a_column_of_name_servers_is_not_one_of_sites() {
    let mut kind = ListKind::default();
    for count in [3, 30] {
        let two = |n: usize| format!("ns1.p{n}.ke, ns2.p{n}.ke");
        for (name, list) in [
            ("a status between", lines(count, |n| format!("site{n}.ke;ACTIVE;{}", two(n)))),
            ("nothing between", lines(count, |n| format!("site{n}.ke;{}", two(n)))),
            ("below the names", lines(count, |n| format!("site{n}.ke;OK;ns1.site{n}.ke, ns2.site{n}.ke"))),
            ("before the names", lines(count, |n| format!("{};site{n}.ke;OK", two(n)))),
            ("quoted", lines(count, |n| format!("site{n}.ke,ACTIVE,\"ns1.p{n}.ke,ns2.p{n}.ke\""))),
            ("semicolons in commas", lines(count, |n| format!("site{n}.ke,ACTIVE,ns1.p{n}.ke;ns2.p{n}.ke"))),
            ("nothing but them", lines(count, |n| format!("site{n}.ke,ns1.p{n}.ke;ns2.p{n}.ke"))),
            (
                "tabs and blanks",
                lines(count, |n| format!("{n}\tsite{n}.ke\tns1.p{n}.ke ns2.p{n}.ke ns3.p{n}.ke")),
            ),
            ("bars", lines(count, |n| format!("site{n}.ke|ns1.p{n}.ke,dns.q{n}.ke"))),
            ("of two hosters", lines(count, |n| format!("site{n}.ke;x;ns1.p{n}.ke, ns1.q{n}.ke"))),
            ("one each", lines(count, |n| format!("site{n}.ke,ns1.p{n}.ke"))),
            ("one each, before", lines(count, |n| format!("dns{}.p{n}.ke\tsite{n}.ke", n % 3 + 1))),
            ("two columns of them", lines(count, |n| format!("site{n}.ke;ns1.p{n}.ke;ns2.p{n}.ke"))),
            (
                "a header in Spanish",
                below("Titular;Nombre;Servidores", count, |n| format!("X;site{n}.ke;{}", two(n))),
            ),
            (
                "a header in German",
                below("Adresse;Zustand;Nameserver", count, |n| format!("site{n}.ke;aktiv;{}", two(n))),
            ),
        ] {
            kind.check(&format!("{count}: {name}"), &list, &Sites(count));
        }
    }
    kind.end();
}

#[test]
fn of_a_line_of_names_none_is_lost_without_a_word() {
    let mut kind = ListKind::default();
    let three = ["http://a.ke/", "http://b.ke/", "http://c.ke/"];
    for list in [
        "['a.ke', 'b.ke', 'c.ke']",
        "[a.ke, b.ke, c.ke]\n",
        "('a.ke', 'b.ke', 'c.ke')",
        "(a.ke; b.ke; c.ke)",
        "{'a.ke', 'b.ke', 'c.ke'}",
        "{\"a.ke\", \"b.ke\", \"c.ke\"};",
        "['http://a.ke/', 'http://b.ke/', 'http://c.ke/']",
        "['a.ke', 'b.ke',\n 'c.ke']\n",
        "[\n'a.ke',\n'b.ke',\n'c.ke',\n]\n",
        "(\n  'a.ke',\n  'b.ke',\n  'c.ke'\n)\n",
        "['a.ke']\n['b.ke']\n['c.ke']\n",
        "[a.ke, b.ke]\n[c.ke]\n",
        "sites = ['a.ke', 'b.ke', 'c.ke']",
        "urls=[\"http://a.ke/\", \"http://b.ke/\", \"http://c.ke/\"]",
        "Sites: a.ke, b.ke, c.ke",
        "Liste des sites : a.ke, b.ke, c.ke",
        "Our sites: a.ke b.ke c.ke\n",
        "Sites: a.ke, b.ke\nMore: c.ke\n",
        "a.ke, b.ke and c.ke",
        "a.ke, b.ke, and c.ke",
        "a.ke und b.ke und c.ke",
        "a.ke, b.ke et c.ke",
        "a.ke, b.ke y c.ke",
        "a.ke & b.ke & c.ke",
        "a.ke, b.ke na c.ke",
        "a.ke / b.ke / c.ke",
        "a.ke, b.ke (c.ke)",
        "let sites = [\"a.ke\", \"b.ke\", \"c.ke\"];",
        "<a.ke>, <b.ke>, <c.ke>",
        "domains=a.ke,b.ke,c.ke",
        "\"['a.ke', 'b.ke', 'c.ke']\"",
        "sites\n[a.ke, b.ke, c.ke]\n",
        "x = [\n  'a.ke',\n  'b.ke',\n  'c.ke',\n]\n",
        "Tovuti: http://a.ke/, http://b.ke/ na http://c.ke/",
        "a.ke\u{3001}b.ke\u{3001}c.ke",
    ] {
        kind.check(list, list.as_bytes(), &Urls(&three));
    }
    let why = "bad: several names among other words: put each name on its own line";
    for list in [
        "hosts a.ke b.ke c.ke",
        "visit a.ke, then b.ke, then c.ke",
        "a.ke (main), b.ke (old), c.ke",
        "the sites are a.ke, b.ke, c.ke.",
        "set(['a.ke', 'b.ke', 'c.ke'])",
        "array('a.ke', 'b.ke')",
        "[u'a.ke', u'b.ke']",
        "Websites - a.ke, b.ke, c.ke",
        "1. a.ke 2. b.ke 3. c.ke",
        "a.ke - b.ke - c.ke",
        "a.ke, b.ke, c.ke etc.",
        "From: x@b.ke To: a.ke, c.ke",
        "a.ke;ACTIVE;ns1.p.ke, ns2.p.ke",
        "see: a.ke b.ke and some others\n",
        "http://a.ke/, old, http://b.ke/",
    ] {
        kind.check(list, list.as_bytes(), &Refused(why));
    }
    kind.check("one name", b"1,a.ke,x\n", &Urls(&["http://a.ke/"]));
    kind.check("a bullet", b"- a.ke\n- b.ke\n- c.ke\n", &Urls(&three));
    kind.check("addresses in brackets", b"[a.ke]\n(b.ke)\n[c.ke],\n", &Urls(&three));
    let list = [lines(30, |n| format!("site{n}.ke")), b"x.ke (now y.ke)\n".to_vec()].concat();
    let urls: Vec<String> = (0..30).map(|n| format!("http://site{n}.ke/")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    kind.check("one line among others", &list, &Mixed(&urls, &[why.strip_prefix("bad: ").unwrap()]));
    kind.end();
}

#[test]
fn hosts_that_no_public_server_has_are_bad_lines() {
    let mut kind = ListKind::default();
    for (list, why) in [
        ("http://server7/\n", "not a host name: 'server7' is not a top-level domain"),
        ("http://foo/\n", "not a host name: it has only one label"),
        ("https://intranet/x\n", "not a host name: 'intranet' is not a top-level domain"),
        ("http://localhost:8080/\n", "not a host name: 'localhost' is not a top-level domain"),
        ("http://printer.local/\n", "not a host name: 'local' is not a top-level domain"),
        ("http://www.example/\n", "not a host name: 'example' is not a top-level domain"),
        ("http://com/\n", "not a host name: it has only one label"),
        ("http://http://www.e.ke\n", "not a host name: the URL begins with its scheme twice"),
        ("https://http//www.e.ke\n", "not a host name: the URL begins with its scheme twice"),
        ("http://https:www.e.ke\n", "not a URL"),
    ] {
        let list = StartList::read(list.as_bytes(), Some(&area(1.0))).unwrap();
        assert_eq!((list.counts.bad, list.counts.outside), (1, 0), "{list:?}");
        if why != "not a URL" {
            assert_eq!(list.bad[0].why, why);
        }
    }
    kind.check("the country's own", b"http://ke/\n", &Urls(&["http://ke/"]));
    kind.end();
}

#[test]
fn a_row_without_a_website_is_none_that_is_bad() {
    let mut kind = ListKind::default();
    for nothing in [
        "", " ", "N/A", "n/a", "NA", "#N/A", "-", "--", "\u{2014}", "none", "None", "NULL", "nan", "nil",
        "?", "keine", "k. A.", "aucun", "ninguno", "nenhum", "hakuna", "\u{a0}", "\u{200b}", "\"\"",
        "\"N/A\"", "n.a.", "...",
    ] {
        // More than half of the rows have no value: it is a column of websites all the same.
        for header in ["School,Website,Town", "Shule,Ukurasa,Mji"] {
            let list = below(header, 30, |n| match n % 3 {
                0 => format!("School {n},site{}.ke,Town", n / 3),
                _ => format!("School {n},{nothing},Town"),
            });
            kind.check(&format!("{header}: '{nothing}'"), &list, &Sites(10));
            let list = StartList::read(list.as_slice(), Some(&area(1.0))).unwrap();
            assert_eq!((list.counts.lines, list.counts.bad), (10, 0), "'{nothing}'");
        }
        let list = below("Schule;Seite", 12, |n| match n {
            0 => format!("{n};{nothing}"),
            n => format!("{n};site{}.ke", n - 1),
        });
        kind.check(&format!("semicolons, the first row: '{nothing}'"), &list, &Sites(11));
    }
    kind.check("one a line", b"website\nsite0.ke\nN/A\n-\nsite1.ke\n", &Sites(2));
    kind.check("several a line", b"site0.ke, site1.ke\n-\nnone\nsite2.ke\n", &Sites(3));
    kind.check(
        "a word that says something",
        &below("School,Website", 12, |n| {
            format!("x,{}", if n == 11 { "facebook".into() } else { format!("site{n}.ke") })
        }),
        &Mixed(
            &(0..11)
                .map(|n| format!("http://site{n}.ke/"))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
            &["neither a URL nor a host name"],
        ),
    );
    kind.end();
}

#[test]
fn a_url_with_a_note_behind_it_is_no_other_url() {
    let mut kind = ListKind::default();
    let urls: Vec<String> = (0..30).map(|n| format!("http://site{n}.ke/")).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let why = "the URL contains a space: write it as %20, or put a '#' before a note";
    for line in [
        "http://o.ke/ old",
        "http://o.ke/x (old)",
        "http://o.ke/my page.html",
        "https://o.ke/?q=a b",
        "http://o.ke/\u{a0}alt",
        "o.ke/x old",
        "http://o.ke/ – closed",
        "http:// o.ke/",
        "http://o.ke/\u{3000}x",
    ] {
        let list = [lines(30, |n| format!("http://site{n}.ke/")), format!("{line}\n").into_bytes()].concat();
        kind.check(line, &list, &Mixed(&urls, &[why]));
    }
    kind.check("a note", b"http://site0.ke/ # old\nhttp://site1.ke/\n", &Sites(2));
    kind.end();
}

#[test]
fn marks_that_nobody_sees_are_left_out() {
    let mut kind = ListKind::default();
    for mark in [
        "\u{200b}", "\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}", "\u{202a}", "\u{202b}", "\u{202c}",
        "\u{202d}", "\u{202e}", "\u{2060}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}", "\u{feff}",
        "\u{ad}",
    ] {
        for list in [
            format!("{mark}site0.ke{mark}\n{mark}http://site1.ke/{mark}\n"),
            format!("domain\n{mark}site0.ke\nsite1.ke{mark}\n"),
            format!("{mark}Domain{mark};x\nsite0.ke{mark};1\n{mark}site1.ke;2\n"),
            format!("1,{mark}\"site0.ke\"{mark}\n2,\"{mark}site1.ke{mark}\"\n"),
            format!("{mark}site0.ke{mark}, {mark}site1.ke{mark}\n"),
            format!("{mark}\nsite0.ke\n{mark}\nsite1.ke\n{mark}"),
        ] {
            kind.check(&format!("{list:?}"), list.as_bytes(), &Sites(2));
        }
    }
    kind.end();
}

#[test]
fn the_sign_that_ended_files_once_is_no_line() {
    let mut kind = ListKind::default();
    for list in [
        "site0.ke\nsite1.ke\n\u{1a}",
        "site0.ke\r\nsite1.ke\u{1a}",
        "site0.ke\r\nsite1.ke\r\n\u{1a}\r\n",
        "1,site0.ke\n2,site1.ke\n\u{1a}\u{1a}\u{1a}",
        "domain\nsite0.ke\n\u{1a}site1.ke\n\u{1a}",
        "ke. IN SOA a. b. 1 2 3 4 5\nsite0.ke. NS x.\nsite1.ke. NS x.\n\u{1a}",
        "$ORIGIN ke.\n@ SOA a b 1 2 3 4 5\nsite0 NS x\nsite1 NS x\u{1a}\n\u{1a}\n",
    ] {
        kind.check(&format!("{list:?}"), list.as_bytes(), &Sites(2));
    }
    kind.end();
}
