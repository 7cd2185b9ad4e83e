//! The only room with sockets to servers: a request goes in, a response and its cost come out.
//!
//! # The life of an exchange
//! 1. **Locate.** [`Fetcher::locate`] turns a host into one address: from its pin, or by querying DNS for A
//!    and AAAA records at the same time. It uses IPv4 where it exists, and waits for the AAAA response only
//!    where it does not. AAAA records that arrive later are stored with the pin
//!    ([`Fetcher::name_lookup`]). Of the addresses that may be contacted it chooses the numerically
//!    smallest, so that every run makes the same choice. The host stays pinned to this address for as long as
//!    the DNS response is valid. [`Fetcher::locate_excluding`] gives the next address when one was found dead:
//!    of three at most, IPv6 when all IPv4 addresses are dead.
//! 2. **Check.** The caller waits for its turn at that address. [`Fetcher::fetch`] then checks host and
//!    address once more (opt-out, special ranges): this is the last gate before any byte leaves.
//! 3. **Connect.** Each origin at a server address has its own line: an HTTP client that can reach this
//!    address and nothing else, whatever a URL, a redirect or DNS says. A connection belongs to one origin,
//!    and is kept alive over short pauses only (`idle`). With a gateway every line leads to the gateway, and
//!    lines of different virtual addresses still share nothing.
//! 4. **Send.** One `GET` or `HEAD` request over HTTP/1.1. Not HTTP/2: one request at a time needs no
//!    multiplexing, and HTTP/1.1 keeps the bytes of an exchange countable.
//! 5. **Read.** The head, then as much of the body as the purpose needs. robots.txt and pages are read and
//!    decoded under caps, and no faster than the [`Meter`] allows: while it holds a reader up, the reader
//!    takes nothing from the connection, so that TCP slows the server down. The rule for what counts as a
//!    page is in `exchange`: where the media type does not say, the beginning of the body decides. After any
//!    other successful response the connection is closed. Small error pages are read and discarded, because
//!    that costs less than the next connection.
//! 6. **Report.** Every mishap becomes one word of [`Failure`](crate::exchange::Failure). Nothing that a
//!    server, a resolver or a network does is an error of this room.
//!
//! A request is never sent twice. When a server closes an idle connection while a request is on its way, the
//! exchange ends as `idle_closed`; whether to send a second request is up to the callers, which know the
//! delay rule. The rule in `idle` makes this rare.
//!
//! # How bytes are counted
//! `sent` is the request head as it is written; it is exact. `received` is the status line, the header lines
//! (as `name: value` CRLF) and the body before decoding. It is exact for a body with a length and a head of
//! the usual form. It is an estimate for chunked bodies: the sizes of the chunks are not visible and are
//! taken to be 8 KiB. With TLS, the records and the handshake are added: the certificates with their real
//! length and the rest with typical sizes (see `wire`). Informational (1xx) responses, retransmissions, and
//! TCP and IP headers are not counted. Bytes that a server had already sent when we closed the connection (at
//! a cap, after the head of an image) are unknown and not counted. A head that was too large (beyond 408 KiB,
//! or 512 fields) counts as the limit: how much of it arrived is unknown.
//!
//! # What is tolerated
//! Folded and invalid header lines; spaces before the colon; an HTML page without any head (HTTP/0.9;
//! anything else without a head is `bad_http`); a `Content-Encoding` that is not a content coding; bytes
//! after the end of compressed data; `deflate` with or without the zlib frame; TLS connections that end
//! without `close_notify`.
//!
//! `raw_head` and `raw_body` read heads and body framing that hyper refuses and browsers accept. Where the
//! response is the first of its connection and only its version is odd, hyper passes its bytes on. Otherwise
//! the bytes are lost: the failure is `odd_http`, the caller may send the request once more, and from then on
//! requests to the host go over a `raw_line`, whose connections end with their responses. reqwest offers no
//! hook between its connection and hyper.
//!
//! # Time
//! `connect` is the TCP connection and `tls` the handshake after it. The boundary between them is the moment
//! when the TLS library looks for a session to resume. `first_byte` runs from the ready connection to the
//! complete head. `total` runs from the start of the connection (or of the request, on a connection kept
//! alive) to the last byte read. Each time-out is independent of the others; the time-out of the whole
//! exchange covers all of them. A pause of our own (the rate of the survey is used up) counts in no time-out,
//! up to [`Settings::pause_allowance`] in an exchange. It does count in `total`: the server is busy with us
//! all that time.
//!
//! # Invalid certificates
//! A survey wants both the page and the reason. By default a bad certificate is recorded in one word and
//! accepted, but the signatures of the handshake are still verified: with the bare key where rustls cannot
//! read the certificate. Signatures by a kind of key that nothing here can verify are accepted too, and
//! recorded; `bare_key` lists these keys and gives the reason. Nothing secret is ever sent.
//!
//! # Old TLS
//! Connections use TLS 1.2 or 1.3 with current cipher suites. Where a server refuses these in a way that may
//! be due to its age ([`Response::may_speak_older_tls`](crate::exchange::Response)), [`Fetcher::greet`] can
//! send it one more ClientHello, as older clients did. The response names the version and the suite that the
//! server would use, and the connection ends there. No request is sent and no page is read.
//!
//! # Without sockets
//! [`Fetcher::in_process`] sends the same requests to a [`Web`] in this process. The Web returns the result
//! of a request and how long it takes; connections, time-outs, caps, counts and failures work as described
//! above, by the runtime's clock. A simulation runs on this, with virtual time.
//!
//! This room follows no redirect, keeps no cookie, sends no Referer, ignores proxies in the environment and
//! `/etc/hosts`, and never waits for politeness: that is the task of `load`.

mod cached;
mod clock;
mod connect;
mod decode;
mod fetcher;
mod gate;
mod gunzip;
mod head;
mod line;
mod names;
mod pin;
mod raw;
mod retry_after;
mod route;
mod run;
mod settings;
mod tls;

#[cfg(test)]
mod tests;

pub use clock::{Clock, Uptime, moved};
pub use fetcher::{Fetcher, Located, max_bytes_over_limit, max_exchange_bytes};
pub use line::in_process::{
    ConnectionOutcome, LookupResponse, Prefetched, SentCertificate, UserDelay, UserDelays, Web, WebRequest,
    WebResponse,
};
pub use run::body::{Meter, Unmetered};
pub use settings::{FetchError, Manner, Settings, Timeouts};
