use serde::{Deserialize, Serialize};

use crate::address::WebUrl;

/// A link from a page to another page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// As spelled at its first occurrence.
    pub url: WebUrl,
    /// The element of its first occurrence.
    pub element: Element,
    /// Every occurrence on the page is marked `rel=nofollow`.
    pub nofollow: bool,
}

/// The element or header that makes a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Element {
    /// `<a href>`, in SVG also `xlink:href`.
    A,
    /// `<area href>`.
    Area,
    /// `<frame src>`.
    Frame,
    /// `<iframe src>`; or a refresh of the document in `<iframe srcdoc>`.
    Iframe,
    /// `<meta http-equiv=refresh>`, or the header `Refresh`.
    Meta,
    /// A `Location` header; never in a page, but in the same tables.
    Redirect,
}

impl Element {
    /// The word in the `links` table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::Area => "area",
            Self::Frame => "frame",
            Self::Iframe => "iframe",
            Self::Meta => "meta",
            Self::Redirect => "redirect",
        }
    }

    /// The element for a word of the `links` table.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::A, Self::Area, Self::Frame, Self::Iframe, Self::Meta, Self::Redirect]
            .into_iter()
            .find(|element| element.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_tables_are_read_as_they_are_written() {
        for (word, element) in [
            ("a", Element::A),
            ("area", Element::Area),
            ("frame", Element::Frame),
            ("iframe", Element::Iframe),
            ("meta", Element::Meta),
            ("redirect", Element::Redirect),
        ] {
            assert_eq!(element.as_str(), word);
            assert_eq!(Element::from_word(word), Some(element));
            assert_eq!(serde_json::to_value(element).unwrap(), word);
        }
        for other in ["", "A", "link", "redirects"] {
            assert_eq!(Element::from_word(other), None, "{other}");
        }
    }
}
