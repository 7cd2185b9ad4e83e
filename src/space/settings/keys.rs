use std::fmt::Display;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Why a text is no valid world file. Each error names the place, the value found and the values allowed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum WorldError {
    /// The file is not TOML.
    #[error("line {line}: not TOML: {message}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// The message of the TOML parser.
        message: String,
    },
    /// A key is unknown.
    #[error("line {line}: unknown key '{key}' (known here: {known})")]
    UnknownKey {
        /// Counted from 1.
        line: usize,
        /// The key with its table.
        key: String,
        /// The known keys of that table.
        known: String,
    },
    /// A key has an invalid value.
    #[error("line {line}: '{key}' is {value}, expected {expected}")]
    Value {
        /// Counted from 1.
        line: usize,
        /// The key with its table.
        key: String,
        /// The value as written in the file.
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// The sum of related shares is invalid.
    #[error("line {line}: in [{table}], {keys} sum to {sum}, expected {expected}")]
    Sum {
        /// Counted from 1.
        line: usize,
        /// The table in the file.
        table: &'static str,
        /// The keys that are summed.
        keys: &'static str,
        /// The sum of their values.
        sum: String,
        /// The allowed sum.
        expected: &'static str,
    },
}

/// The documentation of a key of a world file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyDoc {
    /// The name with its table, as in `sites.count`.
    pub name: &'static str,
    /// Empty for a key without a unit.
    pub unit: &'static str,
    /// As written in a file.
    pub default: &'static str,
    /// The allowed range, as in `1..=1_000_000`.
    pub allowed: &'static str,
    /// One sentence, with a mark for its source at the end.
    pub meaning: &'static str,
}

/// A number that a key may hold.
pub(crate) trait Number: Display + PartialOrd + Sized {
    const WORD: &'static str;
    fn read(value: &DeValue<'_>) -> Option<Self>;
}

impl Number for u64 {
    const WORD: &'static str = "an integer";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        let integer = value.as_integer()?;
        Self::from_str_radix(integer.as_str(), integer.radix()).ok()
    }
}

impl Number for f64 {
    const WORD: &'static str = "a number";

    #[expect(clippy::cast_precision_loss, reason = "ranges of the keys lie far below 2^53")]
    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Float(float) => float.as_str().parse().ok().filter(|number: &f64| number.is_finite()),
            value => u64::read(value).map(|integer| integer as f64),
        }
    }
}

/// One table of a world file, read strictly: keys are taken by name, and a key that was not taken is an
/// error.
pub(crate) struct Table<'t> {
    /// The whole file, for line numbers and values as written.
    text: &'t str,
    name: &'static str,
    line: usize,
    entries: Option<&'t DeTable<'t>>,
    /// The same table of the profile that the file starts from, used for keys that the file leaves out.
    profile: Option<&'t DeTable<'t>>,
    known_keys: Vec<&'static str>,
}

impl<'t> Table<'t> {
    pub(crate) fn root(text: &'t str, entries: &'t DeTable<'t>, profile: Option<&'t DeTable<'t>>) -> Self {
        Self { text, name: "", line: 1, entries: Some(entries), profile, known_keys: Vec::new() }
    }

