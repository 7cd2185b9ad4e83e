use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Request, Response, Version, retry};
use rustls::ClientConfig;

use super::failure::{classify, may_speak_older_tls};
use super::idle::keep_alive_time;
use crate::exchange::Failure;
use crate::fetch::Settings;
use crate::fetch::connect::{ConnectTimer, Notes};
use crate::fetch::raw::reread;

/// An HTTP client that reaches one address and nothing else, and whose idle connections can be closed.
pub(in crate::fetch) struct SocketClient {
    target: IpAddr,
    is_https: bool,
    /// Includes the TLS sessions.
    config: ClientConfig,
    settings: Arc<Settings>,
    /// None if the next request must open a connection.
    client: Mutex<Option<Client>>,
}

/// The number of fields for which the HTTP library allocates space at each head, interim responses included.
/// With many more, a flood of interim responses costs so much that the server is faster than we are. A longer
/// head is read without the library.
const MOST_FIELDS: usize = 512;

impl SocketClient {
    pub(in crate::fetch) fn new(
        target: IpAddr,
        is_https: bool,
        config: ClientConfig,
        settings: &Arc<Settings>,
    ) -> Self {
        Self { target, is_https, config, settings: settings.clone(), client: Mutex::default() }
    }

    pub(in crate::fetch) async fn execute(
        &self,
        request: Request,
        notes: &Notes,
    ) -> Result<Response, Failure> {
        let client = self.client().map_err(|error| {
            tracing::error!(%error, address = %self.target, "cannot set up the HTTP client");
            Failure::ConnectUnreachable
        })?;
        let has_body = request.method() != Method::HEAD;
        let result = client.execute(request).await;
        let response = result.map_err(|error| {
            let moments = notes.moments();
            notes.note(|recorded| recorded.may_speak_older_tls = may_speak_older_tls(&error, &moments));
            classify(&error, &moments)
        })?;
        if response.version() == Version::HTTP_09 { reread(response, has_body).await } else { Ok(response) }
    }

    /// Closes the connections that are idle, and those in use once their exchange has ended. Where no
    /// connection is kept, there is nothing to close.
    pub(in crate::fetch) fn hang_up(&self) {
        if keep_alive_time(self.is_https, self.settings.shortest_pause).is_none() {
            return;
        }
        self.client.lock().take();
    }

    fn client(&self) -> reqwest::Result<Client> {
        let mut client = self.client.lock();
        match &*client {
            Some(client) => Ok(client.clone()),
            None => Ok(client.insert(self.build()?).clone()),
        }
    }

    fn build(&self) -> reqwest::Result<Client> {
        let Settings { timeouts, connections_per_address, shortest_pause, .. } = &*self.settings;
        let keep_alive = keep_alive_time(self.is_https, *shortest_pause);
        Client::builder()
            .tls_backend_preconfigured(self.config.clone())
            .tls_info(true)
            .dns_resolver(Arc::new(Pinned(self.target)))
            .connector_layer(ConnectTimer { connect: timeouts.connect, tls: timeouts.tls })
            .no_proxy()
            .redirect(Policy::none())
            .retry(retry::never())
            .referer(false)
            .http1_only()
            .http09_responses()
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_max_headers(MOST_FIELDS)
            .pool_max_idle_per_host(if keep_alive.is_some() { (*connections_per_address).max(1) } else { 0 })
            .pool_idle_timeout(keep_alive)
            .build()
    }
}

/// Resolves every name to the one address of its line.
struct Pinned(IpAddr);

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        let address: Addrs = Box::new(std::iter::once(SocketAddr::new(self.0, 0)));
        Box::pin(std::future::ready(Ok(address)))
    }
}
