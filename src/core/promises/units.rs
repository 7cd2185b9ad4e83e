//! Numbers formatted for readers.

/// `12345` as `12,345`.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with a noun of regular plural: `1 site`, `3,400 sites`.
#[must_use]
pub fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
}

/// A share from 0 to 1: `97.5 %`. Rounding never shows a part as all, or something as nothing.
#[must_use]
pub fn percent(share: f64) -> String {
    match share {
        share if !share.is_finite() => "–".to_owned(),
        share if share > 0.9995 && share < 1.0 => "> 99.9 %".to_owned(),
        share if share > 0.0 && share < 0.0005 => "< 0.1 %".to_owned(),
        share => format!("{:.1} %", share * 100.0),
    }
}

/// Bytes with decimal units, as networks are rated: `999 B`, `12.3 MB`.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
#[must_use]
pub fn bytes(number: u64) -> String {
    if number < 1000 {
        return format!("{number} B");
    }
    let mut value = number as f64;
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB", "PB"] {
        // A value that would be shown as 1000.0 is 1.0 of the next unit.
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}

/// Requests per second: `4.5 req/s`.
#[must_use]
pub fn request_rate(per_second: f64) -> String {
    format!("{per_second:.1} req/s")
}

/// Bytes per second: `12.3 kB/s`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and no rate is negative"
)]
#[must_use]
pub fn byte_rate(per_second: f64) -> String {
    format!("{}/s", bytes(per_second.round() as u64))
}

/// A short time: `5.0 ms`, `300.5 ms`, and from one second on as [`duration`].
#[must_use]
pub fn milliseconds(ms: f64) -> String {
    // A value that would be shown as 1000.0 ms is a second.
    if ms < 999.95 { format!("{ms:.1} ms") } else { duration(ms / 1000.0) }
}

/// Seconds in the two largest units that fit: `2.9 s`, `45 s`, `1 min 20 s`, `3 h 05 min`, `2 d 04 h`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and no time is negative"
)]
#[must_use]
pub fn duration(seconds: f64) -> String {
    // A value that would be shown as 10.0 has no decimal.
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let seconds = seconds.round() as u64;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    if days > 0 {
        format!("{} d {:02} h", thousands(days), hours % 24)
    } else if hours > 0 {
        format!("{hours} h {:02} min", minutes % 60)
    } else if minutes > 0 {
        format!("{minutes} min {:02} s", seconds % 60)
    } else {
        format!("{seconds} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_short_units() {
        assert_eq!(
            ["0", "999", "1,000", "1,234,567"],
            [0, 999, 1000, 1_234_567].map(thousands).each_ref().map(String::as_str)
        );
        assert_eq!([0, 1, 3400].map(|sites| count(sites, "site")), ["0 sites", "1 site", "3,400 sites"]);
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(12_345_678), "12.3 MB");
        assert_eq!(bytes(999_999), "1.0 MB");
        assert_eq!(bytes(u64::MAX), "18446.7 PB");
        assert_eq!(request_rate(4.46), "4.5 req/s");
        assert_eq!(byte_rate(45_100.4), "45.1 kB/s");
    }

    #[test]
    fn what_is_below_a_second_is_in_milliseconds() {
        for (ms, text) in [
            (0.0, "0.0 ms"),
            (5.0, "5.0 ms"),
            (300.5, "300.5 ms"),
            (999.96, "1.0 s"),
            (80_000.0, "1 min 20 s"),
        ] {
            assert_eq!(milliseconds(ms), text);
        }
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (seconds, text) in [
            (0.44, "0.4 s"),
            (9.96, "10 s"),
            (45.0, "45 s"),
            (80.0, "1 min 20 s"),
            (11_100.0, "3 h 05 min"),
            (187_200.0, "2 d 04 h"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!(duration(f64::INFINITY), "213,503,982,334,601 d 07 h");
    }
}
