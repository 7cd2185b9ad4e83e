/// The range of the logarithm of a yield.
pub const LOGARITHMS: std::ops::RangeInclusive<f64> = -30.0..=14.0;

/// The natural logarithm, the same to the last bit on any machine.
pub(super) fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// The yield of which this is the logarithm; the same to the last bit on any machine.
pub(super) fn yield_of(logarithm: f64) -> f64 {
    libm::exp(logarithm.clamp(*LOGARITHMS.start(), *LOGARITHMS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_yield_is_without_bounds() {
        assert!(yield_of(1e300) < 2e6 && yield_of(-1e300) > 0.0);
        assert!((yield_of(0.0) - 1.0).abs() < 1e-15 && (yield_of(ln(0.7)) - 0.7).abs() < 1e-15);
    }
}
