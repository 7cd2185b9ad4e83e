//! A test for each sentence of RFC 9309 that binds a crawler, in the order of the text. Sentences that bind
//! the fetch or the walk (following redirects) are not tested here; §2.4, caching, is tested in
//! `walk/tests/refresh.rs`.

use super::{Availability, MAX_BYTES, MAX_REDIRECTS, Rules};
use crate::address::WebUrl;

fn url(path: &str) -> WebUrl {
    WebUrl::parse(&format!("https://example.com{path}")).unwrap()
}

fn may(body: &str, token: &str, path: &str) -> bool {
    Rules::parse(body.as_bytes(), token).allows(&url(path))
}

/// Whether a rule applies to a path.
fn applies(pattern: &str, path: &str) -> bool {
    !may(&format!("User-agent: *\nDisallow: {pattern}"), "foobot", path)
}

// §2.1
#[test]
fn a_group_ends_at_the_next_user_agent_line_or_the_end_of_the_file() {
    let body = "User-agent: foobot\nDisallow: /foo\nUser-agent: barbot\nDisallow: /bar";
    assert!(!may(body, "foobot", "/foo") && may(body, "foobot", "/bar"));
    assert!(may(body, "barbot", "/foo") && !may(body, "barbot", "/bar"));
}

// §2.1
#[test]
fn a_last_group_without_rules_allows_everything() {
    assert!(may("User-agent: *\nDisallow: /\n\nUser-agent: foobot", "foobot", "/x"));
}

// §2.2
#[test]
fn a_group_may_begin_with_several_user_agent_lines() {
    let body = "User-agent: foobot\n\n# and\nUser-agent: barbot\nDisallow: /x";
    assert!(!may(body, "foobot", "/x") && !may(body, "barbot", "/x") && may(body, "bazbot", "/x"));
}

// §2.2: empty lines may occur anywhere in a group
#[test]
fn empty_lines_end_nothing() {
    assert!(!may("User-agent: foobot\n\n\nDisallow: /a\n\n\nDisallow: /b", "foobot", "/b"));
}

// §2.2: *WS around name, colon and value
#[test]
fn white_space_around_names_and_values_is_nothing() {
    assert!(!may(" \tUser-agent \t:\tfoobot \t\n\t disallow\t:/x\t", "foobot", "/x"));
    assert!(!may("User-agent:foobot\nDisallow:/x", "foobot", "/x"));
}

// §2.2: literals of ABNF are case-insensitive
#[test]
fn names_of_fields_are_case_insensitive() {
    let body = "USER-AGENT: foobot\ndisALLOW: /\naLLow: /x";
    assert!(may(body, "foobot", "/x") && !may(body, "foobot", "/y"));
}

// §2.2: NL
#[test]
fn lines_end_with_cr_lf_or_both() {
    for end in ["\r", "\n", "\r\n"] {
        let body = ["User-agent: foobot", "Disallow: /x", "", "User-agent: *", "Disallow: /y"].join(end);
        assert!(!may(&body, "foobot", "/x") && may(&body, "foobot", "/y") && !may(&body, "bot", "/y"));
    }
}

// §2.2: EOL may hold a comment, with or without white space before it
#[test]
fn a_comment_ends_a_line() {
    let body = "User-agent: foobot# us\nDisallow: /x # not\n#Disallow: /\nDisallow: /y#z";
    assert!(!may(body, "foobot", "/x") && !may(body, "foobot", "/y") && may(body, "foobot", "/a"));
}

// §2.2: empty-pattern
#[test]
fn an_empty_path_is_no_rule() {
    assert!(may("User-agent: foobot\nDisallow:\n", "foobot", "/x"));
    assert!(!may("User-agent: foobot\nAllow:\nDisallow: /", "foobot", "/x"));
}

// §2.2: an empty rule is a rule, so it ends the user-agent lines
#[test]
fn an_empty_rule_ends_the_user_agent_lines() {
    assert!(may("User-agent: foobot\nDisallow:\nUser-agent: barbot\nDisallow: /", "foobot", "/x"));
}

// §2.2: path-pattern begins with "/"; the examples of §5.1 add "*"
#[test]
fn a_path_that_does_not_begin_at_the_root_is_no_rule() {
    assert!(!applies("example/", "/example/") && !applies("example/", "/"));
    assert!(applies("*/example/", "/an/example/"));
}

