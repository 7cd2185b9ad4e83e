use super::vocabulary;

vocabulary! {
    /// What requests to a host over one scheme met: the closed list behind the columns `http` and `https` of
    /// `hosts`. The front page decides if it was requested and a response came, else the best response to
    /// another URL.
    pub enum Door in DoorGroup {
        /// Nothing was requested over this scheme, or nothing that was sent says anything: it is not known
        /// what a request would meet.
        NotRequested = "not_requested" in Unknown,
        /// A page was delivered.
        Page = "page" in Open,
        /// A redirect to the same host over https, with or without `www.`.
        ToHttps = "to_https" in Open,
        /// Another redirect.
        Redirect = "redirect" in Open,
        /// A successful response that is no page.
        File = "file" in Open,
        /// A challenge or a block page in place of the page.
        Challenge = "challenge" in Open,
        /// A response with another status of 4xx.
        ClientError = "client_error" in Open,
        /// A response with a status of 5xx or an unknown one, or one that is not HTTP.
        ServerError = "server_error" in Open,
        /// Only robots.txt was requested, and a response came.
        RobotsOnly = "robots_only" in Open,
        /// The server refused the TLS handshake with an alert, or has no TLS that current clients speak.
        TlsFailure = "tls_failure" in Open,
        /// No connection, no TLS handshake, or no response over it.
        NoResponse = "no_response" in Shut,
        /// The name of the host leads to no address, or no name server says to which.
        NoName = "no_name" in Shut,
    }
}

vocabulary! {
    /// Whether a door works.
    pub enum DoorGroup {
        /// It is not known.
        Unknown = "unknown",
        /// A server responds there.
        Open = "open",
        /// No server responds there.
        Shut = "shut",
    }
}
