use html5gum::Reader;

/// The bytes that html5gum searches for in a value in double quotes, and in no other state.
const IN_DOUBLE_QUOTES: &[u8] = b"\"&\0\r";
/// The number of values in double quotes that one chain of calls may read: far fewer than fit on a thread's
/// stack, and enough that the cost of ending a chain cannot be measured.
const VALUES_PER_CHAIN: u8 = 16;

/// A text that the tokenizer reads with bounded stack depth.
///
/// The states of html5gum call the likely next state directly. Release 0.9 has one cycle among these calls
/// (`tests/repository/tokenizer.rs` finds them all): attribute name, `=`, value in double quotes, after the
/// value, and the next attribute's name. It grows the stack with every such attribute of a tag, and 10,000 of
/// them overflow it.
///
/// The state after a value makes a further call only if white space, `/` or `>` follows; anything else
/// returns to the tokenizer's loop. White space there has no meaning, so it is removed after every
/// [`VALUES_PER_CHAIN`]th value.
pub(in crate::page) struct BoundedStackText<R> {
    text: R,
    values: u8,
}

impl<R: Reader> BoundedStackText<R> {
    pub(in crate::page) fn new(text: R) -> Self {
        Self { text, values: 0 }
    }

    /// Ends the chain of calls after a value if that is due.
    #[inline]
    fn end_value(&mut self) -> Result<(), R::Error> {
        self.values += 1;
        if self.values == VALUES_PER_CHAIN {
            self.values = 0;
            self.skip_white_space()?;
        }
        Ok(())
    }

    #[cold]
    fn skip_white_space(&mut self) -> Result<(), R::Error> {
        let space = [b" ", b"\n", b"\t", b"\r", b"\x0c"];
        loop {
            let mut is_skipped = false;
            for byte in space {
                is_skipped |= self.text.try_read_string(byte, true)?;
            }
            if !is_skipped {
                return Ok(());
            }
        }
    }
}

// Inlined into each state of the tokenizer like the methods of the text itself; there the needle is a
// constant.
#[allow(clippy::inline_always)]
impl<R: Reader> Reader for BoundedStackText<R> {
    type Error = R::Error;

    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, R::Error> {
        self.text.read_byte()
    }

    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        char_buf: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, R::Error> {
        if needle == IN_DOUBLE_QUOTES && self.text.try_read_string(b"\"", true)? {
            self.end_value()?;
            return Ok(Some(b"\""));
        }
        self.text.read_until(needle, char_buf)
    }

    #[inline(always)]
    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, R::Error> {
        self.text.try_read_string(text, case_sensitive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::WebUrl;
    use crate::page::{Page, Source};

    fn links(body: &str) -> Vec<String> {
        let url = WebUrl::parse("http://a.ke/").unwrap();
        let page =
            Page::read(Source { body: body.as_bytes(), url: &url, content_type: None, robots_tag: None });
        page.links.iter().map(|link| link.url.path().to_owned()).collect()
    }

    #[test]
    fn white_space_between_values_is_left_out_and_nothing_else() {
        for space in ["", " ", "\n\t ", "\r\n\x0c  \t", "/", " / "] {
            for ahead in 0..2 * usize::from(VALUES_PER_CHAIN) {
                let others = format!("x=\" y \"{space}").repeat(ahead);
                let body = format!("<a {others}href=\"b\"{space}title=\"c\"{space}></a><a href=\"d\">");
                assert_eq!(links(&body), ["/b", "/d"], "{ahead} {space:?}");
            }
        }
    }

    #[test]
    fn ten_thousand_values_fit_on_a_small_stack() {
        for space in [" ", "  ", " \n ", "\x0c\r\t\n "] {
            let body = format!("<a{} href=\"b\">", format!("{space}x=\"\"").repeat(10_000));
            let thread =
                std::thread::Builder::new().stack_size(256 * 1024).spawn(move || links(&body)).unwrap();
            assert_eq!(thread.join().unwrap(), ["/b"], "{space:?}");
        }
    }
}
