use super::{DepthRule, RequestBudget, Settings};

/// The default deepest level of `--depth auto`: that of the survey in the 2008 paper.
const DEEPEST: u16 = 20;
/// With `--focus`, the least share of sites in which a sample of the skipped pages is fetched.
const PROBED: f64 = 0.02;
/// The default share of the external hosts that `--depth auto` is to find.
const COVERAGE: f64 = 0.95;

impl Settings {
    /// The deepest level that is fetched in any site.
    #[must_use]
    pub fn deepest(&self) -> u16 {
        match self.depth {
            DepthRule::Levels(levels) if self.budget.is_none() => levels,
            _ => self.max_depth.unwrap_or(DEEPEST),
        }
    }

    /// Whether the survey goes by rounds, because it has a budget of requests.
    #[must_use]
    pub fn has_rounds(&self) -> bool {
        self.budget.is_some()
    }

    /// With depth `auto`, the share to find of the external hosts down to the deepest level.
    #[must_use]
    pub fn wanted_coverage(&self) -> Option<f64> {
        (self.depth == DepthRule::Auto).then(|| self.coverage.unwrap_or(COVERAGE))
    }

    /// Whether pages are skipped that do not promise to be worth a request.
    #[must_use]
    pub fn skips_pages(&self) -> bool {
        self.depth == DepthRule::Auto || self.focus.is_some() || self.has_rounds()
    }

    /// The share of sites in which a sample of the skipped pages is fetched after all.
    #[must_use]
    pub fn probed_share(&self) -> f64 {
        self.probe_depth.max(if self.focus.is_some() { PROBED } else { 0.0 })
    }

    /// Refuses the first setting that has no effect without another one, or that contradicts another one.
    pub(super) fn unused_setting(&self) -> Option<String> {
        if self.focus.is_some() && self.since.is_none() {
            return Some("--focus needs an earlier survey: give its folder with --since".to_owned());
        }
        if self.focus.is_some() && self.coverage.is_some() {
            return Some(
                "--coverage and --focus both set how much to fetch: give only one of them".to_owned(),
            );
        }
        if let Some(refusal) = self.refused_beside_budget() {
            return Some(refusal);
        }
        let is_auto = self.depth == DepthRule::Auto;
        let given = [
            (
                "max-depth",
                self.max_depth.is_some() && !is_auto && !self.has_rounds(),
                "--depth auto or --budget",
            ),
            ("coverage", self.coverage.is_some() && !is_auto, "--depth auto"),
            ("rates", self.rates.is_some() && !self.skips_pages(), "--depth auto, --budget or --focus"),
            ("probe-depth", self.probe_depth > 0.0 && !self.skips_pages(), "--depth auto or --focus"),
        ];
        let (key, _, needed) = given.into_iter().find(|(_, is_idle, _)| *is_idle)?;
        Some(format!("--{key} has no effect with --depth {}: give {needed}", self.depth))
    }

