//! The arrows between the files of a room: which file of production code names which.
//!
//! A file names another by `use` or by a path that begins with `crate`, `super` or `self`. A re-export in a
//! `mod.rs` (`pub use`) leads to the file that declares the item, and is an arrow of its own only if the
//! `mod.rs` uses the name itself. Methods of a type that are defined in another file are not detected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A file by its path below `src`: `["space", "model", "site"]`. The `mod.rs` of a folder stands for the
/// folder, the `lib.rs` of a package for the package.
pub(crate) type Module = Vec<String>;

pub(crate) type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// All files of production code.
pub(crate) struct Sources {
    files: BTreeMap<Module, Source>,
    /// Folders that are packages: paths that start with `crate` begin there.
    packages: Vec<Module>,
}

struct Source {
    is_folder: bool,
    imports: Vec<Import>,
    /// Paths outside of imports.
    paths: Vec<Vec<String>>,
    /// All code but imports and declarations of modules.
    body: String,
    /// Modules that only tests have.
    tests: Vec<String>,
}

struct Import {
    is_public: bool,
    path: Vec<String>,
}

impl Sources {
    pub(crate) fn read(src: &Path, files: &[std::path::PathBuf]) -> Self {
        let libraries = files.iter().filter(|file| file.file_name().is_some_and(|name| name == "lib.rs"));
        let packages = libraries.map(|file| module_of(src, file)).collect();
        let mut sources: BTreeMap<Module, Source> = files
            .iter()
            .map(|file| (module_of(src, file), Source::read(&fs::read_to_string(file).unwrap(), file)))
            .collect();
        let tests: Vec<Module> = sources
            .iter()
            .flat_map(|(module, source)| source.tests.iter().map(move |name| below(module, name)))
            .collect();
        sources.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        Self { files: sources, packages }
    }

    /// Which file of a room names which other file of it.
    pub(crate) fn arrows(&self, room: &Module) -> Arrows {
        let of_room = self.files.iter().filter(|(module, _)| module.starts_with(room));
        let named = of_room.map(|(module, source)| {
            let imports = source.imports.iter().filter(|import| source.uses(import));
            let paths = imports.map(|import| &import.path).chain(&source.paths);
            let named = paths.filter_map(|path| self.resolve(module, path, 0));
            let others = named.filter(|other| other != module && other.starts_with(room));
            (module.clone(), others.collect())
        });
        named.collect()
    }

    /// The innermost package that a file is in.
    fn package_of(&self, module: &Module) -> Module {
        let enclosing = self.packages.iter().filter(|package| module.starts_with(package));
        enclosing.max_by_key(|package| package.len()).cloned().unwrap_or_default()
    }

    /// The file that a path leads to, through any re-exports.
    fn resolve(&self, from: &Module, path: &[String], steps: usize) -> Option<Module> {
        let (mut current, mut rest) = match path.first()?.as_str() {
            "crate" => (self.package_of(from), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from.clone(), path),
            name => (self.files.contains_key(&below(from, name)).then(|| from.clone())?, path),
        };
        while rest.first().is_some_and(|name| name == "super") {
            current.pop();
            rest = &rest[1..];
        }
        while let Some(next) =
            rest.first().map(|name| below(&current, name)).filter(|next| self.files.contains_key(next))
        {
            current = next;
            rest = &rest[1..];
        }
        let reexported = rest.first().and_then(|name| {
            let imports = &self.files.get(&current)?.imports;
            let import =
                imports.iter().find(|import| import.path.last() == Some(name) && import.path != path)?;
            if steps < 8 { self.resolve(&current, &import.path, steps + 1) } else { None }
        });
        Some(reexported.unwrap_or(current))
    }
}

impl Source {
    fn read(text: &str, file: &Path) -> Self {
        let (code, tests) = production(text);
        let (mut imports, mut body) = (Vec::new(), String::new());
        let mut statement = String::new();
        for line in code.lines() {
            if statement.is_empty() && !is_import(line) {
                if !is_module(line) {
                    body.push_str(line);
                    body.push('\n');
                }
                continue;
            }
            statement.push_str(line.trim());
            statement.push(' ');
            if line.trim_end().ends_with(';') {
                let (before, tree) = statement.split_once("use ").unwrap();
                let is_public = before.starts_with("pub");
                let paths = expanded(tree.trim().trim_end_matches(';')).into_iter();
                imports.extend(paths.map(|path| Import { is_public, path }));
                statement.clear();
            }
        }
        let is_folder = file.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs");
        Self { is_folder, imports, paths: paths_in(&body), body, tests }
    }

