use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A value in the form that files and the manifest have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Written {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number of 0 or more.
    Whole(u64),
    /// A whole number below 0.
    Negative(i64),
    /// Any other number.
    Fraction(f64),
    /// Text in quotes.
    Text(String),
    /// Values in brackets.
    List(Vec<Self>),
    /// Only written; when read back it is text.
    Path(PathBuf),
    /// `null`, which appears only in the manifest.
    Nothing(Option<()>),
    /// Keys with values; not valid for any setting.
    Table(serde_json::Map<String, serde_json::Value>),
}

/// Why a written value is not valid for a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The value has another type.
    Unexpected {
        /// The value as written in the file.
        found: String,
        /// The expected type, as a file would write it.
        expected: String,
    },
    /// The message of the type itself.
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
            other => Err(other.refused("text in quotes")),
        }
    }

    /// The text of a quantity or a limit, which may also be a bare number.
    pub(in crate::settings) fn text_or_number(&self) -> Result<String, Refusal> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Whole(number) => Ok(number.to_string()),
            Self::Negative(number) => Ok(number.to_string()),
            Self::Fraction(number) => Ok(number.to_string()),
            _ => Err(Refusal::Message("expected a number, or text in quotes".to_owned())),
        }
    }

    fn in_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The value as shown in messages.
    pub(in crate::settings) fn in_message(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Path(path) => path.display().to_string(),
            other => other.in_json(),
        }
    }
}

/// The value as a user would type it.
impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fraction(number) => number.fmt(f),
            other => f.write_str(&other.in_message()),
        }
    }
}

impl Refusal {
    /// The message about a key in a file.
    pub(in crate::settings) fn for_key(&self, key: &str) -> String {
        match self {
            Self::Unexpected { found, expected } => format!("key '{key}' is {found}, expected {expected}"),
            Self::Message(message) => format!("key '{key}': {message}"),
        }
    }

    /// The message about a flag; values of flags need no quotes.
    pub(in crate::settings) fn for_flag(self) -> String {
        match self {
            Self::Unexpected { expected, .. } => {
                format!("expected {}", expected.replace(" in quotes", "").replace('"', ""))
            }
            Self::Message(message) => message,
        }
    }
}
