use std::fmt;
use std::str::FromStr;

/// How deep sites are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthRule {
    /// Down to this level.
    Levels(u16),
    /// As deep as the pages promise to be worth their requests.
    Auto,
}

impl fmt::Display for DepthRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Levels(levels) => levels.fmt(f),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl FromStr for DepthRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text.trim(), text.trim().parse()) {
            ("auto", _) => Ok(Self::Auto),
            (_, Ok(levels)) => Ok(Self::Levels(levels)),
            _ => Err(format!("'{text}' is not a depth (expected 0 to 1000 levels, or auto)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    #[test]
    fn a_depth_is_written_as_a_number_or_auto() {
        for (text, depth) in
            [("0", DepthRule::Levels(0)), ("20", DepthRule::Levels(20)), ("auto", DepthRule::Auto)]
        {
            assert_eq!((text.parse(), depth.to_string().as_str()), (Ok(depth), text));
            let json = serde_json::to_string(&depth.written()).unwrap();
            assert_eq!(json, if text == "auto" { "\"auto\"" } else { text });
            assert_eq!(DepthRule::read(&serde_json::from_str(&json).unwrap()), Ok(depth));
        }
        assert_eq!(
            "deep".parse::<DepthRule>(),
            Err("'deep' is not a depth (expected 0 to 1000 levels, or auto)".to_owned())
        );
    }
}
