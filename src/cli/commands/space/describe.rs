use clap::Args;
use serde_json::{Map, Value, json};

use super::world::WorldArgument;
use crate::cli::columns::{Columns, Side};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::{print, print_json};
use crate::rehearsal::RecordedWorld;
use crate::space::describe;

/// Describe a world: its settings, and the Web that they generate.
///
/// Lists every key of the world file with value, unit and origin (published, derived, assumed or recalled),
/// the averages that follow from the keys, and the Web that the seed generates: its sites by kind and by
/// fault, its pages and its addresses. --json adds the default, the range and the meaning of every key. For a
/// recorded survey, lists its contents and the parts that cannot be replayed.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Describe {
    #[command(flatten)]
    world: WorldArgument,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ccsurvey space describe demo
  ccsurvey space describe africa-2006 --json";

impl Describe {
    /// # Errors
    /// When the world cannot be read.
    pub(crate) fn execute(self) -> Result<Exit, CliError> {
        let world = match self.world.recorded()? {
            Some(recorded) => describe_recorded(&recorded),
            None => describe(&self.world.read()?),
        };
        if self.json {
            print_json(&world)?;
        } else {
            print(&format_description(&world))?;
        }
        Ok(Exit::Done)
    }
}

/// The contents of a recorded survey: what its replay has, and what it lacks.
fn describe_recorded(recorded: &RecordedWorld) -> Value {
    let contents = recorded.replay.contents();
    json!({
        "recorded_survey": recorded.dir.display().to_string(),
        "state": recorded.state,
        "country_domains": recorded.settings.cctld,
        "depth": recorded.settings.deepest(),
        "recorded": {
            "hosts": contents.hosts,
            "servers": contents.servers,
            "urls": contents.urls,
            "pages": contents.pages,
            "links": contents.links,
            "robots_txt": contents.robots,
        },
        "not_replayed": {
            "unfetched_urls": contents.unfetched_urls,
            "approximated_failures": contents.approximated,
            "pages_without_links": contents.pages_without_links,
            "not_asked": contents.not_asked,
            "repeated": contents.repeated,
            "at_other_ports": contents.at_other_ports,
            "unreadable": contents.unreadable,
        },
    })
}

/// First single values, then the keys, then each group of numbers under its name.
fn format_description(world: &Value) -> String {
    let members = world.as_object().cloned().unwrap_or_default();
    let (groups, single): (Map<_, _>, Map<_, _>) =
        members.into_iter().filter(|(name, _)| name != "keys").partition(|(_, value)| value.is_object());
    let groups =
        groups.iter().filter_map(|(name, group)| Some((name.as_str(), member_table(group.as_object()?))));
    let key_table = world.get("keys").map(|_| ("keys", key_table(world)));
    let parts = key_table.into_iter().chain(groups);
    member_table(&single)
        + &parts.map(|(name, rows)| format!("\n{name}\n{rows}")).collect::<Vec<_>>().concat()
}

fn key_table(world: &Value) -> String {
    let mut table = Columns::new(&[Side::Left, Side::Right, Side::Left, Side::Left]);
    for key in world["keys"].as_array().into_iter().flatten() {
        table.row([
            &format_value(&key["key"]),
            &format_value(&key["value"]),
            &format_value(&key["unit"]),
            &format_value(&key["source"]),
        ]);
    }
    indented(&table)
}

fn member_table(group: &Map<String, Value>) -> String {
    let mut table = Columns::new(&[Side::Left, Side::Left]);
    for (name, value) in group {
        table.row([&name.replace('_', " "), &format_value(value)]);
    }
    indented(&table)
}

fn indented(table: &Columns) -> String {
    table.to_string().lines().flat_map(|line| ["  ", line, "\n"]).collect()
}

/// A value on one line, without JSON punctuation.
fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_u64().map_or_else(
            || number.as_f64().map_or_else(|| number.to_string(), |number| format!("{}", rounded(number))),
            crate::records::units::thousands,
        ),
        Value::Array(values) => values.iter().map(format_value).collect::<Vec<_>>().join(" "),
        Value::Object(members) => {
            let parts: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{} {}", name.replace('_', " "), format_value(value)))
                .collect();
            parts.join(", ")
        }
        other => other.to_string(),
    }
}

/// Rounds to four decimals, the precision of shares.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::space::world::demo;

    #[test]
    fn the_description_has_every_key_and_group() {
        let world = describe(&demo().unwrap());
        let description = format_description(&world);
        for key in world["keys"].as_array().unwrap() {
            assert!(description.contains(key["key"].as_str().unwrap()), "{key}");
        }
        assert!(description.contains("\nkeys\n") && description.contains("\ndrawn\n"), "{description}");
    }
}
