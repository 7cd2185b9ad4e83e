use std::time::Duration;

/// How long the server at an address keeps an idle connection, as far as the server has declared or shown it.
///
/// A server may close an idle connection at any time (RFC 9112 §9.5). If it does so while a request is on its
/// way, the request is lost. So a connection is reused only where it is certain to be open, as far as that
/// can be known.
#[derive(Debug, Default)]
pub(in crate::fetch) struct IdleLimit {
    /// The `timeout` of its last `Keep-Alive` field.
    declared: Option<Duration>,
    /// The shortest idle time after which it closed a connection to which a request was on its way.
    observed: Option<Duration>,
}

/// The longest pauses over which a connection is kept, by http and by https. Over longer pauses, a process
/// that waits for us costs a server with few processes more than a new connection costs any server
/// (`reports/low-load/CONNECTIONS.md`). Prefork Apache with two processes served its visitors only after the
/// crawl had ended while two connections were kept, and within 22 ms while none was. A new connection with a
/// known TLS session costs at most 1.4 ms of CPU, and one by http 0.3 ms.
const LONGEST: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(500)];

/// The smallest safety margin. A server counts from the moment when it has written its response, and a
/// request arrives half a round trip after it is sent; some servers look at their clocks once a second.
const LEAST_MARGIN: Duration = Duration::from_secs(1);

impl IdleLimit {
    /// Records the field `Keep-Alive` of a response (RFC 2068 §19.7.1.1).
    pub(in crate::fetch) fn note_field(&mut self, value: &str) {
        self.declared = timeout_in(value).or(self.declared);
    }

    /// Records that the server closed a connection that had been idle here for this long.
    pub(in crate::fetch) fn note_closed(&mut self, idle: Duration) {
        self.observed = Some(self.observed.map_or(idle, |observed| observed.min(idle)));
    }

    /// Whether a connection that has been idle for this long can be used.
    pub(in crate::fetch) fn allows(&self, idle: Duration) -> bool {
        let known = self.declared.into_iter().chain(self.observed).min();
        known.is_none_or(|limit| idle.saturating_add(margin(limit)) < limit)
    }
}

/// How long an idle connection is kept if the shortest pause between two requests is this long; none where it
/// is not kept at all.
pub(in crate::fetch) fn keep_alive_time(is_https: bool, shortest_pause: Duration) -> Option<Duration> {
    let longest = LONGEST[usize::from(is_https)];
    (shortest_pause < longest).then_some(longest)
}

fn margin(limit: Duration) -> Duration {
    LEAST_MARGIN.max(limit / 4)
}

fn timeout_in(value: &str) -> Option<Duration> {
    let parameters = value.split(',').filter_map(|parameter| parameter.split_once('='));
    let mut timeouts = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"));
    let (_, seconds) = timeouts.next()?;
    seconds.trim().trim_matches('"').parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    fn limit_from(value: &str) -> IdleLimit {
        let mut limit = IdleLimit::default();
        limit.note_field(value);
        limit
    }

    #[test]
    fn a_server_that_says_how_long_it_waits_is_believed() {
        for value in ["timeout=5, max=100", "max=100,timeout=5", "Timeout = \"5\"", "timeout=5"] {
            let limit = limit_from(value);
            assert!(limit.allows(seconds(3.7)) && !limit.allows(seconds(3.8)), "{value}");
            assert!(!limit.allows(seconds(60.0)), "{value}");
        }
        assert!(limit_from("timeout=75").allows(seconds(5.0)), "whatever the defaults of others are");
        assert!(!limit_from("timeout=1").allows(Duration::ZERO), "too short to be sure of");
    }

    #[test]
    fn what_says_nothing_of_a_time_is_not_listened_to() {
        for value in ["", "timeout", "timeout=", "timeout=-1", "timeout=soon", "max=3", "=5", "timeout=5s"] {
            assert_eq!(limit_from(value).declared, None, "{value}");
        }
        let mut limit = limit_from("timeout=30");
        limit.note_field("max=99");
        assert_eq!(limit.declared, Some(seconds(30.0)));
    }

    #[test]
    fn a_server_that_closed_a_connection_under_a_request_is_asked_over_new_ones_from_then_on() {
        let mut limit = limit_from("timeout=60");
        limit.note_closed(seconds(4.0));
        limit.note_closed(seconds(9.0));
        assert!(limit.allows(seconds(2.9)) && !limit.allows(seconds(3.0)));
        // Closed after a number of requests, however quick they are.
        limit.note_closed(seconds(0.04));
        assert!(!limit.allows(Duration::ZERO));
    }

    #[test]
    fn connections_are_kept_over_short_pauses_only() {
        for is_https in [false, true] {
            let longest = LONGEST[usize::from(is_https)];
            assert_eq!(keep_alive_time(is_https, Duration::ZERO), Some(longest));
            assert_eq!(keep_alive_time(is_https, longest), None);
        }
        assert_eq!(keep_alive_time(true, Duration::from_secs(2)), None, "by default");
    }

    proptest! {
        #[test]
        fn no_field_is_too_odd(value in ".{0,40}|timeout ?= ?[0-9]{1,30}", idle in 0..u64::MAX) {
            let _ = limit_from(&value).allows(Duration::from_millis(idle));
        }

        #[test]
        fn who_may_use_a_connection_now_might_have_a_moment_ago(declared in 0_u64..200, idle in 0_u64..200_000, shorter in 0_u64..200_000) {
            let limit = limit_from(&format!("timeout={declared}"));
            let (idle, shorter) = (idle.max(shorter), idle.min(shorter));
            prop_assert!(!limit.allows(Duration::from_millis(idle)) || limit.allows(Duration::from_millis(shorter)));
        }
    }
}