// §2.2.1
#[test]
fn the_product_token_is_matched_without_case() {
    for token in ["ExampleBot", "examplebot", "EXAMPLEBOT"] {
        assert!(!may("User-agent: eXampleBot\nDisallow: /", token, "/x"));
    }
}

// §2.2.1: the token is a part of the identification string, found without its version
#[test]
fn the_product_token_is_matched_without_version() {
    let body = "User-agent: ExampleBot/1.0\nDisallow: /";
    assert!(!may(body, "ExampleBot", "/") && !may(body, "ExampleBot/0.1", "/"));
    let header =
        "User-agent: Mozilla/5.0 (compatible; ExampleBot/0.1; https://example.com/bot.html)\nDisallow: /";
    assert!(!may(header, "ExampleBot", "/"), "an owner who copies our header means us");
}

// §2.2.1
#[test]
fn a_token_matches_whole_not_in_part() {
    for other in ["Example", "ExampleBots", "ExampleBot-News", "MyExampleBot", "ExampleBot2"] {
        assert!(may(&format!("User-agent: {other}\nDisallow: /"), "ExampleBot", "/"), "{other}");
    }
}

// §2.2.1
#[test]
fn groups_for_the_same_token_are_combined() {
    let body = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\n\
        user-agent: BazBot\ndisallow: /quz\n\nuser-agent: ExampleBot\ndisallow: /baz";
    for path in ["/foo", "/bar", "/baz"] {
        assert!(!may(body, "ExampleBot", path));
    }
    assert!(may(body, "ExampleBot", "/quz"));
}

// §2.2.1
#[test]
fn a_group_of_ones_own_replaces_the_group_for_everyone() {
    let body = "User-agent: *\nDisallow: /a\n\nUser-agent: foobot\nDisallow: /b";
    assert!(may(body, "foobot", "/a") && !may(body, "foobot", "/b"));
}

// §2.2.1
#[test]
fn without_a_group_of_ones_own_the_one_for_everyone_binds() {
    let body =
        "User-agent: barbot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\nUser-agent: *\nDisallow: /c";
    assert!(may(body, "foobot", "/a") && !may(body, "foobot", "/b") && !may(body, "foobot", "/c"));
}

// §2.2.1
#[test]
fn without_any_group_that_matches_no_rules_apply() {
    assert!(may("User-agent: barbot\nDisallow: /", "foobot", "/x"));
    assert!(may("", "foobot", "/x"));
}

// §2.2.2
#[test]
fn paths_are_matched_with_case() {
    assert!(applies("/Example", "/Example") && !applies("/Example", "/example"));
}

// §2.2.2
#[test]
fn matching_starts_with_the_first_octet_of_the_path() {
    assert!(applies("/foo", "/foobar/x?y") && !applies("/foo", "/x/foo"));
}

// §2.2.2
#[test]
fn the_match_with_the_most_octets_is_used() {
    let body = "User-agent: *\nDisallow: /a/b\nAllow: /a\nAllow: /a/b/c\nDisallow: /a/b/c/d";
    let verdicts = ["/a", "/a/b", "/a/b/c", "/a/b/c/d"].map(|path| may(body, "foobot", path));
    assert_eq!(verdicts, [true, false, true, false]);
}

// §2.2.2
#[test]
fn repeated_rules_are_one_rule() {
    let once = Rules::parse(b"User-agent: *\nDisallow: /a%7e", "foobot");
    assert_eq!(Rules::parse(b"User-agent: *\nDisallow: /a~\nDisallow: /a%7E", "foobot"), once);
}

// §2.2.2
#[test]
fn allow_wins_over_an_equivalent_disallow() {
    for body in ["Allow: /x\nDisallow: /x", "Disallow: /x\nAllow: /%78"] {
        assert!(may(&format!("User-agent: *\n{body}"), "foobot", "/x"));
    }
}

// §2.2.2
#[test]
fn what_no_rule_matches_is_allowed() {
    assert!(may("User-agent: foobot\nDisallow: /x", "foobot", "/y"));
    assert!(may("User-agent: foobot\n", "foobot", "/y"));
}

