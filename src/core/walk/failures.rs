use crate::exchange::{Outcome, Response};

/// Requests in a row that came to nothing.
///
/// Counted over pages only: a dead subdomain shows at its robots.txt and is left alone from then on.
#[derive(Default)]
pub(super) struct Failures {
    in_a_row: u32,
    /// Those of them in which the server closed the connection without a response.
    closed: u32,
    page_answered: bool,
}

impl Failures {
    pub(super) fn note(&mut self, response: &Response) {
        match response.failure {
            _ if response.status.is_some() => *self = Self { page_answered: true, ..Self::default() },
            Some(failure) if failure.reached_the_network() => {
                self.in_a_row += 1;
                self.closed += u32::from(response.turns_away());
            }
            _ => {}
        }
    }

    pub(super) fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// Whether a request for a page was answered, by whatever.
    pub(super) fn has_page_answered(&self) -> bool {
        self.page_answered
    }

    /// Why a walk ends of which so many requests came to nothing. A page is asked for only where robots.txt was answered.
    pub(super) fn outcome(&self, has_entered: bool) -> Outcome {
        match () {
            () if !has_entered => Outcome::NoPage,
            () if self.closed >= self.in_a_row => Outcome::Refused,
            () => Outcome::Unreachable,
        }
    }
}
