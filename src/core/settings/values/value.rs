use std::path::{Path, PathBuf};

use super::written::{Refusal, Written};

/// How a value is typed on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSyntax {
    /// Text, a quantity, a limit.
    Text,
    /// A number without a unit.
    Number,
    /// `true`, `false`, or the flag alone.
    Flag,
    /// A file or folder.
    Path,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl ValueSyntax {
    /// The value for a word on a command line, in the form that files have.
    pub(in crate::settings) fn typed(self, word: &str) -> Written {
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
/// If the word is not valid; the message says what is expected.
pub fn typed<T: Value>(word: &str) -> Result<T, String> {
    T::read(&T::SHAPE.typed(word)).map_err(Refusal::for_flag)
}

/// The size of a value, for bounds and to decide which of two values is more polite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Amount {
    /// Requests, bytes, nanoseconds.
    Whole(u128),
    /// A share or a factor.
    Fraction(f64),
    /// More than any other amount.
    NoLimit,
}

impl Amount {
    /// The amount of a value that cannot be compared.
    pub(in crate::settings) const INCOMPARABLE: Self = Self::Fraction(f64::NAN);
}

/// The usual way to write a value; [`OrNone`](crate::settings::OrNone) is the other one.
pub struct Plain;

/// Maps the path of a file or folder to its new path.
pub type NewPath<'a> = dyn Fn(&Path) -> PathBuf + 'a;

/// A type that a setting can have. `Way` separates two ways to write the same type.
pub trait Value<Way = Plain>: Sized {
    /// How it is typed on a command line.
    const SHAPE: ValueSyntax;
    /// Whether it is a list.
    const IS_LIST: bool = false;

    /// The value in the form that files have.
    fn written(&self) -> Written;

    /// # Errors
    /// If the written value is not valid for this type.
    fn read(written: &Written) -> Result<Self, Refusal>;

    /// The amount, to compare it with others.
    fn amount(&self) -> Amount {
        Amount::INCOMPARABLE
    }

    /// The value as a default in the help.
    fn describe(&self) -> String {
        self.written().to_string()
    }

    /// Changes the paths of files and folders in the value.
    fn move_paths(&mut self, _to: &NewPath<'_>) {}
}
