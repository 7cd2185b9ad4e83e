//! The contents of pages, clause by clause: whole pages in, links and words out.

use crate::address::WebUrl;

use super::{CharsetOrigin, Defects, Element, Page, RecordedPage, Source};

fn read_as(html: &str, content_type: &str) -> Page {
    let url = WebUrl::parse("http://a.ke/dir/page").unwrap();
    let source =
        Source { body: html.as_bytes(), url: &url, content_type: Some(content_type), robots_tag: None };
    Page::read(source)
}

fn read(html: &str) -> Page {
    read_as(html, "text/html; charset=utf-8")
}

fn urls(page: &Page) -> Vec<&str> {
    page.links.iter().map(|link| link.url.as_str()).collect()
}

fn links(html: &str) -> Vec<String> {
    urls(&read(html)).into_iter().map(str::to_owned).collect()
}

#[test]
fn anchors_areas_frames_and_refreshes_are_links_in_order() {
    let page = read(
        "<meta http-equiv=Refresh content='9; url=m'><a href=a>x</a><map><area href='r'></map>\
         <frameset><frame src=\"no\"></frameset><iframe src=i></iframe>",
    );
    let found: Vec<_> = page.links.iter().map(|link| (link.element.as_str(), link.url.path())).collect();
    let expected = [("meta", "/dir/m"), ("a", "/dir/a"), ("area", "/dir/r"), ("iframe", "/dir/i")];
    assert_eq!(found, expected);
}

#[test]
fn frames_are_links_only_where_browsers_have_frames() {
    let body = "<a href=a></a><title>no</title><base href=/b/>";
    for (html, path) in [
        ("<title>t</title><frameset><frame src=f></frameset>", Some("/dir/f")),
        (&format!("<head></head>\n{body}<p><frameset><frame src=f>"), Some("/dir/f")),
        ("<frameset><frameset></frameset><frame src=f></frameset><frame src=g>", Some("/dir/f")),
        (
            "<frameset><a href=a></a><iframe src=i></iframe><noframes><a href=n></noframes><frame src=f>",
            Some("/dir/f"),
        ),
        ("<frame src=f>", None),
        ("<body><frameset><frame src=f>", None),
        ("x<frameset><frame src=f>", None),
        ("<img><frameset><frame src=f>", None),
        ("<template><frameset><frame src=f></template>", None),
    ] {
        let found = links(html);
        let expected: Vec<String> = path.map(|path| format!("http://a.ke{path}")).into_iter().collect();
        assert_eq!(found, expected, "{html}");
    }
    assert_eq!(read("<title>t</title><frameset></frameset><title>no</title>").title.as_deref(), Some("t"));
    assert_eq!(read(&format!("{body}<frameset><frame src=f>")).title, None);
}

#[test]
fn images_styles_forms_and_anchors_without_href_are_not() {
    assert!(links("<img src=x><link href=x><form action=x><a name=x><a src=x><embed src=x>").is_empty());
}

#[test]
fn a_page_is_one_link_whatever_its_spelling() {
    let page = read(
        "<a rel=nofollow href=http://b.ke/~x>1</a><area href='https://B.ke:443/%7Ex#y'><a href=z rel=nofollow>",
    );
    assert_eq!(urls(&page), ["http://b.ke/~x", "http://a.ke/dir/z"]);
    assert_eq!(page.links[0].element, Element::A);
    assert!(!page.links[0].nofollow, "one occurrence may be followed");
    assert!(page.links[1].nofollow);
    for (first, second, expected) in
        [("", "", false), ("", "nofollow", false), ("nofollow", "", false), ("nofollow", "nofollow", true)]
    {
        for href in ["x", "./x", "x#y"] {
            let page = read(&format!("<a rel='{first}' href=x></a><a rel='{second}' href={href}></a>"));
            assert_eq!((page.links.len(), page.links[0].nofollow), (1, expected), "{first} {second} {href}");
        }
    }
}

#[test]
fn nofollow_is_one_token_of_rel() {
    let nofollow = |rel: &str| read(&format!("<a rel='{rel}' href=x>")).links[0].nofollow;
    assert!(nofollow("nofollow"));
    assert!(nofollow("external\n NoFollow ugc"));
    assert!(!nofollow("nofollowed"));
    assert!(!nofollow(""));
}

