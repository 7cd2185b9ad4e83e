/// Enough for any title that is meant to be read, in characters.
const MAX_CHARS: usize = 512;
/// A character of UTF-8 has at most four bytes.
const MAX_BYTES: usize = 4 * MAX_CHARS;

/// A title that is being collected: white space and control characters become single spaces.
#[derive(Default)]
pub(super) struct Title(Vec<u8>);

impl Title {
    pub(super) fn push(&mut self, piece: &[u8]) {
        for &byte in piece {
            if self.0.len() >= MAX_BYTES {
                return;
            }
            if byte > b' ' && byte != 0x7f {
                self.0.push(byte);
            } else if self.0.last().is_some_and(|last| *last != b' ') {
                self.0.push(b' ');
            }
        }
    }

    /// The title, if there is one.
    pub(super) fn finish(self) -> Option<String> {
        let text: String = String::from_utf8_lossy(&self.0).chars().take(MAX_CHARS).collect();
        let text = text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(pieces: &[&str]) -> Option<String> {
        let mut title = Title::default();
        for piece in pieces {
            title.push(piece.as_bytes());
        }
        title.finish()
    }

    #[test]
    fn white_space_collapses_across_pieces() {
        assert_eq!(title(&["\n  Habari ", " \tza\0", "Kenya \r\n"]).as_deref(), Some("Habari za Kenya"));
        assert_eq!(title(&[" \n", " "]), None);
    }

    #[test]
    fn a_long_title_is_cut_at_a_character() {
        let long = title(&[&"あ".repeat(5000)]).unwrap();
        assert_eq!(long, "あ".repeat(512));
    }
}
