//! The only room with sockets to servers: a question goes in, an answer with its cost comes out.
//!
//! # The life of an exchange
//! 1. **Where.** [`Fetcher::locate`] turns a host into one address: from the pins, or by asking
//!    DNS for A and AAAA records at once. IPv4 is taken where it exists, and AAAA is waited for
//!    only where it does not; what comes later is kept beside it ([`Fetcher::known_addresses`]).
//!    Of the addresses that may be contacted the numerically smallest is chosen, so that every
//!    run chooses alike, and the host stays pinned to it for as long as the DNS answer lives.
//!    [`Fetcher::locate_beyond`] gives the next one when an address was found dead: of three at
//!    most, IPv6 when all IPv4 is dead.
//! 2. **May we.** The caller waits for its turn at that address. [`Fetcher::fetch`] then checks
//!    host and address once more (opt-out, special ranges): the last gate before any byte leaves.
//! 3. **Connect.** Each origin at a server address has a line of its own: an HTTP client that can reach this
//!    address and nothing else, whatever a URL, a redirect or DNS says. A connection belongs to one
//!    origin, and is kept over short pauses only (`idle`). With a gateway every line leads to the gateway, and lines of
//!    different virtual addresses still share nothing.
//! 4. **Ask.** One `GET` or `HEAD` over HTTP/1.1. Not HTTP/2: one request at a time needs no
//!    multiplexing, and HTTP/1.1 keeps the bytes of an exchange countable.
//! 5. **Read.** The head, then as much of the body as the purpose wants: robots.txt and pages are
//!    read and decoded under caps, and no faster than the [`Meter`] lets: while it holds a reader up, nothing is taken from the
//!    connection, so that TCP slows the server down. What counts as a page is `exchange`'s rule: where its type does not tell, the
//!    beginning of the body does. Any other successful answer ends by hanging up. Small error pages are read and thrown away, because that costs less than the next
//!    connection.
//! 6. **Tell.** Every mishap becomes one word of [`Failure`](crate::exchange::Failure); nothing
//!    that a server, a resolver or a network does is an error of this room.
//!
//! A request is never sent twice: when a server closes an idle connection while a request is on its way
//! there, the exchange ends as `idle_closed`, and a second one is up to those who know the delay rule. That it
//! seldom comes to this is the rule of `idle`.
//!
//! # How bytes are counted
//! `sent` is the request head as it is written, exact. `received` is the status line, the header
//! lines (as `name: value` CRLF) and the body before decoding; it is exact for a body with a
//! length in a head of usual form, and an estimate for chunked bodies, where the chunks' own
//! sizes are not visible and are taken to be 8 KiB. With TLS the records and the
//! handshake are added, the certificates with their real length and the rest with usual sizes
//! (see `wire`). Informational (1xx) answers, retransmissions, TCP and IP headers are not
//! counted. What a server had already sent when we hung up (at a cap, after the head of an
//! image) is not known and not counted; a head that was too large (beyond 408 KiB, or 512 fields)
//! counts as the limit: how much of it came is unknown.
//!
//! # What is put up with
//! Folded and invalid header lines, spaces before the colon, an HTML page without any head
//! (HTTP/0.9; anything else without a head is `bad_http`), a `Content-Encoding` that is none, bytes after the end of
//! compressed data, `deflate` with or without zlib's frame, TLS connections that end without saying so.
//!
//! Heads and frames that hyper refuses and browsers read are read here, by `raw_head` and `raw_body`. Where the response
//! is the first of its connection and only its version is odd, hyper hands on its bytes. Otherwise they are gone: the
//! answer is `odd_http`, the caller may ask once more, and from then on the host is asked over a `raw_line`, whose
//! connections end with their responses. reqwest lets nobody between its connection and hyper.
//!
//! # Time
//! `connect` is the TCP connection and `tls` the handshake after it: the moment between them is
//! when the TLS library looks for a session to resume. `first_byte` runs from the ready
//! connection to the complete head, `total` from the start of the connection (or of the request,
//! on one kept alive) to the last byte read. Each time-out stands for itself; the time-out of
//! the whole covers all of them. A pause of our own (the rate of the survey is used up) is the server's fault in none of
//! them, up to [`Settings::patience`] in an exchange; it counts into `total`, for the server has us all that time.
//!
//! # Invalid certificates
//! A survey wants the page and the reason: by default a bad certificate is noted in one word
//! and accepted, the signatures of the handshake still being verified: with the bare key where
//! the certificate is one that rustls does not read. Signatures by a kind of key that nothing
//! here verifies are accepted too, and noted; `bare_key` says which, and why. Nothing secret is
//! ever sent.
//!
//! # Old TLS
//! Connections are TLS 1.2 or 1.3 with the suites of today. A server that refuses these in a way that may be about age
//! ([`Answer::may_speak_older_tls`](crate::exchange::Response)) can be greeted once more as older clients did
//! ([`Fetcher::greet`]): its reply names the version and the suite that it would speak, and the connection ends there.
//! No request is sent and its pages are not read.
//!
//! # Without sockets
//! [`Fetcher::in_process`] puts the same questions to a [`Web`] in this process. It says what comes of a
//! question and how long that takes; connections, time-outs, caps, counts and failures are those above,
//! by the runtime's clock. With virtual time this is what a simulation runs on.
//!
//! This room follows no redirect, keeps no cookie, sends no Referer, ignores proxies in the
//! environment and `/etc/hosts`, and never waits for politeness: that is `load`'s.

mod cached;
mod clock;
mod connect;
mod decode;
mod fetcher;
mod gate;
mod gunzip;
mod head;
mod line;
mod manner;
mod names;
mod pin;
mod raw;
mod retry_after;
mod route;
mod run;
mod settings;
mod stage;
mod tls;

#[cfg(test)]
mod tests;

pub use clock::{Clock, Uptime, moved};
pub use fetcher::{Fetcher, Located, beyond_limit, most_bytes};
pub use line::in_process::{
    ConnectionOutcome, LookupAnswer, Prefetched, ShownCertificate, UserDelay, UserDelays, Web, WebReply,
    WebRequest,
};
pub use manner::Manner;
pub use pin::KnownAddresses;
pub use run::meter::{Meter, Unmetered};
pub use settings::{FetchError, Settings, Timeouts};
