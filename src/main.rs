//! The program `ccsurvey`; all that it does is in the library.

use tikv_jemallocator::Jemalloc;

/// Pages and links are many small allocations, made by one thread and given back by another: with this allocator a survey of
/// documentation took a twelfth less CPU and two thirds of the memory (`reports/benchmark/crawlers`). `.cargo/config.toml`
/// sets how soon it gives memory back.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> std::process::ExitCode {
    ccsurvey::cli::main()
}
