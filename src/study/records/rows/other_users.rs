use std::fmt;

use serde::Serialize;

use crate::records::ServerRow;

/// How much longer the other users of the servers waited for responses because of the survey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OtherUsers {
    /// At all servers.
    #[serde(flatten)]
    pub all: AddedDelay,
    /// At servers whose link has a capacity of [`THIN`] or less.
    pub thin: AddedDelay,
}

/// The delay that the survey added at a set of servers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AddedDelay {
    /// Servers for which the delay is known.
    pub servers: u64,
    /// Servers that the survey overloaded. They are in none of the shares.
    pub overburdened: u64,
    /// Requests of other users in the hours in which the survey sent requests, overloaded servers excluded.
    pub requests: u64,
    /// The added delay as a share of the response time, averaged over these requests.
    pub mean_extra_share: f64,
    /// The same share at the worst server in its worst hour, among hours with more than a hundred such
    /// requests.
    pub worst_extra_share: f64,
    /// The address of that server; empty where there was no such hour.
    pub worst_address: String,
    /// The same share at the worst server over all hours in which the survey sent requests to it.
    pub most_extra_share: f64,
    /// The address of that server; empty where nobody waited longer.
    pub most_address: String,
}

/// The capacity of a thin link, in bits per second: the median of African university links in 2006.
pub const THIN: f64 = 512_000.0;

impl OtherUsers {
    /// Adds a server with figures on its other users.
    pub fn add(&mut self, row: &ServerRow) {
        self.all.add(row);
        if row.link_bits_per_second.is_some_and(|link| link <= THIN) {
            self.thin.add(row);
        }
    }
}

impl AddedDelay {
    /// Adds a server with figures on its other users.
    pub fn add(&mut self, row: &ServerRow) {
        self.servers += 1;
        let (Some(without), Some(with)) = (row.others_response_ms, row.others_response_surveyed_ms) else {
            self.overburdened += 1;
            return;
        };
        let (extra, requests) = (with / without - 1.0, row.others_requests.unwrap_or_default());
        self.requests += requests;
        let weight = requests as f64 / self.requests.max(1) as f64;
        self.mean_extra_share += (extra - self.mean_extra_share) * weight;
        if extra > self.most_extra_share {
            self.most_extra_share = extra;
            self.most_address.clone_from(&row.address);
        }
        if let Some(worst) = row.others_worst_hour.filter(|share| *share > self.worst_extra_share) {
            self.worst_extra_share = worst;
            self.worst_address.clone_from(&row.address);
        }
    }
}

impl fmt::Display for AddedDelay {
    /// How much longer they waited: on average, at the worst server, and in the worst hour of a server.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        write!(f, "{} on average", percent(self.mean_extra_share))?;
        if !self.most_address.is_empty() {
            write!(f, ", {} at the worst server ({})", percent(self.most_extra_share), self.most_address)?;
        }
        if !self.worst_address.is_empty() {
            write!(f, ", {} in the worst hour ({})", percent(self.worst_extra_share), self.worst_address)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_counts_by_its_requests_and_one_that_is_overburdened_by_itself() {
        let mut others = OtherUsers::default();
        for (address, requests, without, with, worst, link) in [
            ("192.0.2.1", 10, 100.0, Some(110.0), None, 512e3),
            ("192.0.2.2", 30, 200.0, Some(202.0), Some(0.04), 2e6),
            ("192.0.2.3", 5, 50.0, None, None, 64e3),
        ] {
            others.add(&ServerRow {
                address: address.to_owned(),
                others_requests: Some(requests),
                others_response_ms: Some(without),
                others_response_surveyed_ms: with,
                others_worst_hour: worst,
                link_bits_per_second: Some(link),
                ..ServerRow::default()
            });
        }
        let OtherUsers { all, thin } = others;
        assert_eq!((all.most_address.as_str(), thin.most_address.as_str()), ("192.0.2.1", "192.0.2.1"));
        assert_eq!(
            all.to_string(),
            "3.25 % on average, 10.00 % at the worst server (192.0.2.1), 4.00 % in the worst hour (192.0.2.2)"
        );
        assert_eq!(AddedDelay::default().to_string(), "0.00 % on average");
        assert_eq!((all.servers, all.overburdened, all.requests), (3, 1, 40));
        assert!((all.mean_extra_share - (10.0 * 0.1 + 30.0 * 0.01) / 40.0).abs() < 1e-12);
        assert_eq!((all.worst_address.as_str(), all.worst_extra_share), ("192.0.2.2", 0.04));
        assert_eq!((thin.servers, thin.overburdened, thin.requests), (2, 1, 10));
        assert!((thin.mean_extra_share - 0.1).abs() < 1e-12);
    }
}
