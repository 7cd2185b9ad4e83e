/// Declares a closed list of words in the tables, each once: an enum with the word and the meaning of each value.
///
/// A value's documentation is its meaning; the data dictionary shows it.
macro_rules! vocabulary {
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
            /// All of them, in the order in which they are declared.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The word in the tables.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// What this word stands for; none if it is not one of the list.
            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)+ _ => None }
            }

            /// What the word means, for the data dictionary.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($meaning),+),)+ }
            }
        }

        impl std::fmt::Display for $Words {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use vocabulary;

#[cfg(test)]
#[allow(unreachable_pub)] // Lists are public elsewhere.
mod tests {
    vocabulary! {
        /// For the test.
        pub enum Colour {
            /// As blood,
            /// in two lines.
            Red = "red",
            /// As the sea.
            DeepBlue = "deep_blue",
        }
    }

    #[test]
    fn a_word_stands_for_one_value_and_says_what_it_means() {
        assert_eq!(Colour::ALL, [Colour::Red, Colour::DeepBlue]);
        for colour in Colour::ALL {
            assert_eq!(Colour::named(&colour.to_string()), Some(*colour));
        }
        assert_eq!((Colour::named("blue"), Colour::DeepBlue.as_str()), (None, "deep_blue"));
        assert_eq!(Colour::Red.meaning(), " As blood, in two lines.");
    }
}
