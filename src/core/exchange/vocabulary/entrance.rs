use super::vocabulary;

vocabulary! {
    /// A URL at which a tree may begin, by its relation to the one that was offered: the column `entrance`.
    pub enum Entrance in EntranceGroup {
        /// The URL that was offered.
        Offered = "offered" in Given,
        /// The front page of the offered URL's host.
        FrontPage = "front_page" in Fallback,
        /// The front page of the offered URL's host by the other of http and https.
        OtherScheme = "other_scheme" in Fallback,
        /// The front page of another name of the site: with `www.` or without.
        OtherName = "other_name" in Fallback,
        /// The front page of another name of the site by the other of http and https.
        OtherNameOtherScheme = "other_name_other_scheme" in Fallback,
    }
}

vocabulary! {
    /// Whether an entrance was given or made up.
    pub enum EntranceGroup {
        /// The start list or a link gave it.
        Given = "given",
        /// It was tried because no page came from what was given.
        Fallback = "fallback",
    }
}
