use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Entrances, Extension, FeedBackRule, NonHtml, QuietHours};
use crate::address::{ScopeRule, SuffixSection, UrlPattern};

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
    Told(String),
}

/// How a value is typed on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Words, a quantity, a limit.
    Text,
    /// A number without unit.
    Number,
    /// `true`, `false`, or the flag alone.
    Flag,
    /// A file or folder.
    Path,
    /// One of these.
    Word(&'static [&'static str]),
}

impl Shape {
    /// What stands on a command line, as files have it.
    pub(super) fn typed(self, word: &str) -> Written {
        match self {
            Self::Number => match (word.parse(), word.parse()) {
                (Ok(whole), _) => Written::Whole(whole),
                (_, Ok(fraction)) => Written::Fraction(fraction),
                _ => Written::Text(word.to_owned()),
            },
            Self::Flag => Written::Flag(word == "true"),
            Self::Path => Written::Path(word.into()),
            Self::Text | Self::Word(_) => Written::Text(word.to_owned()),
        }
    }
}

/// Reads a value from a command line.
///
/// # Errors
/// Says what is expected.
pub fn typed<T: Value>(word: &str) -> Result<T, String> {
    T::read(&T::SHAPE.typed(word)).map_err(Refusal::of_flag)
}

/// How much a value is, for bounds and to tell what is gentler.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Amount {
    /// Requests, bytes, nanoseconds.
    Whole(u128),
    /// A share or a factor.
    Fraction(f64),
    /// More than any other.
    NoLimit,
}

impl Amount {
    /// Of what is neither more nor less than another value.
    pub(super) const INCOMPARABLE: Self = Self::Fraction(f64::NAN);
}

/// The usual way to write a value. [`OrNone`](super::OrNone) is the other one.
pub struct Plain;

/// Where a file or folder is to be found from now on.
pub type NewPath<'a> = dyn Fn(&Path) -> PathBuf + 'a;

/// What a setting can be. `Way` tells apart two ways to write the same type.
pub trait Value<Way = Plain>: Sized {
    /// On a command line.
    const SHAPE: Shape;
    /// Whether it is a list.
    const IS_LIST: bool = false;

    /// As files have it.
    fn written(&self) -> Written;

    /// # Errors
    /// When what is written is no such value.
    fn read(written: &Written) -> Result<Self, Refusal>;

    /// For comparing it with others.
    fn amount(&self) -> Amount {
        Amount::INCOMPARABLE
    }

    /// As the help tells a default.
    fn in_words(&self) -> String {
        self.written().to_string()
    }

    /// Moves the files and folders that it names.
    fn move_paths(&mut self, _to: &NewPath<'_>) {}
}

impl Written {
    pub(super) fn refused(&self, expected: impl Into<String>) -> Refusal {
        let found = match self {
            Self::Text(text) => format!("{text:?}"),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            other => other.in_json(),
        };
        Refusal::Unexpected { found, expected: expected.into() }
    }

    fn text(&self) -> Result<&str, Refusal> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(other.refused("words in quotes")),
        }
    }

    /// What stands for a quantity or a limit: text, or a bare number.
    pub(super) fn text_or_number(&self) -> Result<String, Refusal> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Whole(number) => Ok(number.to_string()),
            Self::Negative(number) => Ok(number.to_string()),
            Self::Fraction(number) => Ok(number.to_string()),
            _ => Err(Refusal::Told("expected a number, or words in quotes".to_owned())),
        }
    }

    fn in_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As messages tell it.
    pub(super) fn in_message(&self) -> String {
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
    pub(super) fn of_key(&self, key: &str) -> String {
        match self {
            Self::Unexpected { found, expected } => format!("key '{key}' is {found}, expected {expected}"),
            Self::Told(message) => format!("key '{key}': {message}"),
        }
    }

    /// What is said of a flag; nothing needs quotes there.
    pub(super) fn of_flag(self) -> String {
        match self {
            Self::Unexpected { expected, .. } => {
                format!("expected {}", expected.replace(" in quotes", "").replace('"', ""))
            }
            Self::Told(message) => message,
        }
    }
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {
        // `usize` has no `From` to what is as wide.
        $(#[allow(clippy::cast_lossless)]
        impl Value for $type {
            const SHAPE: Shape = Shape::Number;

            fn written(&self) -> Written {
                Written::Whole(*self as u64)
            }

            fn read(written: &Written) -> Result<Self, Refusal> {
                let number = match written {
                    Written::Whole(number) => <$type>::try_from(*number).ok(),
                    _ => None,
                };
                number.ok_or_else(|| written.refused(format!("a whole number from 0 to {}", <$type>::MAX)))
            }

            fn amount(&self) -> Amount {
                Amount::Whole(*self as u128)
            }
        })*
    };
}

whole_numbers!(u16, u32, u64, usize);

impl Value for f64 {
    const SHAPE: Shape = Shape::Number;

    fn written(&self) -> Written {
        Written::Fraction(*self)
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        match written {
            Written::Whole(number) => Ok(*number as Self),
            Written::Negative(number) => Ok(*number as Self),
            Written::Fraction(number) => Ok(*number),
            _ => Err(written.refused("a number such as 5 or 2.5")),
        }
    }

