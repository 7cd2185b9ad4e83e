use std::fmt;
use std::str::FromStr;

/// The number of requests that a whole survey may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestBudget {
    /// This number.
    Requests(u64),
    /// This many percent of the requests of an earlier survey.
    Percent(f64),
}

impl RequestBudget {
    /// The number of requests, at least one; `earlier` is the number of requests of the earlier survey.
    #[must_use]
    pub fn requests(self, earlier: u64) -> u64 {
        match self {
            Self::Requests(requests) => requests,
            Self::Percent(percent) => ((earlier as f64 * percent / 100.0).floor() as u64).max(1),
        }
    }
}

impl fmt::Display for RequestBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Requests(requests) => requests.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for RequestBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_valid = |percent: &f64| *percent > 0.0 && percent.is_finite();
        let read = match text.trim().strip_suffix('%') {
            Some(percent) => percent.trim_end().parse().ok().filter(is_valid).map(Self::Percent),
            None => text.trim().parse().ok().filter(|requests| *requests > 0).map(Self::Requests),
        };
        read.ok_or_else(|| {
            format!(
                "'{text}' is not a budget (expected a number of requests such as 100000, or with --since a share \
                 of the earlier survey's requests such as 5%)"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    #[test]
    fn a_budget_is_written_as_a_number_or_as_a_share() {
        for (text, budget, requests) in [
            ("100000", RequestBudget::Requests(100_000), 100_000),
            ("5%", RequestBudget::Percent(5.0), 50),
            ("0.25%", RequestBudget::Percent(0.25), 2),
        ] {
            assert_eq!((text.parse(), budget.to_string().as_str()), (Ok(budget), text));
            let json = serde_json::to_string(&budget.written()).unwrap();
            assert_eq!(RequestBudget::read(&serde_json::from_str(&json).unwrap()), Ok(budget));
            assert_eq!(budget.requests(1000), requests);
        }
        for text in ["", "0", "-5", "many", "%", "0%", "-1%", "1e999%", "5 %%", "2.5"] {
            let refusal = text.parse::<RequestBudget>().unwrap_err();
            assert!(
                refusal.starts_with(&format!("'{text}' is not a budget (expected a number")),
                "{refusal}"
            );
        }
    }
}
