//! Pages that a few bytes describe: fragments of markup, repeated, mixed and numbered.

use crate::fragments::{FRAGMENTS, OPENINGS};

/// Builds a page of at most `max_bytes` from a plan; the plan is repeated until the page has `min_bytes`.
pub fn page(plan: &[u8], min_bytes: usize, max_bytes: usize) -> Vec<u8> {
    let mut page = Page { body: Vec::with_capacity(max_bytes), pieces: Vec::new(), number: 0, max_bytes };
    loop {
        let before = page.body.len();
        let mut rest = plan.iter().copied();
        while let Some(step) = rest.next() {
            page.add(step, &mut rest);
        }
        if page.body.len() >= min_bytes || page.body.len() == before {
            return page.body;
        }
    }
}

struct Page {
    body: Vec<u8>,
    /// Where each piece begins.
    pieces: Vec<usize>,
    number: u32,
    max_bytes: usize,
}

impl Page {
    /// The first byte of a step says what it adds, the next one how often.
    fn add(&mut self, step: u8, rest: &mut impl Iterator<Item = u8>) {
        let step = usize::from(step);
        let openings = FRAGMENTS.len()..FRAGMENTS.len() + OPENINGS.len();
        if let Some(fragment) = FRAGMENTS.get(step) {
            self.push(fragment.as_bytes());
        } else if openings.contains(&step) {
            self.push(OPENINGS[step - openings.start].as_bytes());
        } else if step < 190 {
            self.push(&[rest.next().unwrap_or(b'x')]);
        } else if step < 220 {
            let times = 1 << (rest.next().unwrap_or(0) % 11);
            self.repeat(step - 189, times);
        } else {
            let times = 1 << (rest.next().unwrap_or(0) % 11);
            for _ in 0..times {
                self.number += 1;
                self.push(numbered(step, self.number).as_bytes());
            }
        }
    }

    fn push(&mut self, piece: &[u8]) {
        if self.body.len() + piece.len() <= self.max_bytes {
            self.pieces.push(self.body.len());
            self.body.extend_from_slice(piece);
        }
    }

    /// Repeats what the last pieces are together.
    fn repeat(&mut self, pieces: usize, times: usize) {
        let Some(start) = self.pieces.len().checked_sub(pieces).map(|index| self.pieces[index]) else {
            return;
        };
        let piece = self.body[start..].to_vec();
        for _ in 0..times {
            self.push(&piece);
        }
    }
}

/// What differs each time: links, attributes, words, names.
fn numbered(kind: usize, n: u32) -> String {
    match kind % 10 {
        0 => format!("<a href={n}>"),
        1 => format!("<a href=\"/a/b/../{n}?q={n}#x\" rel='nofollow'>{n}</a>"),
        2 => format!("<a href='http://h{n}.co.ke/'>"),
        3 => format!(" a{n}=\"{n}\""),
        4 => format!("word{n} "),
        5 => format!("<a href=http://é{n}.ke/日本?é>"),
        6 => format!("<t{n}>&#{n};"),
        7 => format!("<base href=\"http://a.ke/{n}{}/\">", "/b".repeat(900)),
        8 => format!("<meta http-equiv=refresh content='{n};url={n}'>"),
        _ => format!("<a href='?q={}'>", han(n)),
    }
}

/// Eight Han letters that differ each time, whatever charset the page is in: of a legacy charset they are
/// looked up in large tables, and it lacks some.
fn han(n: u32) -> String {
    (0..8).map(|nth| format!("&#{};", 0x4e00 + (8 * n + nth) * 7 % 20_000)).collect()
}
