use crate::exchange::vocabulary;

vocabulary! {
    /// The terms of the data dictionary and the report, defined once for both.
    pub enum Term {
        /// The registrable domain of a host: a public suffix and one label, or an address.
        Site = "site",
        /// The pages that can be reached from a start URL through pages of its site. Each start URL has one
        /// site tree.
        SiteTree = "site tree",
        /// The minimum number of links followed from the start URL; a redirect adds none.
        DepthLevel = "depth level",
        /// A request to a server and its outcome, robots.txt and redirects included.
        Exchange = "exchange",
        /// An HTML response with a 2xx status that was read for links.
        Page = "page",
        /// Requests, bytes both ways, and busy time.
        Load = "load",
        /// The data that the program and the server send each other over TCP: HTTP messages before
        /// decompression and, over TLS, its records and handshakes, whose size is estimated except for the
        /// certificates. TCP and IP headers, retransmissions and DNS are not counted.
        Bytes = "bytes",
        /// From the start of an exchange at the server (of the connection, where one is opened, or else of
        /// the request) to the last byte of the response, or to the time-out that ended it. DNS is not
        /// included.
        BusyTime = "busy time",
        /// A URL of another site. It is counted once in the whole survey, however many site trees link to it.
        ExternalUrl = "external URL",
        /// An external URL and a site tree that links to it: a row of the table `links`. A URL to which three
        /// trees link is one external URL and three URL pairs. Host pairs and site pairs are counted in the
        /// same way.
        UrlPair = "URL pair",
        /// The share of all external URLs, hosts or sites found that the levels down to a depth contain.
        /// *Union* coverage counts each once in the survey, *pair* coverage once in every site tree that
        /// links to it.
        Coverage = "coverage",
        /// 0 for your start URLs, n+1 for a site first linked from a site of generation n.
        Generation = "generation",
    }
}
