/// How many visits there may be, in all and in each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitLimits {
    /// Visits at once.
    pub visits: usize,
    /// Trees that are parked or put off, above which no other is taken from the queue: in quiet hours every site
    /// would be put off, one after the other.
    pub waiting: usize,
    /// Visits at one server.
    pub per_address: u32,
    /// Visits in one neighbourhood of servers; none: any number.
    pub per_neighbourhood: Option<u32>,
}

/// Trees that wait for each that may be visited; about 300 bytes of memory each.
const WAITING_PER_VISIT: usize = 64;

impl VisitLimits {
    /// So many visits at once in all, and so many at one server.
    #[must_use]
    pub fn new(visits: usize, per_address: u32, per_neighbourhood: Option<u32>) -> Self {
        Self { visits, waiting: visits.saturating_mul(WAITING_PER_VISIT), per_address, per_neighbourhood }
    }
}
