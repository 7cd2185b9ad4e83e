fn main() -> std::process::ExitCode {
    ccsurvey::cli::main()
}
