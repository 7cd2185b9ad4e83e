/// The name of this crawler in robots directives.
const AGENT: &str = "ccsurvey";

/// Directives whose colon does not follow a robot's name.
const WITH_ARGUMENT: [&str; 4] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Whether a `meta` of this name is meant for us.
pub(super) fn is_for_us(meta_name: &str) -> bool {
    let name = meta_name.trim();
    name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(AGENT)
}

/// Whether the `content` of a robots `meta` asks not to follow the page's links.
pub(super) fn content_says_nofollow(content: &str) -> bool {
    content.split(|c: char| matches!(c, ',' | ';') || c.is_ascii_whitespace()).any(is_nofollow)
}

/// Whether an `X-Robots-Tag` asks us not to follow the page's links.
///
/// A robot's name applies to the directives after it, up to the next name: nothing in `otherbot: noindex,
/// nofollow` is meant for us.
pub(super) fn header_says_nofollow(value: &str) -> bool {
    let mut is_ours = true;
    for piece in value.split(',') {
        let directive = match piece.split_once(':') {
            Some((name, directive)) if is_agent(name.trim()) => {
                is_ours = matches!(name.trim(), "*") || name.trim().eq_ignore_ascii_case(AGENT);
                directive
            }
            _ => piece,
        };
        if is_ours && is_nofollow(directive) {
            return true;
        }
    }
    false
}

fn is_agent(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(|c: char| c.is_ascii_whitespace())
        && !WITH_ARGUMENT.iter().any(|directive| name.eq_ignore_ascii_case(directive))
}

fn is_nofollow(directive: &str) -> bool {
    let directive = directive.trim();
    directive.eq_ignore_ascii_case("nofollow") || directive.eq_ignore_ascii_case("none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nofollow_and_none_are_heard_in_any_case_and_company() {
        for content in ["nofollow", "NOINDEX,NoFollow", "none", "index; nofollow", " noindex  nofollow "] {
            assert!(content_says_nofollow(content), "{content}");
        }
        for content in ["", "noindex", "follow, index", "nofollowing", "all"] {
            assert!(!content_says_nofollow(content), "{content}");
        }
    }

    #[test]
    fn a_header_for_all_or_for_us_is_heard() {
        for value in [
            "nofollow",
            "noindex, none",
            "ccsurvey: none",
            "otherbot: noindex, CCSurvey: nofollow",
            "*: nofollow",
        ] {
            assert!(header_says_nofollow(value), "{value}");
        }
    }

    #[test]
    fn a_header_for_another_robot_is_not() {
        for value in [
            "otherbot: nofollow",
            "otherbot: noindex, nofollow",
            "noindex",
            "",
            "ccsurvey: noindex, otherbot: none",
        ] {
            assert!(!header_says_nofollow(value), "{value}");
        }
    }

    #[test]
    fn a_date_or_a_length_is_not_taken_for_a_robot() {
        assert!(header_says_nofollow("unavailable_after: Friday, 25-Jun-10 15:00:00 PST, nofollow"));
        assert!(header_says_nofollow("max-snippet: 20, nofollow"));
    }

    #[test]
    fn a_meta_speaks_to_robots_or_to_us() {
        assert!(is_for_us("ROBOTS"));
        assert!(is_for_us(" ccsurvey "));
        assert!(!is_for_us("googlebot"));
    }
}
