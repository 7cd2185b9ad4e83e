use memchr::memchr;

use super::visible_text::VisibleText;
use crate::page::title::Title;

/// What a page shows of itself, collected while it is read. Memory is bounded: a few KiB in all.
#[derive(Default)]
pub(in crate::page) struct Clues {
    pub(in crate::page) text: VisibleText,
    /// An `img`, an `object` or an `svg`.
    pub(in crate::page) has_picture: bool,
    pub(in crate::page) has_script: bool,
    /// Parking services sign their pages with this attribute, so that blockers let their advertisements
    /// pass.
    pub(in crate::page) has_advertising_key: bool,
    generators: Vec<String>,
    /// One a line, in lower case, without scheme; each begins with its [`ReferenceKind`].
    references: Vec<u8>,
    scripts: Vec<u8>,
}

/// The element of a reference that is no link to another page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum ReferenceKind {
    /// A script or a `link`.
    Loaded = b'l' as isize,
    Picture = b'p' as isize,
}

/// A page with more names several plugins.
const MAX_GENERATORS: usize = 8;
/// In characters.
const MAX_GENERATOR: usize = 128;
/// Some fifty references: those at the beginning of a page are its own.
const MAX_REFERENCE_BYTES: usize = 4096;
/// A mark is in the host or in the first folders.
const MAX_REFERENCE: usize = 160;
const MAX_SCRIPT_BYTES: usize = 512;

impl Clues {
    pub(in crate::page) fn add_generator(&mut self, content: &str) {
        let mut text = Title::default();
        text.push(content.as_bytes());
        if self.generators.len() < MAX_GENERATORS
            && let Some(text) = text.finish()
        {
            let text: String = text.chars().take(MAX_GENERATOR).collect();
            self.generators.push(text.trim_end().to_owned());
        }
    }

    pub(in crate::page) fn add_reference(&mut self, kind: ReferenceKind, spelled: &[u8]) {
        let Some(spelled) = without_scheme(spelled.trim_ascii()) else { return };
        let spelled = &spelled[..spelled.len().min(MAX_REFERENCE)];
        if self.references.len() + spelled.len() + 3 > MAX_REFERENCE_BYTES || memchr(b'\n', spelled).is_some()
        {
            return;
        }
        self.references.push(kind as u8);
        if !spelled.starts_with(b"/") {
            self.references.push(b'/');
        }
        self.references.extend(spelled.iter().map(u8::to_ascii_lowercase));
        self.references.push(b'\n');
    }

    pub(in crate::page) fn add_script(&mut self, piece: &[u8]) {
        let free = MAX_SCRIPT_BYTES - self.scripts.len();
        self.scripts.extend(piece.iter().take(free).map(u8::to_ascii_lowercase));
    }

    pub(super) fn generators(&self) -> impl Iterator<Item = &str> + Clone {
        self.generators.iter().map(String::as_str)
    }

    /// The references and whether the page loads what they lead to.
    pub(super) fn references(&self) -> impl Iterator<Item = (&[u8], bool)> {
        self.references.split(|byte| *byte == b'\n').filter_map(|line| {
            let (kind, text) = line.split_first()?;
            Some((text, *kind == ReferenceKind::Loaded as u8))
        })
    }

    pub(super) fn scripts(&self) -> &[u8] {
        &self.scripts
    }
}

/// A reference without `http:` or `https:`; none if it leads to no server, as `data:` does.
fn without_scheme(spelled: &[u8]) -> Option<&[u8]> {
    let after = |scheme: &[u8]| {
        let (begin, rest) = spelled.split_at_checked(scheme.len())?;
        begin.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    let of_web = after(b"https:").or_else(|| after(b"http:"));
    let is_other = |text: &[u8]| {
        let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        text.iter().find(|byte| !in_scheme(byte)) == Some(&b':')
    };
    of_web.or_else(|| (!spelled.is_empty() && !is_other(spelled)).then_some(spelled))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(references: &[&str]) -> Vec<String> {
        let mut clues = Clues::default();
        for reference in references {
            clues.add_reference(ReferenceKind::Loaded, reference.as_bytes());
        }
        clues.references().map(|(text, _)| String::from_utf8_lossy(text).into_owned()).collect()
    }

    #[test]
    fn references_are_in_lower_case_without_scheme_and_those_to_no_server_are_left_out() {
        let spelled =
            ["HTTPS://A.ke/X", "//b.ke/y", " wp-content/z ", "/q?u=a:b", "data:image/png;base64,xx", ""];
        assert_eq!(collected(&spelled), ["//a.ke/x", "//b.ke/y", "/wp-content/z", "/q?u=a:b"]);
        assert_eq!(collected(&["javascript:x()", "about:blank", "a\nb"]), [""; 0]);
    }

    #[test]
    fn what_is_stored_of_a_page_is_bounded() {
        let mut clues = Clues::default();
        for _ in 0..1000 {
            clues.add_generator(&"é ".repeat(500));
            clues.add_reference(ReferenceKind::Picture, &[b'x'; 5000]);
            clues.add_script(&[b'x'; 5000]);
        }
        assert_eq!(clues.generators().map(|text| text.chars().count()).collect::<Vec<_>>(), [127; 8]);
        assert!(clues.references.len() <= MAX_REFERENCE_BYTES && clues.references().count() > 20);
        assert_eq!(clues.scripts().len(), MAX_SCRIPT_BYTES);
    }
}
