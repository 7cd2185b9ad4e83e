use crate::records::table::table;

table! {
    /// A row per external URL of a site tree (a URL pair): the first place where it was found.
    LinkRow in "links";

    /// The site whose tree it was found in.
    site: String, "", "example.ke", "0.1";
    /// The depth of the page it stands on.
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
    /// Whether the host lies in the country domains that are surveyed.
    in_survey: bool, "", "true", "0.1";
    /// Which of the site's start URLs the tree grew from, 0 the first.
    seed: u16, "", "0", "0.1";
}

table! {
    /// A row per link of a page that was read, internal and external, in document order; a page that is linked
    /// twice stands where it is linked first. Written only with `--record-links`.
    PageLinkRow in "page_links";

    /// The site whose tree the page belongs to.
    site: String, "", "example.ke", "0.1";
    /// Which of the site's start URLs the tree grew from, 0 the first.
    seed: u16, "", "0", "0.1";
    /// The URL of the page, as in `exchanges`.
    page: String, "", "http://www.example.ke/about", "0.1";
    /// The place of the link among those of its page, from 0.
    position: u32, "", "3", "0.1";
    /// The URL it leads to.
    url: String, "", "http://www.example.ke/news/7", "0.1";
    /// The HTML element that the link was written in.
    element: String, "", "a", "0.1";
    /// Whether the link, or the whole page, asks not to be followed.
    nofollow: bool, "", "false", "0.1";
    /// Whether it stays in the site.
    is_internal: bool, "", "true", "0.1";
    /// The URL as the page spells it and as it is asked for; null where that is `url`.
    spelled: Option<String>, "", "http://www.example.ke/%6eews/7", "0.1";
}

table! {
    /// A row per robots.txt that came with a body, for each site tree that asked for it: what a replay needs to
    /// keep the same URLs back. Written only with `--record-links`.
    RobotsRow in "robots";

    /// The site whose tree asked.
    site: String, "", "example.ke", "0.1";
    /// Which of the site's start URLs the tree grew from, 0 the first.
    seed: u16, "", "0", "0.1";
    /// The URL that was asked for, after redirects.
    url: String, "", "http://www.example.ke/robots.txt", "0.1";
    /// The HTTP status.
    status: u16, "", "200", "0.1";
    /// The file, up to 500 KiB. Bytes that are not UTF-8 are percent-encoded, which RFC 9309 §2.2.2 treats as the
    /// same.
    body: String, "", "User-agent: * Disallow: /private/", "0.1";
}
