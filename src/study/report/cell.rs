use crate::analysis::Estimate;
use crate::records::units;
use crate::records::units::percent;

/// A value in a table or a fact. People read it with units, programs read it raw.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text of any origin.
    Text(String),
    /// One of our own words with its meaning, which a tooltip shows.
    Word(String, &'static str),
    /// A whole number.
    Count(u64),
    /// Shown in kB, MB and so on; raw in bytes.
    Bytes(u64),
    /// A share from 0 to 1, shown in percent with one decimal.
    Share(f64),
    /// A number and how many decimals to show.
    Number(f64, usize),
    /// Seconds; long times are shown in minutes, hours or days.
    Seconds(f64),
    /// Milliseconds, shown as such below a second.
    Milliseconds(f64),
    /// A share with its interval.
    ShareBetween(Estimate),
    /// A number with its interval.
    CountBetween(Estimate),
    /// Unknown, or not applicable here.
    Missing,
}

impl Cell {
    /// The form for people, with the interval. Text is not changed.
    #[must_use]
    pub fn display(&self) -> String {
        let interval = self.interval().map_or_else(String::new, |interval| format!(" {interval}"));
        self.value() + &interval
    }

    /// The form for people, without the interval.
    #[must_use]
    pub fn value(&self) -> String {
        match self {
            Self::Text(text) | Self::Word(text, _) => text.clone(),
            Self::Count(number) => units::thousands(*number),
            Self::Bytes(number) => units::bytes(*number),
            Self::Share(share) => percent(*share),
            Self::Number(number, decimals) => decimal(*number, *decimals),
            Self::Seconds(seconds) => units::duration(*seconds),
            Self::Milliseconds(ms) => milliseconds(*ms),
            Self::ShareBetween(estimate) => percent(estimate.value),
            Self::CountBetween(estimate) => format_integer(estimate.value),
            Self::Missing => "–".to_owned(),
        }
    }

    /// The meaning of a word, if it has one; otherwise empty.
    #[must_use]
    pub fn meaning(&self) -> &'static str {
        if let Self::Word(_, meaning) = self { meaning } else { "" }
    }

    /// The interval in brackets, or the reason why there is none.
    #[must_use]
    pub fn interval(&self) -> Option<String> {
        match self {
            Self::ShareBetween(estimate) => between(estimate, |share| decimal(share * 100.0, 1), " %")
                .or_else(|| estimate.no_interval.map(|why| format!("({})", why.short_text()))),
            Self::CountBetween(estimate) => between(estimate, format_integer, ""),
            _ => None,
        }
    }

    /// The form for programs: no separators, no units, and three values where there is an interval.
    #[must_use]
    pub fn raw(&self) -> Vec<String> {
        match self {
            Self::Text(text) | Self::Word(text, _) => vec![text.clone()],
            Self::Count(number) | Self::Bytes(number) => vec![number.to_string()],
            Self::Share(number)
            | Self::Number(number, _)
            | Self::Seconds(number)
            | Self::Milliseconds(number) => vec![number.to_string()],
            Self::ShareBetween(of) if of.is_unsure() => {
                vec![of.value.to_string(), String::new(), String::new()]
            }
            Self::ShareBetween(of) | Self::CountBetween(of) => {
                [of.value, of.low, of.high].map(|number| number.to_string()).to_vec()
            }
            Self::Missing => vec![String::new()],
        }
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Count(number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// The ends of an interval, with the unit once. None for an estimate without an interval.
fn between(estimate: &Estimate, end: impl Fn(f64) -> String, unit: &str) -> Option<String> {
    estimate.interval().map(|(low, high)| format!("({}–{}{unit})", end(low), end(high)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and no count is negative"
)]
fn format_integer(number: f64) -> String {
    if number.is_finite() { units::thousands(number.round() as u64) } else { "–".to_owned() }
}

fn decimal(number: f64, decimals: usize) -> String {
    if !number.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{number:.decimals$}");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("−", digits));
    let digits = digits.parse().map_or_else(|_| digits.to_owned(), units::thousands);
    if part.is_empty() { format!("{sign}{digits}") } else { format!("{sign}{digits}.{part}") }
}

fn milliseconds(ms: f64) -> String {
    match ms {
        ms if !ms.is_finite() => "–".to_owned(),
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 999.5 => format!("{ms:.0} ms"),
        ms => units::duration(ms / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_with_units_and_kept_raw() {
        let estimate = Estimate::between(0.931, 0.953, 0.972);
        for (cell, shown, raw) in [
            (Cell::Count(1_234_567), "1,234,567", "1234567"),
            (Cell::Bytes(12_345_678), "12.3 MB", "12345678"),
            (Cell::Share(0.123_45), "12.3 %", "0.12345"),
            (Cell::Share(0.999_99), "> 99.9 %", "0.99999"),
            (Cell::Share(1.0), "100.0 %", "1"),
            (Cell::Share(0.0001), "< 0.1 %", "0.0001"),
            (Cell::Number(-1234.56, 1), "−1,234.6", "-1234.56"),
            (Cell::Number(f64::NAN, 1), "–", "NaN"),
            (Cell::Milliseconds(3.21), "3.2 ms", "3.21"),
            (Cell::Milliseconds(1234.0), "1.2 s", "1234"),
            (Cell::ShareBetween(estimate), "95.3 % (93.1–97.2 %)", "0.953,0.931,0.972"),
            (
                Cell::ShareBetween(Estimate::between(0.992, 0.9999, 0.9999)),
                "> 99.9 % (99.2–100.0 %)",
                "0.9999,0.992,0.9999",
            ),
            (Cell::Missing, "–", ""),
        ] {
            assert_eq!((cell.display().as_str(), cell.raw().join(",").as_str()), (shown, raw));
        }
    }
}
