use crate::exchange::vocabulary;
use crate::records::table::table;

table! {
    /// A row per host and fact that differs between an earlier and a later survey, written by `compare` into
    /// the folder of the later one. A fact is compared only where both surveys know it.
    ChangeRow in "changes";

    /// The folder of the earlier survey, without the folders around it.
    earlier: String, "", "kenya-2026", "0.1";
    /// The folder of the later survey, without the folders around it.
    later: String, "", "kenya-2027", "0.1";
    /// The name of the host.
    host: String, "", "www.example.ke", "0.1";
    /// The site of the host.
    site: String, "", "example.ke", "0.1";
    /// Pages of the host in the later survey or, if it is not in that, in the earlier one.
    pages: u64, "pages", "11", "0.1";
    /// What differs, one word of the list below.
    fact: String, "", "network", "0.1";
    /// Its value in the earlier survey.
    before: String, "", "AS64500 Example Networks", "0.1";
    /// Its value in the later survey.
    after: String, "", "AS64501 Other Networks", "0.1";
}

vocabulary! {
    /// What can differ between two surveys of a host: the closed list behind the column `fact` of `changes`.
    pub enum ChangedFact {
        /// Whether the host responds: `responds`, `no_response`, `not_requested` or `not_seen`.
        Presence = "presence",
        /// What requests over http met, a word of `http` in `hosts`.
        Http = "http",
        /// What requests over https met, a word of `https` in `hosts`.
        Https = "https",
        /// Whether its responses ask browsers to use https only.
        Hsts = "hsts",
        /// `valid`, or why the certificate is not valid.
        Certificate = "certificate",
        /// Who issued the certificate.
        Issuer = "certificate_issuer",
        /// Whether it has an IPv6 address.
        Ipv6 = "ipv6",
        /// The software of its server, without version.
        Software = "software",
        /// The content management system or other software behind its page.
        Cms = "cms",
        /// How much content of its own its page has, a word of `content`.
        Content = "content",
        /// The language of the text of its page.
        TextLanguage = "text_language",
        /// The language that its page declares.
        Language = "language",
        /// The result of its robots.txt.
        Robots = "robots",
        /// The country of its server.
        Country = "country",
        /// The autonomous system of its server.
        Network = "network",
    }
}

vocabulary! {
    /// Whether a survey met a host.
    pub enum Presence {
        /// A response came.
        Responds = "responds",
        /// It was requested, and no response came.
        NoResponse = "no_response",
        /// It is known by name and was not requested.
        NotRequested = "not_requested",
        /// The survey does not know it.
        NotSeen = "not_seen",
    }
}
