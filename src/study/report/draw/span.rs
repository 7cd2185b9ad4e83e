use crate::report::Scale;

/// The part of a scale that a chart shows: the positions of values on it, and its ticks.
///
/// Values are turned into positions on a linear axis. On logarithmic scales the position is the logarithm.
pub(super) struct Span {
    scale: Scale,
    /// The positions at both ends.
    pub low: f64,
    pub high: f64,
    /// The positions of the ticks with their labels.
    pub ticks: Vec<(f64, String)>,
}

impl Span {
    /// A span that contains all values and has at most `max_ticks` ticks, if that is two or more.
    pub(super) fn over(scale: Scale, values: impl IntoIterator<Item = f64>, max_ticks: usize) -> Self {
        let mut positions = values
            .into_iter()
            .map(|value| position(scale, value))
            .filter(|coordinate| coordinate.is_finite());
        let first = positions.next();
        let (low, high) = positions
            .fold((first.unwrap_or(0.0), first.unwrap_or(0.0)), |(low, high), coordinate| {
                (low.min(coordinate), high.max(coordinate))
            });
        match scale {
            Scale::Share => Self::even(scale, 1.0, if max_ticks < 6 { 0.5 } else { 0.2 }),
            Scale::Depth => {
                let high = high.max(1.0).ceil();
                Self::even(scale, high, tick_step(high, max_ticks).max(1.0).ceil())
            }
            Scale::Count | Scale::Number => {
                let step = tick_step(high.max(f64::MIN_POSITIVE), max_ticks);
                let step = if scale == Scale::Count { step.max(1.0) } else { step };
                Self::even(scale, (high / step).ceil().max(1.0) * step, step)
            }
            Scale::LogMilliseconds | Scale::LogNumber => {
                Self::decades(scale, low.floor(), high.ceil(), max_ticks)
            }
        }
    }

    /// From 0, with a tick at every step.
    fn even(scale: Scale, high: f64, step: f64) -> Self {
        let ticks = (0..=MAX_TICKS)
            .map(|number| f64::from(number) * step)
            .take_while(|coordinate| *coordinate <= high * (1.0 + f64::EPSILON))
            .map(|coordinate| (coordinate, tick_label(scale, coordinate)))
            .collect();
        Self { scale, low: 0.0, high, ticks }
    }

    fn decades(scale: Scale, low: f64, high: f64, max_ticks: usize) -> Self {
        let high = high.max(low + 1.0);
        let step = tick_step(high - low, max_ticks).max(1.0).ceil();
        let ticks = (0..=MAX_TICKS)
            .map(|number| low + f64::from(number) * step)
            .take_while(|coordinate| *coordinate <= high)
            .map(|coordinate| (coordinate, tick_label(scale, 10_f64.powf(coordinate))))
            .collect();
        Self { scale, low, high, ticks }
    }

    /// The relative position of a value on the span: 0 at the low end, 1 at the high end.
    pub(super) fn along(&self, value: f64) -> f64 {
        let coordinate = position(self.scale, value);
        if coordinate.is_finite() {
            ((coordinate - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

/// The maximum number of ticks on an axis, whatever the values are.
const MAX_TICKS: u16 = 100;
/// Beyond this value, one or two ticks more would overflow.
const LARGEST: f64 = 1e300;

fn position(scale: Scale, value: f64) -> f64 {
    match scale {
        // A tenth of a millisecond is below the precision of network timing.
        Scale::LogMilliseconds => value.max(0.1).log10(),
        // A chart shows nothing smaller than a ten-thousandth.
        Scale::LogNumber => value.max(1e-4).log10(),
        Scale::Depth | Scale::Share | Scale::Count | Scale::Number if value.is_finite() => {
            value.clamp(-LARGEST, LARGEST)
        }
        Scale::Depth | Scale::Share | Scale::Count | Scale::Number => value,
    }
}

/// The smallest of 1, 2, 5, 10, 20 and so on (or 0.5, 0.2 and so on) that leaves at most `max_ticks` ticks.
fn tick_step(length: f64, max_ticks: usize) -> f64 {
    let min_step = length / (max_ticks.max(2) - 1) as f64;
    let decade = 10_f64.powf(min_step.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * decade);
    step.into_iter().find(|step| *step >= min_step * (1.0 - 1e-9)).unwrap_or(decade * 10.0)
}

/// The label of a tick.
pub(super) fn tick_label(scale: Scale, value: f64) -> String {
    match scale {
        Scale::Depth => format!("{value:.0}"),
        Scale::Share => format!("{:.0} %", value * 100.0),
        Scale::Number | Scale::LogNumber if value < 1000.0 => format!("{}", (value * 1e9).round() / 1e9),
        Scale::Number | Scale::LogNumber | Scale::Count => short(value, &["", " k", " M", " G", " T"]),
        Scale::LogMilliseconds if value < 1000.0 => short(value, &[" ms"]),
        Scale::LogMilliseconds => short(value / 1000.0, &[" s", "000 s"]),
    }
}

/// A round number in the largest unit that it reaches.
fn short(value: f64, units: &[&str]) -> String {
    let (mut value, mut unit) = (value, 0);
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = usize::from((value - value.round()).abs() > 1e-6);
    let unit = units[unit];
    if unit.is_empty() && value.abs() < 1e-9 { "0".to_owned() } else { format!("{value:.decimals$}{unit}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ticks(scale: Scale, values: &[f64], max_ticks: usize) -> Vec<String> {
        Span::over(scale, values.iter().copied(), max_ticks)
            .ticks
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(Scale::Depth, &[20.0], 8), ["0", "5", "10", "15", "20"]);
        assert_eq!(ticks(Scale::Depth, &[8.0], 12), ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
        assert_eq!(ticks(Scale::Share, &[0.3], 6), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(ticks(Scale::Count, &[734_000.0], 6), ["0", "200 k", "400 k", "600 k", "800 k"]);
        assert_eq!(ticks(Scale::Count, &[7_340_000.0], 6), ["0", "2 M", "4 M", "6 M", "8 M"]);
        assert_eq!(
            ticks(Scale::LogMilliseconds, &[3.0, 4000.0], 9),
            ["1 ms", "10 ms", "100 ms", "1 s", "10 s"]
        );
        assert_eq!(ticks(Scale::LogNumber, &[0.02, 45.0], 9), ["0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn the_largest_number_has_an_axis() {
        for scale in [Scale::Depth, Scale::Count, Scale::Number] {
            let span = Span::over(scale, [f64::MAX], 3);
            assert!(span.high.is_finite() && span.ticks.len() <= 3, "{}", span.ticks.len());
        }
    }

    proptest! {
        #[test]
        fn any_numbers_have_a_span_with_few_ticks(
            values in prop::collection::vec(prop::num::f64::ANY, 0..5),
            max_ticks in 2usize..12,
        ) {
            let scales =
                [Scale::Depth, Scale::Count, Scale::Number, Scale::LogMilliseconds, Scale::LogNumber];
            for scale in scales {
                let span = Span::over(scale, values.iter().copied(), max_ticks);
                prop_assert!(span.ticks.len() <= max_ticks.max(6), "{scale:?}: {:?}", span.ticks);
                for value in &values {
                    prop_assert!((0.0..=1.0).contains(&span.along(*value)));
                }
            }
        }
    }
}
