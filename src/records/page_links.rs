use super::table::table;

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