#[test]
fn what_is_no_web_page_is_no_link_and_no_defect() {
    let page = read(
        "<a href=mailto:a@a.ke><a href='javascript:x()'><a href='java\nscript:x()'><a href=ftp://a.ke/>\
         <a href=#top><a href=''><a href=' # '><iframe src=''></iframe><iframe src=about:blank></iframe>",
    );
    assert!(page.links.is_empty(), "{:?}", page.links);
    assert_eq!(page.defects, Defects::default());
}

#[test]
fn a_written_out_link_to_the_page_itself_is_a_link() {
    assert_eq!(links("<a href=page#x>"), ["http://a.ke/dir/page"]);
}

#[test]
fn bad_and_overlong_references_are_counted() {
    let long = "x".repeat(3000);
    let longer = "x".repeat(100_000);
    let page = read(&format!(
        "<a href='http://'><a href='http://a b/'><a href=http://a..ke/><a href={long}><a href={longer}>\
         <a href='data:text/html,{longer}'><a href=ok>"
    ));
    assert_eq!(urls(&page), ["http://a.ke/dir/ok"]);
    assert_eq!((page.defects.bad_urls, page.defects.too_long_urls), (3, 2));
    let winding = "./".repeat(4000);
    assert_eq!(links(&format!("<a href={winding}x>")), ["http://a.ke/dir/x"]);
}

#[test]
fn character_references_in_attributes_are_read_as_browsers_read_them() {
    let page = read(
        "<a href='?a=1&amp;b=2'><a href=?a&#x3d;1&#38;c><a href='?x=1&copy=2'><a href='?x=1&copy;'><a href='?&#99999999;'>",
    );
    let queries: Vec<_> = page.links.iter().filter_map(|link| link.url.query()).collect();
    assert_eq!(queries, ["a=1&b=2", "a=1&c", "x=1&copy=2", "x=1%C2%A9", "%EF%BF%BD"]);
}

#[test]
fn white_space_in_and_around_a_reference_is_dropped() {
    assert_eq!(links("<a href=' \n x\n\ty \r\n'>"), ["http://a.ke/dir/xy"]);
}

#[test]
fn the_first_of_two_attributes_counts_in_any_case() {
    assert_eq!(links("<A HREF=x hreF=y class=z>"), ["http://a.ke/dir/x"]);
    assert_eq!(links("<a href href=y>"), [""; 0]);
}

#[test]
fn broken_markup_is_read_as_browsers_read_it() {
    assert_eq!(links("<a href=x<b>y"), ["http://a.ke/dir/x%3Cb"]);
    assert_eq!(
        links("<a\thref\n=\n'x'/><a/href=y><a href='z'title=t>"),
        ["x", "y", "z"].map(|name| format!("http://a.ke/dir/{name}"))
    );
    assert_eq!(links("<a href=x>1<a href='unclosed>2<a href=y>"), ["http://a.ke/dir/x"]);
    assert_eq!(links("<a href=x"), [""; 0]);
    assert_eq!(links("< a href=x><aa href=x></a href=x>"), [""; 0]);
}

#[test]
fn comments_scripts_styles_and_hidden_text_hold_no_links() {
    for hidden in [
        "<!-- <a href=x> -->",
        "<!--[if IE]><a href=x><![endif]-->",
        "<!doctype html '<a href=x>'>",
        "<script>'<a href=x>' <!-- <script> </script> <a href=x> --> </script>",
        "<style><a href=x></style>",
        "<textarea><a href=x></textarea>",
        "<title><a href=x></title>",
        "<xmp><a href=x></xmp>",
        "<iframe><a href=x></iframe>",
        "<noembed><a href=x></noembed>",
        "<noframes><a href=x></noframes>",
        "<template><div><template></template><a href=x></div></template>",
        "<svg><![CDATA[<a href=x>]]></svg>",
        "<plaintext><a href=x></plaintext><a href=x>",
    ] {
        assert_eq!(links(hidden), [""; 0], "{hidden}");
        if !hidden.contains("plaintext") {
            assert_eq!(links(&format!("{hidden}<a href=y>")), ["http://a.ke/dir/y"], "{hidden}");
        }
    }
}

