use crate::address::WebUrl;

/// Heritrix's TooManyPathSegments rule refuses more than 20; the limit here is half as high again, for
/// national sites with long document paths.
const MAX_SEGMENTS: usize = 30;
/// A group of segments that is repeated this often in a row, so that it occurs four times, is a relative link
/// gone wrong (`/a/b/a/b/a/b/a/b/`). Heritrix's PathologicalPath rule refuses the third occurrence; one more
/// is allowed here.
const MAX_REPEATS: usize = 3;
/// Groups of up to three segments, as in Heritrix.
const LONGEST_GROUP: usize = 3;

/// The repetition that makes a path look endless: `www.a.ke/(news/items)/**`. Groups of digits only are
/// allowed, as calendars and document numbers repeat (`/1/1/1/1/`).
pub(in crate::walk) fn endless_path(url: &WebUrl) -> Option<String> {
    // In canonical form, so that percent encoding does not hide a repetition.
    let canonical = url.canonical();
    let (host, target) = canonical.split_once("://")?.1.split_once('/')?;
    let path = target.split('?').next().unwrap_or_default();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let name = |before: &[&str], group: &[&str]| {
        let group = format!("({})", group.join("/"));
        [&[host], before, &[group.as_str(), "**"]].concat().join("/")
    };
    let is_long = || segments.len() > MAX_SEGMENTS;
    (1..=LONGEST_GROUP)
        .find_map(|group| repeated(&segments, group))
        .map(|(start, group)| name(&segments[..start], &segments[start..start + group]))
        .or_else(|| is_long().then(|| [host, "**"].join("/")))
}

/// The index at which a group of `group` segments begins to occur too often in a row, and `group`.
fn repeated(segments: &[&str], group: usize) -> Option<(usize, usize)> {
    let long_run = group * MAX_REPEATS;
    let mut run = 0;
    for at in group..segments.len() {
        run = if segments[at] == segments[at - group] { run + 1 } else { 0 };
        let is_wordy =
            || segments[at - group..at].iter().any(|part| part.bytes().any(|b| b.is_ascii_alphabetic()));
        if run >= long_run && is_wordy() {
            return Some((at + 1 - long_run - group, group));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endless(path: &str) -> bool {
        endless_path(&WebUrl::parse(&format!("http://a.ke{path}")).unwrap()).is_some()
    }

    #[test]
    fn a_relative_link_gone_wrong_is_endless_at_its_fourth_round() {
        assert!(!endless("/a/b/a/b/a/b/"));
        assert!(endless("/a/b/a/b/a/b/a/b/"));
        assert!(endless("/x/news/news/news/news/y"));
        assert!(endless("/%61/b/a/%62/a/b/a/b/?c/d"));
    }

    #[test]
    fn it_is_named_by_what_it_repeats() {
        let name = |path: &str| endless_path(&WebUrl::parse(&format!("http://www.a.ke{path}")).unwrap());
        assert_eq!(name("/a/b/a/b/a/b/a/b/").as_deref(), Some("www.a.ke/(a/b)/**"));
        assert_eq!(name("/x/news/news/news/news/y").as_deref(), Some("www.a.ke/x/(news)/**"));
        assert_eq!(name(&"/1".repeat(MAX_SEGMENTS + 1)).as_deref(), Some("www.a.ke/**"));
    }

    #[test]
    fn repeated_numbers_and_long_paths_of_words_are_not() {
        assert!(!endless("/n/1/1/1/1/1/1/1/1/1"));
        assert!(!endless("/a/b/c/d/e/f/g/h/i/j/k/l"));
        assert!(endless(&"/1".repeat(MAX_SEGMENTS + 1)));
    }

    #[test]
    fn groups_of_one_to_three_words_repeat_four_times_in_a_row() {
        for group in ["a", "a/b", "a/b/c", "a/7", "7/x/8"] {
            let times = |times: usize| format!("/x{}", format!("/{group}").repeat(times));
            assert!(!endless(&times(3)) && endless(&times(4)), "{group}");
            assert!(endless(&format!("{}/y/z", times(4))), "{group}");
            assert!(!endless(&format!("{}/y{}", times(3), times(3))), "{group}, broken off");
        }
        assert!(!endless(&"/a/b/c/d".repeat(7)), "groups of four repeat by chance, as in menus");
        assert!(!endless(&"/1/2".repeat(15)) && !endless(&"/2006/05".repeat(6)));
    }

    #[test]
    fn paths_of_thirty_segments_are_as_long_as_they_get() {
        let path = |n: usize| (0..n).map(|n| format!("/{n}")).collect::<String>();
        assert!(!endless(&path(30)) && endless(&path(31)));
        assert!(!endless(&format!("{}/", path(30))), "an empty segment is none");
        assert!(!endless(&format!("/?{}", path(40))), "a query is no path");
    }
}
