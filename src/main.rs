//! The program `ccsurvey`; its code is in the library.

use tikv_jemallocator::Jemalloc;

/// Pages and links are many small allocations, made by one thread and freed by another. With this allocator a
/// survey of documentation took a twelfth less CPU and two thirds of the memory
/// (`reports/benchmark/crawlers`). `.cargo/config.toml` sets how soon it returns memory to the system.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> std::process::ExitCode {
    ccsurvey::cli::main()
}
