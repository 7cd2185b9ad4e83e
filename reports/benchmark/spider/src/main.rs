//! Walks the sites of a list with the crate spider: `spider-crawl STARTS.csv DEPTH AT-ONCE`; prints the links it visited.

use std::sync::Arc;

use spider::tokio::{self, sync::Semaphore, task::JoinSet};
use spider::website::Website;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let depth = arguments[2].parse().expect("DEPTH is a number");
    let at_once = Arc::new(Semaphore::new(arguments[3].parse().expect("AT-ONCE is a number")));
    let list = std::fs::read_to_string(&arguments[1]).expect("the list can be read");
    let mut walks = JoinSet::new();
    for start in list.lines().filter(|line| line.starts_with("http")) {
        let (at_once, start) = (at_once.clone(), start.to_owned());
        walks.spawn(async move {
            let _permit = at_once.acquire_owned().await;
            let mut site = Website::new(&start);
            site.with_depth(depth).with_respect_robots_txt(true).with_delay(0);
            site.crawl().await;
            site.get_links().len()
        });
    }
    let mut visited = 0;
    while let Some(walk) = walks.join_next().await {
        visited += walk.unwrap_or(0);
    }
    println!("{visited}");
}
