use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::Team;
use crate::fetch::Web;

/// A survey of a Web in this process, on a virtual clock.
///
/// It is to be run on a runtime of one thread whose time is paused: then time passes when all tasks are idle, and the
/// same Web and settings make the same tables.
pub struct Simulation {
    /// What is asked.
    pub web: Arc<dyn Web>,
    /// The time of the virtual clock at the start.
    pub begins: SystemTime,
    /// What is simulated, for the manifest.
    pub description: Value,
    /// Who walks the site trees; none: the survey itself.
    pub team: Option<Team>,
}
