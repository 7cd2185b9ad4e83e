use std::net::IpAddr;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::SurveyError;
use super::parts::Parts;
use crate::address::Site;
use crate::frontier::FrontierError;
use crate::load::ServerState;
use crate::walk::Known;

/// States of servers that are read at a time: about a megabyte, and the store is free for others in between.
const PAGE: usize = 1000;

/// What is stored of a server; one that was never asked has no state.
pub(super) fn server(parts: &Parts, address: IpAddr) -> Result<Option<ServerState>, SurveyError> {
    let stored = parts.frontier().server(address)?;
    stored.map(|bytes| state_of(parts, address, &bytes)).transpose()
}

/// What is stored of every server, in the order of addresses.
pub(super) fn each_server(
    parts: &Parts,
    mut visit: impl FnMut(IpAddr, ServerState) -> Result<(), SurveyError>,
) -> Result<(), SurveyError> {
    let mut last = None;
    loop {
        let page = parts.frontier().servers_after(last, PAGE)?;
        let Some((address, _)) = page.last() else { return Ok(()) };
        last = Some(*address);
        for (address, bytes) in page {
            visit(address, state_of(parts, address, &bytes)?)?;
        }
    }
}

fn state_of(parts: &Parts, address: IpAddr, bytes: &[u8]) -> Result<ServerState, SurveyError> {
    decode(parts, bytes, || format!("the state of server {address}"))
}

/// What earlier trees of a site left for later ones.
pub(super) fn known(parts: &Parts, site: &Site) -> Result<Option<Known>, SurveyError> {
    let stored = parts.frontier().known(site)?;
    stored
        .map(|bytes| decode(parts, &bytes, || format!("what is known of site {}", site.as_str())))
        .transpose()
}

/// What is to be stored, as bytes.
pub(super) fn encode(value: &impl Serialize) -> Result<Vec<u8>, SurveyError> {
    postcard::to_stdvec(value).map_err(|wrong| SurveyError::Broken(format!("the survey's state: {wrong}")))
}

/// What cannot be read to its last byte is damage: were it taken for nothing, servers would be asked without their
/// pauses and beyond their budgets.
fn decode<T: DeserializeOwned>(
    parts: &Parts,
    bytes: &[u8],
    what: impl FnOnce() -> String,
) -> Result<T, SurveyError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => {
            let what = format!("{} cannot be read", what());
            Err(FrontierError::Damaged { path: parts.folder.state(), what }.into())
        }
    }
}
