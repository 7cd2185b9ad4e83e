/// The drawing style of an element. The style sheet defines its colour in light and dark mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Axis,
    Grid,
    /// Text at ticks and bars.
    Label,
    Title,
    /// A value beside a drawn element.
    Value,
    /// A value inside a shaded cell.
    Inside,
    /// The line of the chosen depth.
    Mark,
    MarkWord,
    /// The line of a series, by its number.
    Line(usize),
    /// The interval around a line.
    Band(usize),
    /// The fill of a series' markers.
    Dot(usize),
    /// A part of a column or a bar.
    Part(usize),
    /// A shade of a heat map, from 0 to [`SHADES`] − 1.
    Shade(usize),
    /// The box of a distribution; its whiskers and its median follow.
    Box,
    Whisker,
    Median,
}

/// The number of distinct series styles. The ninth series looks like the first.
pub(super) const SERIES_STYLES: usize = 8;
/// The number of shades of a heat map.
pub(super) const SHADES: usize = 10;

impl Ink {
    /// The CSS class of this style.
    pub(super) fn class(self) -> String {
        let plain = match self {
            Self::Line(number) => return format!("line-{}", number % SERIES_STYLES),
            Self::Band(number) => return format!("band-{}", number % SERIES_STYLES),
            Self::Dot(number) => return format!("dot-{}", number % SERIES_STYLES),
            Self::Part(number) => return format!("part-{}", number % SERIES_STYLES),
            Self::Shade(number) => return format!("shade-{}", number.min(SHADES - 1)),
            Self::Axis => "axis",
            Self::Grid => "grid",
            Self::Label => "label",
            Self::Title => "title",
            Self::Value => "value",
            Self::Inside => "inside",
            Self::Mark => "mark",
            Self::MarkWord => "mark-word",
            Self::Box => "box",
            Self::Whisker => "whisker",
            Self::Median => "median",
        };
        plain.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_sheet_knows_every_look() {
        let style = include_str!("../page/style.css");
        let series =
            (0..SERIES_STYLES).flat_map(|number| [Ink::Line(number), Ink::Band(number), Ink::Dot(number)]);
        let parts = (0..SERIES_STYLES).map(Ink::Part).chain((0..SHADES).map(Ink::Shade));
        let plain = [Ink::Axis, Ink::Grid, Ink::Label, Ink::Title, Ink::Value, Ink::Mark, Ink::MarkWord];
        let boxes = [Ink::Box, Ink::Whisker, Ink::Median];
        for ink in series.chain(parts).chain(plain).chain(boxes) {
            let class = ink.class();
            let has_class = |end| style.contains(&format!(".{class}{end}"));
            assert!(has_class(' ') || has_class(','), "{class}");
        }
    }

    #[test]
    fn a_ninth_series_looks_as_the_first_and_no_shade_is_darker_than_the_darkest() {
        assert_eq!(Ink::Line(8).class(), Ink::Line(0).class());
        assert_eq!(Ink::Shade(99).class(), Ink::Shade(9).class());
    }
}
