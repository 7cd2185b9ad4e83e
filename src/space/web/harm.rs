use std::time::Duration;

use super::server::Server;

/// The work that a survey caused at one server within an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visits {
    /// Total time that the server was busy with the exchanges, in seconds at its full rate. Waiting for other
    /// users is not part of it.
    pub busy: f64,
    /// Sum of the squared busy seconds of the exchanges.
    pub busy_squared: f64,
}

/// How much longer the other users of a server wait for its responses within an hour because of a survey.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Harm {
    /// Number of requests from other users in the hour.
    pub requests: f64,
    /// Mean wait of such a request before the server starts on it, without the survey, in seconds.
    pub wait_without: f64,
    /// The same with the survey; infinite if both together need more than the server's capacity.
    pub wait_with: f64,
    /// Mean time of a response without waiting, in seconds: the work of the server and the transfer.
    pub answer: f64,
}

/// The time span over which harm is computed: long enough for a mean, and about as long as the user of a slow
/// server would remember.
pub const HARM_SPAN: Duration = Duration::from_hours(1);

impl Harm {
    /// The added response time, as a share of the response time without the survey; infinite if the latter is
    /// zero.
    #[must_use]
    pub fn extra_share(&self) -> f64 {
        let extra = self.wait_with - self.wait_without;
        if extra > 0.0 { extra / (self.wait_without + self.answer) } else { 0.0 }
    }
}

/// The added delay for the other users of a server, by the Pollaczek–Khinchine formula for one queue in order
/// of arrival (M/G/1): `W = λE[S²] / (2(1 − ρ))`, where the jobs of other users and of the survey add up in
/// `λE[S²]` and `ρ`. Response time is that wait, the work of the server and the transfer.
///
/// The requests of other users arrive at random and fetch pages as the world has them; their rate yields the
/// server's background use. The exchanges of the survey count as if they arrived at random over the hour. In
/// fact they are spaced out, one at a time, and links carry transfers side by side rather than one after the
/// other. The real delay is therefore somewhat smaller: the figure errs on the side of caution.
///
/// ```
/// use std::time::Duration;
/// use ccsurvey_space::{Server, Visits, harm};
/// // 1000 bytes take a second; half of the time the link is in use.
/// let server = Server {
///     bits_per_second: 8000.0,
///     background: 0.5,
///     others_bytes: 1000.0,
///     others_bytes_squared: 2e6,
///     others_service: Duration::from_secs(2),
///     ..Server::alone_at([192, 0, 2, 1].into())
/// };
/// // Busy for a tenth of the hour, in pieces of 2 s.
/// let harm = harm(&server, &Visits { busy: 360.0, busy_squared: 720.0 });
/// assert!((harm.requests - 1800.0).abs() < 1e-9);
/// assert!((harm.wait_without - 1.0).abs() < 1e-9);
/// assert!((harm.wait_with - 1.5).abs() < 1e-9);
/// // Half a second more on one second of waiting, two of service and one of transfer.
/// assert!((harm.extra_share() - 0.125).abs() < 1e-9);
/// ```
#[must_use]
pub fn harm(server: &Server, visits: &Visits) -> Harm {
    let span = HARM_SPAN.as_secs_f64();
    let seconds = server.others_bytes * 8.0 / server.bits_per_second;
    let other_users = Jobs::from_other_users(server, seconds);
    let total = Jobs {
        use_share: other_users.use_share + visits.busy / span,
        squared_rate: other_users.squared_rate + visits.busy_squared / span,
    };
    Harm {
        requests: if seconds > 0.0 { other_users.use_share / seconds * span } else { 0.0 },
        wait_without: other_users.wait(),
        wait_with: total.wait(),
        answer: server.others_service.as_secs_f64() + seconds,
    }
}

/// The total work of a server, as far as waiting depends on it.
struct Jobs {
    /// ρ: share of the time that the server is busy.
    use_share: f64,
    /// λE[S²]: squared seconds of work that arrive per second.
    squared_rate: f64,
}

impl Jobs {
    /// λ follows from ρ = λE[S], where E[S] is given.
    fn from_other_users(server: &Server, seconds: f64) -> Self {
        let squared = server.others_bytes_squared * (8.0 / server.bits_per_second).powi(2);
        let squared_rate = if seconds > 0.0 { server.background / seconds * squared } else { 0.0 };
        Self { use_share: server.background, squared_rate }
    }

    fn wait(&self) -> f64 {
        if self.use_share >= 1.0 { f64::INFINITY } else { self.squared_rate / (2.0 * (1.0 - self.use_share)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 kbit/s: 1000 bytes a second. The jobs of other users always take 1 s (M/D/1).
    fn server(background: f64) -> Server {
        Server {
            bits_per_second: 8000.0,
            background,
            others_bytes: 1000.0,
            others_bytes_squared: 1e6,
            ..Server::alone_at([192, 0, 2, 1].into())
        }
    }

    fn assert_near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
    }

    #[test]
    fn without_visits_nobody_waits_longer() {
        let none = harm(&server(0.5), &Visits::default());
        // M/D/1 with ρ = 0.5: ρE[S] / 2(1−ρ) = 0.5 s; a request arrives in half of the seconds of the hour.
        assert_near(none.requests, 1800.0);
        assert_near(none.wait_without, 0.5);
        assert_near(none.wait_with, 0.5);
        assert_near(none.extra_share(), 0.0);
    }

    #[test]
    fn visits_add_their_work_to_the_others() {
        // 360 exchanges of 2 s in an hour: λ = 0.1/s, ρ = 0.2, λE[S²] = 0.1 × 4 = 0.4.
        let visits = Visits { busy: 720.0, busy_squared: 1440.0 };
        let harm = harm(&server(0.4), &visits);
        // Without: 0.4 × 1 / (2 × 0.6). With: (0.4 + 0.4) / (2 × (1 − 0.6)). The transfer takes 1 s in both
        // cases.
        assert_near(harm.wait_without, 1.0 / 3.0);
        assert_near(harm.wait_with, 1.0);
        assert_near(harm.extra_share(), 0.5);
    }

    #[test]
    fn longer_jobs_of_the_same_total_do_more_harm() {
        let short = Visits { busy: 360.0, busy_squared: 36.0 };
        let long = Visits { busy: 360.0, busy_squared: 360.0 };
        let wait = |visits: &Visits| harm(&server(0.3), visits).wait_with;
        // (0.3 + 0.01) / (2 × 0.6) and (0.3 + 0.1) / (2 × 0.6).
        assert_near(wait(&short), 0.31 / 1.2);
        assert_near(wait(&long), 0.4 / 1.2);
    }

    #[test]
    fn a_server_that_is_asked_for_more_than_it_has_lets_people_wait_for_ever() {
        let visits = Visits { busy: 2160.0, busy_squared: 2160.0 };
        let harm = harm(&server(0.5), &visits);
        assert!(harm.wait_with.is_infinite() && harm.extra_share().is_infinite());
    }

    #[test]
    fn where_nobody_waits_the_transfer_is_what_grows() {
        let visits = Visits { busy: 360.0, busy_squared: 360.0 };
        let alone = harm(&server(0.0), &visits);
        assert_near(alone.wait_without, 0.0);
        // 0.1 / (2 × 0.9), on a second of transfer.
        assert_near(alone.extra_share(), 1.0 / 18.0);
        assert_near(alone.requests, 0.0);
        let timeless = Server { bits_per_second: f64::INFINITY, ..server(0.5) };
        assert_near(harm(&timeless, &Visits::default()).extra_share(), 0.0);
    }
}
