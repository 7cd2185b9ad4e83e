//! Spellings of URLs that a crawler must normalize or reject.

use crate::hostile::case::Case;
use crate::hostile::pages::{CaseRequest, html, on_front};
use crate::web::Act;

pub(in crate::hostile) const CASES: &[Case] = &[
    Case::of_pages("idn-host", "One host in letters, in capitals and in Punycode.", |request| {
        front(request, &["http://bücher.HOST/", "http://BÜCHER.HOST/next", "http://xn--bcher-kva.HOST/next"])
    }),
    Case::of_pages("broken-idn-host", "Hosts that are not valid international names.", |request| {
        front(
            request,
            &["http://xn--\u{fffd}.HOST/", "http://xn--0.HOST/", "http://a\u{200d}b.HOST/", "/next"],
        )
    }),
    Case::of_pages("mixed-case-host", "One host in upper and lower case.", |request| {
        front(request, &["HTTP://WWW.HOST/next", "http://wWw.HOST/next", "hTTp://www.HOST/next"])
    }),
    Case::of_pages("underscore-host", "A host with an underscore.", |request| {
        front(request, &["http://under_score.HOST/next", "http://_dmarc.HOST/"])
    }),
    Case::of_pages("odd-hosts", "Hosts with hyphens, dots and lengths that DNS does not allow.", |request| {
        let long_label = format!("http://{}.HOST/", "x".repeat(64));
        let long_name = format!("http://{}HOST/", "x.".repeat(130));
        let hosts = ["http://-a-.HOST/", "http://a..HOST/", "http://HOST./next", &long_label, &long_name];
        front(request, &hosts)
    }),
    Case::of_pages("ports", "The same host at several ports, and at invalid ones.", |request| {
        front(
            request,
            &["http://HOST:80/next", "http://HOST:8080/next", "http://HOST:0/", "http://HOST:99999/"],
        )
    }),
    Case::of_pages("userinfo", "Names and passwords before the host.", |request| {
        let other = "http://HOST@outside.example/";
        front(request, &["http://user:secret@HOST/next", "http://outside.example@HOST/next", other])
    }),
    Case::of_pages("control-bytes", "Tabs, line ends and other control bytes in links.", |request| {
        front(request, &["/ne\txt", " \n/next\r\n", "/bell\x07", "/escape\x1b[31m", "ht\ntp://HOST/next"])
    }),
    Case::of_pages("nul-bytes", "Zero bytes in links and between them.", |request| {
        front(request, &["/nul\0byte", "\0/next", "/%00", "http://HO\0ST/", "/next"])
    }),
    Case::of_pages("request-in-a-link", "A link that contains a second request.", |request| {
        front(request, &["/next HTTP/1.1\r\nHost: victim.HOST\r\n\r\nGET /", "/a%0d%0aHost:%20victim.HOST"])
    }),
    Case::of_pages("invalid-percent", "Percent signs with nothing or nonsense after them.", |request| {
        front(request, &["/100%", "/%zz", "/%e3%81", "/%2e%2e/next", "/%", "/next?%"])
    }),
    Case::of_pages("backslashes", "Backslashes instead of slashes, and no slashes.", |request| {
        front(request, &["\\next", "http:\\\\HOST\\next", "http:next", "///next", "http:///HOST/next"])
    }),
    Case::of_pages(
        "many-slashes",
        "Hosts behind three slashes or more, with and without a scheme.",
        |request| {
            front(
                request,
                &[
                    "///HOST/1",
                    "////www.HOST/next",
                    "\\\\\\HOST/2",
                    "/\t/\n/HOST/3",
                    "http:////HOST/next",
                    " ///HOST/next",
                ],
            )
        },
    ),
    Case::of_pages("carets-and-bars", "Characters in paths that strict servers want encoded.", |request| {
        front(request, &["/x^y", "/x%5Ey", "/a|b", "/a%7cb", "/next?^|"])
    }),
    Case::of_pages("long-urls", "URLs of 2 kB, of 2049 bytes, and of 1 MB.", |request| {
        let of = |bytes: usize| format!("/{}", "x".repeat(bytes));
        front(request, &["/next", &of(2048), &of(2000), &of(1 << 20)])
    }),
    Case::of_pages("odd-schemes", "Links with every other scheme.", |request| {
        let schemes = [
            "mailto:a@HOST",
            "javascript:next()",
            "data:text/html,x",
            "ftp://HOST/",
            "tel:1",
            "x:",
            ":",
            "/next",
        ];
        front(request, &schemes)
    }),
    Case::of_pages("addresses-as-hosts", "Links to addresses of the surveyor's own network.", |request| {
        let hosts =
            ["10.0.0.1", "127.1", "0x7f000001", "017700000001", "[::1]", "[fe80::1]", "169.254.169.254"];
        let urls = hosts.map(|host| format!("http://{host}/"));
        front(request, &[urls.each_ref().map(String::as_str).as_slice(), &["/next"]].concat())
    }),
];

/// A front page with these links, where `HOST` stands for the host of the case. No link contains a single
/// quote, so the attributes use them.
fn front(request: &CaseRequest<'_>, targets: &[&str]) -> Vec<Act> {
    let anchors = targets.iter().map(|target| format!("<a href='{target}'>x</a>\n")).collect::<String>();
    on_front(request, || html(anchors.replace("HOST", request.main_host)))
}
