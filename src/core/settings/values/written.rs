use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A value as a file has it, and as the manifest does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Written {
    /// `true` or `false`.
    Flag(bool),
    /// A number without sign.
    Whole(u64),
    /// A whole number below 0.
    Negative(i64),
    /// Any other number.
    Fraction(f64),
    /// Words in quotes.
    Text(String),
    /// Values in brackets.
    List(Vec<Self>),
    /// Only ever written: what is read is text.
    Path(PathBuf),
    /// `null`, which only the manifest has.
    Nothing(Option<()>),
    /// Keys with values: of no setting.
    Table(serde_json::Map<String, serde_json::Value>),
}

/// Why something written is not a value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is of another type.
    Unexpected {
        /// As the file writes it.
        found: String,
        /// In the words of a file.
        expected: String,
    },
    /// In the words of the type.
    Message(String),
}

impl Written {
    pub(in crate::settings) fn refused(&self, expected: impl Into<String>) -> Refusal {
        let found = match self {
            Self::Text(text) => format!("{text:?}"),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            other => other.in_json(),
        };
        Refusal::Unexpected { found, expected: expected.into() }
    }

    pub(in crate::settings) fn text(&self) -> Result<&str, Refusal> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(other.refused("words in quotes")),
        }
    }

    /// What stands for a quantity or a limit: text, or a bare number.
    pub(in crate::settings) fn text_or_number(&self) -> Result<String, Refusal> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Whole(number) => Ok(number.to_string()),
            Self::Negative(number) => Ok(number.to_string()),
            Self::Fraction(number) => Ok(number.to_string()),
            _ => Err(Refusal::Message("expected a number, or words in quotes".to_owned())),
        }
    }

    fn in_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As messages tell it.
    pub(in crate::settings) fn in_message(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Path(path) => path.display().to_string(),
            other => other.in_json(),
        }
    }
}

/// As a person types it.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fraction(number) => number.fmt(f),
            other => f.write_str(&other.in_message()),
        }
    }
}

impl Refusal {
    /// What a key of a file is said to be.
    pub(in crate::settings) fn for_key(&self, key: &str) -> String {
        match self {
            Self::Unexpected { found, expected } => format!("key '{key}' is {found}, expected {expected}"),
            Self::Message(message) => format!("key '{key}': {message}"),
        }
    }

    /// What is said of a flag; nothing needs quotes there.
    pub(in crate::settings) fn for_flag(self) -> String {
        match self {
            Self::Unexpected { expected, .. } => {
                format!("expected {}", expected.replace(" in quotes", "").replace('"', ""))
            }
            Self::Message(message) => message,
        }
    }
}
