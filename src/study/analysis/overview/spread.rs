use super::super::intervals::sampling::quantile;

/// The distribution of a quantity over sites or servers.
///
/// Percentiles are interpolated between neighbours, as `quantile_cont` of SQL does.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Spread {
    /// The number of values.
    pub count: u64,
    /// The sum of all values.
    pub sum: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// Half of the values are less.
    pub median: f64,
    /// 95 % of the values are less.
    pub p95: f64,
    /// The greatest value.
    pub max: f64,
}

impl Spread {
    pub(super) fn from_values(mut values: Vec<f64>) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        values.sort_unstable_by(f64::total_cmp);
        let sum: f64 = values.iter().sum();
        Self {
            count: values.len() as u64,
            sum,
            mean: sum / values.len() as f64,
            median: quantile(&values, 0.5),
            p95: quantile(&values, 0.95),
            max: values[values.len() - 1],
        }
    }
}

/// The Gini coefficient: 0 if all values are equal, near 1 if one value is all of the sum. Zero values count.
pub(super) fn gini(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let count = values.len() as f64;
    let sum: f64 = values.iter().sum();
    if sum <= 0.0 {
        return 0.0;
    }
    let weighted: f64 = values.iter().zip(1u64..).map(|(value, rank)| value * rank as f64).sum();
    (2.0 * weighted / (count * sum) - (count + 1.0) / count).max(0.0)
}

/// The share of a part in a whole; 0 if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_neighbours() {
        let spread = Spread::from_values(vec![4.0, 1.0, 2.0, 3.0]);
        assert_eq!((spread.count, spread.mean, spread.median, spread.max), (4, 2.5, 2.5, 4.0));
        assert!((spread.p95 - 3.85).abs() < 1e-9);
        assert_eq!(Spread::from_values(Vec::new()), Spread::default());
    }

    #[test]
    fn unevenness_goes_from_none_to_all() {
        assert!(gini(vec![5.0; 10]).abs() < 1e-9);
        assert!((gini([vec![0.0; 99], vec![1.0]].concat()) - 0.99).abs() < 1e-9);
        assert!(gini(Vec::new()).abs() < 1e-9);
    }
}
