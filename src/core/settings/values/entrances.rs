use std::fmt;
use std::str::FromStr;

/// Entrances that a site tree may try. Each is a request to the site, plus one for robots.txt if no earlier
/// request had its scheme and host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entrances {
    /// At most this many, the given URL included.
    UpTo(u8),
    /// As by default; afterwards also each of the site's four doors without a request so far, whatever the
    /// others brought.
    All,
}

/// How to use external URLs inside the surveyed country domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedBackRule {
    /// The URL itself becomes a start URL.
    #[default]
    Link,
    /// The front page of its host becomes a start URL.
    Door,
    /// Neither does: only the start list is surveyed.
    Off,
}

/// The URL that was given, the front page of its host, and the other scheme or another name of the site.
/// Together they find a site in spite of one dead link, a closed port and a name without an address.
const MOST: u8 = 4;

impl Default for Entrances {
    fn default() -> Self {
        Self::UpTo(MOST)
    }
}

impl Entrances {
    /// Whether only the given URL is tried.
    #[must_use]
    pub fn is_single(self) -> bool {
        self == Self::UpTo(1)
    }

    /// The largest number of entrances to try until one brings a page.
    #[must_use]
    pub fn limit(self) -> u16 {
        match self {
            Self::UpTo(most) => u16::from(most),
            Self::All => u16::from(MOST),
        }
    }
}

impl fmt::Display for Entrances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UpTo(most) => most.fmt(f),
            Self::All => f.write_str("all"),
        }
    }
}

impl FromStr for Entrances {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.trim(), text.trim().parse()) {
            ("all", _) => Ok(Self::All),
            (_, Ok(most @ 1..=MOST)) => Ok(Self::UpTo(most)),
            _ => Err(format!("'{text}' is not a number of entrances (expected 1 to {MOST}, or all)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Refusal, Value};

    #[test]
    fn entrances_are_written_as_a_number_or_all() {
        for (text, entrances) in
            [("1", Entrances::UpTo(1)), ("4", Entrances::UpTo(4)), ("all", Entrances::All)]
        {
            assert_eq!((text.parse(), entrances.to_string().as_str()), (Ok(entrances), text));
        }
        assert_eq!(
            "5".parse::<Entrances>(),
            Err("'5' is not a number of entrances (expected 1 to 4, or all)".to_owned())
        );
    }

    #[test]
    fn entrances_in_a_file_are_a_number_or_a_word() {
        let read = |json: &str| Entrances::read(&serde_json::from_str(json).unwrap());
        for (json, entrances) in
            [("1", Entrances::UpTo(1)), ("3", Entrances::UpTo(3)), ("\"all\"", Entrances::All)]
        {
            assert_eq!(read(json), Ok(entrances));
            assert_eq!(serde_json::to_string(&entrances.written()).unwrap(), json);
            assert_eq!(entrances.is_single(), json == "1");
        }
        assert_eq!(read("\"2\""), Ok(Entrances::UpTo(2)));
        for invalid in ["0", "5", "300", "\"some\""] {
            assert!(
                matches!(read(invalid), Err(Refusal::Message(told)) if told.ends_with("(expected 1 to 4, or all)"))
            );
        }
    }
}
