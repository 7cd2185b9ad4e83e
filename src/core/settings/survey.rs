use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Allowance, Budgets, DepthRule, Entrances, Settings};

/// The key that surveys of older versions do not have.
pub const ENTRANCES: &str = "entrances";

impl Settings {
    /// The settings of a survey that an older version began, without a number of entrances: it goes on with
    /// one.
    #[must_use]
    pub fn with_one_entrance(self) -> Self {
        Self { entrances: Entrances::UpTo(1), ..self }
    }

    /// Whether every exchange of this survey stays on this machine.
    #[must_use]
    pub fn is_loopback_only(&self) -> bool {
        let is_loopback = |end: Option<SocketAddr>| end.is_some_and(|end| end.ip().is_loopback());
        is_loopback(self.gateway) && is_loopback(self.dns)
    }

    /// Adds settings that follow from other settings: without the links of its pages, a survey could not be
    /// the earlier survey of the next one.
    #[must_use]
    pub fn with_recorded_links(self) -> Self {
        Self { record_links: self.record_links || self.since.is_some(), ..self }
    }

    /// Writes out the values that other settings imply, so that the record of a survey shows what held. A
    /// configuration file has only what was given: another survey may go by it with other flags.
    #[must_use]
    pub fn with_implied_values(self) -> Self {
        let is_open_ended = self.depth == DepthRule::Auto || self.has_rounds();
        Self {
            max_depth: if is_open_ended { Some(self.deepest()) } else { self.max_depth },
            coverage: self.wanted_coverage().filter(|_| self.focus.is_none()),
            probe_depth: self.probed_share(),
            ..self
        }
    }

    /// The User-Agent header.
    #[must_use]
    pub fn user_agent(&self) -> String {
        let contact = self.contact.as_deref().unwrap_or("loopback only");
        format!("ccsurvey/{} (+{contact})", env!("CARGO_PKG_VERSION"))
    }

    /// The first setting that limits the load on autonomous systems, if any does.
    #[must_use]
    pub fn system_budget_key(&self) -> Option<&'static str> {
        let budgets = Budgets { system: Allowance::default(), ..self.budgets };
        let without = Self { budgets, ..self.clone() };
        Self::TABLE.iter().find(|setting| setting.differs(self, &without)).map(|setting| setting.key)
    }

    /// Changes the path of every file and folder in the settings.
    pub fn move_paths(&mut self, to: impl Fn(&Path) -> PathBuf) {
        Self::TABLE.iter().for_each(|setting| (setting.move_paths)(self, &to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_gateway_and_a_name_server_on_this_machine_keep_a_survey_here() {
        let loopback: Option<SocketAddr> = Some("127.0.0.1:80".parse().unwrap());
        assert!(!Settings { gateway: loopback, ..Settings::default() }.is_loopback_only());
        assert!(Settings { gateway: loopback, dns: loopback, ..Settings::default() }.is_loopback_only());
    }
}
