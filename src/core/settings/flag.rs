use super::table::Bound;
use super::values::written::{Refusal, Written};
use super::{Setting, Settings};

impl Setting {
    /// The setting with this key, or with this key in an earlier version.
    #[must_use]
    pub fn named(key: &str) -> Option<&'static Self> {
        Settings::TABLE.iter().find(|setting| setting.key == key || setting.rules.former_key == Some(key))
    }

    /// The help of the flag: what it does, what it costs servers, its default.
    #[must_use]
    pub fn help(&self) -> String {
        let default = match self.rules.unset {
            Some("") => return self.help.to_owned(),
            Some(words) => words.to_owned(),
            None => (self.describe)(&Settings::default()),
        };
        format!("{} [default: {default}]", self.help)
    }

    /// Sets the value from words on the command line.
    ///
    /// # Errors
    /// If the words are not valid for this setting; the message says what is expected.
    pub fn parse_flag(&self, settings: &mut Settings, words: &[String]) -> Result<(), String> {
        let written = match words {
            [word] if !self.is_list => self.shape.typed(word),
            words => Written::List(words.iter().map(|word| self.shape.typed(word)).collect()),
        };
        (self.read)(settings, &written).map_err(|refusal| match (refusal, self.rules.bound) {
            (Refusal::Message(_), Bound::Within(_, expected)) => format!("expected {expected}"),
            (refusal, _) => refusal.for_flag(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_read_as_it_is_written() {
        for setting in Settings::TABLE {
            let mut settings = Settings::default();
            let written = (setting.written)(&settings);
            assert_eq!((setting.read)(&mut settings, &written), Ok(()), "{}", setting.key);
            assert_eq!(settings, Settings::default(), "{}", setting.key);
        }
    }

    #[test]
    fn every_key_is_that_of_one_setting_and_has_dashes() {
        for setting in Settings::TABLE {
            assert!(!setting.key.contains('_'), "{}", setting.key);
            let same = Settings::TABLE.iter().filter(|other| other.key == setting.key);
            assert_eq!(same.count(), 1, "{}", setting.key);
        }
        let day = Setting::named("max-as-busy-per-day").unwrap();
        let mut settings = Settings::default();
        day.parse_flag(&mut settings, &["2h".to_owned()]).unwrap();
        assert_eq!(settings.budgets.system.per_day.busy, Some("2h".parse().unwrap()));
    }

    #[test]
    fn a_value_that_is_none_of_its_setting_is_refused_in_the_words_of_a_flag() {
        let refused = |key: &str, word: &str| {
            Setting::named(key).unwrap().parse_flag(&mut Settings::default(), &[word.to_owned()]).unwrap_err()
        };
        assert_eq!(refused("depth", "2.5"), "expected 0 to 1000 levels, or auto");
        assert_eq!(refused("max-urls", "2.5"), format!("expected a whole number from 0 to {}", usize::MAX));
        assert_eq!(refused("dns", "there"), "expected an address and a port, for example 127.0.0.1:53");
        assert_eq!(
            refused("trap-levels", "few"),
            "'few' is not valid (expected none, or a whole number from 0 to 65535)"
        );
        assert_eq!(refused("harm", "little"), "expected a share above 0 and up to 1, such as 0.02, or none");
    }
}
