/// The longest name that is distinguished: `shadowrootmode` has 14 bytes.
const LONGEST_NAME: usize = 16;

/// The name of a tag or attribute, in a fixed buffer. A name longer than any known one reads as empty, which
/// matches nothing.
#[derive(Clone, Copy, Default)]
pub(in crate::page) struct Name {
    bytes: [u8; LONGEST_NAME],
    /// Larger than the buffer when the name did not fit.
    len: usize,
}

impl Name {
    /// A complete name, in lower case.
    pub(in crate::page) fn in_lower_case(name: &[u8]) -> Self {
        let mut lower = Self::default();
        lower.push(name);
        lower.bytes.make_ascii_lowercase();
        lower
    }

    pub(in crate::page) fn clear(&mut self) {
        self.len = 0;
    }

    pub(in crate::page) fn push(&mut self, piece: &[u8]) {
        let end = self.len.saturating_add(piece.len());
        match self.bytes.get_mut(self.len..end) {
            Some(room) => {
                room.copy_from_slice(piece);
                self.len = end;
            }
            None => self.len = LONGEST_NAME + 1,
        }
    }

    pub(in crate::page) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(b"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_in_pieces_and_an_overlong_one_is_no_name() {
        let mut name = Name::default();
        name.push(b"no");
        name.push(b"script");
        assert_eq!(name.as_bytes(), b"noscript");
        name.push(&[b'x'; 9]);
        assert_eq!(name.as_bytes(), b"");
        name.push(b"a");
        assert_eq!(name.as_bytes(), b"");
        name.clear();
        name.push(b"a");
        assert_eq!(name.as_bytes(), b"a");
    }
}
