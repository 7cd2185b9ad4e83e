use super::*;

/// The names below the zone, and the bad lines.
type Read = (Vec<String>, Vec<(u64, String)>);

fn read(text: &str) -> Result<Read, String> {
    let mut zone = Zone::default();
    let (mut names, mut errors) = (Vec::new(), Vec::new());
    let mut read = || -> Result<(), StartError> {
        for (number, line) in (1..).zip(text.lines()) {
            match zone.take(number, line.as_bytes())? {
                ZoneItem::Delegation(name) => names.push(name),
                ZoneItem::Generated(generated) => names.extend(generated),
                ZoneItem::Bad { line, why, .. } | ZoneItem::Unread { line, why, .. } => {
                    errors.push((line, why));
                }
                ZoneItem::Name(_) | ZoneItem::Other => {}
            }
        }
        zone.end()
    };
    read().map_err(|error| error.to_string())?;
    Ok((names, errors))
}

fn names(text: &str) -> Vec<String> {
    let (names, errors) = read(text).unwrap();
    assert_eq!(errors, [], "{text}");
    names
}

// RFC 1035 §5.1, clause by clause.

#[test]
fn blank_lines_are_allowed_anywhere_with_or_without_comments() {
    assert_eq!(names("\n  \t\n; all of it\n  ; more\na.ke. NS x.\n\n"), ["a.ke"]);
}

#[test]
fn origin_is_followed_by_a_name_and_resets_the_origin_for_relative_names() {
    assert_eq!(names("$ORIGIN ke.\na NS x\n$origin co\nb NS x\n"), ["a.ke", "b.co.ke"]);
}

#[test]
fn a_record_that_begins_with_a_blank_has_the_last_owner() {
    assert_eq!(names("$ORIGIN ke.\na NS x\n  NS y\n\tIN NS z\n"), ["a.ke", "a.ke", "a.ke"]);
    assert_eq!(names("$ORIGIN ke.\na A 192.0.2.1\n\n ; nothing\n NS y\n"), ["a.ke"]);
}

#[test]
fn time_and_class_stand_in_either_order_or_not_at_all() {
    for record in
        ["a.ke. NS x.", "a.ke. 60 NS x.", "a.ke. IN NS x.", "a.ke. 60 IN NS x.", "a.ke. IN 60 NS x."]
    {
        assert_eq!(names(record), ["a.ke"], "{record}");
    }
    assert_eq!(names("a.ke.\t1h30m\tin\tns\tx."), ["a.ke"]);
}

#[test]
fn a_name_that_ends_in_a_dot_is_absolute_and_any_other_is_completed_by_the_origin() {
    assert_eq!(names("$ORIGIN ke.\na NS x\nb.ke. NS x\nB.Co NS x\n"), ["a.ke", "b.ke", "b.co.ke"]);
    assert_eq!(names("$ORIGIN .\na.ke NS x\n"), ["a.ke"]);
}

#[test]
fn an_at_sign_that_stands_alone_is_the_origin() {
    assert_eq!(
        names("$ORIGIN ke.\n@ SOA a b 1 2 3 4 5\n@ NS x\n NS y\na NS x\n$ORIGIN b.ke.\n@ NS x\n"),
        ["a.ke", "b.ke"]
    );
}

#[test]
fn a_backslash_takes_the_meaning_from_the_character_after_it() {
    assert_eq!(names("$ORIGIN ke.\n\\a NS x\n"), ["a.ke"]);
    let invalid = "a name with characters that a host name cannot contain".to_owned();
    assert_eq!(
        read("$ORIGIN ke.\na\\.b NS x\n\\@ NS x\na\\;b NS x\n").unwrap().1,
        [(2, invalid.clone()), (3, invalid.clone()), (4, invalid)]
    );
}

#[test]
fn three_digits_after_a_backslash_are_an_octet() {
    assert_eq!(names("$ORIGIN ke.\n\\097\\066 NS x\n"), ["ab.ke"]);
    assert_eq!(read("$ORIGIN ke.\na\\046b NS x\n").unwrap().1.len(), 1);
}