#[test]
fn cdata_is_a_comment_in_html_and_text_in_svg_and_xhtml() {
    // A comment ends at the first `>`.
    let cdata = "<![CDATA[ one > <a href=x></a> two ]]>";
    let xhtml = |markup: &str| read_as(markup, "application/xhtml+xml");
    for (page, found, text) in [
        (read(cdata), &["http://a.ke/dir/x"][..], "two"),
        (read(&format!("<svg></svg>{cdata}")), &["http://a.ke/dir/x"], "two"),
        (read(&format!("<svg>{cdata}</svg>")), &[], "one a href x a two"),
        (xhtml(cdata), &[], "one a href x a two"),
    ] {
        assert_eq!(urls(&page), found, "{text}");
        assert_eq!(page.text_simhash, read(text).text_simhash, "{text}");
    }
}

#[test]
fn noscript_and_shadow_roots_are_content() {
    assert_eq!(links("<noscript><a href=x></noscript>"), ["http://a.ke/dir/x"]);
    let shadow =
        "<template shadowrootmode=open><a href=x><template><a href=no></template></template><a href=y>";
    assert_eq!(links(shadow), ["http://a.ke/dir/x", "http://a.ke/dir/y"]);
}

#[test]
fn a_self_closed_tag_is_empty_only_in_xhtml_and_svg() {
    let html = "<script src=s /><a href=x></script><a href=y>";
    assert_eq!(links(html), ["http://a.ke/dir/y"]);
    let page = read_as("<title/><iframe src='i'/><script/><a href='x'/>A page.", "application/xhtml+xml");
    assert_eq!(urls(&page), ["http://a.ke/dir/i", "http://a.ke/dir/x"]);
    assert_eq!((page.title, page.text_simhash), (None, read("a page").text_simhash));
    assert_eq!(links("<svg/><svg><style/><title/></svg><a href=x>"), ["http://a.ke/dir/x"]);
    assert_eq!(read("<svg/><math /><title>Not in them</title>").title.as_deref(), Some("Not in them"));
}

#[test]
fn the_first_base_counts_for_the_whole_page() {
    let html = "<a href=x><base target=_top><base href=/b/><base href=/c/><a href=y><a href=#z>";
    assert_eq!(links(html), ["http://a.ke/b/x", "http://a.ke/b/y", "http://a.ke/b/"]);
    assert_eq!(links("<base href=//b.ke><a href=x>"), ["http://b.ke/x"]);
}

#[test]
fn a_base_that_is_no_url_or_none_for_browsers_is_passed_over() {
    for base in ["http://", "javascript:1", "data:text/html,x"] {
        let page = read(&format!("<base href='{base}'><base href=/ok/><a href=x>"));
        assert_eq!(urls(&page), ["http://a.ke/dir/x"], "{base}");
        assert!(page.defects.bad_base);
    }
}

#[test]
fn with_a_base_that_is_no_web_page_only_absolute_links_lead_anywhere() {
    for base in ["file:///c:/www/", "mailto:a@a.ke", "ftp://a.ke/b/", "http://a.ke:21/", "about:blank", "x:y"]
    {
        let html =
            "<a href=x><a href=/y><a href='?z'><a href=#w><a href=http://a.ke/1><a href=https://b.ke/>";
        let page = read(&format!("<base href='{base}'>{html}"));
        assert_eq!(urls(&page), ["http://a.ke/1", "https://b.ke/"], "{base}");
        assert!(page.defects.bad_base);
    }
}

#[test]
fn a_base_loses_no_space_but_that_of_urls() {
    assert_eq!(links("<base href=' \n/x/\t'><a href=y>"), ["http://a.ke/x/y"]);
    assert_eq!(links("<base href='\u{a0}/x/'><a href=y>"), ["http://a.ke/dir/%C2%A0/x/y"]);
}

#[test]
fn documents_in_a_page_have_its_base_and_may_have_one_of_their_own() {
    let html = "<base href=/b/><iframe src=no srcdoc='<a href=1>'></iframe>\
                <iframe srcdoc='<a href=2><base href=c/><base href=no/><iframe srcdoc=&quot;<a href=3>&quot;>'></iframe>\
                <iframe srcdoc></iframe><a href=4>";
    assert_eq!(links(html), ["1", "c/2", "c/3", "4"].map(|path| format!("http://a.ke/b/{path}")));
    assert_eq!(read(html).defects, Defects::default());
}

