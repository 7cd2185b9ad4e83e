use serde::{Deserialize, Serialize};

/// The validators that a server sent with a version of a page or file; a conditional request with them
/// fetches only a different version (RFC 9110 §13.1). Kept as received, so that they are sent back unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, with its quotes.
    pub etag: Option<String>,
    /// `Last-Modified`, as sent.
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is no validator.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    /// The tag for a conditional request, followed by the tag without the server's compression mark if it has
    /// one.
    ///
    /// Apache marks the tag of a compressed response (`DeflateAlterETag` and `BrotliAlterETag`, by default
    /// `AddSuffix`) and does not recognise it again: to a request with the marked tag, 2.4 sends the page
    /// every time, whatever the date.
    #[must_use]
    pub fn tags(&self) -> Option<String> {
        let tag = self.etag.as_deref()?;
        let unmarked = MARKS.iter().find_map(|mark| tag.strip_suffix(mark));
        Some(unmarked.map_or_else(|| tag.to_owned(), |unmarked| format!("{tag}, {unmarked}\"")))
    }
}

const MARKS: [&str; 2] = ["-gzip\"", "-br\""];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_or_a_date_is_enough_to_ask_with() {
        let is_empty = |etag: Option<&str>, date: Option<&str>| {
            Validators { etag: etag.map(str::to_owned), last_modified: date.map(str::to_owned) }.is_empty()
        };
        assert!(is_empty(None, None));
        assert!(!is_empty(Some("\"1\""), None) && !is_empty(None, Some("x")));
        assert!(!is_empty(Some("\"1\""), Some("x")));
    }

    #[test]
    fn a_tag_that_compression_has_marked_is_given_back_without_its_mark_too() {
        let tags = |tag: &str| Validators { etag: Some(tag.to_owned()), last_modified: None }.tags();
        assert_eq!(tags("\"4e20-660c-gzip\"").unwrap(), "\"4e20-660c-gzip\", \"4e20-660c\"");
        assert_eq!(tags("W/\"1-br\"").unwrap(), "W/\"1-br\", W/\"1\"");
        for tag in ["W/\"5f1-63a\"", "\"gzip\"", "-gzip", ""] {
            assert_eq!(tags(tag).unwrap(), tag);
        }
        assert_eq!(Validators::default().tags(), None);
    }
}
