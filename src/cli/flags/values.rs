use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::address::{ScopeRule, SuffixSection};
use crate::survey::{FeedBackRule, Limit, Whole};
use crate::walk::NonHtml;

/// Reads a whole number of any type.
///
/// # Errors
/// When it is none, or larger than the type.
pub fn whole<T: Whole>(text: &str) -> Result<T, String> {
    let number = text.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("expected {}", T::expected()))
}

/// Reads a number with or without a fraction.
///
/// # Errors
/// When it is none.
pub fn decimal(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number such as 5 or 2.5".to_owned())
}

/// Reads a share, or that there is no bound; what it may be is checked with the other settings.
///
/// # Errors
/// When it is neither.
pub fn share_or_none(text: &str) -> Result<Limit<f64>, String> {
    text.parse().map_err(|_| "expected a share above 0 and up to 1, such as 0.003, or none".to_owned())
}

pub fn suffixes() -> impl TypedValueParser<Value = SuffixSection> {
    PossibleValuesParser::new(["icann", "all"]).map(|word| match word.as_str() {
        "all" => SuffixSection::All,
        _ => SuffixSection::Icann,
    })
}

pub fn non_html() -> impl TypedValueParser<Value = NonHtml> {
    PossibleValuesParser::new(["skip", "head", "get"]).map(|word| match word.as_str() {
        "head" => NonHtml::Head,
        "get" => NonHtml::Get,
        _ => NonHtml::Skip,
    })
}

pub fn scope() -> impl TypedValueParser<Value = ScopeRule> {
    PossibleValuesParser::new(["site", "host"]).map(|word| match word.as_str() {
        "host" => ScopeRule::Host,
        _ => ScopeRule::Site,
    })
}

pub fn feed_back() -> impl TypedValueParser<Value = FeedBackRule> {
    PossibleValuesParser::new(["link", "door", "off"]).map(|word| match word.as_str() {
        "door" => FeedBackRule::Door,
        "off" => FeedBackRule::Off,
        _ => FeedBackRule::Link,
    })
}
