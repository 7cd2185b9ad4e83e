use std::fs::File;
use std::io;
use std::path::Path;

use super::error::CliError;
use super::output::say;
use crate::address::WebUrl;
use crate::records::units::{count, thousands};
use crate::starts::{Area, Form, Packing, StartError, StartList};

/// Reads the start list of a survey; says what is in it and how it was read.
///
/// # Errors
/// When it cannot be read, has not one good line, or more than a tenth of its lines is bad and these are not to be
/// skipped.
pub(super) fn read(file: &Path, area: &Area, skip_bad: bool) -> Result<StartList, CliError> {
    let name = name_of(file);
    let list = open(file, Some(area)).map_err(|wrong| unreadable(&name, &wrong))?;
    let told = complaints(&list).into_iter().chain(how_it_was_read(&list)).chain([contents(&list, area)]);
    told.for_each(|line| say(&format!("{name}: {line}")));
    if list.is_mostly_odd() && !list.is_empty() && !skip_bad {
        let (bad, lines) = (thousands(list.counts.bad), count(list.counts.lines, "line"));
        return Err(CliError::Usage(format!(
            "{name}: {bad} of {lines} are bad, more than a tenth: is it the list that you mean? (--skip-bad takes the rest)"
        )));
    }
    refuse_empty(&name, &list, Some(area))?;
    Ok(list)
}

/// Reads the start URLs of a world or a recorded survey; says what is bad.
///
/// # Errors
/// When the list cannot be read or has not one good line.
pub(super) fn read_urls(file: &Path) -> Result<Vec<WebUrl>, CliError> {
    let name = name_of(file);
    let list = open(file, None).map_err(|wrong| unreadable(&name, &wrong))?;
    complaints(&list).iter().for_each(|line| say(&format!("{name}: {line}")));
    refuse_empty(&name, &list, None)?;
    Ok(list.urls().collect())
}

fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

fn open(file: &Path, area: Option<&Area>) -> Result<StartList, StartError> {
    if file == Path::new("-") {
        StartList::read(io::stdin().lock(), area)
    } else {
        StartList::read(File::open(file)?, area)
    }
}

fn unreadable(name: &str, wrong: &StartError) -> CliError {
    CliError::Usage(format!("cannot read the start list {name}: {wrong}"))
}

fn refuse_empty(name: &str, list: &StartList, area: Option<&Area>) -> Result<(), CliError> {
    if !list.is_empty() {
        return Ok(());
    }
    let why = match area {
        Some(area) if list.counts.sites_in_list > 0 => format!(
            "none of its {} is drawn by --sample {} (give a greater share or another --seed)",
            count(list.counts.sites_in_list, "site"),
            area.sample.share
        ),
        _ => format!("no start URL in it ({})", count(list.counts.bad, "bad line")),
    };
    Err(CliError::Usage(format!("{name}: {why}")))
}

/// The first bad lines with their reasons.
fn complaints(list: &StartList) -> Vec<String> {
    let told = list.bad.iter();
    let mut complaints: Vec<String> = told
        .map(|bad| format!("line {}: '{}' is skipped: {}", bad.line, bad.value.escape_debug(), bad.why))
        .collect();
    if let more @ 1.. = list.counts.bad - list.bad.len() as u64 {
        complaints.push(format!("… and {}", count(more, "more bad line")));
    }
    complaints
}

/// Which form the list has, where there could be a doubt.
fn how_it_was_read(list: &StartList) -> Option<String> {
    let packing = match list.packing {
        Packing::None => "",
        Packing::Gzip => "packed with gzip; ",
        Packing::Zstd => "packed with zstd; ",
    };
    let form = match &list.form {
        Form::Lines | Form::LinesWithHeader if packing.is_empty() => return None,
        Form::Lines | Form::LinesWithHeader => "a URL or host name a line".to_owned(),
        Form::Columns { separator, column, columns, header: None } => {
            format!(
                "columns separated by {separator}, no header: column {} of {columns} is taken",
                column + 1
            )
        }
        Form::Columns { separator, column, columns, header: Some(header) } => format!(
            "columns separated by {separator}: '{}', column {} of {columns}, is taken",
            header.escape_debug(),
            column + 1
        ),
        Form::Zone => {
            let zone =
                list.zone.as_deref().map(|zone| format!(" of {}", zone.escape_debug())).unwrap_or_default();
            format!("a zone file{zone}: names below it with NS records are taken")
        }
    };
    Some(format!("{packing}{form}"))
}

/// How much of everything is in the list.
fn contents(list: &StartList, area: &Area) -> String {
    let counts = &list.counts;
    let sites = match area.sample.share {
        1.0 => count(counts.sites, "site"),
        share => {
            let (drawn, all, seed) =
                (thousands(counts.sites), count(counts.sites_in_list, "site"), area.sample.seed);
            format!("{drawn} of {all} (--sample {share} --seed {seed})")
        }
    };
    let domains: Vec<String> = area.countries.iter().map(|domain| format!(".{domain}")).collect();
    let mut odd = Vec::new();
    if counts.doubled > 0 {
        odd.push(format!("{} doubled", thousands(counts.doubled)));
    }
    if counts.outside > 0 {
        odd.push(format!("{} outside {}", thousands(counts.outside), domains.join(", ")));
    }
    if counts.bad > 0 {
        odd.push(format!("{} skipped", count(counts.bad, "bad line")));
    }
    let odd = if odd.is_empty() { String::new() } else { format!("; {}", odd.join(", ")) };
    format!("{} on {sites}{odd}", count(counts.urls, "start URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> StartList {
        StartList::read(text.as_bytes(), None).unwrap()
    }

    #[test]
    fn ten_bad_lines_are_told_and_the_others_counted() {
        let told = complaints(&list(&"nonsense\n".repeat(12)));
        assert_eq!(told.len(), 11);
        assert_eq!(told[0], "line 1: 'nonsense' is skipped: neither a URL nor a host name");
        assert_eq!(told[10], "… and 2 more bad lines");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert!(complaints(&list("\x1b[31mred\n"))[0].contains("'\\u{1b}[31mred'"));
        let header = how_it_was_read(&list("r,\u{202e}nk\n1,a.ke\n2,b.ke\n")).unwrap();
        assert_eq!(header, "columns separated by commas: '\\u{202e}nk', column 2 of 2, is taken");
    }
}
