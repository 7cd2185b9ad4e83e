use super::{DepthRule, Settings};

/// The deepest level of `--depth auto`, unless told: that of the 2008 paper's survey.
const DEEPEST: u16 = 20;
/// The share of the external hosts that `--depth auto` is to find, unless told.
const COVERAGE: f64 = 0.95;

impl Settings {
    /// The deepest level that is fetched in any site.
    #[must_use]
    pub fn deepest(&self) -> u16 {
        match self.depth {
            DepthRule::Levels(levels) => levels,
            DepthRule::Auto => self.max_depth.unwrap_or(DEEPEST),
        }
    }

    /// The share of the external hosts down to the deepest level that is to be found, where the depth is `auto`.
    #[must_use]
    pub fn wanted_coverage(&self) -> Option<f64> {
        (self.depth == DepthRule::Auto).then(|| self.coverage.unwrap_or(COVERAGE))
    }

    /// The first setting of `--depth auto` that is given without it.
    pub(super) fn idle_beside_levels(&self) -> Option<String> {
        let given = [
            ("max-depth", self.max_depth.is_some()),
            ("coverage", self.coverage.is_some()),
            ("rates", self.rates.is_some()),
            ("probe-depth", self.probe_depth > 0.0),
        ];
        let (key, _) = given.into_iter().find(|(_, is_given)| *is_given && self.depth != DepthRule::Auto)?;
        Some(format!("--{key} says something of --depth auto, and --depth is {}", self.depth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_goes_to_level_twenty_for_95_percent_unless_told() {
        let auto = Settings { depth: DepthRule::Auto, ..Settings::default() };
        assert_eq!((auto.deepest(), auto.wanted_coverage()), (20, Some(0.95)));
        let told = Settings { max_depth: Some(6), coverage: Some(0.8), ..auto };
        assert_eq!((told.deepest(), told.wanted_coverage()), (6, Some(0.8)));
        let levels = Settings { depth: DepthRule::Levels(3), ..told };
        assert_eq!((levels.deepest(), levels.wanted_coverage()), (3, None));
    }

    #[test]
    fn what_only_auto_obeys_is_refused_beside_a_number_of_levels() {
        let levels = Settings::default();
        assert_eq!(levels.idle_beside_levels(), None);
        let given = [
            Settings { max_depth: Some(6), ..levels.clone() },
            Settings { coverage: Some(0.8), ..levels.clone() },
            Settings { rates: Some("rates.json".into()), ..levels.clone() },
            Settings { probe_depth: 0.1, ..levels },
        ];
        for (settings, key) in given.into_iter().zip(["max-depth", "coverage", "rates", "probe-depth"]) {
            let refusal = settings.idle_beside_levels();
            assert_eq!(refusal, Some(format!("--{key} says something of --depth auto, and --depth is 8")));
            assert_eq!(Settings { depth: DepthRule::Auto, ..settings }.idle_beside_levels(), None);
        }
    }
}
