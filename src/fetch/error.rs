use std::io;
use std::path::PathBuf;

/// Why no fetcher can be made from these settings.
///
/// After that there are no errors: what happens during an exchange is an answer.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("cannot read root certificates from '{path}': {source}")]
    RootsUnreadable { path: PathBuf, source: io::Error },
    #[error("'{path}' holds no usable root certificate in PEM form")]
    NoRoots { path: PathBuf },
    #[error("the user agent '{0}' cannot stand in a header")]
    UserAgent(String),
    #[error("cannot learn the system's name servers (name one with --dns): {0}")]
    SystemResolvers(String),
    #[error("cannot set up the DNS client: {0}")]
    Dns(String),
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    #[error("cannot set up the HTTP client: {0}")]
    Http(#[from] reqwest::Error),
}