#[test]
fn a_document_in_a_page_speaks_for_itself() {
    let page = read(
        "<iframe srcdoc='<title>no</title><html lang=fr><meta name=robots content=nofollow>\
         <meta http-equiv=refresh content=0;url=m><a href=x>'></iframe><a href=y>",
    );
    let found: Vec<_> =
        page.links.iter().map(|link| (link.element.as_str(), link.url.path(), link.nofollow)).collect();
    assert_eq!(found, [("iframe", "/dir/m", true), ("a", "/dir/x", true), ("a", "/dir/y", false)]);
    assert_eq!((page.title, page.language, page.nofollow), (None, None, false));
}

#[test]
fn the_queries_of_a_document_in_a_page_are_in_utf_8() {
    let body = "<iframe srcdoc='<a href=?\u{e9}>'></iframe><a href=?\u{e9}>";
    let (body, _, _) = encoding_rs::WINDOWS_1252.encode(body);
    let url = WebUrl::parse("http://a.ke/").unwrap();
    let content_type = Some("text/html; charset=windows-1252");
    let page = Page::read(Source { body: &body, url: &url, content_type, robots_tag: None });
    assert_eq!(urls(&page), ["http://a.ke/?%C3%A9", "http://a.ke/?%E9"]);
}

#[test]
fn documents_in_documents_are_read_to_a_depth_and_in_a_number() {
    let mut html = "<a href=in>".to_owned();
    for depth in 1..=6 {
        html = format!(
            "<a href={depth}><iframe srcdoc='{}'>",
            html.replace('&', "&amp;").replace('\'', "&#39;")
        );
    }
    let page = read(&html);
    assert_eq!(urls(&page), [6, 5, 4, 3, 2].map(|depth| format!("http://a.ke/dir/{depth}")));
    assert_eq!(page.defects.links_dropped, 1);
    let many: String =
        (0..1010).map(|n| format!("<iframe srcdoc='<base href={n}/><a href=x>'></iframe>")).collect();
    let page = read(&many);
    assert_eq!((page.links.len(), page.defects.links_dropped), (1000, 10));
    assert_eq!(page.links[999].url.path(), "/dir/999/x");
}

#[test]
fn a_link_to_a_port_that_browsers_refuse_is_a_bad_url_and_no_link() {
    let page =
        read("<a href=http://a.ke:25/>x</a><a href=//b.ke:6667/y>y</a><a href=http://b.ke:8080/>z</a>");
    assert_eq!(urls(&page), ["http://b.ke:8080/"]);
    assert_eq!(page.defects.bad_urls, 2);
}

#[test]
fn the_first_title_outside_svg_is_the_title() {
    let title = |html: &str| read(html).title;
    let html = "<svg><title>icon</title></svg><title> A &amp;\n <b>B</b> </title><title>no</title>";
    assert_eq!(title(html).as_deref(), Some("A & <b>B</b>"));
    assert_eq!(title("<title></title><title>no</title>"), None);
    assert_eq!(title("text"), None);
}

#[test]
fn the_language_is_the_documents_own() {
    let language = |html: &str| read(html).language;
    assert_eq!(language("<html lang=SW xml:lang=fr>").as_deref(), Some("sw"));
    assert_eq!(language("<html xml:lang='am-ET'>").as_deref(), Some("am-et"));
    assert_eq!(language("<html><meta http-equiv=Content-Language content=fr>").as_deref(), Some("fr"));
    let twice = "<meta http-equiv=content-language content=fr><meta http-equiv=content-language content=sw>";
    assert_eq!(language(twice).as_deref(), Some("fr"));
    assert_eq!(language("<meta http-equiv=x content=fr><meta name=content-language content=fr>"), None);
    assert_eq!(language("<p lang=sw>"), None);
}

#[test]
fn a_page_may_ask_not_to_be_followed() {
    assert!(read("<meta name=Robots content='noindex, NOFOLLOW'>").nofollow);
    assert!(read("<meta content=none name=ccsurvey>").nofollow);
    assert!(!read("<meta name=robots content=noindex>").nofollow);
    assert!(!read("<meta name=otherbot content=nofollow>").nofollow);
    let url = WebUrl::parse("http://a.ke/").unwrap();
    let read = |robots_tag| {
        Page::read(Source { body: b"", url: &url, content_type: None, robots_tag: Some(robots_tag) })
    };
    assert!(read("noindex, nofollow").nofollow);
    assert!(!read("otherbot: nofollow").nofollow);
}

