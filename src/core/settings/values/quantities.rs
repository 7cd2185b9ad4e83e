use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::texts;
use super::value::{Amount, Value, ValueSyntax};
use super::written::{Refusal, Written};

/// A duration as people write it: `2s`, `500ms`, `1h 30m`; a bare number is seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
pub struct Span(pub Duration);

/// A number of bytes as people write it: `500kB`, `1MiB`; a bare number is bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
pub struct Size(pub u64);

/// No survey lasts ten years, and clocks overflow with much longer times.
const LONGEST_SPAN: Duration = Duration::from_secs(10 * 366 * 24 * 3600);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("'{text}' is not a duration (expected for example '2s', '500ms' or '1h 30m')");
        if let Ok(seconds) = text.trim().parse::<f64>() {
            let span = Duration::try_from_secs_f64(seconds).ok().filter(|span| *span <= LONGEST_SPAN);
            return span.map(Self).ok_or_else(expected);
        }
        let span = humantime::parse_duration(text.trim()).ok().filter(|span| *span <= LONGEST_SPAN);
        span.map(Self).ok_or_else(expected)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("'{text}' is not a number of bytes (expected for example '500kB' or '1MiB')");
        text.trim().parse::<bytesize::ByteSize>().map(|size| Self(size.as_u64())).map_err(|_| expected())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

pub(in crate::settings) const MIB: u64 = 1024 * 1024;

texts! {
    Span, text_or_number {
        fn amount(&self) -> Amount {
            Amount::Whole(self.0.as_nanos())
        }
    }
    Size, text_or_number {
        fn amount(&self) -> Amount {
            Amount::Whole(self.0.into())
        }

        fn describe(&self) -> String {
            match self.0 {
                bytes if bytes > 0 && bytes % MIB == 0 => format!("{}MiB", bytes / MIB),
                bytes => bytes.to_string(),
            }
        }
    }
}

/// A limit that can be lifted with the word `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitOrNone<T>(pub Option<T>);

impl<T: Value> FromStr for LimitOrNone<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let limit = <Option<T> as Value<OrNone>>::read(&Written::Text(text.to_owned()));
        limit.map(Self).map_err(Refusal::for_flag)
    }
}

/// How a limit is written: a missing key has its default, so the absence of a limit needs a word.
pub struct OrNone;

impl<T: Value> Value<OrNone> for Option<T> {
    const SHAPE: ValueSyntax = ValueSyntax::Text;

    fn written(&self) -> Written {
        Written::Text(self.as_ref().map_or("none".to_owned(), |limit| limit.written().to_string()))
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        // Older manifests wrote `null` where a setting had no word for none.
        if matches!(written, Written::Nothing(_)) {
            return Ok(None);
        }
        let text = written.text_or_number()?;
        let text = text.trim();
        if text == "none" {
            return Ok(None);
        }
        T::read(&T::SHAPE.typed(text)).map(Some).map_err(|refusal| match refusal {
            Refusal::Unexpected { expected, .. } => {
                Refusal::Message(format!("'{text}' is not valid (expected none, or {expected})"))
            }
            message @ Refusal::Message(_) => message,
        })
    }

    fn amount(&self) -> Amount {
        self.as_ref().map_or(Amount::NoLimit, T::amount)
    }

    fn describe(&self) -> String {
        self.as_ref().map_or("none".to_owned(), T::describe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_are_read_as_people_write_them() {
        assert_eq!("2".parse(), Ok(Span(Duration::from_secs(2))));
        assert_eq!("0.25".parse(), Ok(Span(Duration::from_millis(250))));
        assert_eq!("1h 30m".parse(), Ok(Span(Duration::from_secs(5400))));
        assert_eq!("1MiB".parse(), Ok(Size(1024 * 1024)));
        assert_eq!("500kB".parse(), Ok(Size(500_000)));
        assert_eq!("77".parse(), Ok(Size(77)));
        assert!("-2".parse::<Span>().unwrap_err().starts_with("'-2' is not a duration"));
        assert!("many".parse::<Size>().unwrap_err().starts_with("'many' is not a number of bytes"));
    }

    #[test]
    fn none_is_a_word_and_what_older_manifests_had_for_it() {
        for written in [Written::Text("none".to_owned()), Written::Nothing(None)] {
            assert!(matches!(<Option<f64> as Value<OrNone>>::read(&written), Ok(None)), "{written:?}");
        }
    }
}
