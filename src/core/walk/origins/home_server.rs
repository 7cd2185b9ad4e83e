use std::net::IpAddr;

use crate::exchange::{Purpose, Response};

/// The server of a site: the server that delivered its first page. If none did, it is the server that
/// responded first to a request for a page, or else to any request.
#[derive(Debug, Default)]
pub(in crate::walk) struct HomeServer {
    rank: ServerRank,
    server: Option<(IpAddr, Option<String>)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum ServerRank {
    #[default]
    Nothing,
    Response,
    ToPageRequest,
    Page,
}

impl HomeServer {
    /// Takes in a response, in the order of the requests.
    pub(in crate::walk) fn note(&mut self, purpose: Purpose, response: &Response, is_page: bool) {
        let rank = match purpose {
            _ if is_page => ServerRank::Page,
            Purpose::Page | Purpose::Head | Purpose::Check => ServerRank::ToPageRequest,
            Purpose::Robots | Purpose::Probe => ServerRank::Response,
        };
        if rank > self.rank
            && response.status.is_some()
            && let Some(address) = response.address
        {
            (self.rank, self.server) = (rank, Some((address, response.head.server.clone())));
        }
    }

    /// Its address, and the software that it names in its header.
    pub(in crate::walk) fn into_parts(self) -> (Option<IpAddr>, Option<String>) {
        let (address, software) = self.server.unzip();
        (address, software.flatten())
    }
}
