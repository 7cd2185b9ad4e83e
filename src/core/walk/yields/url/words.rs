use crate::address::WebUrl;

/// The number of words taken of one URL: paths of more parts are made by machines.
const MOST_WORDS: usize = 24;
/// The number of letters of a word; a longer word names a single page.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=24;

/// The words and signs in the URL of a page that show its kind: the words of its path, its first part with
/// `#` for digits (`/part-#`), `?` for a query, `/` for a folder and `#` for digits in the last part. Sorted,
/// each once.
#[must_use]
pub fn url_words(url: &WebUrl) -> Vec<String> {
    let canonical = url.canonical().to_ascii_lowercase();
    let target = canonical.split_once("://").map_or("", |(_, rest)| rest);
    let target = target.split_once('/').map_or("", |(_, target)| target);
    let path = target.split(['?', ';']).next().unwrap_or_default();
    let (first, last) =
        (path.split('/').next().unwrap_or_default(), path.rsplit('/').next().unwrap_or_default());
    let is_word = |word: &&str| LETTERS.contains(&word.len());
    let mut words: Vec<String> = path
        .split(|c: char| !c.is_ascii_alphabetic())
        .filter(is_word)
        .take(MOST_WORDS)
        .map(str::to_owned)
        .collect();
    if first.len() <= *LETTERS.end() {
        words.push(format!("/{}", without_digits(first)));
    }
    let marks = [
        ("?", path.len() < target.len()),
        ("/", path.ends_with('/')),
        ("#", last.bytes().any(|byte| byte.is_ascii_digit())),
    ];
    words.extend(marks.into_iter().filter(|(_, holds)| *holds).map(|(mark, _)| mark.to_owned()));
    words.sort_unstable();
    words.dedup();
    words
}

/// A text with one `#` in place of each number.
pub(super) fn without_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words_of(url: &str) -> Vec<String> {
        url_words(&WebUrl::parse(url).unwrap())
    }

    #[test]
    fn a_url_is_its_words_and_signs() {
        assert_eq!(
            words_of("http://a.ke/Part-12/Old-Links_7.html"),
            ["#", "/part-#", "html", "links", "old", "part"]
        );
        assert_eq!(words_of("http://a.ke/news/2006/05/"), ["/", "/news", "news"]);
        assert_eq!(words_of("http://a.ke/cgi/list.php?id=7"), ["/cgi", "?", "cgi", "list", "php"]);
        assert_eq!(words_of("http://a.ke/x;y=1/z"), ["/x", "?"]);
        assert_eq!(words_of("http://a.ke/%70artners"), ["/partners", "partners"]);
        assert_eq!(words_of("http://a.ke/"), ["/"]);
    }

    #[test]
    fn long_names_and_many_parts_say_nothing_more() {
        let long = format!("http://a.ke/{}/{}", "x".repeat(300), "y/".repeat(300));
        assert!(words_of(&long).len() <= MOST_WORDS + 4, "{:?}", words_of(&long));
        assert_eq!(words_of(&format!("http://a.ke/{}", "w".repeat(25))), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_url_has_few_short_words_each_once(path in "[ -~]{0,400}") {
            if let Ok(url) = WebUrl::parse(&format!("http://a.ke/{path}")) {
                let words = url_words(&url);
                prop_assert!(words.len() <= MOST_WORDS + 4);
                prop_assert!(words.iter().all(|word| word.len() <= 25));
                prop_assert!(words.windows(2).all(|two| two[0] < two[1]));
            }
        }
    }
}