    /// Refuses the first setting that contradicts a budget of requests.
    fn refused_beside_budget(&self) -> Option<String> {
        let budget = self.budget?;
        if matches!(budget, RequestBudget::Percent(_)) && self.since.is_none() {
            return Some(format!("--budget {budget} needs an earlier survey: give its folder with --since"));
        }
        let others = [
            ("depth", self.depth != Self::default().depth),
            ("coverage", self.coverage.is_some()),
            ("focus", self.focus.is_some()),
            ("stable-levels", self.stable_levels.is_some()),
        ];
        if let Some((key, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
            return Some(format!("--{key} and --budget both set how far to go: give only one of them"));
        }
        let spend_more = [
            ("probe-depth", self.probe_depth > 0.0),
            ("probe-scripts", self.probe_scripts > 0.0),
            ("seeds-per-site", self.seeds_per_site > 1),
        ];
        let (key, _) = spend_more.into_iter().find(|(_, is_given)| *is_given)?;
        Some(format!("--{key} spends requests apart from those that --budget weighs: leave it out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_shows_how_deep_the_survey_goes() {
        let base = Settings { since: Some("earlier".into()), ..Settings::default() };
        let auto = Settings { depth: DepthRule::Auto, ..base.clone() };
        let budget = Settings { budget: Some(RequestBudget::Requests(9)), ..base.clone() };
        let focus = Settings { focus: Some(0.1), ..base.clone() };
        for (settings, keys, missing) in [
            (base, &["depth = 8", "probe-depth = 0.0"][..], "max-depth = 20"),
            (auto.clone(), &["depth = \"auto\"", "max-depth = 20", "coverage = 0.95"], "probe-depth = 0.02"),
            (Settings { max_depth: Some(3), ..auto }, &["max-depth = 3"], "max-depth = 20"),
            (budget, &["budget = 9", "max-depth = 20"], "depth = 8"),
            (focus, &["focus = \"0.1\"", "probe-depth = 0.02"], "coverage = 0.95"),
        ] {
            let settings = settings.with_implied_values();
            let text = toml::to_string(&settings).unwrap();
            let has = |line: &&str| text.lines().any(|other| other == *line);
            assert!(keys.iter().all(has) && !has(&missing), "{keys:?}: {text}");
            assert_eq!(Settings::parse(&text).unwrap(), settings);
        }
    }

    #[test]
    fn auto_goes_to_level_twenty_for_95_percent_unless_told() {
        let auto = Settings { depth: DepthRule::Auto, ..Settings::default() };
        assert_eq!((auto.deepest(), auto.wanted_coverage()), (20, Some(0.95)));
        let explicit = Settings { max_depth: Some(6), coverage: Some(0.8), ..auto };
        assert_eq!((explicit.deepest(), explicit.wanted_coverage()), (6, Some(0.8)));
        let levels = Settings { depth: DepthRule::Levels(3), ..explicit };
        assert_eq!((levels.deepest(), levels.wanted_coverage()), (3, None));
    }

    #[test]
    fn what_only_auto_obeys_is_refused_beside_a_number_of_levels() {
        let levels = Settings::default();
        assert_eq!(levels.unused_setting(), None);
        for (settings, key, needed) in [
            (Settings { max_depth: Some(6), ..levels.clone() }, "max-depth", "--depth auto or --budget"),
            (Settings { coverage: Some(0.8), ..levels.clone() }, "coverage", "--depth auto"),
            (
                Settings { rates: Some("rates.json".into()), ..levels.clone() },
                "rates",
                "--depth auto, --budget or --focus",
            ),
            (Settings { probe_depth: 0.1, ..levels }, "probe-depth", "--depth auto or --focus"),
        ] {
            let refusal = settings.unused_setting();
            assert_eq!(refusal, Some(format!("--{key} has no effect with --depth 8: give {needed}")));
            assert_eq!(Settings { depth: DepthRule::Auto, ..settings }.unused_setting(), None);
        }
    }

    #[test]
    fn a_budget_sets_how_far_to_go_in_place_of_the_depth() {
        let budget = Settings { budget: Some(RequestBudget::Requests(1000)), ..Settings::default() };
        assert_eq!((budget.unused_setting(), budget.deepest(), budget.skips_pages()), (None, 20, true));
        let deeper = Settings { max_depth: Some(30), rates: Some("rates.json".into()), ..budget.clone() };
        assert_eq!((deeper.unused_setting(), deeper.deepest()), (None, 30));
        let refusal = |settings: Settings| settings.unused_setting().unwrap_or_default();
        let base = budget.clone();
        for (settings, key) in [
            (Settings { depth: DepthRule::Auto, ..base.clone() }, "depth"),
            (Settings { coverage: Some(0.9), ..base.clone() }, "coverage"),
            (Settings { focus: Some(0.1), since: Some("old".into()), ..base.clone() }, "focus"),
            (Settings { stable_levels: Some(2), ..base.clone() }, "stable-levels"),
        ] {
            let expected = format!("--{key} and --budget both set how far to go: give only one of them");
            assert_eq!(refusal(settings), expected);
        }
        for (settings, key) in [
            (Settings { probe_depth: 0.1, ..base.clone() }, "probe-depth"),
            (Settings { probe_scripts: 0.1, ..base.clone() }, "probe-scripts"),
            (Settings { seeds_per_site: 2, ..base.clone() }, "seeds-per-site"),
        ] {
            assert!(refusal(settings).starts_with(&format!("--{key} spends requests apart")));
        }
        let share = Settings { budget: Some(RequestBudget::Percent(5.0)), ..base };
        let expected = "--budget 5% needs an earlier survey: give its folder with --since";
        assert_eq!(refusal(share.clone()), expected);
        assert_eq!(Settings { since: Some("old".into()), ..share }.unused_setting(), None);
    }

    #[test]
    fn a_focus_needs_an_earlier_survey_and_samples_what_it_leaves_out() {
        let focus = Settings { focus: Some(0.1), since: Some("old".into()), ..Settings::default() };
        assert_eq!((focus.unused_setting(), focus.probed_share()), (None, 0.02));
        assert!(focus.skips_pages() && !Settings::default().skips_pages());
        let explicit = Settings { probe_depth: 0.3, rates: Some("rates.json".into()), ..focus.clone() };
        assert_eq!((explicit.unused_setting(), explicit.probed_share()), (None, 0.3));
        let alone = Settings { since: None, ..focus.clone() };
        let refusal = "--focus needs an earlier survey: give its folder with --since";
        assert_eq!(alone.unused_setting().as_deref(), Some(refusal));
        let twice = Settings { coverage: Some(0.9), depth: DepthRule::Auto, ..focus };
        let refusal = "--coverage and --focus both set how much to fetch: give only one of them";
        assert_eq!(twice.unused_setting().as_deref(), Some(refusal));
    }
}
