/// The maximum numbers of visits: in total, per server and per neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisitLimits {
    /// The number of visits at once.
    pub visits: usize,
    /// The number of trees parked or put off above which no other tree is taken from the queue: otherwise, in
    /// quiet hours, every site would be put off, one after the other.
    pub waiting: usize,
    /// The number of visits at one server.
    pub per_address: u32,
    /// The number of visits in one neighbourhood of servers; none: any number.
    pub per_neighbourhood: Option<u32>,
}

/// The number of waiting trees per visit; about 300 bytes of memory each.
const WAITING_PER_VISIT: usize = 64;

impl VisitLimits {
    /// Limits the visits at once in total, at one server and in one neighbourhood.
    #[must_use]
    pub fn new(visits: usize, per_address: u32, per_neighbourhood: Option<u32>) -> Self {
        Self { visits, waiting: visits.saturating_mul(WAITING_PER_VISIT), per_address, per_neighbourhood }
    }
}
