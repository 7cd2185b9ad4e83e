use crate::analysis::{Evidence, SitesNeeded};
use crate::records::units::{count, percent, thousands};

/// The curve that decides at a confidence.
pub(super) fn describe_confidence(confidence: f64) -> String {
    if confidence > Evidence::EVEN_ODDS {
        format!("at a confidence of {}", percent(confidence))
    } else {
        "by the corrected curve".to_owned()
    }
}

/// The risk, when the curve decided on a coverage.
pub(super) fn describe_low_coverage(low: f64) -> String {
    format!("among all such sites, coverage may be as low as {}", percent(low))
}

/// The number of site trees that would narrow an interval enough.
pub(super) fn describe_needed_sites(settling: SitesNeeded, trees: u64) -> String {
    format!(
        "About {} would settle it, with an interval of ± {:.0} percentage points; this survey has {}.",
        count(settling.more_sites, "more site tree"),
        settling.within * 100.0,
        thousands(trees)
    )
}

/// The verdict, with the further sentences indented below it.
pub(super) fn format_verdict([verdict, more @ ..]: &[String; 3]) -> String {
    more.iter().fold(wrapped(0, verdict), |text, sentence| text + &wrapped(2, sentence))
}

/// The maximum number of columns of a line of text.
const WIDTH: usize = 120;

/// Breaks sentences into indented lines of at most [`WIDTH`] columns, without breaking a word.
pub(super) fn wrapped(indent: usize, text: &str) -> String {
    let (mut lines, mut line) = (String::new(), " ".repeat(indent));
    for word in text.split_ascii_whitespace() {
        let is_first = line.len() == indent;
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines = lines + &line + "\n";
            line = " ".repeat(indent) + word;
        } else {
            line = line + if is_first { "" } else { " " } + word;
        }
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_indented_and_as_long_as_they_may_be() {
        assert_eq!(wrapped(2, "One line."), "  One line.\n");
        let text = wrapped(2, &"four ".repeat(60));
        let lines: Vec<usize> = text.lines().map(str::len).collect();
        // 118 columns remain after the indentation: 23 words of 4 letters and 22 spaces take 114; one more is
        // too long.
        assert_eq!(lines, [116, 116, 71]);
        assert!(text.lines().all(|line| line.starts_with("  four")));
        let long = "w".repeat(300);
        assert_eq!(wrapped(0, &format!("a {long} b")), format!("a\n{long}\nb\n"));
    }
}
