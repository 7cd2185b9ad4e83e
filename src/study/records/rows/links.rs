use crate::records::table::table;

table! {
    /// A row per external URL of a site tree (a URL pair), for the first page where it was found.
    LinkRow in "links";

    /// The site in whose tree the external URL was found.
    site: String, "", "example.ke", "0.1";
    /// The depth of the page that has the link.
    depth: u16, "links", "1", "0.1";
    /// The URL of that page.
    page: String, "", "http://www.example.ke/about", "0.1";
    /// The external URL in canonical form: percent-encoding normalised (RFC 3986 §6.2.2).
    url: String, "", "https://www.example.org/x", "0.1";
    /// The host of the external URL.
    host: String, "", "www.example.org", "0.1";
    /// The site that the external URL belongs to.
    target_site: String, "", "example.org", "0.1";
    /// Where the link was written: an HTML element, or a header field.
    element: String, "", "a", "0.1";
    /// Whether the page asks not to follow the link.
    nofollow: bool, "", "false", "0.1";
    /// Whether the host is in the country domains that are surveyed.
    in_survey: bool, "", "true", "0.1";
    /// The number of the tree's start URL among the start URLs of its site; 0 is the first.
    seed: u16, "", "0", "0.1";
}

table! {
    /// A row per link of a page that was read, internal and external, in document order. A URL that the page
    /// links to twice is listed at its first link. Written only with `--record-links`.
    PageLinkRow in "page_links";

    /// The site whose tree the page belongs to.
    site: String, "", "example.ke", "0.1";
    /// The number of the tree's start URL among the start URLs of its site; 0 is the first.
    seed: u16, "", "0", "0.1";
    /// The URL of the page, as in `exchanges`.
    page: String, "", "http://www.example.ke/about", "0.1";
    /// The position of the link on its page, from 0.
    position: u32, "", "3", "0.1";
    /// The URL that the link leads to.
    url: String, "", "http://www.example.ke/news/7", "0.1";
    /// The HTML element that the link was written in.
    element: String, "", "a", "0.1";
    /// Whether the link, or the whole page, asks not to be followed.
    nofollow: bool, "", "false", "0.1";
    /// Whether the URL belongs to the same site.
    is_internal: bool, "", "true", "0.1";
    /// The URL in the page's own spelling, in which it is requested; null where that equals `url`.
    spelled: Option<String>, "", "http://www.example.ke/%6eews/7", "0.1";
}

table! {
    /// A row per robots.txt with a body, for each site tree that requested it: a replay needs it to skip the
    /// same URLs. Written only with `--record-links`.
    RobotsRow in "robots";

    /// The site whose tree sent the request.
    site: String, "", "example.ke", "0.1";
    /// The number of the tree's start URL among the start URLs of its site; 0 is the first.
    seed: u16, "", "0", "0.1";
    /// The URL that was requested, after redirects.
    url: String, "", "http://www.example.ke/robots.txt", "0.1";
    /// The HTTP status.
    status: u16, "", "200", "0.1";
    /// The file, up to 500 KiB. Bytes that are not UTF-8 are percent-encoded, which RFC 9309 §2.2.2 treats as
    /// equal.
    body: String, "", "User-agent: * Disallow: /private/", "0.1";
}