    /// The sub-table `name`. If it is missing, every key has the profile's value or its default.
    pub(crate) fn section(&mut self, name: &'static str) -> Result<Table<'t>, WorldError> {
        self.known_keys.push(name);
        let (line, entries) = match self.find(name) {
            None => (self.line, None),
            Some(value) => {
                let table = value.get_ref().as_table();
                (self.line_of(value), Some(table.ok_or_else(|| self.invalid(name, value, "a table"))?))
            }
        };
        let profile = self.in_profile(name).and_then(|value| value.get_ref().as_table());
        Ok(Table { text: self.text, name, line, entries, profile, known_keys: Vec::new() })
    }

    pub(crate) fn number<T: Number>(
        &mut self,
        key: &'static str,
        default: T,
        allowed: &RangeInclusive<T>,
        unit: &str,
    ) -> Result<T, WorldError> {
        self.known_keys.push(key);
        let Some(value) = self.find(key).or_else(|| self.in_profile(key)) else { return Ok(default) };
        T::read(value.get_ref()).filter(|number| allowed.contains(number)).ok_or_else(|| {
            let expected = format!("{} from {} to {} ({unit})", T::WORD, allowed.start(), allowed.end());
            self.invalid(key, value, &expected)
        })
    }

    /// A list of texts, each accepted by `read`. Texts of the profile that are not accepted are dropped,
    /// because the file may have changed what they depend on.
    pub(crate) fn texts<T>(
        &mut self,
        key: &'static str,
        default: &[&str],
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, WorldError> {
        self.known_keys.push(key);
        let Some(value) = self.find(key) else {
            let of_profile = self.in_profile(key).and_then(|value| value.get_ref().as_array());
            let of_profile = of_profile.into_iter().flatten().filter_map(|item| item.get_ref().as_str());
            let mut texts: Vec<T> = of_profile.filter_map(&read).collect();
            if texts.is_empty() {
                texts.extend(default.iter().filter_map(|text| read(text)));
            }
            return Ok(texts);
        };
        let items = value.get_ref().as_array().filter(|items| !items.is_empty());
        let items = items.ok_or_else(|| self.invalid(key, value, expected))?;
        items
            .iter()
            .map(|item| {
                let text = item.get_ref().as_str();
                text.and_then(&read).ok_or_else(|| self.invalid(key, item, expected))
            })
            .collect()
    }

    /// The text of `key`, accepted by `read`, if present.
    pub(crate) fn text<T>(
        &mut self,
        key: &'static str,
        expected: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, WorldError> {
        self.known_keys.push(key);
        let Some(value) = self.find(key).or_else(|| self.in_profile(key)) else { return Ok(None) };
        let text = value.get_ref().as_str().and_then(read);
        text.map(Some).ok_or_else(|| self.invalid(key, value, expected))
    }

    /// One of several words; the first is the default.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<T, WorldError> {
        self.known_keys.push(key);
        let Some(value) = self.find(key) else { return Ok(words[0].1) };
        let text = value.get_ref().as_str();
        let chosen = words.iter().find(|(word, _)| Some(*word) == text).map(|(_, chosen)| *chosen);
        let known: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        chosen.ok_or_else(|| self.invalid(key, value, &known.join(" or ")))
    }

    /// The text of `key`, which must be `only` if present.
    pub(crate) fn constant(&mut self, key: &'static str, only: &str) -> Result<(), WorldError> {
        self.known_keys.push(key);
        match self.find(key) {
            Some(value) if value.get_ref().as_str() != Some(only) => {
                Err(self.invalid(key, value, &format!("\"{only}\"")))
            }
            _ => Ok(()),
        }
    }

    /// Checks that every key was taken.
    pub(crate) fn finish(&self) -> Result<(), WorldError> {
        let unknown = self
            .entries
            .into_iter()
            .flat_map(DeTable::keys)
            .find(|key| !self.known_keys.contains(&key.get_ref().as_ref()));
        match unknown {
            None => Ok(()),
            Some(key) => Err(WorldError::UnknownKey {
                line: self.line_at(key.span().start),
                key: self.full_name(key.get_ref()),
                known: self.known_keys.join(", "),
            }),
        }
    }

    /// An error about several keys of this table together.
    pub(crate) fn sum_error(&self, keys: &'static str, sum: f64, expected: &'static str) -> WorldError {
        WorldError::Sum { line: self.line, table: self.name, keys, sum: format!("{sum:.4}"), expected }
    }

    fn find(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.entries?.get(key)
    }

    fn in_profile(&self, key: &str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.profile?.get(key)
    }

    fn invalid(&self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) -> WorldError {
        let written = self.text.get(value.span()).unwrap_or_default();
        WorldError::Value {
            line: self.line_of(value),
            key: self.full_name(key),
            value: written.chars().take(60).collect(),
            expected: expected.to_owned(),
        }
    }

    fn full_name(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn line_of(&self, value: &Spanned<DeValue<'_>>) -> usize {
        self.line_at(value.span().start)
    }

    fn line_at(&self, offset: usize) -> usize {
        line_at(self.text, offset)
    }
}

pub(crate) fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
