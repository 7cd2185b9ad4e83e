//! How the types of settings are written, read and compared.

pub(super) mod depth_rule;
pub(super) mod entrances;
pub(super) mod non_html;
pub(super) mod quantities;
pub(super) mod quiet_hours;
pub(super) mod request_budget;
pub(super) mod value;
pub(super) mod written;

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{DepthRule, Entrances, Extension, FeedBackRule, NonHtml, QuietHours, RequestBudget};
use crate::address::{ScopeRule, SuffixSection, UrlPattern};
use value::{Amount, NewPath, Value, ValueSyntax};
use written::{Refusal, Written};

macro_rules! whole_numbers {
    ($($type:ty),*) => {
        // `usize` has no `From` to types of the same width.
        $(#[allow(clippy::cast_lossless)]
        impl Value for $type {
            const SHAPE: ValueSyntax = ValueSyntax::Number;

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
    const SHAPE: ValueSyntax = ValueSyntax::Number;

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
    const SHAPE: ValueSyntax = ValueSyntax::Flag;

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
    const SHAPE: ValueSyntax = ValueSyntax::Path;

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
    const SHAPE: ValueSyntax = ValueSyntax::Text;

    fn written(&self) -> Written {
        Written::Text(self.to_string())
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        let refused = || written.refused("an address and a port in quotes, for example \"127.0.0.1:53\"");
        written.text().ok().and_then(|text| text.parse().ok()).ok_or_else(refused)
    }
}

impl Value for Entrances {
    const SHAPE: ValueSyntax = ValueSyntax::Text;

    fn written(&self) -> Written {
        match self {
            Self::UpTo(most) => Written::Whole(u64::from(*most)),
            Self::All => Written::Text(self.to_string()),
        }
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        written.text_or_number()?.parse().map_err(Refusal::Message)
    }
}

impl Value for DepthRule {
    const SHAPE: ValueSyntax = ValueSyntax::Text;

    fn written(&self) -> Written {
        match self {
            Self::Levels(levels) => levels.written(),
            Self::Auto => Written::Text(self.to_string()),
        }
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        written.text_or_number()?.parse().map_err(Refusal::Message)
    }

    fn amount(&self) -> Amount {
        match self {
            Self::Levels(levels) => levels.amount(),
            // `auto` forces no level to be fetched.
            Self::Auto => Amount::Whole(0),
        }
    }
}

impl Value for RequestBudget {
    const SHAPE: ValueSyntax = ValueSyntax::Text;

    fn written(&self) -> Written {
        match self {
            Self::Requests(requests) => requests.written(),
            Self::Percent(_) => Written::Text(self.to_string()),
        }
    }

    fn read(written: &Written) -> Result<Self, Refusal> {
        written.text_or_number()?.parse().map_err(Refusal::Message)
    }
}

/// Types that are written as their `Display` and read by their `FromStr`.
macro_rules! texts {
    ($($type:ty, $as_text:ident { $($more:item)* })*) => {
        $(impl Value for $type {
            const SHAPE: ValueSyntax = ValueSyntax::Text;

            fn written(&self) -> Written {
                Written::Text(self.to_string())
            }

            fn read(written: &Written) -> Result<Self, Refusal> {
                written.$as_text()?.parse().map_err(|error| Refusal::Message(format!("{error}")))
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

/// A setting with a fixed list of words.
pub trait Choice: Copy + PartialEq + 'static {
    /// The words, in the order of the choices.
    const WORDS: &'static [&'static str];
    /// The choices, in the order of their words.
    const CHOICES: &'static [Self];

    /// The choice for a word.
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
            const SHAPE: ValueSyntax = ValueSyntax::Word(Self::WORDS);

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
    const SHAPE: ValueSyntax = T::SHAPE;

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

    fn describe(&self) -> String {
        self.as_ref().map_or("none".to_owned(), T::describe)
    }

    fn move_paths(&mut self, to: &NewPath<'_>) {
        self.iter_mut().for_each(|value| value.move_paths(to));
    }
}

impl<T: Value> Value for Vec<T> {
    const SHAPE: ValueSyntax = T::SHAPE;
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

    fn describe(&self) -> String {
        if self.is_empty() { "none".to_owned() } else { self.written().to_string() }
    }

    fn move_paths(&mut self, to: &NewPath<'_>) {
        self.iter_mut().for_each(|value| value.move_paths(to));
    }
}
