//! The rooms of `src/` and the arrows between them: which room may use which.
//!
//! The table is DESIGN.md §3 as CONTRIBUTING.md prints it. This test reads it from there, so that the table
//! that people read is the table that is enforced.

mod arrows;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use arrows::{Module, Sources, between_parts, cycles};

type Table = BTreeMap<String, BTreeSet<String>>;

/// `| package | room | one line | may name |` rows between the markers in CONTRIBUTING.md.
fn table() -> Table {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let rows = text.split("<!-- rooms -->").nth(1).expect("CONTRIBUTING.md marks its table of rooms");
    let mut table = Table::new();
    for row in rows.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let room = cells[1].trim_matches('`').to_owned();
        let allowed = match cells[3] {
            "–" => BTreeSet::new(),
            "all above" => table.keys().cloned().collect(),
            "all" => rooms().into_keys().collect(),
            list => list.split(", ").map(ToOwned::to_owned).collect(),
        };
        table.insert(room, allowed);
    }
    table
}

/// The package and the room of each row.
fn packages_of_table() -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let rows = text.split("<!-- rooms -->").nth(1).unwrap().lines().filter(|line| line.starts_with("| `"));
    let cell =
        |row: &str, n| row.trim_matches('|').split('|').nth(n).unwrap().trim().trim_matches('`').to_owned();
    rows.map(|row| (cell(row, 1), cell(row, 0))).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A room: its path below `src`, and its package.
struct Room {
    module_path: Module,
    package: String,
}

impl Room {
    fn folder(&self) -> PathBuf {
        self.module_path.iter().fold(root().join("src"), |path, name| path.join(name))
    }

    fn story(&self) -> PathBuf {
        let folder = self.folder();
        Some(folder.join("mod.rs")).filter(|file| file.exists()).unwrap_or(folder.join("lib.rs"))
    }
}

/// Every folder in a package is a room; a package without public modules is one itself.
fn rooms() -> BTreeMap<String, Room> {
    let mut rooms = BTreeMap::new();
    for name in folders(&root().join("src")) {
        let folder = root().join("src").join(&name);
        let library = fs::read_to_string(folder.join("lib.rs")).ok();
        let package = library.as_ref().map_or("ccsurvey".to_owned(), |_| format!("ccsurvey-{name}"));
        if library.is_some_and(|text| text.lines().any(|line| line.starts_with("pub mod "))) {
            for room in folders(&folder) {
                let module_path = vec![name.clone(), room.clone()];
                rooms.insert(room, Room { module_path, package: package.clone() });
            }
        } else {
            rooms.insert(name.clone(), Room { module_path: vec![name], package });
        }
    }
    rooms
}

fn folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    // Data that packages include are no code.
    let has_code = |folder: &Path| {
        let mut found = Vec::new();
        sources(folder, &mut found);
        !found.is_empty()
    };
    let folders = entries.filter(|entry| entry.path().is_dir() && has_code(&entry.path()));
    folders.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Rooms that code names by `crate::ROOM`; documentation may name any room.
fn named_in(source: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            if let Some(group) = part.strip_prefix('{') {
                let group = group.split("};").next().unwrap_or(group);
                named.extend(group.split(',').filter_map(first_word));
            } else {
                named.extend(first_word(part));
            }
        }
    }
    named
}

fn first_word(text: &str) -> Option<String> {
    let word: String = text.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    (!word.is_empty()).then_some(word)
}

#[test]
fn every_room_stands_in_the_table_and_every_row_is_a_room() {
    let packages: BTreeMap<String, String> =
        rooms().into_iter().map(|(name, room)| (name, room.package)).collect();
    assert_eq!(packages, packages_of_table());
}

