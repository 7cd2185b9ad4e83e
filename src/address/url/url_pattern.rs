use std::fmt;
use std::str::FromStr;

use crate::{Host, PathPattern, Target, WebUrl};

/// URLs by host and path: `/shop/` on every host of a site, `blog.example.ke/2009/` on that host and those
/// below it, `example.ke` for all URLs of that host and those below it. A host must contain a dot, so that
/// `list` is an error. The path has the syntax of robots.txt (RFC 9309 §2.2.3): it is a prefix, `*` matches
/// anything, `$` marks the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    text: String,
    host: Option<Host>,
    path: PathPattern,
}

impl FromStr for UrlPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = |expected: &str| {
            format!("'{}' is not a URL pattern (expected for example {expected})", text.escape_debug())
        };
        let pattern = Self::parse(text.trim());
        let pattern = pattern.ok_or_else(|| invalid("'/shop/', '*/print$' or 'blog.example.ke/2009/'"))?;
        match pattern.lone_word() {
            Some(word) => Err(invalid(&format!("'*{word}*', '/{word}/' or '{word}.example.ke/'"))),
            None => Ok(pattern),
        }
    }
}

impl UrlPattern {
    fn parse(text: &str) -> Option<Self> {
        let (host, path) = Self::split(text);
        let host = if host.is_empty() && !text.is_empty() { None } else { Some(Host::parse(host).ok()?) };
        Some(Self { text: text.to_owned(), host, path: PathPattern::parse(path.as_bytes())? })
    }

    fn split(text: &str) -> (&str, &str) {
        text.find(['/', '*']).map_or((text, "/"), |at| text.split_at(at))
    }

    /// The host part if it is not a host that a survey meets: `list`, `shop/`, `2009/`. Users who write that
    /// mean a part of the path, and a pattern that matches nothing would go unnoticed.
    fn lone_word(&self) -> Option<&str> {
        let (host, _) = Self::split(&self.text);
        (!host.is_empty() && !host.contains(['.', '['])).then_some(host)
    }

    /// `target` is the target of the URL, prepared once for many patterns.
    #[must_use]
    pub fn matches(&self, url: &WebUrl, target: &Target) -> bool {
        self.host.as_ref().is_none_or(|host| url.host().is_at_or_below(host)) && self.path.matches(target)
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).unwrap()
    }

    #[test]
    fn patterns_are_paths_of_robots_txt_on_all_hosts_or_on_one_and_those_below() {
        let matches = |pattern: &str, text: &str| {
            let url = url(text);
            pattern.parse::<UrlPattern>().unwrap().matches(&url, &Target::new(url.target()))
        };
        assert!(matches("/shop/", "http://a.ke/shop/1") && !matches("/shop/", "http://a.ke/x/shop/1"));
        assert!(matches("*/print$", "http://a.ke/x/print") && !matches("*/print$", "http://a.ke/x/print/1"));
        assert!(matches("*sort=", "http://a.ke/x?sort=up"));
        assert!(matches("blog.a.ke/2009/", "https://x.blog.a.ke/2009/1"));
        assert!(!matches("blog.a.ke/2009/", "http://a.ke/2009/1") && !matches("a.ke", "http://ba.ke/"));
        assert!(matches("A.ke", "http://www.a.ke/any") && matches("a.ke/*.php", "http://a.ke/x/y.php"));
        assert!(matches("[2001:db8::1]", "http://[2001:db8::1]/any"));
        for none in ["", "a b/", "http://a.ke/", "?x"] {
            assert!(none.parse::<UrlPattern>().unwrap_err().contains("is not a URL pattern"), "{none:?}");
        }
    }

    #[test]
    fn a_word_alone_is_neither_path_nor_host() {
        for none in ["list", "list/", "list*", "2009", "shop/*.php", "LIST"] {
            assert!(none.parse::<UrlPattern>().unwrap_err().contains("is not a URL pattern"), "{none:?}");
        }
        for some in ["*list*", "/list/", "list.a.ke", "/list", "41.90.0.1/list"] {
            assert!(some.parse::<UrlPattern>().is_ok(), "{some}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_or_none_and_any_url_is_compared(pattern in ".{0,60}", path in "[ -~]{0,60}") {
            let pattern = pattern.parse::<UrlPattern>();
            if let (Ok(pattern), Ok(url)) = (pattern, WebUrl::parse(&format!("http://a.ke/{path}"))) {
                let _ = pattern.matches(&url, &Target::new(url.target()));
            }
        }
    }
}
