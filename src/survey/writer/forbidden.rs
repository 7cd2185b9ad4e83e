use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

use crate::address::WebUrl;
use crate::exchange::Purpose;
use crate::robots::Rules;
use crate::survey::journal::entry::ExchangeRecord;
use crate::walk::Content;

/// The requests of a site tree that an earlier robots.txt forbade. Evaluated again from the journal,
/// independently of the walk that obeyed the rules.
///
/// Only files that came with a body, and not after a redirect, are read. Any other result of a robots.txt
/// request forbids nothing here.
pub(in crate::survey) struct Forbidden<'a> {
    product_token: &'a str,
    /// The rules of each origin, and the time from which they apply.
    rules_by_url: HashMap<WebUrl, Vec<(SystemTime, Rules)>>,
    numbers: HashSet<u32>,
}

impl<'a> Forbidden<'a> {
    pub(in crate::survey) fn new(product_token: &'a str) -> Self {
        Self { product_token, rules_by_url: HashMap::new(), numbers: HashSet::new() }
    }

    /// Notes the next response.
    pub(in crate::survey) fn note(&mut self, record: &ExchangeRecord) {
        let (request, response) = (&record.request, &record.response);
        match request.purpose {
            Purpose::Robots => {
                let rules = match &record.content {
                    Content::Robots(body) if response.is_success() => Rules::parse(body, self.product_token),
                    _ => Rules::allow_all(),
                };
                self.rules_by_url.entry(request.url.clone()).or_default().push((response.ended(), rules));
            }
            Purpose::Page | Purpose::Probe | Purpose::Check => {
                let versions =
                    self.rules_by_url.get(&request.url.robots_txt()).map(Vec::as_slice).unwrap_or_default();
                let rules = versions.iter().rev().find(|(from, _)| *from <= response.started);
                if rules.is_some_and(|(_, rules)| !rules.allows(&request.url)) {
                    self.numbers.insert(request.number);
                }
            }
            Purpose::Head => {}
        }
    }

    /// Whether the request of this number was forbidden.
    pub(in crate::survey) fn has(&self, number: u32) -> bool {
        self.numbers.contains(&number)
    }
}
