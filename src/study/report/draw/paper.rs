use super::ink::Ink;
use crate::report::text::plain;

/// A position in CSS pixels from the upper left corner.
pub(super) type Position = (f64, f64);

/// Drawing units per CSS pixel. Positions are written as whole numbers, and curves need a finer grid than
/// pixels.
const UNITS_PER_PIXEL: f64 = 10.0;

/// The font size of charts in CSS pixels; the style sheet uses the same value.
pub(super) const FONT_SIZE: f64 = 13.0;

/// The drawing surface: the SVG elements so far. The class of an element alone defines its style.
pub(super) struct Paper {
    elements: String,
    pub width: f64,
}

/// The point of a text that lies at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A finished chart: its `viewBox` and the contents of the `svg` element.
pub(in crate::report) struct Drawing {
    pub view_box: String,
    pub inside: String,
}

impl Paper {
    /// Creates a drawing of the given width and height.
    pub(super) fn drawn(width: f64, height: f64, draw: impl FnOnce(&mut Self)) -> Drawing {
        let mut paper = Self { elements: String::new(), width };
        draw(&mut paper);
        let view_box = format!("0 0 {} {}", grain(width), grain(height));
        Drawing { view_box, inside: paper.elements }
    }

    /// A line through all points.
    pub(super) fn path(&mut self, points: &[Position], ink: Ink) {
        let (class, points) = (ink.class(), written(points));
        self.add(&format!(r#"<polyline fill="none" class="{class}" points="{points}"/>"#));
    }

    pub(super) fn line(&mut self, from: Position, to: Position, ink: Ink) {
        self.path(&[from, to], ink);
    }

    /// A filled area whose border goes through all points.
    pub(super) fn area(&mut self, points: &[Position], ink: Ink) {
        let (class, points) = (ink.class(), written(points));
        self.add(&format!(r#"<polygon class="{class}" points="{points}"/>"#));
    }

    /// A rectangle between two opposite corners.
    pub(super) fn rect(&mut self, first_corner: Position, second_corner: Position, ink: Ink) {
        let (class, (x1, y1), (x2, y2)) = (ink.class(), to_units(first_corner), to_units(second_corner));
        let (x, y, width, height) = (x1.min(x2), y1.min(y2), x1.abs_diff(x2), y1.abs_diff(y2));
        self.add(&format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{class}"/>"#));
    }

    pub(super) fn circle(&mut self, middle: Position, radius: f64, ink: Ink) {
        let (class, (x, y), radius) = (ink.class(), to_units(middle), grain(radius));
        self.add(&format!(r#"<circle cx="{x}" cy="{y}" r="{radius}" class="{class}"/>"#));
    }

    /// A text, vertically centred on its position.
    pub(super) fn label(&mut self, content: &str, place: Position, alignment: Anchor, ink: Ink) {
        self.text(content, place, alignment, ink, "", "");
    }

    /// As [`Self::label`], with the meaning of the text as a tooltip; the meaning may be empty.
    pub(super) fn explained(
        &mut self,
        content: &str,
        meaning: &str,
        place: Position,
        alignment: Anchor,
        ink: Ink,
    ) {
        self.text(content, place, alignment, ink, "", meaning);
    }

    /// A text that runs upwards from its position.
    pub(super) fn upright(&mut self, content: &str, place: Position, ink: Ink) {
        let (x, y) = to_units(place);
        self.text(content, place, Anchor::Start, ink, &format!(r#" transform="rotate(270, {x}, {y})""#), "");
    }

    fn text(
        &mut self,
        content: &str,
        place: Position,
        alignment: Anchor,
        ink: Ink,
        transform: &str,
        meaning: &str,
    ) {
        let anchor = match alignment {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (class, (x, y), content) = (ink.class(), to_units(place), escaped(&plain(content)));
        let meaning =
            if meaning.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(meaning)) };
        // The baseline lies half the height of a small letter below the position.
        self.add(&format!(
            r#"<text x="{x}" y="{y}" dy="0.5ex" text-anchor="{anchor}" class="{class}"{transform}>{content}{meaning}</text>"#
        ));
    }

    fn add(&mut self, element: &str) {
        self.elements.push_str(element);
    }
}

fn written(points: &[Position]) -> String {
    let pair = |place: &Position| {
        let (x, y) = to_units(*place);
        format!("{x},{y}")
    };
    points.iter().map(pair).collect::<Vec<_>>().join(" ")
}

fn to_units((x, y): Position) -> (i32, i32) {
    (grain(x), grain(y))
}

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
fn grain(pixels: f64) -> i32 {
    (pixels * UNITS_PER_PIXEL).round() as i32
}

/// Escapes the characters that have a meaning in XML.
fn escaped(content: &str) -> String {
    let mut escaped = String::with_capacity(content.len());
    for character in content.trim().chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// An upper bound on the width of a text in CSS pixels, in any usual font: a letter is 0.6 times as wide as
/// the font size, and 1.05 times in scripts with square letters.
pub(super) fn width_of(content: &str) -> f64 {
    content.chars().map(|character| if u32::from(character) < 0x1100 { 0.6 } else { 1.05 }).sum::<f64>()
        * FONT_SIZE
}

/// The text cut to the given width; `…` stands for the part that was cut.
pub(super) fn fitting(content: &str, room: f64) -> String {
    let content = plain(content);
    if width_of(&content) <= room {
        return content;
    }
    let mut fitting = String::new();
    for character in content.chars() {
        if width_of(&fitting) + width_of("…") + width_of(&character.to_string()) > room {
            break;
        }
        fitting.push(character);
    }
    fitting.push('…');
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(draw: impl FnOnce(&mut Paper)) -> String {
        Paper::drawn(72.0, 36.04, draw).inside
    }

    #[test]
    fn places_are_whole_tenths_of_a_pixel() {
        assert_eq!(Paper::drawn(72.0, 36.04, |_| ()).view_box, "0 0 720 360");
        assert_eq!(
            inside(|paper| paper.path(&[(0.0, 1.26), (-2.0, f64::INFINITY)], Ink::Line(9))),
            r#"<polyline fill="none" class="line-1" points="0,13 -20,2147483647"/>"#
        );
    }

    #[test]
    fn a_rectangle_is_drawn_from_any_two_corners() {
        let upright = inside(|paper| paper.rect((1.0, 2.0), (4.0, 6.0), Ink::Box));
        assert_eq!(upright, r#"<rect x="10" y="20" width="30" height="40" class="box"/>"#);
        assert_eq!(inside(|paper| paper.rect((4.0, 2.0), (1.0, 6.0), Ink::Box)), upright);
        assert_eq!(inside(|paper| paper.rect((4.0, 6.0), (1.0, 2.0), Ink::Box)), upright);
    }

    #[test]
    fn words_of_strangers_are_no_elements() {
        let content = " </text><b a=\"x\" b='&'>\u{202e} ";
        assert_eq!(
            inside(|paper| paper.label(content, (1.0, 2.0), Anchor::Middle, Ink::Label)),
            "<text x=\"10\" y=\"20\" dy=\"0.5ex\" text-anchor=\"middle\" class=\"label\">\
             &lt;/text&gt;&lt;b a=&quot;x&quot; b=&apos;&amp;&apos;&gt;⟨U+202E⟩</text>"
        );
        assert_eq!(
            inside(|paper| paper.upright("ke", (1.0, 2.0), Ink::Label)),
            "<text x=\"10\" y=\"20\" dy=\"0.5ex\" text-anchor=\"start\" class=\"label\" \
             transform=\"rotate(270, 10, 20)\">ke</text>"
        );
    }

    #[test]
    fn words_are_cut_where_there_is_no_room() {
        assert_eq!(fitting("short", 100.0), "short");
        assert_eq!(fitting("a long name of a network", width_of("a long…")), "a long…");
    }
}