// §2.2.2
#[test]
fn robots_txt_itself_is_always_allowed() {
    assert!(may("User-agent: *\nDisallow: /\nDisallow: /robots.txt", "foobot", "/robots.txt"));
    assert!(Rules::disallow_all().allows(&url("/robots.txt")));
    assert!(!Rules::disallow_all().allows(&url("/robots.txt?x")) && !Rules::disallow_all().allows(&url("/")));
}

// §2.2.2, the table: path in the rule, path to match
#[test]
fn percent_encoding_is_evened_out_before_comparison() {
    for (pattern, path) in [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
    ] {
        assert!(applies(pattern, path), "{pattern} {path}");
        assert!(applies(path, pattern), "{path} {pattern}");
    }
}

// §2.2.2: octets beyond ASCII are encoded, whatever the case of the digits
#[test]
fn octets_beyond_ascii_are_compared_encoded() {
    assert!(applies("/%e3%83%84", "/ツ") && applies("/ツ", "/%e3%83%84"));
}

// §2.2.2: reserved characters are not decoded or encoded, and in a path they differ from their encoding
#[test]
fn an_encoded_reserved_character_is_not_the_character() {
    assert!(!applies("/a%2Fb", "/a/b") && !applies("/a/b", "/a%2Fb") && applies("/a%2fb", "/a%2Fb"));
    assert!(!applies("/s?a=b%26c", "/s?a=b&c"));
}

// §2.2.2
#[test]
fn a_match_needs_the_whole_path_of_the_rule() {
    assert!(applies("/foo/", "/foo/") && !applies("/foo/", "/foo") && !applies("/foo/bar", "/foo/ba"));
}

// §2.2.2
#[test]
fn rules_outside_groups_are_ignored() {
    let body = "Disallow: /\nUser-agent: foobot\nDisallow: /x";
    assert!(may(body, "foobot", "/y") && may(body, "barbot", "/y"));
    assert_eq!(Rules::parse(body.as_bytes(), "foobot").defects().rules_outside_groups, 1);
}

// §2.2.2: may bridge encodings
#[test]
fn utf16_is_bridged_and_a_byte_order_mark_skipped() {
    let text = "\u{FEFF}User-agent: *\nDisallow: /x";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(!may(text, "foobot", "/x") && !Rules::parse(&utf16, "foobot").allows(&url("/x")));
}

// §2.2.3
#[test]
fn a_number_sign_begins_a_comment() {
    assert!(applies("/ # comment in line", "/") && !applies("# / comment on its own", "/"));
}

// §2.2.3
#[test]
fn a_last_dollar_ends_the_match() {
    assert!(applies("/this/path/exactly$", "/this/path/exactly"));
    assert!(!applies("/this/path/exactly$", "/this/path/exactly/"));
    assert!(!applies("/this/path/exactly$", "/this/path/exactly?"));
}

// §2.2.3: elsewhere it designates nothing
#[test]
fn a_dollar_elsewhere_is_itself() {
    assert!(applies("/a$b", "/a$bc") && applies("/a$b", "/a%24b") && !applies("/a$b", "/a"));
}

// §2.2.3
#[test]
fn a_star_is_any_octets_or_none() {
    for path in ["/this/path/exactly", "/this/very/long/exactly", "/this//exactly", "/this/a/exactly/b"] {
        assert!(applies("/this/*/exactly", path), "{path}");
    }
    assert!(!applies("/this/*/exactly", "/this/exactly"));
    assert!(applies("/a*b*c$", "/abbcxc") && !applies("/a*b*c$", "/acbc/"));
}

// §2.2.3, the table
#[test]
fn encoded_special_characters_are_themselves() {
    assert!(applies("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"));
    assert!(!applies("/path/file-with-a-%2A.html", "/path/file-with-a-b.html"));
    assert!(applies("/path/foo-%24", "/path/foo-$") && applies("/path/foo-%24", "/path/foo-$/x"));
    assert!(!applies("/path/foo-%24", "/path/foo-"));
}

// §2.2.4
#[test]
fn usual_misspellings_are_read_as_meant() {
    assert!(!may("useragent: foobot\ndissallow: /", "foobot", "/"));
    assert!(!may("user-agent foobot\ndisallow /", "foobot", "/"));
}

