use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::weights::Weights;
use crate::exchange::Depth;

/// The version of the file format. Version 1 had no weights.
const FORMAT: u32 = 2;
const FORMATS: std::ops::RangeInclusive<u32> = 1..=FORMAT;
/// The range of the factor by which all words of a URL together may change its rate.
pub const FACTORS: std::ops::RangeInclusive<f64> = 0.003..=30.0;
/// The bound of numbers read from a file, so that no product of two of them overflows.
const MOST_RATE: f64 = 1e6;
/// The number of depths that a file of rates may have.
pub const MOST_DEPTHS: usize = 1000;
const MOST_WORDS: usize = 1_000_000;

/// The mean yield of pages by their depth and the words of their URLs, trained on surveys that were walked
/// deep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// The version of the file format.
    format: u32,
    /// The surveys on which they were trained.
    pub learned_from: Vec<RatesSource>,
    /// The number of external hosts, new in the tree, that a page itself brings.
    pub own: Scale,
    /// The same for a page and what was found below it, each level down counting half, per request that it
    /// costs.
    pub below: Scale,
    /// The weights of what else is known of a page.
    #[serde(default)]
    pub weights: Weights,
    /// The price of a request for each coverage, by rising coverage.
    pub prices: Vec<Price>,
}

/// A survey on which rates were trained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatesSource {
    /// The name of its folder.
    pub survey: String,
    /// The number of site trees with a page.
    pub trees: u64,
    /// The number of pages that were requested in them.
    pub pages: u64,
    /// The number of distinct external hosts.
    pub hosts: u64,
}

/// Mean yields of pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// By depth, from 0; deeper pages have the last rate.
    pub by_depth: Vec<f64>,
    /// The factor by which pages with a word in their URL bring more.
    pub by_word: BTreeMap<String, f64>,
}

/// The expected yield that a request needs for a coverage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The share of the external hosts of all levels that is then found in each survey of the training.
    pub coverage: f64,
    /// New external hosts per request.
    pub price: f64,
    /// The share of the requests of all levels that is then made, in the mean over these surveys.
    pub load: f64,
    /// Files of earlier versions have this field too.
    #[serde(default, skip_serializing, rename = "loss")]
    pub passed_over: IgnoredAny,
}

/// Why a file is not a valid file of rates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatesError {
    /// It does not have this structure.
    #[error("{0}")]
    Shape(String),
    /// Another version of the program wrote it.
    #[error("format is {0}, expected 1 or 2: another version of ccsurvey wrote it")]
    Format(u32),
    /// A number is out of bounds.
    #[error("{place} is {value}, expected {expected}")]
    Number {
        /// The keys that lead to it.
        place: String,
        /// The number as written in the file.
        value: String,
        /// The expected value, in words.
        expected: String,
    },
}

impl Scale {
    /// The mean yield of a page at this depth.
    #[must_use]
    pub fn rate_at(&self, depth: Depth) -> f64 {
        self.by_depth.get(usize::from(depth.0)).or(self.by_depth.last()).copied().unwrap_or_default()
    }

    /// The factor by which pages with these words bring more.
    #[must_use]
    pub fn factor(&self, words: &[String]) -> f64 {
        let factor: f64 = words.iter().filter_map(|word| self.by_word.get(word)).product();
        factor.clamp(*FACTORS.start(), *FACTORS.end())
    }

    fn check(&self, name: &str) -> Result<(), RatesError> {
        let depths = self.by_depth.len();
        if !(1..=MOST_DEPTHS).contains(&depths) {
            return Err(invalid(
                &format!("{name}.by_depth"),
                &format!("a list of {depths}"),
                "1 to 1000 numbers",
            ));
        }
        if self.by_word.len() > MOST_WORDS {
            let long = format!("a list of {}", self.by_word.len());
            return Err(invalid(&format!("{name}.by_word"), &long, "up to a million words"));
        }
        let by_depth =
            self.by_depth.iter().enumerate().map(|(at, rate)| (format!("{name}.by_depth[{at}]"), *rate));
        let by_word = self.by_word.iter().map(|(word, factor)| (format!("{name}.by_word.{word:?}"), *factor));
        match by_depth.chain(by_word).find(|(_, rate)| !(0.0..=MOST_RATE).contains(rate)) {
            Some((place, rate)) => Err(invalid(&place, &rate.to_string(), "a number from 0 to 1000000")),
            None => Ok(()),
        }
    }
}

impl Rates {
    /// Creates rates from the results of a training.
    #[must_use]
    pub fn new(learned_from: Vec<RatesSource>, own: Scale, below: Scale) -> Self {
        Self { format: FORMAT, learned_from, own, below, weights: Weights::default(), prices: Vec::new() }
    }

    /// Reads a file that `ccsurvey learn` wrote.
    ///
    /// # Errors
    /// If it is no such file, or of another version, or a number is out of bounds.
    pub fn parse(text: &str) -> Result<Self, RatesError> {
        #[derive(Deserialize)]
        struct RatesFormat {
            format: u32,
        }
        let shape = |error: serde_json::Error| RatesError::Shape(error.to_string());
        let RatesFormat { format } = serde_json::from_str(text).map_err(shape)?;
        if !FORMATS.contains(&format) {
            return Err(RatesError::Format(format));
        }
        let mut rates: Self = serde_json::from_str(text).map_err(shape)?;
        rates.format = FORMAT;
        rates.own.check("own")?;
        rates.below.check("below")?;
        rates.check_prices()?;
        Ok(rates)
    }

