use super::vocabulary;

vocabulary! {
    /// What a page offers a visitor without scripts: the column `content`.
    ///
    /// Registries publish three groups. DNS Belgium ("Website content", docs.dnsbelgium.be, read in 2026)
    /// calls a name without a reachable site "no content", error, holding and under-construction pages "low
    /// content", and the rest "high content". CZ.NIC (ADAM, "Domain classification") separates "no content"
    /// (unreachable or empty), "HTTP error", "parking web" and "active web". Neither publishes a threshold.
    /// Here the words of pages that hold nothing of a site's own are apart, in the group `none`, so that
    /// either count can be formed: DNS Belgium's "low" is `low` and all of `none` but `empty`.
    pub enum ContentClass in ContentGroup {
        /// A page that offers the domain name for sale, shows the advertisements of a parking service, or
        /// says that a registrar holds the name.
        Parked = "parked" in None,
        /// A page in place of a site that is not there yet: coming soon, under construction, in maintenance,
        /// or the default page of a Web server or a hosting panel.
        Placeholder = "placeholder" in None,
        /// A page in which the hosting company says that it suspended the site.
        Suspended = "suspended" in None,
        /// A page that says it is an error, whatever its status: not found, no database, a failed script.
        Error = "error" in None as "error page",
        /// No word is visible without scripts, and there is no frame, picture or link.
        Empty = "empty" in None,
        /// A list of files that the server made, because the folder has no page.
        Listing = "listing" in Low as "directory listing",
        /// Little of a site's own: fewer than 100 words of visible text and fewer than 20 links.
        Low = "low" in Low as "little content",
        /// At least 100 words of visible text, or at least 20 links.
        High = "high" in High as "content",
    }
}

vocabulary! {
    /// How much of a site's own a page has.
    pub enum ContentGroup {
        /// Nothing.
        None = "none",
        /// Little.
        Low = "low",
        /// Enough for a site in use.
        High = "high",
    }
}
