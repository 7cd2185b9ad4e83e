#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    ccsurvey::cli::main()
}