    /// The expected yield that a request needs for this share of the external hosts. Between two prices it is
    /// interpolated linearly; for more than the last coverage, everything is worth a request.
    #[must_use]
    pub fn price(&self, coverage: f64) -> f64 {
        let Some(upper) = self.prices.iter().position(|price| coverage <= price.coverage) else { return 0.0 };
        let (upper, lower) = (self.prices[upper], self.prices[upper.saturating_sub(1)]);
        let fraction = (coverage - lower.coverage) / (upper.coverage - lower.coverage).max(f64::MIN_POSITIVE);
        lower.price + fraction.max(0.0) * (upper.price - lower.price)
    }

    fn check_prices(&self) -> Result<(), RatesError> {
        let mut previous = 0.0;
        for (at, Price { coverage, price, load, .. }) in self.prices.iter().enumerate() {
            let place = |key: &str| format!("prices[{at}].{key}");
            if !(*coverage > previous && *coverage <= 1.0) {
                return Err(invalid(
                    &place("coverage"),
                    &coverage.to_string(),
                    "shares in rising order, up to 1",
                ));
            }
            if !(0.0..=MOST_RATE).contains(price) {
                return Err(invalid(&place("price"), &price.to_string(), "a number from 0 to 1000000"));
            }
            if !(0.0..=1.0).contains(load) {
                return Err(invalid(&place("load"), &load.to_string(), "a share from 0 to 1"));
            }
            previous = *coverage;
        }
        Ok(())
    }
}

fn invalid(place: &str, value: &str, expected: &str) -> RatesError {
    RatesError::Number { place: place.to_owned(), value: value.to_owned(), expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(coverage: f64, price: f64) -> Price {
        Price { coverage, price, load: 0.5, passed_over: IgnoredAny }
    }

    fn rates() -> Rates {
        let by_word = [("links".to_owned(), 4.0), ("list".to_owned(), 0.5)].into();
        let scale = Scale { by_depth: vec![2.0, 1.0, 0.25], by_word };
        let prices = vec![price(0.8, 0.5), price(0.9, 0.3), price(0.98, 0.1)];
        Rates { prices, ..Rates::new(Vec::new(), scale.clone(), scale) }
    }

    #[test]
    fn depth_and_words_are_multiplied_and_what_is_deeper_is_as_the_deepest() {
        let rate_of = |depth, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            rates().own.rate_at(Depth(depth)) * rates().own.factor(&words)
        };
        assert_eq!(
            [rate_of(0, &[]), rate_of(1, &["links"]), rate_of(2, &["list", "links", "x"])],
            [2.0, 4.0, 0.5]
        );
        assert_eq!([rate_of(3, &[]), rate_of(1000, &["list"])], [0.25, 0.125]);
        assert_eq!(Scale::default().rate_at(Depth(1)), 0.0);
    }

    #[test]
    fn words_cannot_rule_a_page_out_nor_make_anything_of_it() {
        let by_word = [("a", 1e-9), ("b", 1e5)].map(|(word, factor)| (word.to_owned(), factor)).into();
        let scale = Scale { by_depth: vec![1.0], by_word };
        assert_eq!(scale.factor(&["a".to_owned()]), *FACTORS.start());
        assert_eq!(scale.factor(&["b".to_owned()]), *FACTORS.end());
    }

    #[test]
    fn prices_are_read_between_those_told() {
        let prices = [0.5, 0.8, 0.85, 0.9, 0.94, 0.98, 0.99, 1.0].map(|coverage| rates().price(coverage));
        for (price, expected) in prices.into_iter().zip([0.5, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0]) {
            assert!((price - expected).abs() < 1e-12, "{prices:?}");
        }
        assert_eq!(Rates { prices: Vec::new(), ..rates() }.price(0.9), 0.0);
    }

    #[test]
    fn what_was_written_is_read_again_and_anything_else_is_told() {
        let text = serde_json::to_string(&rates()).unwrap();
        assert_eq!(Rates::parse(&text), Ok(rates()));
        let error_for = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            Rates::parse(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert_eq!(
            error_for("\"format\":2", "\"format\":3"),
            "format is 3, expected 1 or 2: another version of ccsurvey wrote it"
        );
        assert_eq!(
            error_for("\"list\":0.5", "\"list\":-0.5"),
            "own.by_word.\"list\" is -0.5, expected a number from 0 to 1000000"
        );
        assert_eq!(
            error_for("[2.0,1.0,0.25]", "[2.0,1e9]"),
            "own.by_depth[1] is 1000000000, expected a number from 0 to 1000000"
        );
        assert_eq!(
            error_for("[2.0,1.0,0.25]", "[]"),
            "own.by_depth is a list of 0, expected 1 to 1000 numbers"
        );
        assert_eq!(
            error_for("\"coverage\":0.9", "\"coverage\":0.8"),
            "prices[1].coverage is 0.8, expected shares in rising order, up to 1"
        );
        let earlier = text.replacen("\"load\":0.5", "\"load\":0.5,\"loss\":{\"ratio\":2.5}", 1);
        assert_eq!(Rates::parse(&earlier), Ok(rates()), "of an earlier version");
        assert_eq!(
            error_for("\"load\":0.5", "\"load\":50"),
            "prices[0].load is 50, expected a share from 0 to 1"
        );
        assert!(error_for("\"own\"", "\"owm\"").starts_with("unknown field `owm`"));
        assert!(Rates::parse("{").is_err() && Rates::parse("[]").is_err());
    }
}
