use std::path::{Path, PathBuf};

use super::written::{Refusal, Written};

/// How a value is typed on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSyntax {
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

impl ValueSyntax {
    /// What stands on a command line, as files have it.
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
/// Says what is expected.
pub fn typed<T: Value>(word: &str) -> Result<T, String> {
    T::read(&T::SHAPE.typed(word)).map_err(Refusal::for_flag)
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
    pub(in crate::settings) const INCOMPARABLE: Self = Self::Fraction(f64::NAN);
}

/// The usual way to write a value. [`OrNone`](crate::settings::OrNone) is the other one.
pub struct Plain;

/// Where a file or folder is to be found from now on.
pub type NewPath<'a> = dyn Fn(&Path) -> PathBuf + 'a;

/// What a setting can be. `Way` tells apart two ways to write the same type.
pub trait Value<Way = Plain>: Sized {
    /// On a command line.
    const SHAPE: ValueSyntax;
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
