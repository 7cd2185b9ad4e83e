/// RFC 5646 §4.4.1: room for any tag registered with all its subtags.
const MAX_BYTES: usize = 35;

/// A language tag in lower case, or none if it is no tag. `en_US`, often met, is read as `en-us`.
pub(super) fn tidy(text: &str) -> Option<String> {
    let text = text.trim();
    let is_tag = (2..=MAX_BYTES).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_tag.then(|| text.to_ascii_lowercase().replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_a_tag_in_lower_case() {
        assert_eq!(tidy(" sw-KE ").as_deref(), Some("sw-ke"));
        assert_eq!(tidy("en_US").as_deref(), Some("en-us"));
        for tag in ["sw", &"a".repeat(35)] {
            assert_eq!(tidy(tag).as_deref(), Some(tag));
        }
        for junk in ["", "x", "<?php echo $lang ?>", "en,fr", "日本語", &"a".repeat(36)] {
            assert_eq!(tidy(junk), None, "{junk}");
        }
    }
}
