use crate::address::WebUrl;

/// Heritrix's TooManyPathSegments rule refuses more than 20; national sites with long document
/// paths are given half as many again.
const MAX_SEGMENTS: usize = 30;
/// A group of segments that stands so often in a row is a relative link gone wrong
/// (`/a/b/a/b/a/b/`). Heritrix's PathologicalPath rule refuses the third; one more is given here.
const MAX_REPEATS: usize = 3;
/// Groups of up to three segments, as in Heritrix.
const LONGEST_GROUP: usize = 3;

/// Whether a URL's path looks like one that never ends. Groups of digits only are let pass, as
/// calendars and document numbers repeat (`/1/1/1/1/`).
pub(super) fn looks_endless(url: &WebUrl) -> bool {
    // In canonical form, so that a letter in percent form does not hide a repetition.
    let url = url.canonical();
    let path = url.splitn(4, '/').nth(3).and_then(|target| target.split('?').next()).unwrap_or_default();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    segments.len() > MAX_SEGMENTS || (1..=LONGEST_GROUP).any(|group| repeats(&segments, group))
}

fn repeats(segments: &[&str], group: usize) -> bool {
    let long_run = group * MAX_REPEATS;
    let mut run = 0;
    for at in group..segments.len() {
        run = if segments[at] == segments[at - group] { run + 1 } else { 0 };
        let is_wordy =
            || segments[at + 1 - group..=at].iter().any(|part| part.bytes().any(|b| b.is_ascii_alphabetic()));
        if run >= long_run && is_wordy() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endless(path: &str) -> bool {
        looks_endless(&WebUrl::parse(&format!("http://a.ke{path}")).unwrap())
    }

    #[test]
    fn a_relative_link_gone_wrong_is_endless_at_its_fourth_round() {
        assert!(!endless("/a/b/a/b/a/b/"));
        assert!(endless("/a/b/a/b/a/b/a/b/"));
        assert!(endless("/x/news/news/news/news/y"));
        assert!(endless("/%61/b/a/%62/a/b/a/b/?c/d"));
    }

    #[test]
    fn repeated_numbers_and_long_paths_of_words_are_not() {
        assert!(!endless("/n/1/1/1/1/1/1/1/1/1"));
        assert!(!endless("/a/b/c/d/e/f/g/h/i/j/k/l"));
        assert!(endless(&"/1".repeat(MAX_SEGMENTS + 1)));
    }
}
