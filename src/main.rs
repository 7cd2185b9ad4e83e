//! The program `ccsurvey`; all that it does is in the library.

fn main() -> std::process::ExitCode {
    ccsurvey::cli::main()
}
