use super::server::Server;

/// What a survey did at one server, as the server felt it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Visits {
    /// Exchanges.
    pub count: u64,
    /// Seconds in which the server was busy with them, in all. Seconds of the server at its full rate: a wait for
    /// the other users is none of its work.
    pub busy: f64,
    /// Sum of the squares of the busy seconds of each exchange.
    pub busy_squared: f64,
    /// Seconds from the first exchange to the last: the time over which the other users felt it.
    pub span: f64,
}

/// How much longer the other users of a server wait because of a survey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Harm {
    /// Mean wait before a request of theirs is taken up, without the survey, in seconds.
    pub wait_without: f64,
    /// The same with the survey; infinite when both together ask more than the server can give.
    pub wait_with: f64,
    /// Extra wait as a share of the wait without; infinite where nobody waited before.
    pub extra_share: f64,
}

/// The extra waiting of a server's other users, by the formula of Pollaczek and Khinchine for one queue in
/// order of arrival (M/G/1): `W = λE[S²] / (2(1 − ρ))`, in which both kinds of job add up in `λE[S²]` and `ρ`.
///
/// The other users come at random and fetch pages as the world has them; their rate is such that they make up
/// the server's background use. Exchanges of the survey count as if they came at random over the span. They come
/// one at a time and spaced out, so that the truth is somewhat better; the figure errs on the side of care.
///
/// ```
/// use ccsurvey::space::{Server, Visits, harm};
/// // 1000 bytes take a second; half of the time the link is in use.
/// let server = Server {
///     bits_per_second: 8000.0,
///     background: 0.5,
///     others_bytes: 1000.0,
///     others_bytes_squared: 2e6,
///     ..Server::at([192, 0, 2, 1].into())
/// };
/// let harm = harm(&server, &Visits { count: 10, busy: 10.0, busy_squared: 20.0, span: 100.0 });
/// assert!((harm.wait_without - 1.0).abs() < 1e-9);
/// assert!((harm.wait_with - 1.5).abs() < 1e-9);
/// assert!((harm.extra_share - 0.5).abs() < 1e-9);
/// ```
#[must_use]
pub fn harm(server: &Server, visits: &Visits) -> Harm {
    let others = Jobs::of_others(server);
    let wait_without = others.wait();
    let wait_with = Jobs {
        use_share: others.use_share + per(visits.busy, visits.span),
        squared_rate: others.squared_rate + per(visits.busy_squared, visits.span),
    }
    .wait();
    let extra_share = if wait_with > wait_without { (wait_with - wait_without) / wait_without } else { 0.0 };
    Harm { wait_without, wait_with, extra_share }
}

/// All that a server has to do, as far as waiting hangs on it.
struct Jobs {
    /// ρ: share of the time in which it is busy.
    use_share: f64,
    /// λE[S²]: squared seconds of work that come in a second.
    squared_rate: f64,
}

impl Jobs {
    /// λ follows from ρ = λE[S].
    fn of_others(server: &Server) -> Self {
        let seconds = server.others_bytes * 8.0 / server.bits_per_second;
        let squared = server.others_bytes_squared * (8.0 / server.bits_per_second).powi(2);
        let squared_rate = if seconds > 0.0 { server.background / seconds * squared } else { 0.0 };
        Self { use_share: server.background, squared_rate }
    }

    fn wait(&self) -> f64 {
        if self.use_share >= 1.0 { f64::INFINITY } else { self.squared_rate / (2.0 * (1.0 - self.use_share)) }
    }
}

/// So much in a second of the span; nothing where there was no span.
fn per(amount: f64, span: f64) -> f64 {
    if span > 0.0 { amount / span } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 kbit/s: 1000 bytes a second. The others' jobs take 1 s, always (M/D/1).
    fn server(background: f64) -> Server {
        Server {
            bits_per_second: 8000.0,
            background,
            others_bytes: 1000.0,
            others_bytes_squared: 1e6,
            ..Server::at([192, 0, 2, 1].into())
        }
    }

    fn assert_near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
    }

    #[test]
    fn without_visits_nobody_waits_longer() {
        let none = harm(&server(0.5), &Visits::default());
        // M/D/1 with ρ = 0.5: ρE[S] / 2(1−ρ) = 0.5 s.
        assert_near(none.wait_without, 0.5);
        assert_near(none.wait_with, 0.5);
        assert_near(none.extra_share, 0.0);
    }

    #[test]
    fn visits_add_their_work_to_the_others() {
        // 20 exchanges of 2 s in 200 s: λ = 0.1/s, ρ = 0.2, λE[S²] = 0.1 × 4 = 0.4.
        let visits = Visits { count: 20, busy: 40.0, busy_squared: 80.0, span: 200.0 };
        let harm = harm(&server(0.4), &visits);
        // Without: 0.4 × 1 / (2 × 0.6). With: (0.4 + 0.4) / (2 × (1 − 0.6)).
        assert_near(harm.wait_without, 1.0 / 3.0);
        assert_near(harm.wait_with, 1.0);
        assert_near(harm.extra_share, 2.0);
    }

    #[test]
    fn longer_jobs_of_the_same_total_do_more_harm() {
        let short = Visits { count: 100, busy: 10.0, busy_squared: 1.0, span: 100.0 };
        let long = Visits { count: 10, busy: 10.0, busy_squared: 10.0, span: 100.0 };
        let wait = |visits: &Visits| harm(&server(0.3), visits).wait_with;
        // (0.3 + 0.01) / (2 × 0.6) and (0.3 + 0.1) / (2 × 0.6).
        assert_near(wait(&short), 0.31 / 1.2);
        assert_near(wait(&long), 0.4 / 1.2);
    }

    #[test]
    fn a_server_that_is_asked_for_more_than_it_has_lets_people_wait_for_ever() {
        let visits = Visits { count: 60, busy: 60.0, busy_squared: 60.0, span: 100.0 };
        assert!(harm(&server(0.5), &visits).wait_with.is_infinite());
    }

    #[test]
    fn where_nobody_waited_any_wait_is_infinitely_more() {
        let visits = Visits { count: 1, busy: 1.0, busy_squared: 1.0, span: 10.0 };
        let alone = harm(&server(0.0), &visits);
        assert_near(alone.wait_without, 0.0);
        // 0.1 / (2 × 0.9).
        assert_near(alone.wait_with, 1.0 / 18.0);
        assert!(alone.extra_share.is_infinite());
        let timeless = Server { bits_per_second: f64::INFINITY, ..server(0.5) };
        assert_near(harm(&timeless, &Visits::default()).extra_share, 0.0);
    }
}
