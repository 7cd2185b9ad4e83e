use serde::Serialize;
use serde_json::Value;

use crate::records::{COMPUTED, GeoDatabase, Manifest, TableCount};
use crate::settings::{Settings, ValueSyntax};

/// How the figures were produced, so that others can reproduce them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Method {
    /// The version of the program that made the survey.
    pub surveyed_with: String,
    /// The version of the program that read the tables.
    pub counted_with: String,
    /// The effective settings, by name.
    pub settings: Vec<ShownSetting>,
    /// The version of the Public Suffix List.
    pub suffix_list: Option<String>,
    /// The databases of countries and networks that were used.
    pub geo: Vec<GeoDatabase>,
    /// The name of each recorded table, with its number of rows and files.
    pub tables: Vec<(String, TableCount)>,
    /// The virtual Web, its seed and its other parameters, for a survey that ran in process.
    pub simulation: Vec<ShownSetting>,
}

/// The value of a setting that is not set.
pub const UNSET: &str = "not set";

/// A setting as the configuration file writes it. Paths are reduced to file names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShownSetting {
    /// The key.
    pub name: String,
    /// The value as text; lists are separated by commas.
    pub value: String,
}

impl Method {
    pub(super) fn from_manifest(manifest: &Manifest) -> Self {
        // The table of curves is derived from the other tables, so it does not belong to the method.
        let tables = manifest.tables.iter().filter(|(name, _)| !COMPUTED.contains(&name.as_str()));
        Self {
            surveyed_with: manifest.tool_version.clone(),
            counted_with: env!("CARGO_PKG_VERSION").to_owned(),
            settings: settings(&manifest.settings),
            suffix_list: manifest.suffix_list_version.clone(),
            geo: manifest.geo.clone(),
            tables: tables.map(|(name, count)| (name.clone(), *count)).collect(),
            simulation: manifest.simulation.as_ref().map(settings).unwrap_or_default(),
        }
    }
}

fn settings(value: &Value) -> Vec<ShownSetting> {
    let entries = value.as_object().into_iter().flatten();
    let setting = |(name, value): (&String, &Value)| {
        let value = if is_file_setting(name) { file_names(value) } else { value.clone() };
        ShownSetting { name: name.clone(), value: written(&value) }
    };
    entries.map(setting).collect()
}

/// Whether a setting or a parameter of a simulation names files or folders. Reports are published, and must
/// not show the folders of the surveyor's machine.
fn is_file_setting(key: &str) -> bool {
    let is_setting =
        Settings::TABLE.iter().any(|setting| setting.key == key && setting.shape == ValueSyntax::Path);
    is_setting || ["recorded", "world"].contains(&key)
}

fn file_names(value: &Value) -> Value {
    match value {
        Value::String(path) => Value::String(file_name(path)),
        Value::Array(list) => list.iter().map(file_names).collect(),
        other => other.clone(),
    }
}

/// The last part of a path from any operating system.
pub(super) fn file_name(path: &str) -> String {
    let mut parts = path.split(['/', '\\']);
    parts.rfind(|part| !part.is_empty()).unwrap_or_default().to_owned()
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => UNSET.to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => list.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
