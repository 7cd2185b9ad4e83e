//! Reads pages that are built from fragments of markup and tells how long they take per byte.
//!
//!     ccsurvey-pages PAGES LARGE SECONDS     so many pages of up to 64 KiB, then so many of up to 1 MiB
//!
//! Prints a line of `results.csv` for each kind, and the slowest pages to the error output; a kind is left
//! after so many seconds. A page that overflows the stack or panics ends the program. Exit code 1 if the
//! slowest byte of a page of 1 MiB takes longer than that of a shorter one: then time is not linear.

#[path = "../../../src/core/page/fragments.rs"]
mod fragments;
#[path = "../../fuzz/src/structure.rs"]
mod structure;

use std::hint::black_box;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use ccsurvey_address::WebUrl;
use ccsurvey_core::page::{Page, Source};
use rustix::time::{ClockId, clock_gettime};

const SMALL_BYTES: usize = 64 * 1024;
const LARGE_BYTES: usize = 1024 * 1024;
/// Reading the smallest page costs about as much as this many bytes: shorter pages are judged as if they had
/// them.
const MIN_BYTES: usize = 4096;
/// What a thread of any program has.
const STACK_BYTES: usize = 256 * 1024;
const MOST_TIMES_MEDIAN: f64 = 10.0;
const ROUNDS: u32 = 20;
const BETWEEN_ROUNDS: Duration = Duration::from_millis(500);
const WARM_UP_PAGES: u64 = 20;
const CONTENT_TYPES: [&str; 8] = [
    "text/html; charset=utf-8",
    "text/html",
    "application/xhtml+xml",
    "text/html; charset=Shift_JIS",
    "text/html; charset=iso-2022-jp",
    "text/html; charset=utf-16le",
    "text/html; charset=Big5",
    "text/html; charset=gb18030",
];

fn main() -> ExitCode {
    let mut counts = std::env::args().skip(1).map(|count| count.parse().expect("a number"));
    let mut next = |default| counts.next().unwrap_or(default);
    let (small, large, seconds) = (next(10_000), next(300), next(600));
    println!(
        "pages,longest_bytes,bytes,cpu_seconds,median_ns_per_byte,slowest_ns_per_byte,times_median,above_ten_times"
    );
    let reading = move || (read_all(small, SMALL_BYTES, seconds), read_all(large, LARGE_BYTES, seconds));
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(reading).expect("a thread");
    let (small_slowest, large_slowest) = thread.join().expect("no page ends the thread");
    if small > 0 && large_slowest > small_slowest { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// How long one page took.
#[derive(Clone, Copy)]
struct Reading {
    seed: u64,
    ns_per_byte: f64,
}

/// Tells of so many pages; gives the most nanoseconds that a byte took.
fn read_all(pages: u64, longest: usize, seconds: u64) -> f64 {
    let mut readings = Vec::new();
    let (mut bytes, mut reading_ns, start) = (0, 0.0, Instant::now());
    for seed in (0..pages).take_while(|_| start.elapsed().as_secs() < seconds) {
        let (body, content_type) = built(seed, longest);
        let ns_per_byte = ns_per_byte(&body, content_type);
        bytes += body.len();
        reading_ns += ns_per_byte * body.len() as f64;
        readings.push(Reading { seed, ns_per_byte });
    }
    readings.sort_unstable_by(|a, b| a.ns_per_byte.total_cmp(&b.ns_per_byte));
    let Some(median) = readings.get(readings.len() / 2).map(|reading| reading.ns_per_byte) else {
        return 0.0;
    };
    // Others who use the processor make a page look slow, for seconds: those above are read again for some
    // seconds, and the quickest time counts.
    let above = readings.iter().filter(|reading| reading.ns_per_byte > MOST_TIMES_MEDIAN * median);
    let mut retried: Vec<_> = above.chain(readings.last()).copied().collect();
    for _ in 0..ROUNDS {
        thread::sleep(BETWEEN_ROUNDS);
        retried.iter_mut().for_each(|reading| read_again(reading, longest));
    }
    retried.sort_unstable_by(|a, b| b.ns_per_byte.total_cmp(&a.ns_per_byte));
    for reading in retried.iter().take(10) {
        let (body, content_type) = built(reading.seed, longest);
        let start = String::from_utf8_lossy(&body[..body.len().min(100)]).into_owned();
        eprintln!(
            "{} {:.1} ns {content_type} {} bytes {start:?}",
            reading.seed,
            reading.ns_per_byte,
            body.len()
        );
    }
    let above = retried.iter().filter(|reading| reading.ns_per_byte > MOST_TIMES_MEDIAN * median).count();
    let (read, seconds, slowest) = (readings.len(), reading_ns / 1e9, retried[0].ns_per_byte);
    println!(
        "{read},{longest},{bytes},{seconds:.0},{median:.2},{slowest:.2},{:.2},{above}",
        slowest / median
    );
    slowest
}

/// After some others, as the first time: a page that is read alone is read with cold caches.
fn read_again(reading: &mut Reading, longest: usize) {
    for seed in reading.seed + 1..=reading.seed + WARM_UP_PAGES {
        let (body, content_type) = built(seed, longest);
        ns_per_byte(&body, content_type);
    }
    let (body, content_type) = built(reading.seed, longest);
    reading.ns_per_byte = reading.ns_per_byte.min(ns_per_byte(&body, content_type));
}

/// The page of a seed. Up to 64 KiB short ones are as many as long ones.
fn built(seed: u64, longest: usize) -> (Vec<u8>, &'static str) {
    let mut random = Random(seed);
    let plan: Vec<u8> = (0..1 + random.below(120)).map(|_| random.below(256) as u8).collect();
    let bytes = if longest == LARGE_BYTES { longest } else { longest >> random.below(9) };
    let content_type = CONTENT_TYPES[random.below(CONTENT_TYPES.len())];
    (structure::page(&plan, bytes - random.below(bytes / 2), bytes), content_type)
}

fn ns_per_byte(body: &[u8], content_type: &str) -> f64 {
    let url = WebUrl::parse("http://www.example.co.ke/a/b").expect("a good URL");
    let start = cpu_ns();
    black_box(Page::read(Source { body, url: &url, content_type: Some(content_type), robots_tag: None }));
    (cpu_ns() - start) as f64 / body.len().max(MIN_BYTES) as f64
}

/// Time on a processor, of this thread: others that run beside do not count.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ value >> 31) % bound as u64) as usize
    }
}
