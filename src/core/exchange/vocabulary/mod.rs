//! The closed lists of words in the tables: why an exchange failed, how a site ended, why a URL was not
//! fetched.

pub(super) mod class;
pub(super) mod content_class;
pub(super) mod door;
pub(super) mod entrance;
pub(super) mod failure;
pub(super) mod outcome;
pub(super) mod robots_state;
pub(super) mod tls_error;

/// Declares a closed list of words in the tables, each once: an enum with the word and the meaning of each
/// value. If the list has groups, each value also has its group and its label in reports (`enum Words in
/// Groups`, `Name = "word" in Group as "label"`; without a label it is the word).
///
/// The doc comment of a value is its meaning; the data dictionary shows it.
#[macro_export]
macro_rules! vocabulary {
    (@label $word:literal) => { $word };
    (@label $word:literal $label:literal) => { $label };
    (
        $(#[$about:meta])*
        $vis:vis enum $Words:ident in $Groups:ident {
            $($(#[doc = $meaning:literal])+ $name:ident = $word:literal in $group:ident $(as $label:literal)?,)+
        }
    ) => {
        $crate::vocabulary! {
            $(#[$about])*
            $vis enum $Words {
                $($(#[doc = $meaning])+ $name = $word,)+
            }
        }

        impl $Words {
            /// The group of this word.
            #[must_use]
            pub const fn group(self) -> $Groups {
                match self { $(Self::$name => $Groups::$group,)+ }
            }

            /// The word as reports print it.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self { $(Self::$name => $crate::vocabulary!(@label $word $($label)?),)+ }
            }
        }
    };
    (
        $(#[$about:meta])*
        $vis:vis enum $Words:ident {
            $($(#[doc = $meaning:literal])+ $name:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        $vis enum $Words {
            $($(#[doc = $meaning])+ $name,)+
        }

        impl $Words {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The word in the tables.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// The value for this word; none if the word is not in the list.
            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)+ _ => None }
            }

            /// The meaning of the word, for the data dictionary.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($meaning),+).trim_ascii(),)+ }
            }
        }

        impl std::fmt::Display for $Words {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub use crate::vocabulary;

#[cfg(test)]
#[allow(unreachable_pub)] // Lists are public elsewhere.
mod tests {
    vocabulary! {
        /// For the test.
        pub enum Colour in Warmth {
            /// As blood,
            /// in two lines.
            Red = "red" in Warm as "blood red",
            /// As the sea.
            DeepBlue = "deep_blue" in Cold,
        }
    }

    vocabulary! {
        /// Of colours.
        pub enum Warmth {
            /// As fire.
            Warm = "warm",
            /// As ice.
            Cold = "cold",
        }
    }

    #[test]
    fn a_word_stands_for_one_value_and_says_what_it_means() {
        assert_eq!(Colour::ALL, [Colour::Red, Colour::DeepBlue]);
        for colour in Colour::ALL {
            assert_eq!(Colour::named(&colour.to_string()), Some(*colour));
        }
        assert_eq!((Colour::named("blue"), Colour::DeepBlue.as_str()), (None, "deep_blue"));
        assert_eq!((Colour::Red.label(), Colour::DeepBlue.label()), ("blood red", "deep_blue"));
        assert_eq!(Colour::Red.meaning(), "As blood, in two lines.");
        assert_eq!((Colour::Red.group(), Colour::DeepBlue.group()), (Warmth::Warm, Warmth::Cold));
        assert_eq!(Warmth::named("warm"), Some(Warmth::ALL[0]));
        assert_eq!(Warmth::Cold.meaning(), "As ice.");
    }
}