#[test]
fn parentheses_let_a_record_go_on_over_the_end_of_a_line() {
    let zone = "$ORIGIN ke.\n@ IN SOA ns ( hostmaster ; mail\n  2026010100 3600 ; times\n 900 (\n1 ) ) \na NS (\n x\n)\n";
    assert_eq!(names(zone), ["a.ke"]);
    assert_eq!(names("a.ke. (\nIN\nNS\nx. )\n"), ["a.ke"]);
}

#[test]
fn a_semicolon_begins_a_comment_up_to_the_end_of_the_line() {
    assert_eq!(names("a.ke. NS x. ; b.ke. NS y.\n;c.ke. NS z.\nd.ke. NS;e\n"), ["a.ke", "d.ke"]);
}

#[test]
fn in_a_quoted_string_nothing_is_special() {
    assert_eq!(names("$ORIGIN ke.\na TXT \"; ( \\\" \" \"(\"\nb NS x\n"), ["b.ke"]);
}

#[test]
fn a_quoted_string_that_is_not_closed_ends_with_its_line() {
    assert_eq!(names("$ORIGIN ke.\na TXT \"not closed\nb NS x\n"), ["b.ke"]);
}

// How the records are used.

#[test]
fn only_names_below_the_zone_with_ns_records_are_taken() {
    let zone = "ke. 86400 IN SOA a. b. 1 2 3 4 5\nke. 86400 IN NS ns.ke.\na.ke. IN NS x.\na.ke. IN DS 1 2 3 AB\n\
                ns.ke. IN A 192.0.2.1\nb.ke. CH NS x.\nke. 86400 IN SOA a. b. 1 2 3 4 5\n";
    assert_eq!(names(zone), ["a.ke"]);
    let other = "ke. SOA a. b. 1 2 3 4 5\na.tz. NS x.\nnotke. NS x.\n";
    assert_eq!(
        read(other).unwrap().1,
        [(2, "not in the zone ke.".to_owned()), (3, "not in the zone ke.".to_owned())]
    );
}

#[test]
fn the_owner_of_the_soa_record_is_the_origin_where_none_is_told() {
    assert_eq!(names("$TTL 1d\nke. IN SOA a b 1 2 3 4 5\na IN NS x\n"), ["a.ke"]);
}

#[test]
fn relative_names_without_an_origin_end_it() {
    assert_eq!(
        read("$TTL 1d\n@ IN SOA a b 1 2 3 4 5\n").unwrap_err(),
        "line 2: '@' is a relative name, but the zone's name is not known: put a line such as '$ORIGIN ke.' before the first name"
    );
    assert_eq!(
        read("a NS x\n").unwrap_err(),
        "line 1: 'a' is a relative name, but its origin is not known: put a line such as '$ORIGIN ke.' before the first name"
    );
}

#[test]
fn a_parenthesis_without_end_ends_it() {
    let reported = "line 2: a parenthesis is opened here but not closed";
    assert_eq!(read("$ORIGIN ke.\na NS ( x\nb NS x\n").unwrap_err(), reported);
    assert_eq!(read(&format!("$ORIGIN ke.\na NS ( x\n{}", "b NS x\n".repeat(2000))).unwrap_err(), reported);
}

#[test]
fn what_is_not_read_is_a_bad_line() {
    let zone = "$INCLUDE a.zone\n$GENERATE 1-9999999 h$.ke. NS x\n$WHAT\na.ke. 60\n$include\n";
    let (_, errors) = read(zone).unwrap();
    let reported: Vec<(u64, &str)> = errors.iter().map(|(line, why)| (*line, why.as_str())).collect();
    assert_eq!(
        reported,
        [
            (1, "the names in the file a.zone are not read: put them in place of this line"),
            (2, "it makes 9999999 names, but the limit is 65536: write them out"),
            (3, "not a zone file directive"),
            (4, "not a resource record: it has no type"),
            (5, "not a zone file directive"),
        ]
    );
}

// BIND 9's manual, *The $GENERATE Directive*.

