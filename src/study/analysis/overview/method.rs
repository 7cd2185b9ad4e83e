use serde::Serialize;
use serde_json::Value;

use crate::records::{CurveRow, GeoDatabase, Manifest, Row, TableCount};
use crate::settings::{Settings, ValueSyntax};

/// How the numbers came about, so that somebody else can come to the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Method {
    /// The version that surveyed, and the one that counted.
    pub surveyed_with: String,
    /// The version of the program that read the tables.
    pub counted_with: String,
    /// The effective settings, by name.
    pub settings: Vec<ShownSetting>,
    /// The version of the Public Suffix List.
    pub suffix_list: Option<String>,
    /// The databases of countries and networks.
    pub geo: Vec<GeoDatabase>,
    /// Name of each table that was recorded with its rows and files.
    pub tables: Vec<(String, TableCount)>,
    /// The virtual Web space, its seed and so on, where one was surveyed in process.
    pub simulation: Vec<ShownSetting>,
}

/// A setting as the configuration file writes it, files without their folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShownSetting {
    /// The key.
    pub name: String,
    /// As text; lists with commas.
    pub value: String,
}

impl Method {
    pub(super) fn from_manifest(manifest: &Manifest) -> Self {
        // Curves are drawn from the others, and say nothing of how these came about.
        let tables = manifest.tables.iter().filter(|(name, _)| *name != CurveRow::TABLE);
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
        let value = if names_files(name) { file_names(value) } else { value.clone() };
        ShownSetting { name: name.clone(), value: written(&value) }
    };
    entries.map(setting).collect()
}

/// Whether a setting, or what is told of a simulation, names files or folders: a report goes to strangers, and the
/// folders of the surveyor's machine do not concern them.
fn names_files(key: &str) -> bool {
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

/// The last part of a path, whichever system wrote it.
pub(super) fn file_name(path: &str) -> String {
    let mut parts = path.split(['/', '\\']);
    parts.rfind(|part| !part.is_empty()).unwrap_or_default().to_owned()
}

fn written(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => list.iter().map(written).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