    /// A `mod.rs` does not use the names that it only re-exports.
    fn uses(&self, import: &Import) -> bool {
        let name = import.path.last().map(String::as_str).unwrap_or_default();
        !(self.is_folder && import.is_public) || words(&self.body).any(|word| word == name)
    }
}

/// Files that lead to each other, in groups.
pub(crate) fn cycles(arrows: &Arrows) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|module| (module, reached_from(module, arrows))).collect();
    let mut cycles: Vec<BTreeSet<Module>> = Vec::new();
    for (module, others) in &reached {
        let cycle: BTreeSet<Module> = others
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(*module)))
            .map(|other| (*other).clone())
            .collect();
        if cycle.len() > 1 && !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    cycles
}

/// The arrows between the parts of a room: its files, and its folders as a whole.
pub(crate) fn between_parts(room: &Module, arrows: &Arrows) -> Arrows {
    let part = |module: &Module| module.iter().take(room.len() + 1).cloned().collect::<Module>();
    let mut parts = Arrows::new();
    for (module, others) in arrows {
        let own = part(module);
        let others: Vec<Module> = others.iter().map(part).filter(|other| *other != own).collect();
        parts.entry(own).or_default().extend(others);
    }
    parts
}

fn reached_from<'a>(module: &'a Module, arrows: &'a Arrows) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(others) = open.pop().and_then(|next| arrows.get(next)) {
        open.extend(others.iter().filter(|other| reached.insert(*other)));
    }
    reached
}

fn module_of(src: &Path, file: &Path) -> Module {
    let path = file.strip_prefix(src).unwrap().with_extension("");
    let names = path.iter().map(|name| name.to_str().unwrap().to_owned());
    names.filter(|name| name != "mod" && name != "lib").collect()
}

fn below(module: &Module, name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The code without comments and without parts for tests only; and the test modules that it declares.
fn production(text: &str) -> (String, Vec<String>) {
    let (mut code, mut tests) = (String::new(), Vec::new());
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            code.push_str(line.split(" // ").next().unwrap_or(line));
            code.push('\n');
            continue;
        }
        let item = lines.by_ref().find(|line| !line.trim_start().starts_with('#')).unwrap_or_default();
        let indent = &item[..item.len() - item.trim_start().len()];
        if let Some(name) = item.trim().strip_suffix(';').and_then(|item| item.rsplit_once("mod ")) {
            tests.push(name.1.to_owned());
        } else if !item.ends_with([';', '}']) {
            let end = format!("{indent}}}");
            lines.by_ref().find(|line| line.trim_end() == end || line.trim_end() == format!("{indent}}};"));
        }
    }
    (code, tests)
}

fn is_import(line: &str) -> bool {
    without_visibility(line).starts_with("use ")
}

fn is_module(line: &str) -> bool {
    without_visibility(line).starts_with("mod ")
}

fn without_visibility(line: &str) -> &str {
    let line = line.trim_start();
    let Some(rest) = line.strip_prefix("pub") else { return line };
    rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest).trim_start()
}

/// Expands `a::{b, c::d}` to `a::b` and `a::c::d`; an alias is dropped.
fn expanded(tree: &str) -> Vec<Vec<String>> {
    let Some((before, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let names: Vec<String> = path.split("::").map(|name| name.trim().to_owned()).collect();
        return if names == [""] { Vec::new() } else { vec![names] };
    };
    let group = group.trim_end().trim_end_matches('}');
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for c in group.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    let whole = |part: &String| expanded(&format!("{before}{}{}", part.trim(), closing(part)));
    parts.iter().filter(|part| !part.trim().is_empty()).flat_map(whole).collect()
}

/// The brace that was removed from the end of the last part of a group.
fn closing(part: &str) -> &'static str {
    if part.matches('{').count() > part.matches('}').count() { "}" } else { "" }
}

/// Paths that begin with `crate`, `super` or `self`; visibilities do not count.
fn paths_in(body: &str) -> Vec<Vec<String>> {
    let body = body.replace("pub(in crate::", "pub(");
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = body.split(|c: char| !is_part(c)).filter(|word| word.contains("::"));
    let paths = words.map(|word| word.split("::").map(ToOwned::to_owned).collect::<Vec<_>>());
    paths.filter(|path| ["crate", "super", "self"].contains(&path[0].as_str())).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}
