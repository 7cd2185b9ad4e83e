use std::net::SocketAddr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::settings::{Choice, EXPECTED_DECIMAL, WholeNumber};

/// Reads a whole number of any type.
///
/// # Errors
/// When it is none, or larger than the type.
pub fn whole<T: WholeNumber>(text: &str) -> Result<T, String> {
    let number = text.parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("expected {}", T::expected()))
}

/// Reads a number with or without a fraction.
///
/// # Errors
/// When it is none.
pub fn decimal(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("expected {EXPECTED_DECIMAL}"))
}

/// # Errors
/// When the text is not an address with a port.
pub fn socket(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected an address and a port, for example 127.0.0.1:53".to_owned())
}

/// Reads one of a few words.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::WORDS).try_map(|word| T::named(&word).ok_or("expected another word"))
}
