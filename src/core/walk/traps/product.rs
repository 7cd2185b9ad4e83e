use xxhash_rust::xxh3::xxh3_64;

use super::shape::ShapeId;
use crate::address::WebUrl;
use crate::walk::entry::UrlStates;

/// Longer paths are traps by their length.
const MAX_SEGMENTS: usize = 30;

/// Whether a path leads to another known page without one of its segments: `/shop/red/large/new/` without
/// `red`. The last segment does not count, because without it most paths lead to their folder; nor do
/// numbers, because pages of lists have the same numbers (`/forum/3/2`, `/forum/2`).
pub(in crate::walk) fn is_removable(url: &WebUrl, at: usize, known: &UrlStates) -> bool {
    let parts: Vec<&str> = url.path().split('/').skip(1).collect();
    let names = parts.iter().filter(|part| !part.is_empty()).count();
    let is_plain = names <= MAX_SEGMENTS && parts[..names].iter().all(|part| !part.is_empty());
    let has_letter = |part: &str| part.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_plain
        && at + 1 < names
        && has_letter(parts[at])
        && known.contains_key(&WebUrl::page_key_of(&url.authority(), &without(&parts, at)))
}

fn without(parts: &[&str], at: usize) -> String {
    let mut path = String::new();
    for part in parts.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, part)| part) {
        path.push('/');
        path.push_str(part);
    }
    path
}

/// The folder below which a path is one of many combinations of the same words, such as `a.ke/shop`: the path
/// leads to known pages without one of its words, and without another.
pub(in crate::walk) fn product(url: &WebUrl, known: &UrlStates) -> Option<String> {
    let url = &*url.without_session();
    let mut removable =
        (0..MAX_SEGMENTS.min(url.path().matches('/').count())).filter(|at| is_removable(url, *at, known));
    let first = removable.next()?;
    removable.next()?;
    let canonical = url.canonical();
    let (_, rest) = canonical.split_once("://")?;
    let end = rest.match_indices('/').nth(first).map(|(at, _)| at)?;
    Some(rest[..end].to_owned())
}

pub(in crate::walk) fn id(product: &str) -> ShapeId {
    ShapeId::Product(xxh3_64(product.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::entry::UrlState;

    fn product_among(known: &[&str], path: &str) -> Option<String> {
        let url = |path: &str| WebUrl::parse(&format!("http://a.ke{path}")).unwrap();
        let known = known.iter().map(|path| (url(path).page_key(), UrlState::Listed)).collect();
        product(&url(path), &known)
    }

    #[test]
    fn three_words_of_which_two_can_be_left_out_are_a_combination() {
        let known = ["/shop/red/large/", "/shop/red/new/", "/shop/large/new/", "/shop/red/"];
        assert_eq!(product_among(&known, "/shop/red/large/new/").as_deref(), Some("a.ke/shop"));
        assert_eq!(product_among(&known, "/shop/red/large/old/"), None);
        assert_eq!(product_among(&known, "/shop/red/large/"), None, "its folder is no other choice");
        assert_eq!(product_among(&["/b/c", "/a/c", "/a/b"], "/a/b/c").as_deref(), Some("a.ke"));
    }

    #[test]
    fn translations_numbers_and_empty_segments_are_none() {
        assert_eq!(product_among(&["/news/today", "/en/news"], "/en/news/today"), None);
        assert_eq!(product_among(&["/1/2", "/3/2", "/3/1"], "/3/1/2"), None);
        assert_eq!(product_among(&["/a//b", "/a/b"], "/a//b"), None);
    }

    #[test]
    fn any_segment_but_the_last_can_be_left_out_if_it_has_a_letter_and_the_rest_is_known() {
        let url = |path: &str| WebUrl::parse(&format!("http://a.ke{path}")).unwrap();
        let removable = |known: &[&str], path: &str| {
            let known = known.iter().map(|path| (url(path).page_key(), UrlState::Found)).collect();
            (0..40)
                .filter(|at| {
                    let parts = path.matches('/').count();
                    *at < parts && is_removable(&url(path), *at, &known)
                })
                .collect::<Vec<_>>()
        };
        let known = ["/b/c/", "/a/c/", "/a/b/", "/b/c", "/a/c", "/a/b", "/7/c"];
        assert_eq!(removable(&known, "/a/b/c/"), [0, 1]);
        assert_eq!(removable(&known, "/a/b/c"), [0, 1]);
        assert_eq!(removable(&["/b/c"], "/a/b/c/"), [0; 0], "its page ends in a slash");
        assert_eq!(removable(&known, "/7/b/c"), [1], "a number is no choice");
        assert_eq!(removable(&["/a", "/"], "/b/a"), [0]);
        assert_eq!(removable(&["/"], "/a"), [0; 0]);
        assert_eq!(removable(&["/a//c", "/b//c"], "/a/b//c"), [0; 0]);
        let long = |n: usize| (0..n).map(|n| format!("/s{n}")).collect::<String>();
        assert_eq!(removable(&[&long(30)[3..]], &long(30)), [0]);
        assert_eq!(removable(&[&long(31)[3..]], &long(31)), [0; 0], "longer paths are traps by their length");
    }

    #[test]
    fn a_product_is_told_by_the_folder_before_the_first_choice() {
        let known = ["/x/b/c/d", "/x/a/c/d", "/x/a/b/d"];
        assert_eq!(product_among(&known, "/x/a/b/c/d").as_deref(), Some("a.ke/x"));
        assert_eq!(product_among(&known[1..], "/x/a/b/c/d").as_deref(), Some("a.ke/x/a"));
        assert_eq!(product_among(&known[2..], "/x/a/b/c/d"), None, "one choice is none");
        assert_eq!(product_among(&["/d/e", "/c/e"], "/c/d/e").as_deref(), Some("a.ke"));
    }
}
