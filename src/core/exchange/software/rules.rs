use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::memchr;
use serde::Deserialize;

use crate::address::is_name_at_or_below;

/// The rules of this program, read once.
pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let file: RuleFile = toml::from_str(include_str!("../../data/site-software.toml"))
        .expect("data/site-software.toml is valid, as a test shows");
    Rules::from(file)
});

/// `data/site-software.toml`, which explains its keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    software: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    generators: Vec<String>,
    #[serde(default)]
    plugins: Vec<String>,
    #[serde(default)]
    fields: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    hosts: Vec<String>,
}

/// The rules by the kind of evidence. A rule is the number of its software.
pub(super) struct Rules {
    names: Vec<String>,
    generators: Vec<(usize, String)>,
    plugins: Vec<(usize, String)>,
    pub(super) fields: FieldRules,
    pub(super) references: ReferenceRules,
}

impl From<RuleFile> for Rules {
    fn from(file: RuleFile) -> Self {
        let each = |of: fn(&Entry) -> &Vec<String>| -> Vec<(usize, String)> {
            let numbered = file.software.iter().enumerate();
            numbered.flat_map(|(n, entry)| of(entry).iter().map(move |mark| (n, mark.clone()))).collect()
        };
        Self {
            names: file.software.iter().map(|entry| entry.name.clone()).collect(),
            generators: each(|entry| &entry.generators),
            plugins: each(|entry| &entry.plugins),
            fields: FieldRules::from(each(|entry| &entry.fields)),
            references: ReferenceRules::new(each(|entry| &entry.paths), each(|entry| &entry.hosts)),
        }
    }
}

impl Rules {
    pub(super) fn by_generator(&self, generator: &str) -> Option<usize> {
        first_beginning(&self.generators, generator)
    }

    pub(super) fn by_plugin(&self, generator: &str) -> Option<usize> {
        first_beginning(&self.plugins, generator)
    }

    pub(super) fn name(&self, rule: usize) -> &str {
        &self.names[rule]
    }
}

/// The first rule whose words begin the text, in any case, as whole words.
fn first_beginning(rules: &[(usize, String)], text: &str) -> Option<usize> {
    let begins = |mark: &str| {
        let (begin, rest) = text.as_bytes().split_at_checked(mark.len())?;
        let is_whole = !mark.ends_with(|last: char| last.is_ascii_alphanumeric())
            || !rest.first().is_some_and(u8::is_ascii_alphabetic);
        (begin.eq_ignore_ascii_case(mark.as_bytes()) && is_whole).then_some(())
    };
    rules.iter().find(|(_, mark)| begins(mark).is_some()).map(|(rule, _)| *rule)
}

/// Header fields, by name.
pub(super) struct FieldRules(Vec<FieldMark>);

/// A name and a part of the value, which shows software.
pub(super) struct FieldMark {
    rule: usize,
    /// In lower case, like `value`.
    pub(super) name: String,
    /// Empty for any value.
    pub(super) value: String,
    pub(super) is_value_shown: bool,
}

impl From<Vec<(usize, String)>> for FieldRules {
    /// From `name: part of the value`.
    fn from(rules: Vec<(usize, String)>) -> Self {
        let parsed = rules.into_iter().map(|(rule, mark)| {
            let (name, value) = mark.split_once(':').unwrap_or((&mark, ""));
            let is_value_shown = name != "set-cookie";
            FieldMark { rule, name: name.to_owned(), value: value.trim().to_owned(), is_value_shown }
        });
        Self(parsed.collect())
    }
}

/// A field's value is searched up to here.
const MAX_FIELD_BYTES: usize = 2048;

impl FieldRules {
    /// The first rule for this field.
    pub(super) fn rule_for(&self, name: &str, value: &[u8]) -> Option<(usize, &FieldMark)> {
        let value = &value[..value.len().min(MAX_FIELD_BYTES)];
        let mut marks = self.0.iter().filter(|mark| mark.name.eq_ignore_ascii_case(name));
        marks.find(|mark| contains(value, mark.value.as_bytes())).map(|mark| (mark.rule, mark))
    }
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    part.is_empty() || value.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// A reference of a page, in lower case.
#[derive(Clone, Copy)]
pub(crate) struct Reference<'a> {
    /// Without scheme: `//host/path`, `/path`, `path`.
    pub(crate) text: &'a [u8],
    /// It leads to the host of the page.
    pub(crate) is_own: bool,
    /// The page runs or applies it: a script or a style.
    pub(crate) is_loaded: bool,
}

/// Parts of references, by rule.
pub(super) struct ReferenceRules {
    paths: Vec<(usize, String)>,
    /// Finds all `paths` in one pass.
    path_finder: AhoCorasick,
    hosts: Vec<(usize, String)>,
}

impl ReferenceRules {
    fn new(paths: Vec<(usize, String)>, hosts: Vec<(usize, String)>) -> Self {
        let path_finder = AhoCorasick::new(paths.iter().map(|(_, path)| path));
        Self { path_finder: path_finder.expect("a hundred short paths"), paths, hosts }
    }

    /// The first rule for this reference, and the evidence.
    pub(super) fn rule_for(&self, reference: Reference<'_>) -> Option<(usize, String)> {
        let (host, path) = split(reference.text);
        if reference.is_own {
            // What a query passes on is no file of this host.
            let end = memchr(b'?', path).unwrap_or(path.len());
            let found = self.path_finder.find_overlapping_iter(path).filter(|found| found.start() <= end);
            let (rule, mark) = &self.paths[found.map(|found| found.pattern().as_usize()).min()?];
            Some((*rule, format!("path: {mark}")))
        } else {
            let is_host = |(_, mark): &&(usize, String)| is_name_at_or_below(host, mark);
            let (rule, mark) = self.hosts.iter().find(is_host).filter(|_| reference.is_loaded)?;
            Some((*rule, format!("host: {mark}")))
        }
    }
}

/// The host and the path of a reference.
fn split(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(rest) = text.strip_prefix(b"//") else { return (b"", text) };
    let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b':');
    rest.split_at(rest.iter().position(ends).unwrap_or(rest.len()))
}
