use super::exchanges::ScheduledExchange;

/// The pauses before the exchanges of a tree: the observed length, and the length by our own rule.
///
/// Tables do not record the pauses that a server requested (Crawl-delay, Retry-After), but the pauses are
/// visible: a Crawl-delay as an equal pause that repeats and that our rule does not explain, a Retry-After as
/// a pause after 429 or 503.
#[derive(Default)]
pub(super) struct Pauses {
    list: Vec<Pause>,
}

/// A pause between two exchanges of a tree at the same server.
pub(super) struct Pause {
    /// The index of the exchange that follows.
    pub index: usize,
    /// The hash of the host of that exchange.
    pub host: u64,
    /// The observed length, in seconds.
    pub measured: f64,
    pub explained: f64,
    pub is_robots: bool,
    /// Whether the response to the previous exchange was 429 or 503.
    pub after_refusal: bool,
}

/// In seconds. Times in the tables are in microseconds, but the timers of a real survey may be late by some
/// milliseconds.
const TOLERANCE: f64 = 0.02;
/// The least number of equal pauses that show a Crawl-delay. Fewer make no difference to the duration of a
/// survey.
const MIN_TIMES: usize = 3;

impl Pauses {
    pub(super) fn add(&mut self, pause: Pause) {
        self.list.push(pause);
    }

    /// Records the requested pauses in the exchanges that waited for them, and clears the list.
    pub(super) fn note(&mut self, exchanges: &mut [ScheduledExchange]) {
        for pause in self.list.iter().filter(|pause| pause.after_refusal && pause.is_unexplained()) {
            exchanges[pause.index].requested_pause = hundredths(pause.measured);
        }
        self.list.retain(|pause| !pause.is_robots && !pause.after_refusal);
        self.list.sort_by_key(|pause| pause.host);
        for pauses in self.list.chunk_by(|a, b| a.host == b.host) {
            if let Some(delay) = crawl_delay(pauses) {
                for pause in pauses {
                    exchanges[pause.index].requested_pause = hundredths(delay);
                }
            }
        }
        self.list.clear();
    }
}

impl Pause {
    fn is_unexplained(&self) -> bool {
        self.measured > self.explained + TOLERANCE
    }
}

/// The Crawl-delay of a host: the shortest pause that our rule does not explain, if at least half of such
/// pauses have this length and no pause of the host is shorter.
fn crawl_delay(pauses: &[Pause]) -> Option<f64> {
    let unexplained = || pauses.iter().filter(|pause| pause.is_unexplained()).map(|pause| pause.measured);
    let shortest = unexplained().min_by(f64::total_cmp)?;
    let equal = unexplained().filter(|measured| *measured <= shortest + TOLERANCE).count();
    let is_kept = pauses.iter().all(|pause| pause.measured >= shortest - TOLERANCE);
    (is_kept && equal >= MIN_TIMES && equal * 2 >= unexplained().count()).then_some(shortest)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates: at 655 s")]
fn hundredths(seconds: f64) -> u16 {
    (seconds * 100.0).round() as u16
}

#[cfg(test)]
mod tests {
    use super::super::exchanges::NO_SERVER;
    use super::*;

    fn requested_pause(pauses: &[(f64, f64, bool)]) -> Vec<u16> {
        let blank = ScheduledExchange {
            server: NO_SERVER,
            bytes: 0,
            handshake: 0.0,
            first_byte: 0.0,
            total: 0.0,
            requested_pause: 0,
            depth: 0,
            marks: 0,
        };
        let mut exchanges = vec![blank; pauses.len()];
        let mut all = Pauses::default();
        for (index, (measured, explained, after_refusal)) in pauses.iter().copied().enumerate() {
            all.add(Pause { index, host: 7, measured, explained, is_robots: false, after_refusal });
        }
        all.note(&mut exchanges);
        exchanges.iter().map(|exchange| exchange.requested_pause).collect()
    }

    #[test]
    fn a_crawl_delay_is_the_pause_that_no_rule_explains() {
        let pauses = [(10.0, 2.0, false), (10.001, 4.0, false), (12.5, 12.5, false), (10.0, 2.0, false)];
        assert_eq!(requested_pause(&pauses), [1000; 4]);
    }

    #[test]
    fn waiting_for_others_is_no_crawl_delay() {
        assert_eq!(
            requested_pause(&[(2.0, 2.0, false), (9.0, 2.0, false), (9.0, 2.0, false), (9.0, 2.0, false)]),
            [0; 4]
        );
        assert_eq!(
            requested_pause(&[(3.1, 2.0, false), (4.2, 2.0, false), (9.3, 2.0, false), (7.0, 2.0, false)]),
            [0; 4]
        );
    }

    #[test]
    fn a_refusal_may_ask_for_a_pause() {
        assert_eq!(
            requested_pause(&[(120.0, 4.0, true), (2.0, 2.0, false), (8.0, 8.0, true)]),
            [12_000, 0, 0]
        );
    }
}
