/// The beginning of a page's visible text: white space and control characters become single spaces, and tags
/// separate words.
#[derive(Default)]
pub(in crate::page) struct VisibleText {
    bytes: Vec<u8>,
    /// A tag came after the text.
    is_after_tag: bool,
}

/// Enough to know the language and the phrases of pages without content; the rest of a page is like its
/// beginning.
const MAX_BYTES: usize = 2048;

impl VisibleText {
    pub(in crate::page) fn push(&mut self, piece: &[u8]) {
        for &byte in piece {
            if self.bytes.len() >= MAX_BYTES {
                return;
            }
            // PHP prints `<b>Fatal error</b>: `, which a reader sees as `Fatal error: `.
            let is_space = byte <= b' ' || byte == 0x7f;
            let is_parted = std::mem::take(&mut self.is_after_tag) && !b".,:;!?".contains(&byte);
            if (is_space || is_parted) && self.bytes.last().is_some_and(|last| *last != b' ') {
                self.bytes.push(b' ');
            }
            if !is_space {
                self.bytes.push(byte);
            }
        }
    }

    /// Separates what comes next from the text so far, as a tag does.
    pub(in crate::page) fn end_word(&mut self) {
        self.is_after_tag = true;
    }

    /// The text; a character that was cut at the end is left out.
    pub(super) fn finish(&self) -> &str {
        let valid = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or_default(),
        };
        valid.trim_ascii_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_tags_separate_words_once() {
        let mut text = VisibleText::default();
        for piece in [" Habari\n\t za", "\r\nasub", "uhi "] {
            text.push(piece.as_bytes());
        }
        text.end_word();
        text.end_word();
        text.push(b"leo");
        text.end_word();
        text.push(b": jua");
        assert_eq!(text.finish(), "Habari za asubuhi leo: jua");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let mut text = VisibleText::default();
        text.push("あ".repeat(5000).as_bytes());
        assert_eq!(text.finish(), "あ".repeat(MAX_BYTES / 3));
    }
}