#[test]
fn what_a_directive_makes_is_read_as_if_it_were_written_out() {
    let generated = |directive: &str| names(&format!("$ORIGIN ke.\n$GENERATE {directive}\n"));
    for (directive, expected) in [
        ("1-3 h$ NS x", ["h1.ke", "h2.ke", "h3.ke"]),
        ("0-4/2 h$.co 1h IN NS x$", ["h0.co.ke", "h2.co.ke", "h4.co.ke"]),
        ("8-10 h${0,3} IN NS x", ["h008.ke", "h009.ke", "h010.ke"]),
        ("8-10 h${-8,2,d}-$ NS x", ["h00-8.ke", "h01-9.ke", "h02-10.ke"]),
        ("9-11 ${0,0,x}h 60 NS x", ["9h.ke", "ah.ke", "bh.ke"]),
        ("7-9 h${0,2,o}.a.ke. NS x", ["h07.a.ke", "h10.a.ke", "h11.a.ke"]),
        ("1-3 ${0,3,n} NS x", ["1.0.ke", "2.0.ke", "3.0.ke"]),
        ("15-17 ${0,0,N} NS x", ["f.ke", "0.1.ke", "1.1.ke"]),
        ("1-3 $.\\097 NS x", ["1.a.ke", "2.a.ke", "3.a.ke"]),
    ] {
        assert_eq!(generated(directive), expected, "{directive}");
    }
    for no_names in ["1-254 $ A 192.0.2.$", "1-9 $ PTR h$", "1-9 $ CNAME $.x", "1-9 $ DS 1 2 3 AB"] {
        assert_eq!(generated(no_names), [""; 0], "{no_names}");
    }
    for range in [
        "1-3",
        "1-3 h$",
        "3-1 h$ NS x",
        "1-3/0 h$ NS x",
        "a-b h$ NS x",
        "1-3 h${1 NS x",
        "1-3 h${0,1,z} NS x",
        "1-3 h${-5} NS x",
        "1-3 h${0,999999999} NS x",
    ] {
        let (generated, reported) = read(&format!("$ORIGIN ke.\n$GENERATE {range}\n")).unwrap();
        assert_eq!((generated, reported), (Vec::new(), vec![(2, NO_RANGE.to_owned())]), "{range}");
    }
    let outside = "$ORIGIN ke.\n$GENERATE 1-2 h$.tz. NS x\n$GENERATE 1-2 h\\$$ NS x\n";
    let reported = vec![(2, "not in the zone ke.".to_owned())];
    assert_eq!(read(outside).unwrap(), (vec!["h$1.ke".to_owned(), "h$2.ke".to_owned()], reported));
    assert!(read("$GENERATE 1-2 h$ NS x\n").unwrap_err().contains("is a relative name"));
}

#[test]
fn records_are_told_from_other_lines() {
    for line in ["ke.\t86400\tin\tsoa\ta. b. 1", "$TTL 1d", "$ORIGIN ke.", "a.ke. IN NS x.", "@ SOA a b 1"] {
        assert!(is_marked_entry(&[line.as_bytes()]), "{line}");
    }
    for line in ["a.ke", "a.ke # in ns", "1,a.ke", "domain NS count", "a.ke 7", "$5", "a.ke. NS"] {
        assert!(!is_marked_entry(&[line.as_bytes()]), "{line}");
    }
    assert!(is_entry(&[b"a.ke. NS x."]) && !is_entry(&[b"a.ke x NS y"]));
    for lines in [["ke. IN SOA (", "ns. host. 1 2 3 4 5 )"], ["ke. ( ; x", "IN SOA ns. host. 1 2 3 4 5 )"]] {
        assert!(is_marked_entry(&lines.map(str::as_bytes)), "{lines:?}");
    }
    assert!(!is_marked_entry(&[b"a.ke (", b"b.ke"]));
}

#[test]
fn several_zones_in_one_file_are_read_each_as_its_own() {
    let zones = "ke. SOA a. b. 1 2 3 4 5\na.ke. NS x.\nco.ke. SOA a. b. 1 2 3 4 5\nco.ke. NS x.\nb.co.ke. NS x.\n\
                 c.ke. NS x.\ntz. SOA a. b. 1 2 3 4 5\nd.tz. NS x.\n";
    assert_eq!(names(zones), ["a.ke", "co.ke", "b.co.ke", "c.ke", "d.tz"]);
}
