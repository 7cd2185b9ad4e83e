#![expect(clippy::disallowed_methods, reason = "this is where the clock is read")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The time of a survey: an origin, plus the monotonic time of the runtime since then.
///
/// So no pause at a server is cut short when somebody sets the system clock. On a runtime with virtual time,
/// a survey of weeks is over as soon as its work is done.
///
/// A survey that resumes in another process continues with the time of the previous one
/// ([`Clock::continue_from`]), whatever the system clock was set to in between. Times for people to read, and
/// hours of the day, are by the system clock ([`Clock::system_time_at`]).
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: SystemTime,
    start: Instant,
    /// The system clock at the origin.
    system_origin: SystemTime,
    /// The time is virtual: sleep of the machine does not count.
    is_virtual: bool,
}

/// How long the machine has slept since this process first checked, in microseconds, as far as it was noticed
/// ([`Clock::slept`]). The monotonic time of the runtime stands still during sleep.
static SLEPT: AtomicU64 = AtomicU64::new(0);

impl Clock {
    /// The system time, with its origin at the start of the program.
    #[must_use]
    pub fn system() -> Self {
        static SYSTEM: OnceLock<Clock> = OnceLock::new();
        *SYSTEM.get_or_init(|| Self { is_virtual: false, ..Self::beginning_at(SystemTime::now()) })
    }

    /// A separate, virtual time that begins at `origin` now.
    #[must_use]
    pub fn beginning_at(origin: SystemTime) -> Self {
        Self { origin, start: Instant::now(), system_origin: origin, is_virtual: true }
    }

    /// The same clock, for a system clock that shows `system_now` now.
    #[must_use]
    pub fn with_system_time(self, system_now: SystemTime) -> Self {
        Self { system_origin: moved(self.origin, self.now(), system_now), ..self }
    }

    /// Continues a survey's time: it was `time` at the moment `since`, and the time from then until now has
    /// passed too.
    #[must_use]
    pub fn continue_from(self, time: SystemTime, since: Instant) -> Self {
        let (start, time) = (Instant::now(), time + since.elapsed());
        let system_origin = self.system_time();
        let clock = Self { origin: time, start, system_origin, ..self };
        // `time` already includes the sleep so far.
        Self {
            origin: clock.origin - clock.recorded_sleep(),
            system_origin: clock.system_origin - clock.recorded_sleep(),
            ..clock
        }
    }

    /// Whether it follows a runtime's virtual time.
    #[must_use]
    pub fn is_virtual(self) -> bool {
        self.is_virtual
    }

