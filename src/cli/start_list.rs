use std::fs::File;
use std::io;
use std::path::Path;

use super::error::CliError;
use super::output::say;
use crate::address::WebUrl;
use crate::survey::StartList;

/// Bad lines that are told one by one; a list in a wrong format has one a line.
const MOST_TOLD: usize = 20;

/// Reads the start list of a survey and reports its bad lines.
///
/// # Errors
/// When it cannot be read, or has not one good line.
pub(super) fn read(file: &Path) -> Result<Vec<WebUrl>, CliError> {
    let is_standard_input = file == Path::new("-");
    let name = if is_standard_input { "standard input".to_owned() } else { file.display().to_string() };
    let list = if is_standard_input {
        StartList::read(io::stdin().lock())
    } else {
        File::open(file).and_then(StartList::read)
    };
    let list =
        list.map_err(|wrong| CliError::Usage(format!("cannot read the start list {name}: {wrong}")))?;
    for line in complaints(&name, &list) {
        say(&line);
    }
    if list.urls.is_empty() {
        let bad = list.bad.len();
        return Err(CliError::Usage(format!("{name}: no start URL in it ({bad} bad {})", lines(bad))));
    }
    Ok(list.urls)
}

fn complaints(name: &str, list: &StartList) -> Vec<String> {
    let told = list.bad.iter().take(MOST_TOLD);
    let mut complaints: Vec<String> = told
        .map(|bad| {
            format!("{name}: line {}: '{}' is skipped: {}", bad.line, bad.value.escape_debug(), bad.why)
        })
        .collect();
    if let more @ 1.. = list.bad.len().saturating_sub(MOST_TOLD) {
        complaints.push(format!("{name}: … and {more} more bad {}", lines(more)));
    }
    complaints
}

fn lines(count: usize) -> &'static str {
    if count == 1 { "line" } else { "lines" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_bad_lines_are_told_and_the_others_counted() {
        let list = StartList::read("nonsense\n".repeat(22).as_bytes()).unwrap();
        let told = complaints("s.csv", &list);
        assert_eq!(told.len(), 21);
        assert_eq!(told[0], "s.csv: line 1: 'nonsense' is skipped: neither a URL nor a host name");
        assert_eq!(told[20], "s.csv: … and 2 more bad lines");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let list = StartList::read(&b"\x1b[31mred\n"[..]).unwrap();
        assert!(complaints("s", &list)[0].contains("'\\u{1b}[31mred'"));
    }
}
