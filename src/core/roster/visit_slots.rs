use std::collections::HashMap;
use std::net::IpAddr;

use super::limits::VisitLimits;
use crate::address::{Neighbourhood, server_at};

/// A scope in which the number of concurrent visits is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VisitScope {
    /// A server, by the address that represents it.
    Server(IpAddr),
    /// A neighbourhood, if the visits in neighbourhoods are limited.
    Neighbourhood(Neighbourhood),
}

impl VisitScope {
    /// The server, and its neighbourhood.
    pub(super) fn scopes_at(address: IpAddr) -> [Self; 2] {
        [Self::Server(server_at(address)), Self::Neighbourhood(Neighbourhood::from_address(address))]
    }
}

/// The slots of visits: at servers, and in neighbourhoods if these have a limit.
///
/// A visit that would only wait for its turn takes no slot from visits that need not wait.
#[derive(Debug)]
pub(super) struct VisitSlots {
    per_address: u32,
    per_neighbourhood: Option<u32>,
    taken: HashMap<VisitScope, u32>,
}

impl VisitSlots {
    pub(super) fn new(limits: &VisitLimits) -> Self {
        let VisitLimits { per_address, per_neighbourhood, .. } = *limits;
        Self { per_address, per_neighbourhood, taken: HashMap::new() }
    }

    /// Takes a slot at a server for a visit.
    ///
    /// # Errors
    /// The scope in which no slot is left.
    pub(super) fn take(&mut self, address: IpAddr) -> Result<(), VisitScope> {
        let scopes = VisitScope::scopes_at(address);
        if let Some(full) = scopes.into_iter().find(|scope| !self.has_room(*scope)) {
            return Err(full);
        }
        for scope in scopes {
            *self.taken.entry(scope).or_default() += 1;
        }
        Ok(())
    }

    /// Whether a visit may take a slot there.
    pub(super) fn has_room(&self, scope: VisitScope) -> bool {
        let limit = match scope {
            VisitScope::Server(_) => Some(self.per_address),
            VisitScope::Neighbourhood(_) => self.per_neighbourhood,
        };
        let taken = self.taken.get(&scope).copied().unwrap_or_default();
        limit.is_none_or(|limit| taken < limit)
    }

    pub(super) fn leave(&mut self, address: IpAddr) {
        for scope in VisitScope::scopes_at(address) {
            if let Some(taken) = self.taken.get_mut(&scope) {
                *taken -= 1;
                if *taken == 0 {
                    self.taken.remove(&scope);
                }
            }
        }
    }
}
