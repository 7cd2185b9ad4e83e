use super::vocabulary;

vocabulary! {
    /// A URL at which a tree may begin, by its relation to the given URL: the column `entrance`.
    pub enum Entrance in EntranceGroup {
        /// The URL that was given.
        Offered = "offered" in Given,
        /// The front page of the given URL's host.
        FrontPage = "front_page" in Fallback,
        /// The front page of the given URL's host, with the other scheme of http and https.
        OtherScheme = "other_scheme" in Fallback,
        /// The front page of another name of the site: with `www.` or without.
        OtherName = "other_name" in Fallback,
        /// The front page of another name of the site, with the other scheme of http and https.
        OtherNameOtherScheme = "other_name_other_scheme" in Fallback,
    }
}

vocabulary! {
    /// Whether an entrance was given or is a fallback.
    pub enum EntranceGroup {
        /// The start list or a link gave it.
        Given = "given",
        /// It was tried because the given URL brought no page.
        Fallback = "fallback",
    }
}
