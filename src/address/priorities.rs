use std::collections::HashMap;

use super::Host;

/// Which sites are walked first and which last: a number for each name. Greater is sooner, and all other
/// names have 0.
///
/// A name stands for itself and all names below it; the nearest one counts. A name with `*` (any text) is
/// compared with whole host names if no plain name applies; the first pattern in the list that matches
/// counts.
///
/// ```
/// use ccsurvey_address::{Host, Priorities};
/// let list = Priorities::parse("# ministries first\ngo.ke 10\nblog.go.ke -5\n*-shop.* -10\n").unwrap();
/// let priority = |name| list.for_host(&Host::parse(name).unwrap());
/// let names = ["health.go.ke", "my.blog.go.ke", "tea-shop.co.ke", "a.ke"];
/// assert_eq!(names.map(priority), [10, -5, -10, 0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Priorities {
    names: HashMap<Host, i32>,
    patterns: Vec<(String, i32)>,
}

/// A line of a list of priorities that cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: '{value}' is not {expected} (expected for example 'go.ke 10' or '*-shop.* -10')")]
pub struct PriorityError {
    /// Line number, from 1.
    pub line: usize,
    /// The invalid text.
    pub value: String,
    /// What was expected instead.
    pub expected: &'static str,
}

impl Priorities {
    /// Reads a name and a whole number per line; `#` begins a comment.
    ///
    /// # Errors
    /// Names the first line that has another form.
    pub fn parse(text: &str) -> Result<Self, PriorityError> {
        let mut list = Self::default();
        for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let mut words = content.split('#').next().unwrap_or_default().split([' ', '\t', ',']);
            let mut words = words.by_ref().map(str::trim).filter(|word| !word.is_empty());
            let Some(name) = words.next() else { continue };
            let invalid = |value: &str, expected| PriorityError {
                line,
                value: value.escape_debug().to_string(),
                expected,
            };
            let number = words.next().ok_or_else(|| invalid(name, "a name and a number"))?;
            let priority = number.parse().map_err(|_| invalid(number, "a whole number"))?;
            if let Some(more) = words.next() {
                return Err(invalid(more, "a comment, which begins with #"));
            }
            if name.contains('*') {
                list.patterns.push((name.to_lowercase(), priority));
            } else {
                let host = Host::parse(name).map_err(|_| invalid(name, "a host name"))?;
                list.names.insert(host, priority);
            }
        }
        Ok(list)
    }

    /// The priority of a host.
    #[must_use]
    pub fn for_host(&self, host: &Host) -> i32 {
        let nearest = std::iter::successors(Some(host.clone()), Host::parent)
            .find_map(|name| self.names.get(&name).copied());
        let fits = || self.patterns.iter().find(|(pattern, _)| fits(pattern, host.as_str()));
        nearest.or_else(|| fits().map(|(_, priority)| *priority)).unwrap_or_default()
    }
}

/// Whether a name consists of the pattern's parts, in their order, with any text between them. Each part is
/// matched at its first occurrence, so the time is linear.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn priority_of(list: &str, name: &str) -> i32 {
        Priorities::parse(list).unwrap().for_host(&Host::parse(name).unwrap())
    }

    #[test]
    fn the_nearest_name_counts_before_any_pattern() {
        let list = "ke 1\nco.ke,2\nA.co.ke\t3 # the owner asked for it\n*.ke 9\nx*y.tz 4";
        assert_eq!(["b.ke", "b.co.ke", "www.a.co.ke"].map(|name| priority_of(list, name)), [1, 2, 3]);
        assert_eq!(["xy.tz", "x.y.tz", "x.z.tz", "a.ug"].map(|name| priority_of(list, name)), [4, 4, 0, 0]);
        assert_eq!(priority_of("*.go.* 1\n*a* 2", "a.go.ke"), 1, "the first pattern that fits");
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let error_text = |text: &str| Priorities::parse(text).unwrap_err().to_string();
        assert!(error_text("\n# x\ngo.ke").starts_with("line 3: 'go.ke' is not a name and a number"));
        assert!(error_text("go.ke soon").starts_with("line 1: 'soon' is not a whole number"));
        assert!(error_text("go.ke 1 2").starts_with("line 1: '2' is not a comment"));
        assert!(error_text("http://go.ke/ 1").starts_with("line 1: 'http://go.ke/' is not a host name"));
        assert!(error_text("go.ke 99999999999").starts_with("line 1: '99999999999' is not a whole number"));
    }

    proptest! {
            #[test]
            fn any_text_is_a_list_or_an_error(text in ".{0,80}") {
                if let Ok(list) = Priorities::parse(&text) {
                    let _ = list.for_host(&Host::parse("www.a.ke").unwrap());
                }
            }

            #[test]
            fn a_pattern_fits_what_it_was_made_of(parts in proptest::collection::vec("[a-c]{0,3}", 1..5), filler in "[a-c.]{0,4}") {
    let filler = if parts.len() > 1 { filler.as_str() } else { "" };
                let name = parts.join(filler);
                prop_assert!(fits(&parts.join("*"), &name));
            }
        }
}
