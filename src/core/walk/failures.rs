use crate::exchange::{Outcome, Response};

/// The number of failed requests in a row.
///
/// Only pages are counted: a dead subdomain shows at its robots.txt and gets no further requests.
#[derive(Default)]
pub(super) struct Failures {
    in_a_row: u32,
    /// The number of these in which the server closed the connection without a response.
    closed: u32,
    page_answered: bool,
}

impl Failures {
    pub(super) fn note(&mut self, response: &Response) {
        match response.failure {
            _ if response.status.is_some() => *self = Self { page_answered: true, ..Self::default() },
            Some(failure) if failure.reached_the_network() => {
                self.in_a_row += 1;
                self.closed += u32::from(response.is_refused());
            }
            _ => {}
        }
    }

    pub(super) fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    /// Whether any request for a page got a response, whatever its status.
    pub(super) fn has_page_answered(&self) -> bool {
        self.page_answered
    }

    /// The outcome of a walk that ends because of failed requests. A page is requested only if the request
    /// for robots.txt got a response.
    pub(super) fn outcome(&self, has_entered: bool) -> Outcome {
        match () {
            () if !has_entered => Outcome::NoPage,
            () if self.closed >= self.in_a_row => Outcome::Refused,
            () => Outcome::Unreachable,
        }
    }
}