    /// Checks whether the machine has slept, and returns how long it has since this process first checked.
    pub fn slept(self) -> Duration {
        static SLEEP: Mutex<Sleep> = Mutex::new(Sleep { first_reading: None, slept: Duration::ZERO });
        if !self.is_virtual {
            let check_start = Instant::now();
            let uptime = read_uptime();
            // If this thread was held up between the two readings, they say nothing.
            if let Some(uptime) = uptime.filter(|_| check_start.elapsed() < LEAST_SLEEP / 4) {
                let mut sleep = SLEEP.lock();
                let slept = sleep.note(uptime, check_start);
                SLEPT.store(u64::try_from(slept.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        }
        self.recorded_sleep()
    }

    fn recorded_sleep(self) -> Duration {
        let micros = if self.is_virtual { 0 } else { SLEPT.load(Ordering::Relaxed) };
        Duration::from_micros(micros)
    }

    /// The system clock at a time of this clock.
    #[must_use]
    pub fn system_time_at(self, time: SystemTime) -> SystemTime {
        moved(time, self.origin, self.system_origin)
    }

    /// The time of this clock when the system clock shows `system_time`.
    #[must_use]
    pub fn from_system_time(self, system_time: SystemTime) -> SystemTime {
        moved(system_time, self.system_origin, self.origin)
    }

    /// The system clock now.
    #[must_use]
    pub fn system_time(self) -> SystemTime {
        self.system_time_at(self.now())
    }

    /// The current system clock, including changes to it since this process began. It is ahead by as much as
    /// another machine's clock was declared to be ([`Clock::with_system_time`]).
    #[must_use]
    pub fn system_time_now(self) -> SystemTime {
        if self.is_virtual {
            self.system_time()
        } else {
            moved(SystemTime::now(), Self::system().system_time(), self.system_time())
        }
    }

    /// The time now.
    #[must_use]
    pub fn now(self) -> SystemTime {
        self.at(Instant::now())
    }

    /// The time at a moment. If the start of an exchange is computed this way and its duration is measured
    /// from the same moment, its end is exact, however long the process was held up in between.
    #[must_use]
    pub fn at(self, moment: Instant) -> SystemTime {
        self.origin + moment.saturating_duration_since(self.start) + self.recorded_sleep()
    }

    /// Waits until a time of this clock.
    pub async fn until(self, time: SystemTime) {
        // Timers may fire up to a millisecond early against the monotonic clock; a pause must not be too
        // short. Time during which the machine sleeps counts as well, although timers stand still then.
        let longest_sleep = if self.is_virtual { Duration::MAX } else { LONGEST_WAIT };
        while let Ok(remaining) = time.duration_since(self.now()) {
            tokio::time::sleep(remaining.clamp(Duration::from_micros(50), longest_sleep)).await;
        }
    }
}

/// A timer that was set before the machine slept fires late by no more than this.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A smaller difference is not sleep: uptimes are in hundredths of a second, and are read slightly later than
/// the time.
const LEAST_SLEEP: Duration = Duration::from_secs(1);

/// How much the machine's uptime has gained on the monotonic time.
#[derive(Debug)]
struct Sleep {
    first_reading: Option<(Duration, Instant)>,
    slept: Duration,
}

impl Sleep {
    fn note(&mut self, uptime: Duration, steady: Instant) -> Duration {
        let (first_uptime, first_steady) = *self.first_reading.get_or_insert((uptime, steady));
        let passed = steady.saturating_duration_since(first_steady);
        let gained = uptime.saturating_sub(first_uptime).saturating_sub(passed);
        if gained >= self.slept + LEAST_SLEEP {
            self.slept = gained;
        }
        self.slept
    }
}

/// The time that is as far from `to` as `time` is from `from`.
#[must_use]
pub fn moved(time: SystemTime, from: SystemTime, to: SystemTime) -> SystemTime {
    match time.duration_since(from) {
        Ok(later) => to.checked_add(later).unwrap_or(to),
        Err(earlier) => to.checked_sub(earlier.duration()).unwrap_or(UNIX_EPOCH),
    }
}

/// How long the machine has been up, asleep or not: a clock that nobody can set, and that outlives a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uptime {
    /// The kernel's random identifier of this boot.
    pub boot: String,
    /// Time since the machine was started, to a hundredth of a second.
    pub since: Duration,
}

impl Uptime {
    /// None where the system does not provide it.
    #[must_use]
    pub fn read() -> Option<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let since = read_uptime()?;
        Some(Self { boot: boot.trim().to_owned(), since })
    }

    /// The time from `earlier` to this uptime; none if the machine was restarted in between.
    #[must_use]
    pub fn after(&self, earlier: &Self) -> Option<Duration> {
        if self.boot == earlier.boot { self.since.checked_sub(earlier.since) } else { None }
    }
}

/// None where the system does not provide it. The file stays open, because it is read before and after each
/// exchange.
fn read_uptime() -> Option<Duration> {
    static FILE: OnceLock<Option<File>> = OnceLock::new();
    let file = FILE.get_or_init(|| File::open("/proc/uptime").ok()).as_ref()?;
    let mut text = [0; 64];
    let length = file.read_at(&mut text, 0).ok()?;
    parse_uptime(std::str::from_utf8(text.get(..length)?).ok()?)
}

/// Parses `/proc/uptime`: seconds with two decimals, then the idle time of the processors.
fn parse_uptime(text: &str) -> Option<Duration> {
    let (seconds, hundredths) = text.split_whitespace().next()?.split_once('.')?;
    let hundredths: u64 = Some(hundredths).filter(|it| it.len() == 2)?.parse().ok()?;
    Some(Duration::from_secs(seconds.parse().ok()?) + Duration::from_millis(10 * hundredths))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_moment_has_one_time_whenever_it_is_asked_for() {
        let clock = Clock::beginning_at(UNIX_EPOCH);
        let (before, second) = (Instant::now(), Duration::from_secs(1));
        tokio::time::advance(second).await;
        let begun = Instant::now();
        tokio::time::advance(second).await;
        assert_eq!([clock.at(before), clock.at(begun)], [UNIX_EPOCH, UNIX_EPOCH + second]);
        assert_eq!(clock.at(begun) + begun.elapsed(), clock.now());
    }

    /// Otherwise the pauses that the next run ends would be shorter by the time it took to open the survey.
    #[tokio::test(start_paused = true)]
    async fn what_it_takes_to_open_a_survey_has_passed() {
        let (begun, second) = (Instant::now(), Duration::from_secs(1));
        let system = Clock::beginning_at(UNIX_EPOCH);
        tokio::time::advance(second).await;
        let clock = system.continue_from(UNIX_EPOCH + second * 60, begun);
        assert_eq!((clock.now(), clock.system_time()), (UNIX_EPOCH + second * 61, UNIX_EPOCH + second));
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_goes_on_tells_its_own_time_and_what_the_system_shows() {
        let (hour, second) = (Duration::from_secs(3600), Duration::from_secs(1));
        let now = UNIX_EPOCH + hour;
        for before in [UNIX_EPOCH, UNIX_EPOCH + hour * 9_600] {
            let clock = Clock::beginning_at(now).continue_from(before, Instant::now());
            assert_eq!((clock.now(), clock.system_time()), (before, now));
            tokio::time::advance(second).await;
            assert_eq!((clock.now(), clock.system_time()), (before + second, now + second));
            assert_eq!(clock.system_time_at(before + hour), now + hour);
            assert_eq!(clock.from_system_time(now + hour), before + hour);
            assert_eq!(
                clock.from_system_time(now - second),
                before.checked_sub(second).unwrap_or(UNIX_EPOCH)
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_uptime_gains_was_slept() {
        let second = Duration::from_secs(1);
        let mut sleep = Sleep { first_reading: None, slept: Duration::ZERO };
        let first = Instant::now();
        // Uptime, monotonic time, and the sleep detected by then.
        for (uptime, steady, slept) in [
            (1000.0, 0.0, 0.0),
            (1060.01, 60.0, 0.0),
            (1061.5, 61.0, 0.0),
            (4661.0, 61.0, 3600.0),
            (4662.2, 62.0, 3600.0),
            (4700.0, 100.0, 3600.0),
            (4720.0, 100.0, 3620.0),
            (10.0, 200.0, 3620.0),
        ] {
            let measured = sleep.note(second.mul_f64(uptime), first + second.mul_f64(steady));
            assert_eq!(measured, second.mul_f64(slept), "{uptime}");
        }
    }

    #[test]
    fn uptimes_of_one_boot_are_compared() {
        let up = |boot: &str, since| Uptime { boot: boot.to_owned(), since: Duration::from_secs(since) };
        assert_eq!(up("a", 9).after(&up("a", 2)), Some(Duration::from_secs(7)));
        assert_eq!((up("a", 2).after(&up("a", 9)), up("b", 9).after(&up("a", 2))), (None, None));
        assert_eq!(parse_uptime("123456.78 9.00\n"), Some(Duration::from_millis(123_456_780)));
        for text in ["", "12", "12.3 4.00", "-1.00", "x.00 1.00", "1.xx 1.00"] {
            assert_eq!(parse_uptime(text), None, "{text}");
        }
    }
}
