use super::table::table;

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
