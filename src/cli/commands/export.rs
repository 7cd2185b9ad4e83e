use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{ResultWriter, print_message};
use crate::cli::replacement::Replacement;
use crate::records::units::count;
use crate::survey::{SurveyError, export};

/// Write all start URLs that a survey knows, as CSV.
///
/// Writes your start URLs, those of the crawled sites, and all external URLs inside the country domains, each
/// once. The file can be the --start of the next survey. The survey may still be running.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    /// The folder of the survey
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The file to write; it is replaced if it exists [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey export kenya -o starts.csv
  ccsurvey export kenya | wc -l";

impl Export {
    /// # Errors
    /// When there is no survey in DIR, a table cannot be read or the file cannot be written.
    pub fn execute(self) -> Result<Exit, CliError> {
        match &self.output {
            None => {
                let mut out = WatchedOutput { out: BufWriter::new(ResultWriter::open()), error: None };
                finish(export(&self.dir, &mut out), out)?;
            }
            Some(file) => {
                let number = export_to_file(&self.dir, file)?;
                print_message(&format!("{} written to {}", count(number, "start URL"), file.display()));
            }
        }
        Ok(Exit::Done)
    }
}

fn export_to_file(dir: &Path, file: &Path) -> Result<u64, CliError> {
    let write_error =
        |error: io::Error| CliError::Failed(format!("cannot write {}: {error}", file.display()));
    let mut out = Replacement::create(file).map_err(write_error)?;
    let number = export(dir, &mut out)?;
    out.finish().map_err(write_error)?;
    Ok(number)
}

/// Standard output that remembers its error, to distinguish a closed pipe from other errors.
struct WatchedOutput<W: Write> {
    out: W,
    error: Option<io::Error>,
}

impl<W: Write> WatchedOutput<W> {
    fn keep_error<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            self.error = Some(error);
            kind.into()
        })
    }
}

impl<W: Write> Write for WatchedOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.keep_error(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.keep_error(flushed)
    }
}

fn finish<W: Write>(exported: Result<u64, SurveyError>, mut out: WatchedOutput<W>) -> Result<(), CliError> {
    let flushed = out.flush();
    match out.error.take().or(flushed.err()) {
        Some(error) => Err(CliError::from_output_error(&error)),
        None => Ok(exported.map(drop)?),
    }
}