// §2.2.4
#[test]
fn other_records_end_no_group() {
    let body = "User-agent: foobot\nSitemap: https://example.com/s.xml\nUser-agent: barbot\nHost: x\n\
        Disallow: /a\nSitemap: https://example.com/t.xml\nDisallow: /b";
    for token in ["foobot", "barbot"] {
        assert!(!may(body, token, "/a") && !may(body, token, "/b"));
    }
}

// §2.3
#[test]
fn the_file_is_robots_txt_in_lower_case_at_the_root() {
    assert_eq!(url("/a/b?c").robots_txt().as_str(), "https://example.com/robots.txt");
    assert!(
        !Rules::disallow_all().allows(&url("/Robots.txt"))
            && !Rules::disallow_all().allows(&url("/a/robots.txt"))
    );
}

// §2.3.1.1
#[test]
fn a_file_that_was_found_is_followed() {
    for status in [200, 203, 299] {
        let found = Availability::from_response(Some(status), b"User-agent: *\nDisallow: /x").rules("foobot");
        assert!(!found.allows(&url("/x")) && found.allows(&url("/y")));
    }
}

// §2.3.1.2
#[test]
fn five_redirects_are_followed_and_more_mean_unavailable() {
    assert_eq!(MAX_REDIRECTS, 5);
    assert_eq!(Availability::TooManyRedirects.rules("foobot"), Rules::allow_all());
}

// §2.3.1.3
#[test]
fn an_unavailable_file_allows_everything() {
    for status in (400..=499).filter(|status| *status != 429) {
        let body = b"User-agent: *\nDisallow: /";
        assert!(
            Availability::from_response(Some(status), body).rules("foobot").allows(&url("/x")),
            "{status}"
        );
    }
}

// §2.3.1.4
#[test]
fn an_unreachable_file_forbids_everything() {
    for status in (500..=599).map(Some).chain([None]) {
        let body = b"User-agent: *\nAllow: /";
        assert!(!Availability::from_response(status, body).rules("foobot").allows(&url("/x")), "{status:?}");
    }
}

// §2.3.1.5
#[test]
fn each_line_that_can_be_parsed_is_used() {
    let body =
        b"\x00\xFF\xFE garbage\nUser-agent: foobot\n:::\n<p>\nDisallow: /a\n\x80: \x81\nDisallow: /b\n";
    let rules = Rules::parse(body, "foobot");
    assert!(!rules.allows(&url("/a")) && !rules.allows(&url("/b")) && rules.allows(&url("/c")));
}

// §2.5
#[test]
fn five_hundred_kibibytes_are_parsed_and_no_more() {
    let head = "User-agent: *\nDisallow: /early\n";
    let late = "\nDisallow: /late";
    let body = |length: usize| format!("{head}{}{late}", "#".repeat(length - head.len() - late.len()));
    assert!(!may(&body(500 * 1024), "foobot", "/late"));
    assert!(may(&body(MAX_BYTES + 1), "foobot", "/late"));
    assert!(!may(&body(MAX_BYTES + 1), "foobot", "/early"));
}

const SIMPLE_EXAMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
    User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
    User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n";

// §5.1
#[test]
fn the_simple_example_holds() {
    let may = |token, path| may(SIMPLE_EXAMPLE, token, path);
    assert!(!may("anybot", "/x.gif") && may("anybot", "/x.gif.html") && !may("anybot", "/example/x"));
    assert!(may("anybot", "/publications/x") && may("anybot", "/publications/x.gif") && may("anybot", "/"));
    assert!(!may("foobot", "/") && !may("foobot", "/publications/"));
    assert!(may("foobot", "/example/page.html") && may("foobot", "/example/allowed.gif"));
    for token in ["barbot", "bazbot"] {
        assert!(!may(token, "/example/page.html") && may(token, "/example/x.gif"));
    }
    assert!(may("quxbot", "/example/page.html") && may("quxbot", "/x.gif"));
}

// §5.2
#[test]
fn the_example_of_the_longest_match_holds() {
    let body = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    assert!(!may(body, "foobot", "/example/page/disallowed.gif") && may(body, "foobot", "/example/page/"));
}