/// `cargo package` takes only what lies in the folder of a package.
#[test]
fn what_code_includes_lies_in_its_package() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    let mut outside = Vec::new();
    let is_code = |file: &&PathBuf| !file.strip_prefix(root()).unwrap().to_str().unwrap().contains("tests");
    for file in files.iter().filter(is_code) {
        let text = fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let package = file.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").exists()).unwrap();
        for part in code.split("include_").skip(1).filter(|part| part.contains("!(\"")) {
            let name = part.split('"').nth(1).unwrap();
            let mut place = file.parent().unwrap().to_owned();
            for step in Path::new(name) {
                if step == ".." {
                    place.pop();
                } else {
                    place.push(step);
                }
            }
            if !(place.starts_with(package) && place.exists()) {
                outside.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}

#[test]
fn no_room_names_a_room_it_may_not() {
    let rooms = rooms();
    let mut forbidden = Vec::new();
    for (room, allowed) in table() {
        let mut files = Vec::new();
        sources(&rooms[&room].folder(), &mut files);
        assert!(!files.is_empty(), "{room} has no code");
        // A package that is one room has its own modules below `crate`.
        let own_modules = if rooms[&room].module_path.len() == 1 && rooms[&room].package != "ccsurvey" {
            folders(&rooms[&room].folder())
        } else {
            Vec::new()
        };
        for file in files {
            let mut named = named_in(&fs::read_to_string(&file).unwrap());
            named.retain(|name| !own_modules.contains(name));
            let forbidden_names = named
                .into_iter()
                .filter(|name| rooms.contains_key(name) && *name != room && !allowed.contains(name));
            forbidden.extend(forbidden_names.map(|name| format!("{} names {name}", file.display())));
        }
    }
    assert!(forbidden.is_empty(), "{forbidden:#?}");
}

/// A file can be read and changed by itself only if none of the files that it names leads back to it. The
/// same holds for the folders in a room.
#[test]
fn no_files_of_a_room_import_each_other_in_a_circle() {
    let src = root().join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let sources = Sources::read(&src, &files);
    let module_names =
        |cycle: &BTreeSet<Module>| cycle.iter().map(|module| module.join("/")).collect::<Vec<_>>();
    for (room, Room { module_path, .. }) in rooms() {
        let arrows = sources.arrows(&module_path);
        let mut found = cycles(&arrows);
        found.extend(cycles(&between_parts(&module_path, &arrows)));
        let found: Vec<Vec<String>> = found.iter().map(module_names).collect();
        assert!(found.is_empty(), "files of {room} import each other in a circle: {found:#?}");
    }
}

#[test]
fn a_circle_is_seen_through_what_a_folder_hands_on_and_not_in_tests() {
    let dir = tempfile::tempdir().unwrap();
    let src = dir.path();
    fs::create_dir_all(src.join("room/deep")).unwrap();
    for (file, text) in [
        ("room/mod.rs", "mod above;\nmod deep;\nmod other;\npub use deep::{Low as Lower, Low};\n"),
        ("room/above.rs", "use super::Low;\npub struct High(Low);\n"),
        ("room/deep/mod.rs", "mod low;\npub use low::Low;\n"),
        ("room/deep/low.rs", "pub struct Low;\nfn up(_: crate::room::above::High) {}\n"),
        ("room/other.rs", "pub struct Other;\n#[cfg(test)]\nmod tests {\n    use super::super::above;\n}\n"),
    ] {
        fs::write(src.join(file), text).unwrap();
    }
    let mut files = Vec::new();
    sources(src, &mut files);
    let module = |path: &str| path.split('/').map(ToOwned::to_owned).collect::<Module>();
    let arrows = Sources::read(src, &files).arrows(&module("room"));
    assert_eq!(cycles(&arrows), [BTreeSet::from(["room/above", "room/deep/low"].map(module))]);
    assert_eq!(
        cycles(&between_parts(&module("room"), &arrows)),
        [BTreeSet::from(["room/above", "room/deep"].map(module))]
    );
    assert!(arrows[&module("room/other")].is_empty());
}

#[test]
fn there_are_no_drawers() {
    for name in ["utils", "util", "types", "common", "helpers", "misc"] {
        assert!(!rooms().contains_key(name), "{name}");
    }
}

#[test]
fn every_room_opens_with_its_story() {
    for (_, room) in rooms() {
        let file = room.story();
        let text = fs::read_to_string(&file).unwrap();
        let story = text.lines().take_while(|line| line.starts_with("//!")).count();
        assert!(story >= 5, "{} tells its story in {story} lines", file.display());
    }
}

#[test]
fn every_folder_says_what_it_is_for() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    let is_folder = |file: &&PathBuf| {
        let of_tests = file.parent().is_some_and(|folder| folder.ends_with("tests"));
        file.ends_with("mod.rs") && !of_tests
    };
    for file in files.iter().filter(is_folder) {
        assert!(fs::read_to_string(file).unwrap().starts_with("//! "), "{}", file.display());
    }
}

/// Packages are named in one way, so that the table of rooms covers all names.
#[test]
fn packages_are_named_as_rooms() {
    let mut files = Vec::new();
    sources(&root().join("src"), &mut files);
    for file in files.iter().filter(|file| !file.ends_with("lib.rs")) {
        let text = fs::read_to_string(file).unwrap();
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let names_package = |line: &str| {
            ["address", "core", "space", "study"]
                .iter()
                .any(|name| line.contains(&format!("ccsurvey_{name}::")))
        };
        assert_eq!(code.find(|line| names_package(line)), None, "{}", file.display());
    }
}

#[test]
fn the_pure_rooms_have_no_async_and_no_clock() {
    let is_pure = |package: &str| ["ccsurvey-address", "ccsurvey-core"].contains(&package);
    let pure = rooms().into_iter().filter(|(name, room)| is_pure(&room.package) || name == "frontier");
    for (_, room) in pure {
        let mut files = Vec::new();
        sources(&room.folder(), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            for effect in ["async ", "SystemTime::now", "Instant::now", "tokio::", "std::net::Tcp", "std::fs"]
            {
                assert!(!code.contains(effect), "{} has {effect}", file.display());
            }
        }
    }
}

/// polars' own `parquet` and `csv` features force its streaming engine, which costs minutes of every build.
/// Tables are read and written with polars-io.
#[test]
fn library_features_that_cost_minutes_of_build_time_stay_off() {
    let text = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let polars = &manifest["workspace"]["dependencies"]["polars"];
    assert_eq!(polars["default-features"].as_bool(), Some(false));
    for feature in polars["features"].as_array().unwrap() {
        assert!(
            !["parquet", "csv", "streaming", "new_streaming"].contains(&feature.as_str().unwrap()),
            "{feature}"
        );
    }
}
