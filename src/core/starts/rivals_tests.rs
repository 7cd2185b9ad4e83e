//! Lists in which two columns, or two kinds of lines, could be meant: no survey begins with the wrong one.

use super::lists_tests::{ListKind, lines, read};
use super::misread_tests::below;
use super::tests::area;

/// The expected result of a list.
enum ExpectedReading<'a> {
    /// The number of start URLs, the beginning of each of their hosts, and no bad line.
    Hosts(usize, &'a str),
    /// These start URLs and no bad line.
    Urls(&'a [String]),
    /// No survey begins, for a reason that contains these words.
    Refused(&'a str),
}

use ExpectedReading::{Hosts, Refused, Urls};

fn check(kind: &mut ListKind, name: &str, list: &[u8], expected: &ExpectedReading<'_>) {
    let read = read(list, &area(1.0), None);
    let is_right = match (expected, &read) {
        (Hosts(count, begin), Ok((urls, bad))) => {
            let begins = |url: &String| {
                url.trim_start_matches("https://").trim_start_matches("http://").starts_with(begin)
            };
            bad.is_empty() && urls.len() == *count && urls.iter().all(begins)
        }
        (Urls(expected), Ok((urls, bad))) => bad.is_empty() && urls == expected,
        (Refused(why), Err(told)) => told.contains(why),
        _ => false,
    };
    if !is_right {
        let read = read.map(|(urls, bad)| (urls.len(), urls[..urls.len().min(3)].to_vec(), bad));
        kind.add(format!("{name}: {read:?}"));
    }
}

#[test]
fn where_two_columns_have_other_sites_one_is_to_be_chosen() {
    let mut kind = ListKind::default();
    let why = "choose one with --column";
    for (name, list) in [
        (
            "pages of a directory",
            below("url,name,town,website", 60, |n| {
                format!("https://www.yellow.co.ke/listing/{n},Firm {n},Nairobi,www.firm{n}.co.ke")
            }),
        ),
        (
            "hosters",
            below("Name;Host;Homepage", 60, |n| format!("Firm {n};srv{n}.safaricom.co.ke;www.f{n}.co.ke")),
        ),
        ("logos", below("id,url,hp", 60, |n| format!("{n},https://cdn.logos.co.ke/{n}.png,www.f{n}.co.ke"))),
        ("hosts", below("name,hostname", 60, |n| format!("alpha{n}.co.ke,web{n}.hoster.co.ke"))),
        ("registrars", below("doména;registrátor", 60, |n| format!("d{n}.co.ke;www.reg{n}.co.ke"))),
        ("old and new", below("old_domain,new_domain", 60, |n| format!("old{n}.co.ke,new{n}.co.ke"))),
        ("a name shifted everywhere", {
            below("name,registrar_site,domain", 60, |n| format!("Firm{n}, Ltd,www.r{n}.co.ke,d{n}.co.ke"))
        }),
    ] {
        check(&mut kind, name, &list, &Refused(why));
    }
    let short = below("name,website,domain", 4, |n| {
        format!("Firm {n},{},d{n}.co.ke", if n == 0 { "www.firm.co.ke" } else { "" })
    });
    check(&mut kind, "four rows", &short, &Refused(why));
    let one = below("url,domain", 1, |_| "https://yellow.co.ke/listing/7,d7.co.ke".to_owned());
    check(&mut kind, "one row", &one, &Refused(why));
    let provider = below("Name,Website,Provider", 1, |_| "Firm,www.firm.ke,www.provider.ke".to_owned());
    check(&mut kind, "one row with a known name", &provider, &Hosts(1, "www.firm"));
    let space =
        below("\"domain\" \"registrar\"", 60, |n| format!("\"d{n}.co.ke\" \"www.reg{}.co.ke\"", n % 3));
    check(&mut kind, "blanks between quotes", &space, &Hosts(60, "d"));
    let few = below("domain,registrar site", 60, |n| format!("d{n}.co.ke,www.reg{}.co.ke", n % 3));
    check(&mut kind, "a few registrars", &few, &Hosts(60, "d"));
    let same = below("url,domain", 60, |n| format!("https://www.d{n}.co.ke/page,d{n}.co.ke"));
    check(&mut kind, "the same sites", &same, &Hosts(60, "www.d"));
    let servers = below("domain,nameserver", 60, |n| format!("d{n}.co.ke,ns1.host{n}.co.ke"));
    check(&mut kind, "name servers", &servers, &Hosts(60, "d"));
    kind.end();
}

#[test]
fn a_named_column_is_not_left_for_what_stands_in_its_gaps() {
    let mut kind = ListKind::default();
    let notes = below("School,Website,ICT provider", 60, |n| {
        let site = if n % 5 < 2 { format!("www.s{n}.sc.ke") } else { "coming soon".to_owned() };
        format!("School {n},{site},www.provider{}.co.ke", n % 7)
    });
    check(&mut kind, "notes", &notes, &Refused("bad: neither a URL"));
    let late = below("School,Website,County office", 2600, |n| {
        let site = if n < 600 { String::new() } else { format!("www.s{n}.sc.ke") };
        format!("School {n},{site},county{}.go.ke", n % 4)
    });
    check(&mut kind, "six hundred rows without a site", &late, &Hosts(2000, "www.s"));
    let many = below("School,Website,County office", 2600, |n| {
        let site = if n < 600 { String::new() } else { format!("www.s{n}.sc.ke") };
        format!("School {n},{site},county{n}.go.ke")
    });
    check(&mut kind, "and many offices", &many, &Refused("choose one with --column"));
    kind.end();
}

#[test]
fn rows_with_more_columns_than_others_may_be_shifted() {
    let mut kind = ListKind::default();
    let some = below("name,parent_site,domain,town", 60, |n| {
        let name = if n % 3 == 0 { "Firm, Ltd" } else { "Firm" };
        format!("{name},www.holding{}.co.ke,d{n}.co.ke,Nairobi", n % 3)
    });
    check(&mut kind, "a third", &some, &Refused("bad: the row has 5 columns, expected 4"));
    let notes = below("name,site", 60, |n| format!("Firm,www.d{n}.co.ke,called in May"));
    check(&mut kind, "notes that the header does not name", &notes, &Hosts(60, "www.d"));
    let behind =
        below("site,name", 60, |n| format!("www.d{n}.co.ke,Firm{}", if n % 3 == 0 { ", Ltd" } else { "" }));
    check(&mut kind, "behind the column", &behind, &Hosts(60, "www.d"));
    let empty = below("name,site", 60, |n| format!("Firm,www.d{n}.co.ke{}", ",".repeat(n % 3)));
    check(&mut kind, "empty cells at the end", &empty, &Hosts(60, "www.d"));
    kind.end();
}

#[test]
fn what_is_no_list_of_sites_is_refused() {
    let mut kind = ListKind::default();
    let record = |n: usize| {
        format!(
            "domain:  d{n}.co.ke\nnserver: ns1.h{n}.co.ke\nnserver: ns2.h{n}.co.ke\nregistrar-url: www.r{n}.co.ke\n"
        )
    };
    check(&mut kind, "records", &lines(20, record), &Refused("its lines have labels ('domain:', 'nserver:'"));
    let labels = below("Domain,Zone", 9, |n| format!("d{n},{}.ke", ["co", "ac", "or"][n % 3]));
    check(&mut kind, "labels beside their zones", &labels, &Refused("neither a URL nor a host name"));
    let anchors =
        below("id;web", 9, |n| format!("{n};\"<a href=\"\"http://www.a{n}.co.ke/\"\">www.a{n}.co.ke</a>\""));
    check(&mut kind, "anchors", &anchors, &Refused("HTML"));
    let doubled = lines(9, |n| format!("d{n}.co.ke\tNS\tns1.host{n}.co.ke"));
    check(&mut kind, "names without the last dot", &doubled, &Hosts(9, "d"));
    let doubled = [b"$ORIGIN ke.\n".to_vec(), doubled].concat();
    check(
        &mut kind,
        "the same below an origin",
        &doubled,
        &Refused("end with the name of the zone twice ('d0.co.ke.ke')"),
    );
    kind.end();
}

#[test]
fn urls_with_separators_in_their_paths_are_whole() {
    let mut kind = ListKind::default();
    for (name, url) in [
        ("commas", "http://www.d1.ke/artykuly,0,12.html"),
        ("one comma", "http://www.d1.ke/a,1.html"),
        ("sessions", "http://www.d1.ke/page.do;jsessionid=1F"),
        ("a parameter", "http://www.d1.ke/page;u=7"),
    ] {
        let list: Vec<String> = (0..9).map(|n| url.replace("d1", &format!("d{n}"))).collect();
        let text = lines(9, |n| list[n].clone());
        check(&mut kind, name, &text, &Urls(&list));
    }
    let table = lines(9, |n| format!("http://www.d{n}.ke/,12,x.html"));
    let urls: Vec<String> = (0..9).map(|n| format!("http://www.d{n}.ke/")).collect();
    check(&mut kind, "a table of front pages", &table, &Urls(&urls));
    kind.end();
}

#[test]
fn port_443_stands_for_https() {
    let mut kind = ListKind::default();
    let urls: Vec<String> = (0..3).map(|n| format!("https://d{n}.co.ke/")).collect();
    check(&mut kind, "port 443", &lines(3, |n| format!("d{n}.co.ke:443")), &Urls(&urls));
    kind.end();
}

#[test]
fn what_a_program_printed_for_people_is_no_list() {
    let mut kind = ListKind::default();
    let tibble = b"# A tibble: 3,400 \xc3\x97 2\n  domain    rank\n  <chr>    <int>\n1 d1.co.ke     1\n2 d2.co.ke     2\n\
        3 d3.or.ke     3\n# \xe2\x84\xb9 3,397 more rows\n";
    check(&mut kind, "a tibble", tibble, &Refused("as CSV"));
    let pandas = b"        domain  rank\n0     d1.co.ke     1\n1     d2.co.ke     2\n..         ...   ...\n3399  d9.co.ke  3400\n\
        \n[3400 rows x 2 columns]\n";
    check(&mut kind, "a data frame", pandas, &Refused("as CSV"));
    let numbered = lines(9, |n| format!("{}.d{n}.co.ke", n + 1));
    check(&mut kind, "numbers without a blank", &numbered, &Refused("numbered"));
    let titled = below("sites of Kenya", 9, |n| format!("{}.d{n}.co.ke", n + 1));
    check(&mut kind, "numbers below a title", &titled, &Refused("numbered"));
    // Servers may be numbered themselves.
    let of_one = lines(9, |n| format!("{}.pool{}.co.ke", 9 - n, n % 2));
    check(&mut kind, "numbered names", &of_one, &Hosts(9, ""));
    kind.end();
}

#[test]
fn of_a_list_in_markdown_the_links_are_read() {
    let mut kind = ListKind::default();
    for (name, line) in [
        ("links", "[Firm](https://dN.co.ke/)"),
        ("links in a list", "- [Firm, Ltd](https://dN.co.ke/) \u{2014} a note, and more"),
        ("links with a title", "* [Firm N](https://dN.co.ke/a_(b) \"The firm\")"),
        ("links that show the name", "1. [www.dN.co.ke](https://dN.co.ke)"),
        ("names in a list", "+ <https://dN.co.ke/>"),
        ("numbered names", "N) dN.co.ke"),
    ] {
        let list = lines(9, |n| line.replace('N', &n.to_string()));
        check(&mut kind, name, &list, &Hosts(9, "d"));
        check(&mut kind, name, &below("# Firms", 9, |n| line.replace('N', &n.to_string())), &Hosts(9, "d"));
    }
    let two = below("https://d9.co.ke/", 3, |n| {
        format!("see [A](https://a{n}.co.ke/) and [B](https://b{n}.co.ke/)")
    });
    check(&mut kind, "two links in a line", &two, &Refused("several names"));
    kind.end();
}

#[test]
fn of_relations_the_names_that_were_found_are_read() {
    let mut kind = ListKind::default();
    let relations = lines(20, |n| format!("w{n}.co.ke (FQDN) --> a_record --> 41.1.2.{n} (IPAddress)"));
    check(&mut kind, "addresses", &relations, &Hosts(20, "w"));
    let others = lines(20, |n| match n % 2 {
        0 => format!("w{n}.co.ke (FQDN) --> a_record --> 41.1.2.{n} (IPAddress)"),
        _ => format!("w{n}.co.ke (FQDN) --> cname_record --> www.cdn{n}.co.ke (FQDN)"),
    });
    check(&mut kind, "addresses and names", &others, &Hosts(20, "w"));
    kind.end();
}

#[test]
fn columns_of_other_sites_are_seen_also_without_a_header_and_with_two_known_names() {
    let mut kind = ListKind::default();
    let refused = Refused("choose one with --column");
    let two = |n: usize| format!("Firm {n},a{n}.co.ke,b{n}.co.ke");
    check(&mut kind, "without a header", &lines(20, two), &refused);
    check(&mut kind, "numbered", &lines(20, |n| format!("{n},a{n}.co.ke,b{n}.go.ke")), &refused);
    let named = below("url,website", 20, |n| format!("a{n}.co.ke,b{n}.co.ke"));
    check(&mut kind, "two known names", &named, &refused);
    let tuples = |n: usize| {
        let tuple = |k: usize| format!("({n},'h{n}-{k}.co.ke')");
        format!("INSERT INTO `site` VALUES {};", [0, 1, 2].map(tuple).join(","))
    };
    check(&mut kind, "tuples", &lines(20, tuples), &refused);
    kind.end();
}

#[test]
fn a_quote_that_swallows_rows_is_a_bad_line_and_they_are_read() {
    let list = [
        "Firm 0,z.ke",
        "\"Foo,a.ke",
        "Firm 1,b.ke",
        "Firm 2,c.ke",
        "Bar\",d.ke",
        "Firm 3,e.ke",
        "\"Two",
        "lines\",f.ke",
    ];
    let rows: Vec<String> = (0..9).map(|n| format!("Other {n},s{n}.ke")).collect();
    let list = [list.join("\n"), rows.join("\n")].join("\n");
    let (urls, bad) = read(list.as_bytes(), &area(1.0), None).unwrap();
    let hosts = ["z", "b", "c", "d", "e", "f"].map(str::to_owned).into_iter();
    let hosts = hosts.chain((0..9).map(|n| format!("s{n}"))).map(|name| format!("http://{name}.ke/"));
    assert_eq!(urls, hosts.collect::<Vec<_>>());
    assert_eq!(bad.len(), 1, "{bad:?}");
}

#[test]
fn a_row_that_begins_with_an_unpaired_quote_is_no_part_of_the_next_one() {
    let rows: Vec<String> = (0..40).map(|n| format!("Other {n},s{n}.ke")).collect();
    for (first, bad_lines, hosts) in [
        ("\"Foo,a.ke\nBar\",b.ke", 1, 42),
        ("\"Foo,a.ke\n\"Bar\",b.ke", 1, 42),
        ("\"Foo,a.ke\n\"Bar,b.ke", 2, 41),
        ("\"12 Main Street, Nairobi\nKenya\",b.ke", 0, 42),
    ] {
        let list = ["Firm 0,z.ke", first, &rows.join("\n")].join("\n");
        let (urls, bad) = read(list.as_bytes(), &area(1.0), None).unwrap();
        assert_eq!((urls.len(), bad.len()), (hosts, bad_lines), "{first}: {bad:?}");
    }
}

#[test]
fn cells_of_several_lines_beside_the_names_are_read_as_such() {
    let mut kind = ListKind::default();
    let addresses = below("\"Website\",\"Address\",\"Phone\"", 9, |n| {
        format!("\"www.d{n}.co.ke\",\"{n} Main Street, Nairobi\nKenya\",\"07\"")
    });
    check(&mut kind, "an address behind the site", &addresses, &Hosts(9, "www.d"));
    let agency = below("url,address,town", 9, |n| {
        format!("www.d{n}.co.ke,\"Plot {n}, Mombasa\nwww.agency.ke\",Mombasa")
    });
    check(&mut kind, "another site in the address", &agency, &Hosts(9, "www.d"));
    let escaped = below("site,name,address", 9, |n| {
        format!("d{n}.co.ke,\"The \\\"best\\\" shop\",\"{n} Main Street\nwww.agency.ke\nNairobi\"")
    });
    check(&mut kind, "quotes with a backslash before", &escaped, &Hosts(9, "d"));
    kind.end();
}

#[test]
fn a_first_row_that_is_no_header_is_a_bad_line() {
    for first in ["http://a.ke/my shop,1", "1,a ke"] {
        let row =
            |n: usize| if first.starts_with('1') { format!("{n},s{n}.ke") } else { format!("s{n}.ke,{n}") };
        let list = below(first, 20, row);
        let (urls, bad) = read(&list, &area(1.0), None).unwrap();
        assert_eq!((urls.len(), bad.len()), (20, 1), "{first}: {bad:?}");
    }
    let twice = ["\u{ef}\u{bb}\u{bf}a.ke\n".as_bytes(), b"b.ke\n"].concat();
    assert_eq!(read(&twice, &area(1.0), None).unwrap().0, ["http://a.ke/", "http://b.ke/"]);
}

#[test]
fn a_column_that_is_chosen_by_name_is_divided_as_the_rows_are() {
    let list =
        below("?item\t?itemLabel\t?website", 9, |n| format!("<Q{n}>\t\"Bank of {n}\"@en\thttp://s{n}.ke/"));
    let (urls, bad) = read(&list, &area(1.0), Some("?website")).unwrap();
    assert_eq!((urls.len(), bad.len()), (9, 0), "{bad:?}");
}
