//! Markup that browsers and simple parsers read differently. `/no` is never a link.

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, html, on_front, raw};
use crate::web::Act;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("links-in-svg", "Links in an XLink attribute only, or in both attributes.", |request| {
        front(request, "<svg><a xlink:href='/1'><circle r='3'/></a><a href='/next' xlink:href='/no'/></svg>")
    }),
    Case::of_pages("style-in-svg", "Links in the style element of an SVG, where it is markup.", |request| {
        front(request, "<svg><style><a href=/1></style><title><a href=/2></title></svg><a href=/next>")
    }),
    Case::of_pages("unended-title-in-svg", "An SVG and its title without end tags.", |request| {
        front(request, "<svg><title>A map<p>A page<a href=/next>")
    }),
    Case::of_pages(
        "script-in-svg",
        "A script in an SVG holds links; a script in the page holds text.",
        |request| {
            front(request, "<svg><script><a href=/1></svg><script>'<a href=/no>'</script><a href=/next>")
        },
    ),
    Case::of_pages("unended-svg", "An SVG ends with the block around it.", |request| {
        front(request, "<div><svg><path d='M0'></div><script>'<a href=/no>'</script><a href=/next>")
    }),
    Case::of_pages("html-in-svg", "An HTML element ends an SVG.", |request| {
        front(request, "<svg><g><p><textarea><a href=/no></textarea><a href=/next>")
    }),
    Case::of_pages("font-in-svg", "A font element ends an SVG if it has a colour.", |request| {
        let fonts = "<svg><font><style><a href=/1></style></font><font color=red><style><a href=/no></style>";
        front(request, &format!("{fonts}<a href=/next>"))
    }),
    Case::of_pages("text-in-math", "Text in MathML is HTML; the rest of it is not.", |request| {
        let text = "<math><mtext><style><a href=/no></style></mtext><style></math><a href=/1></style>";
        front(request, &format!("{text}<a href=/next>"))
    }),
    Case::of_pages("page-in-svg", "HTML within an SVG, and CDATA that is text only there.", |request| {
        let within = "<svg><foreignObject><xmp><a href=/no></xmp><a href=/1></a></foreignObject>\
                      <desc><![CDATA[<a href=/no>]]></desc></svg><![CDATA[ > <a href=/next> ]]>";
        front(request, within)
    }),
    Case::of_pages("template-in-svg", "A template element in an SVG is shown.", |request| {
        front(
            request,
            "<svg><template><a href=/1></template></svg><template><a href=/no><svg></template><a href=/next>",
        )
    }),
    Case::of_pages("base-in-svg", "A base element within an SVG has no effect.", |request| {
        front(request, "<svg><base href='/no/'/></svg><a href=next>")
    }),
    Case::of_pages("page-in-a-page", "A frame whose page is in its srcdoc attribute.", |request| {
        let frames = "<iframe src='/no' srcdoc=\"<base href='/b/'><a href='1'>x</a>\"></iframe>";
        front(request, &format!("{frames}<iframe srcdoc='<a href=next>x</a>'></iframe>"))
    }),
    Case::of_pages("pages-in-pages", "Pages within pages, nested deeper than any client reads.", |request| {
        let mut page = "<a href=/no>".to_owned();
        for depth in (1..40).rev() {
            let inner = page.replace('&', "&amp;").replace('\'', "&#39;");
            page = format!("<a href=/{depth}></a><iframe srcdoc='{inner}'></iframe>");
        }
        front(request, &page)
    }),
    Case::of_pages("file-base", "A base on a local disk: relative links lead nowhere.", |request| {
        front(
            request,
            "<base href='file:///C:/My%20Web/'><a href=no><a href='/no'><a href='http://HOST/next'>",
        )
    }),
    Case::of_pages("refused-base", "A base at a port that browsers refuse.", |request| {
        front(request, "<base href='http://HOST:21/'><a href=/no><a href='?no'><a href='//HOST/next'>")
    }),
    Case::of_pages("script-base", "A base that browsers ignore.", |request| {
        front(request, "<base href='javascript:1'><base href='/no/'><a href=next>")
    }),
    Case::of_pages("xhtml-with-prefix", "XHTML whose elements have a prefix.", |request| {
        let root = "<h:html xmlns:h='http://www.w3.org/1999/xhtml'><h:title/>";
        on_front(request, || xhtml(&format!("{root}<h:a href='/next'/><a href='/no'/></h:html>")))
    }),
    Case::of_pages("frames-in-a-body", "Frames in a body, where browsers ignore them.", |request| {
        front(request, "<p>x</p><frameset><frame src=/no></frameset><frame src=/no><a href=/next>")
    }),
];

/// A front page with this markup, where `HOST` stands for the host of the case.
fn front(request: &CaseRequest<'_>, markup: &str) -> Vec<Act> {
    on_front(request, || html(markup.replace("HOST", request.main_host)))
}

fn xhtml(body: &str) -> Vec<Act> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/xhtml+xml\r\nContent-Length: {length}\r\n\r\n");
    vec![raw(head + body)]
}
