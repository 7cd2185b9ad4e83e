use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::features::{FEATURES, FIXED, MOVING, feature_names};

/// The weights of the features of a URL in the logarithm of what it is expected to bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "NamedWeights", into = "NamedWeights")]
pub struct Weights {
    /// For the external hosts, new in the tree, that the page itself brings.
    pub own: [f64; FEATURES],
    /// For what a request for it is worth: the hosts per request of the best path through it.
    pub worth: [f64; FEATURES],
}

/// As a file has them: by the names of the features. A feature that is not named has no weight.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedWeights {
    own: BTreeMap<String, f64>,
    worth: BTreeMap<String, f64>,
}

/// The bound of a weight.
const MOST_WEIGHT: f64 = 1000.0;

impl Default for Weights {
    /// The product of the mean yield and the factors of site, branch and folder; for the worth of a request, a
    /// standard deviation more.
    fn default() -> Self {
        let weights = |names: &[&str]| {
            let names: BTreeMap<String, f64> = names.iter().map(|name| ((*name).to_owned(), 1.0)).collect();
            from_names(&names).unwrap_or([0.0; FEATURES])
        };
        Self { own: weights(&["rate", "factor"]), worth: weights(&["rate_below", "factor", "doubt"]) }
    }
}

/// The two sums of weighted features: of the yield of a page itself, and of the worth of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sums {
    pub own: f64,
    pub worth: f64,
}

impl Weights {
    /// The sums of the features that do not change.
    pub(super) fn of_fixed(&self, features: &[f64; FIXED]) -> Sums {
        Sums { own: sum(&self.own[..FIXED], features), worth: sum(&self.worth[..FIXED], features) }
    }

    /// The sums of the features that change with what is read.
    pub(super) fn of_moving(&self, features: &[f64; MOVING]) -> Sums {
        Sums { own: sum(&self.own[FIXED..], features), worth: sum(&self.worth[FIXED..], features) }
    }
}

fn sum(weights: &[f64], features: &[f64]) -> f64 {
    weights.iter().zip(features).map(|(weight, feature)| weight * feature).sum()
}

fn from_names(names: &BTreeMap<String, f64>) -> Result<[f64; FEATURES], String> {
    let mut weights = [0.0; FEATURES];
    let mut left = names.len();
    for (weight, name) in weights.iter_mut().zip(feature_names()) {
        if let Some(named) = names.get(&name) {
            *weight = *named;
            left -= 1;
        }
    }
    if left > 0 {
        let known: Vec<String> = feature_names().collect();
        let unknown = names.keys().find(|name| !known.contains(name)).map_or("", String::as_str);
        return Err(format!("unknown feature {unknown:?}, expected one of {}", known.join(", ")));
    }
    match names.iter().find(|(_, weight)| !(-MOST_WEIGHT..=MOST_WEIGHT).contains(*weight)) {
        Some((name, weight)) => {
            Err(format!("the weight of {name} is {weight}, expected a number from -1000 to 1000"))
        }
        None => Ok(weights),
    }
}

impl TryFrom<NamedWeights> for Weights {
    type Error = String;

    fn try_from(named: NamedWeights) -> Result<Self, String> {
        Ok(Self { own: from_names(&named.own)?, worth: from_names(&named.worth)? })
    }
}

impl From<Weights> for NamedWeights {
    fn from(weights: Weights) -> Self {
        let named = |weights: [f64; FEATURES]| {
            feature_names().zip(weights).filter(|(_, weight)| *weight != 0.0).collect()
        };
        Self { own: named(weights.own), worth: named(weights.worth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_written_by_name_and_read_again() {
        let text = serde_json::to_string(&Weights::default()).unwrap();
        let expected =
            r#"{"own":{"factor":1.0,"rate":1.0},"worth":{"doubt":1.0,"factor":1.0,"rate_below":1.0}}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Weights>(&text).unwrap(), Weights::default());
        let error_for = |from: &str, to: &str| {
            serde_json::from_str::<Weights>(&text.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(
            error_for("doubt", "doubts")
                .starts_with("unknown feature \"doubts\", expected one of constant, ")
        );
        assert!(error_for("1.0", "1001.0").contains("expected a number from -1000 to 1000"));
    }
}
