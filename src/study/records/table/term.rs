use crate::exchange::vocabulary;

vocabulary! {
    /// What words mean, wherever a survey is spoken of: the data dictionary and the report say it alike.
    pub enum Term {
        /// The registrable domain of a host: a public suffix and one label, or an address.
        Site = "site",
        /// The pages that are reached from a start URL through pages of its site; one for every start URL.
        SiteTree = "site tree",
        /// Links followed from the start URL, the fewest possible; a redirect adds none.
        DepthLevel = "depth level",
        /// A request to a server and what came of it, robots.txt and redirects included.
        Exchange = "exchange",
        /// A response with 2xx that is HTML and was read for links.
        Page = "page",
        /// Requests, bytes both ways, and busy time.
        Load = "load",
        /// What the program and the server send each other over TCP: HTTP messages before decompression and, over TLS, its
        /// records and handshakes, whose size is estimated but for the certificates. Headers of TCP and IP, what is sent
        /// again, and DNS are not counted.
        Bytes = "bytes",
        /// From the start of an exchange at the server (of the connection, where one is opened, or else of the request) to
        /// the last byte of the response, or to the time-out that ended it. DNS is not in it.
        BusyTime = "busy time",
        /// A URL of another site. Counted once in the whole survey, however many site trees link to it.
        ExternalUrl = "external URL",
        /// An external URL and a site tree that links to it: a row of the table `links`. A URL to which three trees link is one
        /// external URL and three URL pairs. Host pairs and site pairs are counted alike.
        UrlPair = "URL pair",
        /// The share of all external URLs, hosts or sites found that the levels down to a depth show. *Union* coverage counts
        /// each once in the survey, *pair* coverage once in every site tree that links to it.
        Coverage = "coverage",
        /// 0 for your start URLs, n+1 for a site first linked from one of generation n.
        Generation = "generation",
    }
}
