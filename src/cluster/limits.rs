use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::ClusterError;
use super::message::SurveyTerms;
use crate::settings::Settings;

/// Limits on what a survey may do on the machine of an agent, as set by the user who starts the agent. No
/// message on the bus can widen them: otherwise anyone who can write there could reach the agent's own
/// network, or have forged certificates accepted.
#[derive(Clone, Debug, Default)]
pub struct AgentLimits {
    /// Loopback, private and other special addresses may be contacted.
    pub permit_special_addresses: bool,
    /// Where every connection of a survey of a virtual Web goes.
    pub gateway: Option<SocketAddr>,
    /// Further root certificates (PEM) that a survey may trust.
    pub ca: Vec<PathBuf>,
}

impl AgentLimits {
    /// The settings of a survey, as far as these limits allow them.
    ///
    /// # Errors
    /// When the settings cannot be read, or require a flag that the agent was not started with.
    pub(super) fn settings(&self, terms: &SurveyTerms) -> Result<Settings, ClusterError> {
        let settings = Settings::parse(&terms.settings).map_err(ClusterError::Terms)?;
        let missing_flag = |wanted: String, flag: String| ClusterError::Limit { wanted, flag };
        if settings.permit_special_addresses && !self.permit_special_addresses {
            let wanted = "may contact special addresses".to_owned();
            return Err(missing_flag(wanted, "--permit-special-addresses".to_owned()));
        }
        match (settings.gateway, self.gateway) {
            (Some(gateway), None) => {
                let wanted = format!("sends all requests to the gateway {gateway}");
                return Err(missing_flag(wanted, format!("--gateway {gateway}")));
            }
            (None, Some(gateway)) => return Err(ClusterError::NoGateway(gateway)),
            _ => {}
        }
        Ok(Settings { gateway: self.gateway, dns: None, ca: self.certificates(&terms.roots)?, ..settings })
    }

    /// Our files that hold the certificates that the survey trusts.
    fn certificates(&self, wanted: &[String]) -> Result<Vec<PathBuf>, ClusterError> {
        let mut own_certificates = Vec::new();
        for path in &self.ca {
            let to_error = |source| ClusterError::Certificate { path: path.clone(), source };
            own_certificates.push((path, fs::read_to_string(path).map_err(to_error)?));
        }
        let matching_file = |wanted: &String| {
            let same = own_certificates.iter().find(|(_, text)| text.lines().eq(wanted.lines()));
            same.map(|(path, _)| (*path).clone()).ok_or_else(|| ClusterError::Limit {
                wanted: "trusts further root certificates".to_owned(),
                flag: "--ca FILE, once for each --ca file of the survey".to_owned(),
            })
        };
        wanted.iter().map(matching_file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(settings: &str, roots: &[&str]) -> SurveyTerms {
        let roots = roots.iter().map(|root| (*root).to_owned()).collect();
        SurveyTerms { settings: settings.to_owned(), roots }
    }

    fn refused(limits: &AgentLimits, terms: &SurveyTerms) -> String {
        limits.settings(terms).unwrap_err().to_string()
    }

    #[test]
    fn settings_that_stay_within_the_limits_are_gone_along_with() {
        let limits = AgentLimits { permit_special_addresses: true, ..AgentLimits::default() };
        let settings = limits.settings(&terms("dns = \"127.0.0.1:53\"\nmin-delay = \"9s\"", &[])).unwrap();
        assert!(!settings.permit_special_addresses, "what the survey does not want is not widened");
        assert_eq!(settings.dns, None, "an agent looks up no names");
        assert_eq!(settings.min_delay.0.as_secs(), 9);
    }

    #[test]
    fn settings_do_not_widen_the_limits() {
        let none = AgentLimits::default();
        let special = refused(&none, &terms("permit-special-addresses = true", &[]));
        assert!(special.contains("special addresses") && special.contains("--permit-special-addresses"));
        let gateway = refused(&none, &terms("gateway = \"10.0.0.1:80\"", &[]));
        assert!(gateway.contains("--gateway 10.0.0.1:80"), "{gateway}");
        let roots = refused(&none, &terms("", &["PEM"]));
        assert!(roots.contains("--ca FILE"), "{roots}");
    }

    #[test]
    fn the_gateway_is_the_agents_own() {
        let gateway = "127.0.0.1:8080".parse().ok();
        let limits = AgentLimits { gateway, ..AgentLimits::default() };
        assert_eq!(limits.settings(&terms("gateway = \"10.0.0.1:80\"", &[])).unwrap().gateway, gateway);
        let none = refused(&limits, &terms("", &[]));
        assert!(none.contains("--gateway 127.0.0.1:8080") && none.contains("has no gateway"), "{none}");
    }

    #[test]
    fn certificates_are_those_that_both_name() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["one", "two"].map(|text| {
            let path = folder.path().join(text);
            fs::write(&path, format!("{text}\n")).unwrap();
            path
        });
        let limits = AgentLimits { ca: files.to_vec(), ..AgentLimits::default() };
        // With the line ends of another system.
        assert_eq!(limits.settings(&terms("", &["two\r\n"])).unwrap().ca, [files[1].clone()]);
        assert!(refused(&limits, &terms("", &["two\n", "three\n"])).contains("--ca FILE"));
        fs::remove_file(&files[0]).unwrap();
        assert!(refused(&limits, &terms("", &[])).contains("one"), "a file of ours that cannot be read");
    }
}
