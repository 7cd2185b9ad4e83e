use std::fs::File;
use std::io;
use std::path::Path;

use clap::Args;

use crate::address::WebUrl;
use crate::cli::error::CliError;
use crate::cli::output::print_message;
use crate::records::units::{count, thousands};
use crate::starts::{Area, BadLine, ColumnChoice, Form, Labels, OutsideUrl, Packing, StartError, StartList};

/// How to read a start list, and which part of it to survey: options of a single run, not settings.
#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct ListFlags {
    /// The column of the start list with the URLs or host names: its name in the header, or its number,
    /// counted from 1 [default: a column with a known name such as url or domain, or else the one with
    /// the most sites inside the country domains]
    #[arg(long, value_name = "NAME|N", value_parser = |text: &str| text.parse::<ColumnChoice>())]
    column: Option<ColumnChoice>,

    /// Also survey start URLs outside the country domains, and those whose host is an IP address. By default
    /// they are counted, listed in DIR/outside.csv and left out. Links that lead outside are never followed
    /// to new sites
    #[arg(long)]
    outside_cctld: bool,

    /// Start even if less than a tenth of the start URLs are inside the country domains
    #[arg(long)]
    start_anyway: bool,

    /// Use the good lines of the start list even if more than a tenth of its lines are bad, or if names of a
    /// zone file are missing. Bad lines are listed in DIR/skipped.csv
    #[arg(long)]
    skip_bad: bool,
}

impl ListFlags {
    /// Reads the start list of a survey, and reports its contents and how it was read.
    ///
    /// # Errors
    /// When the list cannot be read or has nothing to survey; when more than a tenth of its lines is bad, or
    /// names are missing, and these are not to be skipped; or when less than a tenth of its start URLs lies
    /// inside the country domains.
    pub(in crate::cli) fn read(&self, file: &Path, area: Area) -> Result<StartList, CliError> {
        let name = display_name(file);
        let area = Area { includes_outside: self.outside_cctld, ..area };
        let list =
            open(file, Some(&area), self.column.as_ref()).map_err(|error| read_error(&name, &error))?;
        let refused = self.refuse(&name, &list, &area);
        let complaints = complaints(&list, refused.is_ok());
        let lines = complaints.into_iter().chain(left_out(&list, &area)).chain(describe_form(&list));
        lines
            .chain([describe_contents(&list, &area)])
            .for_each(|line| print_message(&format!("{name}: {line}")));
        refused.map(|()| list)
    }

    fn refuse(&self, name: &str, list: &StartList, area: &Area) -> Result<(), CliError> {
        let counts = &list.counts;
        let found = counts.inside + counts.outside;
        if list.is_mostly_bad() && found > 0 && !self.skip_bad {
            let (bad, lines) = (thousands(counts.bad), count(counts.lines, "line"));
            let are = if counts.bad == 1 { "is" } else { "are" };
            return Err(CliError::Usage(format!(
                "{name}: {bad} of {lines} {are} bad, more than a tenth: is this the right list? (--skip-bad uses the other lines)"
            )));
        }
        if list.has_unread_names() && !self.skip_bad {
            let (lines, stand) =
                (count(counts.unread, "line"), if counts.unread == 1 { "stands" } else { "stand" });
            return Err(CliError::Usage(format!(
                "{name}: {lines} in it {stand} for names that are not in the list: write out the names instead (--skip-bad \
                 starts without them)"
            )));
        }
        if list.is_mostly_outside() && !self.start_anyway {
            let (inside, all) = (thousands(counts.inside), count(found, "start URL"));
            let are = if counts.inside == 1 { "is" } else { "are" };
            let column = match (&list.form, &self.column) {
                (Form::Columns { columns: 2.., .. }, None) => ", --column chooses another column",
                _ => "",
            };
            return Err(CliError::Usage(format!(
                "{name}: {inside} of {all} {are} inside {}, less than a tenth: is this the right list? (--start-anyway \
                 starts anyway, --outside-cctld also surveys the others{column})",
                domains(area)
            )));
        }
        refuse_empty(name, list, Some(area))
    }
}

/// Reads the start URLs of a world or a recorded survey, and reports bad lines.
///
/// # Errors
/// When the list cannot be read or has no good line.
pub(in crate::cli) fn read_urls(file: &Path) -> Result<Vec<WebUrl>, CliError> {
    let name = display_name(file);
    let list = open(file, None, None).map_err(|error| read_error(&name, &error))?;
    complaints(&list, false).iter().for_each(|line| print_message(&format!("{name}: {line}")));
    refuse_empty(&name, &list, None)?;
    Ok(list.urls().collect())
}

fn display_name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}

fn open(file: &Path, area: Option<&Area>, column: Option<&ColumnChoice>) -> Result<StartList, StartError> {
    if file == Path::new("-") {
        StartList::read_column(io::stdin().lock(), area, column)
    } else {
        StartList::read_column(File::open(file)?, area, column)
    }
}

