use xxhash_rust::xxh3::xxh3_64;

use super::groups::{Group, GroupKeys};
use super::words::without_digits;
use crate::address::WebUrl;
use crate::walk::yields::logarithm::ln;

/// The features of the shape of a URL.
pub(in crate::walk::yields) const SHAPE: [&str; 12] = [
    "length",
    "segments",
    "digits",
    "dashes",
    "capitals",
    "has_query",
    "is_folder",
    "is_index",
    "is_at_root",
    "is_html",
    "is_script",
    "is_other_file",
];

/// A URL in the parts that its shape is read from, lower case but for capitals.
pub(in crate::walk::yields) struct UrlShape {
    /// The hash of the whole URL.
    pub key: u64,
    /// The groups that follow from the URL alone.
    pub groups: GroupKeys,
    /// In the order of [`SHAPE`].
    pub features: [f64; SHAPE.len()],
}

impl UrlShape {
    pub(in crate::walk::yields) fn from_url(url: &WebUrl) -> Self {
        let canonical = url.canonical();
        let address = canonical.split_once("://").map_or("", |(_, address)| address);
        let (address, has_query) = match address.find(['?', ';']) {
            Some(end) => (&address[..end], true),
            None => (address, false),
        };
        let (folder, last) = address.rsplit_once('/').unwrap_or((address, ""));
        let path = folder.split_once('/').map_or("", |(_, path)| path);
        let (stem, extension) = last.rsplit_once('.').unwrap_or((last, ""));
        let extension = extension.to_ascii_lowercase();
        let letters: String = stem.chars().take_while(char::is_ascii_alphabetic).collect();
        let letters = letters.to_ascii_lowercase();
        let pattern = format!("{}/{letters}.{extension}", without_digits(folder));
        // A folder is named by its own last segment.
        let name = if last.is_empty() { folder.rsplit('/').next().unwrap_or_default() } else { last };
        let name = format!("{}{}", name.to_ascii_lowercase(), if last.is_empty() { "/" } else { "" });
        let hash = |text: &str| xxh3_64(text.as_bytes());
        let count = |text: &str, counts: fn(&u8) -> bool| text.bytes().filter(counts).count() as f64;
        let kind = Extension::new(&extension);
        Self {
            key: hash(&canonical),
            groups: GroupKeys::default()
                .with(Group::Folder, hash(folder))
                .with(Group::Pattern, hash(&pattern))
                .with(Group::Name, hash(&name)),
            features: [
                ln(1.0 + (path.len() + last.len()) as f64),
                ln(1.0 + count(path, |byte| *byte == b'/') + f64::from(!path.is_empty())),
                ln(1.0 + count(last, u8::is_ascii_digit)),
                ln(1.0 + count(last, |byte| matches!(byte, b'-' | b'_'))),
                ln(1.0 + count(last, u8::is_ascii_uppercase)),
                f64::from(has_query),
                f64::from(last.is_empty()),
                f64::from(letters == "index" || letters == "default"),
                f64::from(path.is_empty()),
                f64::from(kind == Extension::Html),
                f64::from(kind == Extension::Script),
                f64::from(kind == Extension::Other),
            ],
        }
    }
}

/// What the extension of a file says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extension {
    None,
    Html,
    Script,
    Other,
}

impl Extension {
    fn new(extension: &str) -> Self {
        match extension {
            "" => Self::None,
            "html" | "htm" | "xhtml" | "shtml" => Self::Html,
            "php" | "php3" | "asp" | "aspx" | "jsp" | "cgi" | "pl" | "cfm" | "do" => Self::Script,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shape(url: &str) -> UrlShape {
        UrlShape::from_url(&WebUrl::parse(url).unwrap())
    }

    fn feature(url: &str, name: &str) -> f64 {
        shape(url).features[SHAPE.iter().position(|other| *other == name).unwrap()]
    }

    fn same(group: Group, one: &str, other: &str) -> bool {
        shape(one).groups.get(group) == shape(other).groups.get(group)
    }

    #[test]
    fn urls_are_grouped_by_folder_pattern_and_name() {
        let one = "http://a.ke/news/2006/item-17.html";
        assert!(same(Group::Folder, one, "http://a.ke/news/2006/other.php?id=1"));
        assert!(!same(Group::Folder, one, "http://a.ke/news/2007/item-17.html"));
        assert!(same(Group::Pattern, one, "http://a.ke/news/2007/ITEM-9.html"));
        assert!(!same(Group::Pattern, one, "http://a.ke/news/2007/list-9.html"));
        assert!(!same(Group::Pattern, one, "http://a.ke/news/2007/item-9.php"));
        assert!(same(Group::Name, one, "http://a.ke/de/Item-17.html"));
        assert!(!same(Group::Name, one, "http://a.ke/de/item-18.html"));
        assert!(same(Group::Name, "http://a.ke/en/faq/", "http://a.ke/de/faq/"));
        assert!(!same(Group::Name, "http://a.ke/en/faq/", "http://a.ke/de/faq"));
    }

    #[test]
    fn a_shape_is_read_from_the_url_alone() {
        assert_eq!(feature("http://a.ke/index.html", "is_index"), 1.0);
        assert_eq!(feature("http://a.ke/index.html", "is_at_root"), 1.0);
        assert_eq!(feature("http://a.ke/b/c.html", "is_at_root"), 0.0);
        assert_eq!(feature("http://a.ke/b/?page=2", "has_query"), 1.0);
        assert_eq!(feature("http://a.ke/b/", "is_folder"), 1.0);
        assert_eq!(feature("http://a.ke/b.PHP", "is_script"), 1.0);
        assert_eq!(feature("http://a.ke/b.txt", "is_other_file"), 1.0);
        assert!((feature("http://a.ke/b/c/d123.html", "digits") - ln(4.0)).abs() < 1e-12);
        assert!((feature("http://a.ke/b/c/d.html", "segments") - ln(3.0)).abs() < 1e-12);
        assert_eq!(feature("http://a.ke/d.html", "segments"), 0.0);
    }

    proptest! {
        #[test]
        fn any_url_has_a_shape_of_finite_numbers(path in "[ -~]{0,200}") {
            if let Ok(url) = WebUrl::parse(&format!("http://a.ke/{path}")) {
                prop_assert!(UrlShape::from_url(&url).features.iter().all(|feature| feature.is_finite()));
            }
        }
    }
}