#[test]
fn a_page_that_is_recalled_says_what_it_said_and_its_server_what_it_says_now() {
    let page = read("<html lang=sw><title>Habari</title><p>One two three <a href=x>four</a>");
    let recorded = RecordedPage {
        links: page.links.clone(),
        charset: page.charset.clone(),
        language: page.language.clone(),
        title: page.title.clone(),
        body_hash: page.body_hash,
        text_simhash: page.text_simhash,
        dropped_links: page.defects.links_dropped,
        facts: page.facts.clone(),
    };
    let said = Page { charset_origin: CharsetOrigin::Recorded, declared_charset: None, ..page };
    for (robots_tag, nofollow) in [(None, false), (Some("noindex"), false), (Some("nofollow"), true)] {
        let recalled = Page::recalled(recorded.clone(), robots_tag);
        assert_eq!(recalled, Page { nofollow, ..said.clone() });
    }
}

#[test]
fn the_hash_is_of_the_bytes_and_never_changes() {
    // The published value of XXH3-128 for empty input.
    assert_eq!(read("").body_hash, 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
    assert_ne!(read("<p>").body_hash, read("<P>").body_hash);
}

#[test]
fn the_simhash_is_of_what_is_shown() {
    let simhash_of = |html: &str| read(html).text_simhash;
    let text = "<p>The office is open on <b>weekdays</b>, visitors are asked to bring a letter.";
    let other_markup = "<title>x</title><script>var a</script><style>p {}</style><!-- no --><div>THE office \
                        is<br>open on weekdays visitors are asked to bring a letter</div><template>no</template>";
    assert_eq!(simhash_of(text), simhash_of(other_markup));
    assert_ne!(simhash_of(text), simhash_of("<p>Something else is said here."));
    assert_eq!(simhash_of("<p><a href=x></a>"), None);
}

#[test]
fn a_link_of_svg_leads_where_its_href_or_else_its_xlink_href_leads() {
    let svg = |a: &str| links(&format!("<svg>{a}</svg>"));
    assert_eq!(svg("<a xlink:href=x></a>"), ["http://a.ke/dir/x"]);
    assert_eq!(svg("<a XLINK:HREF=x href=y /><g><a href=''/></g>"), ["http://a.ke/dir/y"]);
    assert_eq!(svg("<area href=x /><base href=/b/ /><a src=x /><iframe src=x></iframe>"), [""; 0]);
    assert_eq!(links("<a xlink:href=x></a><math><a href=x></a></math>"), [""; 0]);
}

#[test]
fn elements_of_xml_are_what_their_namespaces_say() {
    let html = "http://www.w3.org/1999/xhtml";
    let prefixed = format!("h:html xmlns:h=\"{html}\" xmlns:s='http://www.w3.org/2000/svg'");
    let root = |root: &str, body: &str| {
        let name = root.split(' ').next().unwrap_or_default();
        let page = read_as(&format!("<{root}>{body}</{name}>"), "application/xhtml+xml");
        page.links.iter().map(|link| link.url.path()["/dir/".len()..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(root("html", "<a href='x'/>"), ["x"]);
    assert_eq!(
        root(&prefixed, "<h:a href='x'/><a href='no'/><s:a xlink:href='y'/><q:a href='no'/>"),
        ["x", "y"]
    );
    assert_eq!(root(&prefixed, &format!("<g xmlns='{html}'><a href='x'/></g><a href='no'/>")), ["x"]);
    assert_eq!(
        root(&prefixed, "<h:iframe src='x'/><h:p xmlns:h='urn:x'><h:a href='no'/></h:p><h:a href='y'/>"),
        ["x", "y"]
    );
    assert_eq!(
        root(&format!("html xmlns='{html}'"), "<a href='x'/><g xmlns='urn:x'><a href='no'/></g>"),
        ["x"]
    );
    assert_eq!(
        root(&format!("html xmlns='{html}'"), "<title><![CDATA[<a href='no'/>]]></title><h:a href='no'/>"),
        [""; 0]
    );
    // In HTML a prefix is part of the name.
    assert_eq!(links(&format!("<h:html xmlns:h='{html}'><h:a href=x>")), [""; 0]);
}