fn read_error(name: &str, error: &StartError) -> CliError {
    CliError::Usage(format!("cannot read the start list {name}: {error}"))
}

fn refuse_empty(name: &str, list: &StartList, area: Option<&Area>) -> Result<(), CliError> {
    if !list.is_empty() {
        return Ok(());
    }
    let why = match area {
        Some(area) if list.counts.sites_in_list > 0 => format!(
            "--sample {} selects no site; the list has {} (use a larger share or another --seed)",
            area.sample.share,
            count(list.counts.sites_in_list, "site")
        ),
        Some(area) if list.counts.outside > 0 => {
            format!(
                "none of its start URLs is inside {} (--outside-cctld also surveys the others)",
                domains(area)
            )
        }
        _ => no_start_url(list),
    };
    Err(CliError::Usage(format!("{name}: {why}")))
}

/// Why there is nothing to start with.
fn no_start_url(list: &StartList) -> String {
    let counts = &list.counts;
    let mut found = vec![count(counts.bad, "bad line")];
    if counts.without_value > 0 {
        found.push(without_value(list));
    }
    if counts.commented > 0 {
        found.push(commented(list));
    }
    let advice = if counts.without_ns > 0 {
        let have = if counts.without_ns == 1 { "has" } else { "have" };
        let names = count(counts.without_ns, "name");
        found.push(format!("{names} {have} no NS record"));
        ": to survey the names of other records, list only the names, one per line"
    } else {
        ""
    };
    format!("no start URL found ({}){advice}", found.join(", "))
}

/// `3 rows without a value`
fn without_value(list: &StartList) -> String {
    format!("{} without a value", count(list.counts.without_value, "row"))
}

/// `3 comments ('#') that name hosts`
fn commented(list: &StartList) -> String {
    let name = if list.counts.commented == 1 { "names" } else { "name" };
    format!("{} ('#') that {name} hosts", count(list.counts.commented, "comment"))
}

/// The number of bad lines that are reported one by one.
const MAX_LISTED: usize = 10;
/// For the others: the number of reasons, and of runs of lines per reason.
const MAX_REASONS: usize = 20;
const MAX_RUNS: usize = 30;

/// The bad lines with their reasons, the first ones individually. A survey that starts lists the others in
/// its folder; otherwise they are reported by reason.
fn complaints(list: &StartList, is_accepted: bool) -> Vec<String> {
    let (first, others) = list.bad.split_at(list.bad.len().min(MAX_LISTED));
    let mut complaints: Vec<String> = first
        .iter()
        .map(|bad| format!("line {}: '{}' is skipped: {}", bad.line, bad.value.escape_debug(), bad.why))
        .collect();
    let more = count(list.counts.bad - first.len() as u64, "more bad line");
    match others {
        [] => {}
        _ if is_accepted => {
            complaints.push(format!("… and {more}: all are listed in skipped.csv in the survey's folder"));
        }
        _ => {
            complaints.push(format!("… and {more}:"));
            complaints.extend(by_reason(others));
        }
    }
    complaints
}

/// `lines 11–14, 20: neither a URL nor a host name`, for each reason.
fn by_reason(bad: &[BadLine]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<(u64, u64)>)> = Vec::new();
    for BadLine { line, why, .. } in bad {
        let index = reasons.iter().position(|(reason, _)| reason == why);
        let index = index.unwrap_or_else(|| {
            reasons.push((why, Vec::new()));
            reasons.len() - 1
        });
        let runs = &mut reasons[index].1;
        match runs.last_mut() {
            Some((_, end)) if *line <= *end + 1 => *end = *line,
            _ => runs.push((*line, *line)),
        }
    }
    let messages = reasons.iter().take(MAX_REASONS).map(|(why, runs)| {
        let is_single_line = matches!(runs[..], [(begin, end)] if begin == end);
        let mut lines: Vec<String> = runs
            .iter()
            .take(MAX_RUNS)
            .map(|(begin, end)| if begin == end { begin.to_string() } else { format!("{begin}–{end}") })
            .collect();
        if runs.len() > MAX_RUNS {
            lines.push("…".to_owned());
        }
        format!("{} {}: {why}", if is_single_line { "line" } else { "lines" }, lines.join(", "))
    });
    let more = reasons.len().saturating_sub(MAX_REASONS) as u64;
    messages.chain((more > 0).then(|| format!("… and lines for {}", count(more, "more reason")))).collect()
}

