use std::fs::File;
use std::io;
use std::path::Path;

use clap::Args;

use super::error::CliError;
use super::output::say;
use crate::address::WebUrl;
use crate::records::units::{count, thousands};
use crate::starts::{Area, ColumnChoice, Form, Labels, LeftOut, Packing, StartError, StartList};

/// How a start list is to be read, and what of it is surveyed: about one run, and no settings.
#[derive(Args, Clone, Debug)]
pub(super) struct ListFlags {
    /// The column of the start list that holds its URLs or host names: its name in the header, or its number from 1
    /// [default: the one with most names inside the country domains]
    #[arg(long, value_name = "NAME|N", value_parser = |text: &str| text.parse::<ColumnChoice>())]
    column: Option<ColumnChoice>,

    /// Survey start URLs outside the country domains, and those whose host is an address, too. Otherwise they are
    /// counted, listed in DIR/outside.csv and left out. Links that lead outside are never followed to new sites
    #[arg(long)]
    outside_cctld: bool,

    /// Begin even where less than a tenth of the start URLs lies inside the country domains
    #[arg(long)]
    start_anyway: bool,

    /// Take the good lines of the start list even where more than a tenth is bad
    #[arg(long)]
    skip_bad: bool,
}

impl ListFlags {
    /// Reads the start list of a survey; says what is in it and how it was read.
    ///
    /// # Errors
    /// When it cannot be read, has nothing to survey, more than a tenth of its lines is bad and these are not to be
    /// skipped, or less than a tenth of its start URLs lies inside the country domains.
    pub(super) fn read(&self, file: &Path, area: Area) -> Result<StartList, CliError> {
        let name = name_of(file);
        let area = Area { takes_outside: self.outside_cctld, ..area };
        let list =
            open(file, Some(&area), self.column.as_ref()).map_err(|error| unreadable(&name, &error))?;
        let lines = complaints(&list).into_iter().chain(left_out(&list, &area)).chain(how_it_was_read(&list));
        lines.chain([contents(&list, &area)]).for_each(|line| say(&format!("{name}: {line}")));
        self.refuse(&name, &list, &area)?;
        Ok(list)
    }

    fn refuse(&self, name: &str, list: &StartList, area: &Area) -> Result<(), CliError> {
        let counts = &list.counts;
        let found = counts.inside + counts.outside;
        if list.is_mostly_odd() && found > 0 && !self.skip_bad {
            let (bad, lines) = (thousands(counts.bad), count(counts.lines, "line"));
            return Err(CliError::Usage(format!(
                "{name}: {bad} of {lines} are bad, more than a tenth: is it the list that you mean? (--skip-bad takes the rest)"
            )));
        }
        if list.is_mostly_outside() && !self.start_anyway {
            let (inside, all) = (thousands(counts.inside), count(found, "start URL"));
            let lies = if counts.inside == 1 { "lies" } else { "lie" };
            let column = match (&list.form, &self.column) {
                (Form::Columns { columns: 2.., .. }, None) => ", --column chooses another column",
                _ => "",
            };
            return Err(CliError::Usage(format!(
                "{name}: {inside} of {all} {lies} inside {}, less than a tenth: is it the list that you mean? \
                 (--start-anyway begins all the same, --outside-cctld takes the others in{column})",
                domains(area)
            )));
        }
        refuse_empty(name, list, Some(area))
    }
}

/// Reads the start URLs of a world or a recorded survey; says what is bad.
///
/// # Errors
/// When the list cannot be read or has not one good line.
pub(super) fn read_urls(file: &Path) -> Result<Vec<WebUrl>, CliError> {
    let name = name_of(file);
    let list = open(file, None, None).map_err(|error| unreadable(&name, &error))?;
    complaints(&list).iter().for_each(|line| say(&format!("{name}: {line}")));
    refuse_empty(&name, &list, None)?;
    Ok(list.urls().collect())
}

fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

fn open(file: &Path, area: Option<&Area>, column: Option<&ColumnChoice>) -> Result<StartList, StartError> {
    if file == Path::new("-") {
        StartList::read_column(io::stdin().lock(), area, column)
    } else {
        StartList::read_column(File::open(file)?, area, column)
    }
}

fn unreadable(name: &str, error: &StartError) -> CliError {
    CliError::Usage(format!("cannot read the start list {name}: {error}"))
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
        Some(area) if list.counts.outside > 0 => {
            format!("no start URL in it lies inside {} (--outside-cctld takes the others in)", domains(area))
        }
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

/// The first start URLs that are left out, for they lie outside the country domains.
fn left_out(list: &StartList, area: &Area) -> Vec<String> {
    let outside = list.left_out.iter();
    let mut lines: Vec<String> = outside
        .map(|LeftOut { line, url }| {
            format!("line {line}: {url} is left out: it lies outside {}", domains(area))
        })
        .collect();
    let number = if area.takes_outside { 0 } else { list.counts.outside };
    if let more @ 1.. = number - list.left_out.len() as u64 {
        lines.push(format!("… and {} outside {}", count(more, "more start URL"), domains(area)));
    }
    lines
}

/// `.ke, .tz`
fn domains(area: &Area) -> String {
    let domains: Vec<String> = area.countries.iter().map(|domain| format!(".{domain}")).collect();
    domains.join(", ")
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
        Form::Names { .. } => "several URLs or host names a line: all are taken".to_owned(),
        Form::Columns { columns: 1, .. } => {
            "host names that begin with the top level are turned round".to_owned()
        }
        Form::Columns { separator, column, columns, header, labels } => {
            let (number, turned) = (
                column + 1,
                match labels {
                    Labels::Usual => "",
                    Labels::Reversed => ", its host names, which begin with the top level, turned round",
                },
            );
            match header {
                None => format!(
                    "columns separated by {separator}, no header: column {number} of {columns} is taken{turned}"
                ),
                Some(header) => format!(
                    "columns separated by {separator}: '{}', column {number} of {columns}, is taken{turned}",
                    header.escape_debug()
                ),
            }
        }
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
    let mut odd = Vec::new();
    if counts.doubled > 0 {
        odd.push(format!("{} doubled", thousands(counts.doubled)));
    }
    if counts.outside > 0 {
        let fate = if area.takes_outside { "" } else { " left out" };
        odd.push(format!("{} outside {}{fate}", thousands(counts.outside), domains(area)));
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
