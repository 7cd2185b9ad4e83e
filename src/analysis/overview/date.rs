use crate::address::{digits, seconds_since_1970};

/// Seconds since 1970 of an HTTP date (RFC 9110 §5.6.7) in any of its three forms; none for other text.
///
/// The name of the day is not looked at; of the obsolete form with two digits, years from 70 on are of the
/// last century.
pub(super) fn http_date(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.trim().split([' ', ',', '-']).filter(|word| !word.is_empty()).collect();
    let (day, month, year, clock) = match words[..] {
        // Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT
        [_, day, month, year, clock, "GMT" | "UTC"] => (day, month, year, clock),
        // Sun Nov  6 08:49:37 1994
        [_, month, day, clock, year] => (day, month, year, clock),
        _ => return None,
    };
    let year = match (year.len(), digits(year)?) {
        (2, year @ 70..) => year + 1900,
        (2, year) => year + 2000,
        (4, year) => year,
        _ => return None,
    };
    seconds_since_1970(year, month_of(month)?, day, clock)
}

fn month_of(name: &str) -> Option<i64> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    (1..).zip(NAMES).find(|(_, known)| name.eq_ignore_ascii_case(known)).map(|(month, _)| month)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_three_forms_of_the_standard_are_the_same_moment() {
        for text in
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        {
            assert_eq!(http_date(text), Some(784_111_777), "{text}");
        }
        assert_eq!(http_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(http_date("Sat, 29 Feb 2020 12:00:00 GMT"), Some(1_582_977_600));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in ["", "0", "yesterday", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(http_date(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,40}|[A-Za-z]{3},? [0-9 :,-]{1,30}( GMT)?") {
            let _ = http_date(&text);
        }
    }
}
