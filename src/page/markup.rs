use crate::address::WebUrl;

use super::emitter::Listener;
use super::references::References;
use super::tag::{Attribute, Tag, Value};
use super::title::Title;
use super::{Defects, Element, language, refresh, robots_directives};

/// What the tags of a page say, collected while it is read.
#[derive(Default)]
pub(super) struct Markup {
    pub(super) references: References,
    /// A robots `meta` asks not to follow the page's links.
    pub(super) nofollow: bool,
    pub(super) title: Title,
    pub(super) language: Option<String>,
    /// From `<meta http-equiv=content-language>`, which counts only without the former.
    pub(super) pragma_language: Option<String>,
    pub(super) defects: Defects,
    /// `href` of the first `base` that has one; later ones do not count.
    base: Option<String>,
    title_state: TitleState,
}

/// Only the first title is the document's.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum TitleState {
    #[default]
    Awaited,
    Open,
    Read,
}

impl Markup {
    /// What the page's references are seen from: its `base`, itself seen from the page.
    pub(super) fn base(&self, page: &WebUrl, defects: &mut Defects) -> WebUrl {
        match self.base.as_deref().map(|reference| page.join(reference)) {
            Some(Ok(base)) => base,
            Some(Err(_)) => {
                defects.bad_base = true;
                page.clone()
            }
            None => page.clone(),
        }
    }

    fn refer(&mut self, element: Element, tag: &Tag, attribute: Attribute) {
        let Some(value) = tag.value(attribute) else {
            return;
        };
        let is_nofollow = tag.value(Attribute::Rel).is_some_and(|rel| has_nofollow(rel.bytes));
        self.references.add(element, value, is_nofollow, &mut self.defects);
    }

    fn read_meta(&mut self, tag: &Tag) {
        let Some(content) = tag.text(Attribute::Content) else {
            return;
        };
        if tag.text(Attribute::Name).is_some_and(|name| robots_directives::is_for_us(&name)) {
            self.nofollow |= robots_directives::content_says_nofollow(&content);
        }
        let Some(pragma) = tag.text(Attribute::HttpEquiv) else {
            return;
        };
        if pragma.trim().eq_ignore_ascii_case("refresh") {
            let is_cut = tag.value(Attribute::Content).is_some_and(|value| value.is_cut);
            if let Some(target) = refresh::target(&content) {
                let value = Value { bytes: target.as_bytes(), is_cut };
                self.references.add(Element::Meta, value, false, &mut self.defects);
            }
        } else if pragma.trim().eq_ignore_ascii_case("content-language") && self.pragma_language.is_none() {
            self.pragma_language = language::tidy(&content);
        }
    }

    fn read_language(&mut self, tag: &Tag) {
        let said = |attribute| tag.text(attribute).and_then(|text| language::tidy(&text));
        if self.language.is_none() {
            self.language = said(Attribute::Lang).or_else(|| said(Attribute::XmlLang));
        }
    }

    fn read_base(&mut self, tag: &Tag) {
        if self.base.is_none() {
            self.base = tag.text(Attribute::Href).map(|href| href.trim().to_owned());
        }
    }
}

impl Listener for Markup {
    fn start(&mut self, tag: &Tag) {
        match tag.name() {
            b"a" => self.refer(Element::A, tag, Attribute::Href),
            b"area" => self.refer(Element::Area, tag, Attribute::Href),
            b"frame" => self.refer(Element::Frame, tag, Attribute::Src),
            b"iframe" => self.refer(Element::Iframe, tag, Attribute::Src),
            b"base" => self.read_base(tag),
            b"meta" => self.read_meta(tag),
            b"html" => self.read_language(tag),
            b"title" if !tag.is_foreign && self.title_state == TitleState::Awaited => {
                self.title_state = TitleState::Open;
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        if self.title_state == TitleState::Open && name == b"title" {
            self.title_state = TitleState::Read;
        }
    }

    fn text(&mut self, piece: &[u8]) {
        if self.title_state == TitleState::Open {
            self.title.push(piece);
        }
    }

    fn is_done(&self) -> bool {
        false
    }
}

fn has_nofollow(rel: &[u8]) -> bool {
    rel.split(u8::is_ascii_whitespace).any(|token| token.eq_ignore_ascii_case(b"nofollow"))
}

#[cfg(test)]
mod tests {
    use super::super::{Page, Source};
    use super::*;

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
             <frameset><frame src=\"f\"></frameset><iframe src=i></iframe>",
        );
        let found: Vec<_> = page.links.iter().map(|link| (link.element.as_str(), link.url.path())).collect();
        let expected = [
            ("meta", "/dir/m"),
            ("a", "/dir/a"),
            ("area", "/dir/r"),
            ("frame", "/dir/f"),
            ("iframe", "/dir/i"),
        ];
        assert_eq!(found, expected);
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
        let page = read_as("<title/><iframe src='i'/><script/><a href='x'/>", "application/xhtml+xml");
        assert_eq!(urls(&page), ["http://a.ke/dir/i", "http://a.ke/dir/x"]);
        assert_eq!(links("<svg/><svg><style/><title/></svg><a href=x>"), ["http://a.ke/dir/x"]);
    }

    #[test]
    fn the_first_base_counts_for_the_whole_page() {
        let html = "<a href=x><base target=_top><base href=/b/><base href=/c/><a href=y><a href=#z>";
        assert_eq!(links(html), ["http://a.ke/b/x", "http://a.ke/b/y", "http://a.ke/b/"]);
        assert_eq!(links("<base href=//b.ke><a href=x>"), ["http://b.ke/x"]);
    }

    #[test]
    fn a_base_that_is_no_web_page_is_passed_over() {
        for base in ["file:///c:/www/", "http://", "javascript:1"] {
            let page = read(&format!("<base href='{base}'><base href=/ok/><a href=x>"));
            assert_eq!(urls(&page), ["http://a.ke/dir/x"]);
            assert!(page.defects.bad_base);
        }
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
}
