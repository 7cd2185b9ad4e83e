use plotters::style::RGBColor;

/// What something is drawn with. The style sheet gives it its colour, by light and by dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Axis,
    Grid,
    /// Words at ticks and bars.
    Label,
    /// The title of an axis.
    Title,
    /// A value written beside what is drawn.
    Value,
    /// A value written inside a shade.
    Inside,
    /// The line of what was chosen.
    Mark,
    MarkWord,
    /// The line of a series, by its number.
    Line(usize),
    /// The interval around a line.
    Band(usize),
    /// The inside of a series' markers.
    Dot(usize),
    /// A part of a column or a bar.
    Part(usize),
    /// A shade of a heat map, from 0 to [`SHADES`] − 1.
    Shade(usize),
    /// The box of a distribution, its whiskers, its median.
    Box,
    Whisker,
    Median,
}

/// Series that have a look of their own; the ninth looks as the first.
pub(super) const LOOKS: usize = 8;
/// Shades of a heat map.
pub(super) const SHADES: usize = 10;

const PLAIN: [(Ink, &str); 11] = [
    (Ink::Axis, "axis"),
    (Ink::Grid, "grid"),
    (Ink::Label, "label"),
    (Ink::Title, "title"),
    (Ink::Value, "value"),
    (Ink::Inside, "inside"),
    (Ink::Mark, "mark"),
    (Ink::MarkWord, "mark-word"),
    (Ink::Box, "box"),
    (Ink::Whisker, "whisker"),
    (Ink::Median, "median"),
];

const NUMBERED: [&str; 5] = ["line", "band", "dot", "part", "shade"];

impl Ink {
    /// plotters speaks colours: the colour that stands for this ink until [`restyled`] names its class.
    pub(super) fn colour(self) -> RGBColor {
        let numbered = |kind: u8, number: usize| RGBColor(1, kind, u8::try_from(number).unwrap_or(u8::MAX));
        match self {
            Self::Line(number) => numbered(0, number % LOOKS),
            Self::Band(number) => numbered(1, number % LOOKS),
            Self::Dot(number) => numbered(2, number % LOOKS),
            Self::Part(number) => numbered(3, number % LOOKS),
            Self::Shade(number) => numbered(4, number.min(SHADES - 1)),
            plain => {
                let place = PLAIN.iter().position(|(ink, _)| *ink == plain).unwrap_or(0);
                RGBColor(0, 0, u8::try_from(place).unwrap_or(0))
            }
        }
    }
}

/// The class that a colour stands for.
fn class(colour: &str) -> Option<String> {
    let number = u32::from_str_radix(colour.strip_prefix('#')?, 16).ok()?;
    let [_, family, kind, number] = number.to_be_bytes();
    match family {
        0 => PLAIN.get(usize::from(number)).map(|(_, name)| (*name).to_owned()),
        _ => NUMBERED.get(usize::from(kind)).map(|name| format!("{name}-{number}")),
    }
}

/// The elements of a drawing with classes in the place of colours, sizes and fonts.
///
/// Relies on how plotters writes: every element has one colour, as fill or as stroke, and all values of
/// attributes are escaped, so that quotes and angle brackets are its own.
pub(super) fn restyled(svg: &str) -> String {
    let mut restyled = String::with_capacity(svg.len());
    let inside = svg.split_once(">\n").map_or("", |(_, inside)| inside);
    let inside = inside.trim_end().strip_suffix("</svg>").unwrap_or(inside);
    for part in inside.split_inclusive('>') {
        let Some((words, tag)) = part.rsplit_once('<') else { continue };
        restyled.push_str(words.trim());
        if tag.starts_with('/') {
            restyled.push('<');
            restyled.push_str(tag);
        } else {
            restyled.push_str(&restyled_tag(tag));
        }
    }
    restyled
}

fn restyled_tag(tag: &str) -> String {
    let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
    let end = if tag.ends_with("/>") { "/>" } else { ">" };
    let mut restyled = format!("<{name}");
    for attribute in attributes.split_inclusive("\" ") {
        let attribute = attribute.trim_end_matches(['/', '>', ' ', '\n']);
        let Some((key, value)) = attribute.split_once("=\"") else { continue };
        let value = value.trim_end_matches('"').trim_end();
        match (key, class(value)) {
            ("fill" | "stroke", Some(class)) => restyled.push_str(&format!(" class=\"{class}\"")),
            ("stroke" | "opacity" | "stroke-width" | "font-family" | "font-size", _) => {}
            ("fill", _) => restyled.push_str(" fill=\"none\""),
            _ => restyled.push_str(&format!(" {key}=\"{value}\"")),
        }
    }
    restyled.push_str(end);
    restyled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_has_a_class_of_its_own() {
        let numbered = [Ink::Line(3), Ink::Band(3), Ink::Dot(3), Ink::Part(3), Ink::Shade(3)];
        let mut classes: Vec<String> = (PLAIN.iter().map(|(ink, _)| *ink))
            .chain(numbered)
            .map(|ink| {
                let RGBColor(red, green, blue) = ink.colour();
                class(&format!("#{red:02X}{green:02X}{blue:02X}")).unwrap()
            })
            .collect();
        assert_eq!(classes[..2], ["axis", "grid"]);
        assert_eq!(classes[11..], ["line-3", "band-3", "dot-3", "part-3", "shade-3"]);
        classes.sort();
        classes.dedup();
        assert_eq!(classes.len(), 16);
    }

    #[test]
    fn words_are_left_as_they_are() {
        let svg = "<svg width=\"1\">\n<text x=\"1\" y=\"2\" dy=\"0.5ex\" font-size=\"8\" opacity=\"1\" \
                   fill=\"#000002\">\nfill=&quot;#000001&quot; &lt;b&gt;\n</text>\n<line opacity=\"1\" \
                   stroke=\"#000001\" stroke-width=\"1\" x1=\"5\"/>\n</svg>\n";
        assert_eq!(
            restyled(svg),
            "<text x=\"1\" y=\"2\" dy=\"0.5ex\" class=\"label\">fill=&quot;#000001&quot; &lt;b&gt;</text>\
             <line class=\"grid\" x1=\"5\"/>"
        );
    }
}
