use plotters::coord::Shift;
use plotters::prelude::{
    Circle, DrawingArea, IntoDrawingArea, IntoFont, PathElement, Polygon, Rectangle, SVGBackend,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontTransform, ShapeStyle, TextStyle};

use super::Drawing;
use super::ink::{Ink, restyled};
use crate::report::text::plain;

/// A place in CSS pixels from the upper left corner.
pub(super) type Place = (f64, f64);

/// Units of the drawing in a CSS pixel: plotters places on whole units, and curves need finer ones.
const GRAIN: i32 = 10;

/// Letters of charts, in CSS pixels; the style sheet says the same.
pub(super) const LETTER: f64 = 13.0;

/// What a chart is drawn on.
pub(super) struct Paper<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    pub width: f64,
}

/// Which point of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Start,
    Middle,
    End,
}

impl Paper<'_> {
    /// Draws on a paper of the given width and height.
    pub(super) fn drawn(width: f64, height: f64, draw: impl FnOnce(&Paper<'_>)) -> Drawing {
        let (across, down) = (grain(width).unsigned_abs(), grain(height).unsigned_abs());
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (across, down)).into_drawing_area();
            let paper = Paper { area, width };
            draw(&paper);
            let _ = paper.area.present();
        }
        Drawing { view_box: format!("0 0 {across} {down}"), inside: restyled(&svg) }
    }

    /// A line through all points.
    pub(super) fn path(&self, points: &[Place], ink: Ink) {
        let points: Vec<_> = points.iter().map(|place| grains(*place)).collect();
        self.draw(|area| area.draw(&PathElement::new(points, style(ink))));
    }

    pub(super) fn line(&self, from: Place, to: Place, ink: Ink) {
        self.path(&[from, to], ink);
    }

    /// An area with its border through all points.
    pub(super) fn area(&self, points: &[Place], ink: Ink) {
        let points: Vec<_> = points.iter().map(|place| grains(*place)).collect();
        self.draw(|area| area.draw(&Polygon::new(points, style(ink))));
    }

    pub(super) fn rect(&self, from: Place, to: Place, ink: Ink) {
        let corners = [grains(from), grains(to)];
        self.draw(|area| area.draw(&Rectangle::new(corners, style(ink).filled())));
    }

    pub(super) fn circle(&self, middle: Place, radius: f64, ink: Ink) {
        self.draw(|area| area.draw(&Circle::new(grains(middle), grain(radius), style(ink).filled())));
    }

    /// Words, centred on the height of their place.
    pub(super) fn words(&self, words: &str, place: Place, at: At, ink: Ink) {
        self.text(words, place, at, ink, FontTransform::None);
    }

    /// Words from below upwards, which begin at their place.
    pub(super) fn upright(&self, words: &str, place: Place, ink: Ink) {
        self.text(words, place, At::Start, ink, FontTransform::Rotate270);
    }

    fn text(&self, words: &str, place: Place, at: At, ink: Ink, turned: FontTransform) {
        let across = match at {
            At::Start => HPos::Left,
            At::Middle => HPos::Center,
            At::End => HPos::Right,
        };
        let font = ("sans-serif", LETTER).into_font().transform(turned);
        let colour = ink.colour();
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(across, VPos::Center));
        self.draw(|area| area.draw_text(&plain(words), &style, grains(place)));
    }

    /// Drawing is writing into a text, which cannot fail.
    fn draw<E>(&self, element: impl FnOnce(&DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), E>) {
        let _ = element(&self.area);
    }
}

fn style(ink: Ink) -> ShapeStyle {
    ShapeStyle::from(&ink.colour())
}

fn grains((x, y): Place) -> (i32, i32) {
    (grain(x), grain(y))
}

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
fn grain(pixels: f64) -> i32 {
    (pixels * f64::from(GRAIN)).round() as i32
}

/// How wide words are at most, in CSS pixels, in any usual font: a letter is 0.6 of its height, one of a
/// script with square letters as wide as it is high.
pub(super) fn width_of(words: &str) -> f64 {
    words.chars().map(|letter| if u32::from(letter) < 0x1100 { 0.6 } else { 1.05 }).sum::<f64>() * LETTER
}

/// Words that are no wider than there is room; what is left out is told by `…`.
pub(super) fn fitting(words: &str, room: f64) -> String {
    let words = plain(words);
    if width_of(&words) <= room {
        return words;
    }
    let mut fitting = String::new();
    for letter in words.chars() {
        if width_of(&fitting) + width_of("…") + width_of(&letter.to_string()) > room {
            break;
        }
        fitting.push(letter);
    }
    fitting.push('…');
    fitting
}
