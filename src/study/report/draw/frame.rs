use super::PageWidth;
use super::ink::Ink;
use super::paper::{Anchor, FONT_SIZE, Paper, Position, width_of};
use super::span::Span;
use crate::report::Axis;

/// The part of a chart between its axes.
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// The height of a line of text.
pub(super) const LINE: f64 = 18.0;
/// The distance between a text and what it labels.
pub(super) const GAP: f64 = 6.0;

impl Frame {
    /// Leaves space for the ticks of both axes, for the title of y above and that of x below, and for the
    /// label of a mark.
    pub(super) fn between(page_width: PageWidth, y: &Span, has_mark: bool) -> Self {
        let widest = y.ticks.iter().map(|(_, tick_text)| width_of(tick_text)).fold(0.0, f64::max);
        let head = if has_mark { 2.0 * LINE } else { LINE };
        Self {
            left: widest + 2.0 * GAP,
            // Half of the last tick's label lies right of the tick.
            right: page_width.width() - 22.0,
            top: head + GAP,
            bottom: page_width.height() - 2.0 * LINE - GAP,
        }
    }

    pub(super) fn x(&self, along: f64) -> f64 {
        self.left + along * (self.right - self.left)
    }

    pub(super) fn y(&self, along: f64) -> f64 {
        self.bottom - along * (self.bottom - self.top)
    }

    /// Draws the y axis: a thin line across and a label for every tick, and the title.
    pub(super) fn draw_y(&self, paper: &mut Paper, axis: &Axis, span: &Span) {
        for (position, tick_text) in &span.ticks {
            let y = self.y((position - span.low) / (span.high - span.low));
            let ink = if *position <= span.low { Ink::Axis } else { Ink::Grid };
            paper.line((self.left, y), (self.right, y), ink);
            paper.label(tick_text, (self.left - GAP, y), Anchor::End, Ink::Label);
        }
        paper.label(&axis.title, (0.0, FONT_SIZE / 2.0 + 1.0), Anchor::Start, Ink::Title);
    }

    /// Draws the x axis: a short line and a label for every tick, and the title.
    pub(super) fn draw_x(&self, paper: &mut Paper, title: &str, span: &Span) {
        for (position, tick_text) in &span.ticks {
            let x = self.x((position - span.low) / (span.high - span.low));
            paper.line((x, self.bottom), (x, self.bottom + 4.0), Ink::Axis);
            paper.label(
                tick_text,
                (x, self.bottom + GAP + FONT_SIZE / 2.0 + 2.0),
                Anchor::Middle,
                Ink::Label,
            );
        }
        self.title_x(paper, title);
    }

    pub(super) fn title_x(&self, paper: &mut Paper, title: &str) {
        let below = self.bottom + GAP + 1.5 * LINE;
        paper.label(title, (f64::midpoint(self.left, self.right), below), Anchor::Middle, Ink::Title);
    }

    /// Draws a vertical line with its label above the frame.
    pub(super) fn draw_mark(&self, paper: &mut Paper, word: &str, x: f64) {
        paper.line((x, self.top - GAP), (x, self.bottom), Ink::Mark);
        let half = width_of(word) / 2.0;
        let middle = x.min(paper.width - half).max(half);
        paper.label(word, (middle, self.top - GAP - FONT_SIZE / 2.0 - 1.0), Anchor::Middle, Ink::MarkWord);
    }
}

/// The number of ticks that fit on an axis of the given length, for the given width of the widest label.
pub(super) fn ticks_across(length: f64, widest: f64) -> usize {
    let each = (widest + 2.0 * GAP).max(1.0);
    // Never more than a page has space for, whatever the numbers are.
    (1..=40_u8).take_while(|number| f64::from(*number) * each <= length).count().max(2)
}

/// The rectangle that a label occupies.
#[derive(Clone, Copy)]
pub(super) struct LabelBox {
    pub from: Position,
    pub to: Position,
}

impl LabelBox {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.from.0 < other.to.0
            && other.from.0 < self.to.0
            && self.from.1 < other.to.1
            && other.from.1 < self.to.1
    }
}
