use super::table::table;

table! {
    /// A row per external URL of a site tree: the first place where it was found.
    LinkRow in "links";

    /// The site whose tree it was found in.
    site: String, "", "example.ke", "0.1";
    /// The depth of the page it stands on.
    depth: u16, "links", "1", "0.1";
    /// The URL of that page.
    page: String, "", "http://www.example.ke/about", "0.1";
    /// The external URL.
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
