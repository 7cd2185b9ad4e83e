use std::path::PathBuf;

use clap::Args;

use super::{set_list, set_some};
use crate::survey::Settings;

#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
pub struct Files {
    /// The start list; `-` is standard input. One URL or host name a line, CSV or TSV with or without a header (the
    /// column that holds them is found and named), a ranking such as `1,example.ke`, or a zone file, whose names with NS
    /// records below the zone are taken; as it is or packed with gzip or zstd. A name stands for http://name/. Bad lines
    /// are reported and passed over; where more than a tenth is bad, nothing is begun
    #[arg(long, value_name = "FILE", required = true)]
    pub start: Option<PathBuf>,

    /// Take the good lines of the start list even where more than a tenth is bad
    #[arg(long)]
    pub skip_bad: bool,

    /// Settings in TOML, each key the name of a flag: `depth = 5`. All flags but --start, --skip-bad and those of
    /// the output are settings. Flags win; unknown keys are errors; paths are taken from the file's folder
    /// [default: none]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Host names, addresses, networks and autonomous systems (`AS64500`) that are never contacted, one a
    /// line, with or without a date after it; a name covers what is below it. Read again within a second
    /// when it changes. Put everybody there who ever complained [default: none]
    #[arg(long, value_name = "FILE")]
    opt_out: Option<PathBuf>,

    /// Which sites are walked sooner and which last: a name and a whole number a line, greater is sooner, 0 for
    /// all others: `go.ke 10`, `*-shop.* -10`. A name covers what is below it; `*` is anything [default: none]
    #[arg(long, value_name = "FILE")]
    priority: Option<PathBuf>,

    /// A MaxMind database (.mmdb) that tells countries or networks of servers; may be given more than
    /// once [default: none]
    #[arg(long, value_name = "FILE")]
    geo: Vec<PathBuf>,

    /// A Public Suffix List to use in place of the one built in [default: the one built in]
    #[arg(long, value_name = "FILE")]
    suffix_list: Option<PathBuf>,

    /// Further root certificates (PEM) to trust; may be given more than once [default: none]
    #[arg(long, value_name = "FILE")]
    ca: Vec<PathBuf>,

    /// The folder of an earlier survey with --record-links: what it has a tag (`ETag`) or date
    /// (`Last-Modified`) of is asked for only if it has changed since, and pages that have not keep their
    /// recorded links. Saves servers the bytes; read at the start only; implies --record-links [default: none]
    #[arg(long, value_name = "DIR")]
    since: Option<PathBuf>,
}

impl Files {
    pub(super) fn apply(self, settings: &mut Settings) {
        set_some(&mut settings.opt_out, self.opt_out);
        set_some(&mut settings.priority, self.priority);
        set_list(&mut settings.geo, self.geo);
        set_some(&mut settings.suffix_list, self.suffix_list);
        set_list(&mut settings.ca, self.ca);
        set_some(&mut settings.since, self.since);
    }
}