/// The first start URLs that are left out because they lie outside the country domains.
fn left_out(list: &StartList, area: &Area) -> Vec<String> {
    let outside = list.left_out.iter();
    let mut lines: Vec<String> = outside
        .map(|OutsideUrl { line, url }| {
            format!("line {line}: {url} is left out: it is outside {}", domains(area))
        })
        .collect();
    let number = if area.includes_outside { 0 } else { list.counts.outside };
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

/// The form of the list, where it is not obvious.
fn describe_form(list: &StartList) -> Option<String> {
    let packing = match list.packing {
        Packing::None => "",
        Packing::Gzip => "compressed with gzip; ",
        Packing::Zstd => "compressed with zstd; ",
    };
    let form = match &list.form {
        Form::Lines | Form::LinesWithHeader if packing.is_empty() => return None,
        Form::Lines | Form::LinesWithHeader => "one URL or host name per line".to_owned(),
        Form::Names { .. } => "several URLs or host names per line: all are used".to_owned(),
        Form::Columns { columns: 1, .. } => {
            "host names that begin with the top-level domain are reversed".to_owned()
        }
        Form::Columns { separator, column, columns, header, labels } => {
            let (number, reversed_note) = (
                column + 1,
                match labels {
                    Labels::Usual => "",
                    Labels::Reversed => {
                        ", with its host names reversed, because they begin with the top-level domain"
                    }
                },
            );
            match header {
                None => format!(
                    "columns separated by {separator}, no header: column {number} of {columns} is used{reversed_note}"
                ),
                Some(header) => format!(
                    "columns separated by {separator}: '{}', column {number} of {columns}, is used{reversed_note}",
                    header.escape_debug()
                ),
            }
        }
        Form::Zone => {
            let zone =
                list.zone.as_deref().map(|zone| format!(" of {}", zone.escape_debug())).unwrap_or_default();
            let others = match list.counts.without_ns {
                0 => String::new(),
                1 => "; 1 name without an NS record is not".to_owned(),
                names => format!("; {} without NS records are not", count(names, "name")),
            };
            format!("a zone file{zone}: names below it with NS records are used{others}")
        }
    };
    Some(format!("{packing}{form}"))
}

/// The counts of everything in the list.
fn describe_contents(list: &StartList, area: &Area) -> String {
    let counts = &list.counts;
    let sites = match area.sample.share {
        1.0 => count(counts.sites, "site"),
        share => {
            let (sampled, all, seed) =
                (thousands(counts.sites), count(counts.sites_in_list, "site"), area.sample.seed);
            format!("{sampled} of {all} (--sample {share} --seed {seed})")
        }
    };
    let mut irregularities = Vec::new();
    if counts.doubled > 0 {
        irregularities.push(count(counts.doubled, "duplicate"));
    }
    if counts.outside > 0 {
        let outside_note = if area.includes_outside { "" } else { " left out" };
        irregularities.push(format!("{} outside {}{outside_note}", thousands(counts.outside), domains(area)));
    }
    if counts.bad > 0 {
        irregularities.push(format!("{} skipped", count(counts.bad, "bad line")));
    }
    if counts.without_value > 0 {
        irregularities.push(without_value(list));
    }
    if counts.commented > 0 {
        irregularities.push(commented(list));
    }
    let irregularities =
        if irregularities.is_empty() { String::new() } else { format!("; {}", irregularities.join(", ")) };
    format!("{} on {sites}{irregularities}", count(counts.urls, "start URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> StartList {
        StartList::read(text.as_bytes(), None).unwrap()
    }

    #[test]
    fn ten_bad_lines_are_told_and_of_the_others_where_they_stand() {
        let many = list(&format!("{}me@y.ke\n\n1.5\nme@y.ke\nme@y.ke\n", "nonsense\n".repeat(12)));
        let messages = complaints(&many, false);
        assert_eq!(messages[0], "line 1: 'nonsense' is skipped: neither a URL nor a host name");
        assert_eq!(
            messages[10..],
            [
                "… and 6 more bad lines:",
                "lines 11–12, 15: neither a URL nor a host name",
                "lines 13, 16–17: a mail address, not a host name",
            ]
        );
        let messages = complaints(&many, true);
        assert_eq!(
            messages[10..],
            ["… and 6 more bad lines: all are listed in skipped.csv in the survey's folder"]
        );
        assert_eq!(complaints(&list(&"nonsense\n".repeat(10)), true).len(), 10);
        let eleven = complaints(&list(&"nonsense\n".repeat(11)), false);
        assert_eq!(eleven[10..], ["… and 1 more bad line:", "line 11: neither a URL nor a host name"]);
    }

    #[test]
    fn a_list_of_many_odd_lines_fills_no_screen() {
        let lines: String = (0..2000).map(|n| format!("me@y.ke\nx.{}\u{fe}*.ke\n", n % 200)).collect();
        let messages = complaints(&list(&lines), false);
        assert!(
            messages.len() < 10 + 3 + MAX_REASONS && messages.iter().all(|line| line.len() < 400),
            "{messages:?}"
        );
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert!(complaints(&list("\x1b[31mred\n"), true)[0].contains("'\\u{1b}[31mred'"));
        let header = describe_form(&list("r,\u{202e}nk\n1,a.ke\n2,b.ke\n")).unwrap();
        assert_eq!(header, "columns separated by commas: '\\u{202e}nk', column 2 of 2, is used");
    }
}
