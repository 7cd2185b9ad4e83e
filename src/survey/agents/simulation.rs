use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;

use super::Team;
use crate::fetch::Web;

/// A survey of a Web in this process, on a virtual clock.
///
/// Run it on a single-threaded runtime whose time is paused. Time then passes only when all tasks are idle,
/// and the same Web and settings produce the same tables.
pub struct Simulation {
    /// The Web that receives the requests.
    pub web: Arc<dyn Web>,
    /// The time of the virtual clock at the start.
    pub begins: SystemTime,
    /// A description of the simulation, for the manifest.
    pub description: Value,
    /// The agents that walk the site trees; none if the survey walks them itself.
    pub team: Option<Team>,
}
