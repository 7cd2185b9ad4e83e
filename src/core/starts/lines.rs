use std::collections::VecDeque;
use std::io::{self, BufRead};

/// The number of bytes kept of a line; the rest of a longer line is dropped. A URL has 2 kB at most.
pub const MOST_LINE_BYTES: usize = 64 * 1024;

/// A line of the list without its end.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Line {
    /// From 1.
    pub number: u64,
    /// Without its end.
    pub bytes: Vec<u8>,
    /// The line is longer than `bytes`.
    pub is_cut: bool,
}

/// Lines that end with LF, CR LF or CR, without old end-of-file marks.
pub(super) struct Lines<R> {
    input: R,
    number: u64,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_return: bool,
    put_back: VecDeque<Line>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, number: 0, after_return: false, put_back: VecDeque::new() }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        if let Some(line) = self.put_back.pop_front() {
            return Ok(Some(line));
        }
        let mut line = Line { number: self.number + 1, ..Line::default() };
        let mut is_begun = false;
        loop {
            let buffer = self.input.fill_buf()?;
            let buffer = match buffer {
                [] => break,
                [b'\n', ..] if self.after_return && !is_begun => {
                    self.after_return = false;
                    self.input.consume(1);
                    continue;
                }
                buffer => buffer,
            };
            (is_begun, self.after_return) = (true, false);
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let content = &buffer[..end.unwrap_or(buffer.len())];
            let free_bytes = MOST_LINE_BYTES - line.bytes.len();
            line.is_cut |= content.len() > free_bytes;
            line.bytes.extend_from_slice(&content[..content.len().min(free_bytes)]);
            let read = end.map_or(buffer.len(), |end| end + 1);
            self.after_return = end.is_some_and(|end| buffer[end] == b'\r');
            self.input.consume(read);
            if end.is_some() {
                break;
            }
        }
        strip_ctrl_z(&mut line.bytes);
        self.number += u64::from(is_begun);
        Ok(is_begun.then_some(line))
    }

    /// Puts lines back: they come next, in their order.
    pub(super) fn put_back(&mut self, lines: Vec<Line>) {
        for line in lines.into_iter().rev() {
            self.put_back.push_front(line);
        }
    }
}

/// Removes Ctrl-Z, the end-of-file mark of CP/M and DOS: programs still write one, and `copy` leaves it
/// between two files that it joins.
fn strip_ctrl_z(line: &mut Vec<u8>) {
    const CTRL_Z: u8 = 0x1a;
    while line.last() == Some(&CTRL_Z) {
        line.pop();
    }
    let begins = line.iter().take_while(|byte| **byte == CTRL_Z).count();
    line.drain(..begins);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Line> {
        // Two bytes at a time, so that line ends are cut in two.
        let mut lines = Lines::new(io::BufReader::with_capacity(2, text));
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    fn texts(text: &[u8]) -> Vec<(u64, String)> {
        all(text).into_iter().map(|line| (line.number, String::from_utf8(line.bytes).unwrap())).collect()
    }

    #[test]
    fn lines_end_as_on_any_system() {
        let expected: Vec<(u64, String)> = (1..).zip(["a", "", "b", "c"].map(str::to_owned)).collect();
        for text in ["a\n\nb\nc", "a\r\n\r\nb\r\nc\r\n", "a\r\rb\rc\r", "a\n\nb\nc\n"] {
            assert_eq!(texts(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(texts(b""), []);
    }

    #[test]
    fn of_a_line_without_end_the_beginning_is_kept() {
        let long = all(&[vec![b'x'; MOST_LINE_BYTES + 3], b"\nnext".to_vec()].concat());
        assert_eq!((long[0].bytes.len(), long[0].is_cut), (MOST_LINE_BYTES, true));
        assert_eq!((long[1].number, long[1].is_cut), (2, false));
    }

    #[test]
    fn lines_that_are_put_back_come_again() {
        let mut lines = Lines::new(&b"a\nb\nc"[..]);
        let taken = [lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap()];
        lines.put_back(taken.into());
        let again: Vec<u64> = std::iter::from_fn(|| lines.next().unwrap()).map(|line| line.number).collect();
        assert_eq!(again, [1, 2, 3]);
    }
}