    fn amount(&self) -> Amount {
        Amount::Fraction(*self)
    }
}

impl Value for bool {
    const SHAPE: Shape = Shape::Flag;

    fn written(&self) -> Written {
        Written::Flag(*self)
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        match written {
            Written::Flag(value) => Ok(*value),
            _ => Err(written.refused("true or false")),
        }
    }

    fn amount(&self) -> Amount {
        Amount::Whole(u128::from(*self))
    }
}

impl Value for PathBuf {
    const SHAPE: Shape = Shape::Path;

    fn written(&self) -> Written {
        Written::Path(self.clone())
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        match written {
            Written::Path(path) => Ok(path.clone()),
            _ => written.text().map(Self::from),
        }
    }

    fn move_paths(&mut self, to: &NewPath<'_>) {
        *self = to(self);
    }
}

impl Value for SocketAddr {
    const SHAPE: Shape = Shape::Text;

    fn written(&self) -> Written {
        Written::Text(self.to_string())
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        let refused = || written.refused("an address and a port in quotes, for example \"127.0.0.1:53\"");
        written.text().ok().and_then(|text| text.parse().ok()).ok_or_else(refused)
    }
}

impl Value for Entrances {
    const SHAPE: Shape = Shape::Text;

    fn written(&self) -> Written {
        match self {
            Self::UpTo(most) => Written::Whole(u64::from(*most)),
            Self::All => Written::Text(self.to_string()),
        }
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        written.text_or_number()?.parse().map_err(Refusal::Told)
    }
}

/// Types that are written as their `Display` and read by their `FromStr`.
macro_rules! texts {
    ($($type:ty, $as_text:ident { $($more:item)* })*) => {
        $(impl Value for $type {
            const SHAPE: Shape = Shape::Text;

            fn written(&self) -> Written {
                Written::Text(self.to_string())
            }

            fn read(written: &Written) -> Result<Self, Refusal> {
                written.$as_text()?.parse().map_err(|wrong| Refusal::Told(format!("{wrong}")))
            }

            $($more)*
        })*
    };
}

texts! {
    String, text {}
    Extension, text {}
    UrlPattern, text {}
    QuietHours, text_or_number {}
}

pub(super) use texts;

/// A choice of a few words.
pub trait Choice: Copy + PartialEq + 'static {
    /// In the order of the choices.
    const WORDS: &'static [&'static str];
    /// In the order of their words.
    const CHOICES: &'static [Self];

    /// The choice that a word stands for.
    #[must_use]
    fn named(word: &str) -> Option<Self> {
        let at = Self::WORDS.iter().position(|known| *known == word)?;
        Self::CHOICES.get(at).copied()
    }
}

macro_rules! choices {
    ($($type:ty { $($word:literal => $choice:ident),+ })*) => {
        $(impl Choice for $type {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const CHOICES: &'static [Self] = &[$(Self::$choice),+];
        }

        impl Value for $type {
            const SHAPE: Shape = Shape::Word(Self::WORDS);

            fn written(&self) -> Written {
                Written::Text(match self { $(Self::$choice => $word),+ }.to_owned())
            }

            fn read(written: &Written) -> Result<Self, Refusal> {
                Self::named(written.text()?).ok_or_else(|| written.refused(one_of(Self::WORDS)))
            }
        })*
    };
}

choices! {
    FeedBackRule { "link" => Link, "door" => Door, "off" => Off }
    NonHtml { "skip" => Skip, "head" => Head, "get" => Get }
    ScopeRule { "site" => Site, "host" => Host }
    SuffixSection { "icann" => Icann, "all" => All }
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.as_slice() {
        [one, other] => format!("{one} or {other}"),
        all => format!("one of {}", all.join(", ")),
    }
}

impl<T: Value> Value for Option<T> {
    const SHAPE: Shape = T::SHAPE;

    fn written(&self) -> Written {
        self.as_ref().map_or(Written::Nothing(None), T::written)
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        match written {
            Written::Nothing(_) => Ok(None),
            other => T::read(other).map(Some),
        }
    }

    fn amount(&self) -> Amount {
        self.as_ref().map_or(Amount::NoLimit, T::amount)
    }

    fn in_words(&self) -> String {
        self.as_ref().map_or("none".to_owned(), T::in_words)
    }

    fn move_paths(&mut self, to: &NewPath<'_>) {
        self.iter_mut().for_each(|value| value.move_paths(to));
    }
}

impl<T: Value> Value for Vec<T> {
    const SHAPE: Shape = T::SHAPE;
    const IS_LIST: bool = true;

    fn written(&self) -> Written {
        Written::List(self.iter().map(T::written).collect())
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        match written {
            Written::List(list) => list.iter().map(T::read).collect(),
            other => Err(other.refused("a list such as [\"a\", \"b\"]")),
        }
    }

    fn in_words(&self) -> String {
        if self.is_empty() { "none".to_owned() } else { self.written().to_string() }
    }

    fn move_paths(&mut self, to: &NewPath<'_>) {
        self.iter_mut().for_each(|value| value.move_paths(to));
    }
}
