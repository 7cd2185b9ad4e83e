use std::collections::HashMap;
use std::net::IpAddr;

use crate::address::{Neighbourhood, server_at};
use crate::load::Pace;

/// The places that visits take: at servers, and in neighbourhoods where these are to be kept.
///
/// A visit that would only wait for its turn takes no place from those who need not.
#[derive(Debug)]
pub(super) struct Places {
    per_address: u32,
    per_neighbourhood: Option<u32>,
    taken: HashMap<Spot, u32>,
}

/// Where a place may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spot {
    Server(IpAddr),
    Neighbourhood(Neighbourhood),
}

impl Spot {
    /// The server, and what it is a part of.
    pub(super) fn around(address: IpAddr) -> [Self; 2] {
        [Self::Server(server_at(address)), Self::Neighbourhood(Neighbourhood::of(address))]
    }
}

impl Places {
    pub(super) fn of(pace: &Pace) -> Self {
        let Pace { per_address, per_neighbourhood, .. } = *pace;
        Self { per_address, per_neighbourhood, taken: HashMap::new() }
    }

    /// Takes a place at a server for a visit.
    ///
    /// # Errors
    /// Says where none is left.
    pub(super) fn take(&mut self, address: IpAddr) -> Result<(), Spot> {
        let spots = Spot::around(address);
        if let Some(full) = spots.into_iter().find(|spot| !self.has(*spot)) {
            return Err(full);
        }
        for spot in spots {
            *self.taken.entry(spot).or_default() += 1;
        }
        Ok(())
    }

    /// Whether a visit may take a place there.
    pub(super) fn has(&self, spot: Spot) -> bool {
        let places = match spot {
            Spot::Server(_) => Some(self.per_address),
            Spot::Neighbourhood(_) => self.per_neighbourhood,
        };
        let taken = self.taken.get(&spot).copied().unwrap_or_default();
        places.is_none_or(|places| taken < places)
    }

    pub(super) fn leave(&mut self, address: IpAddr) {
        for spot in Spot::around(address) {
            if let Some(taken) = self.taken.get_mut(&spot) {
                *taken -= 1;
                if *taken == 0 {
                    self.taken.remove(&spot);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_takes_a_place_at_its_server_and_in_its_neighbourhood() {
        let pace = Pace { per_address: 1, per_neighbourhood: Some(2), ..Pace::default() };
        let mut places = Places::of(&pace);
        let server = |number| IpAddr::from([41, 90, 0, number]);
        assert_eq!(places.take(server(1)), Ok(()));
        assert_eq!(places.take(server(1)), Err(Spot::Server(server(1))));
        assert_eq!(places.take(server(2)), Ok(()));
        let full = Spot::Neighbourhood(Neighbourhood::of(server(3)));
        assert_eq!(places.take(server(3)), Err(full));
        assert_eq!(places.take([41, 90, 1, 3].into()), Ok(()));
        places.leave(server(2));
        assert!(places.has(full));
        assert_eq!(places.take(server(3)), Ok(()));
    }
}
