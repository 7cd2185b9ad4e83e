use super::{RecordedExchange, Saved};
use crate::address::WebUrl;

/// An answer whose server is not reckoned yet.
pub(super) struct Pending {
    pub saved: Saved,
    pub server: Option<u32>,
    pub first_byte_us: u32,
    /// Links that the page should have.
    pub links: Option<u32>,
    pub weight: Weight,
}

/// Which of two answers to one URL counts: the heavier, and of equal ones the later.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// No server was asked.
    NotAsked,
    /// A page that was asked for as a robots.txt, or the other way round.
    InPassing,
    Proper,
}

impl Weight {
    pub fn of(url: &WebUrl, exchange: &RecordedExchange<'_>) -> Self {
        let is_robots_txt = url.path() == "/robots.txt";
        match () {
            () if exchange.address.is_none() => Self::NotAsked,
            () if is_robots_txt != exchange.is_robots => Self::InPassing,
            () => Self::Proper,
        }
    }
}
