use super::{Naming, Path, read_tree_path};

/// The second name of a page, in the same directory so that its relative links mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alias {
    /// `/index.html` for `/`
    Index,
    /// `/Part-3.html`, `/part-3/0-7.HTML`, `/part-3/event-0-7.HTML`
    Capital,
    /// `/part-3`, `/part-3/0-7`
    Short,
}

impl Alias {
    pub(crate) fn target(self, path: &[u32], naming: &dyn Naming) -> String {
        match (self, path) {
            (Self::Index, _) | (_, []) => "/index.html".to_owned(),
            (Self::Capital, [only]) => format!("/Part-{only}.html"),
            (Self::Capital, [first, ..]) => format!("/part-{first}/{}.HTML", naming.below_part(path)),
            (Self::Short, [only]) => format!("/part-{only}"),
            (Self::Short, [first, ..]) => format!("/part-{first}/{}", naming.below_part(path)),
        }
    }

    /// Reads a target loosely; the caller writes the result again and compares.
    pub(crate) fn read(target: &str) -> Option<(Self, Path)> {
        if target == "/index.html" {
            return Some((Self::Index, Vec::new()));
        }
        let (alias, path) = match (target.strip_prefix("/Part-"), target.strip_suffix(".HTML")) {
            (Some(rest), _) => (Self::Capital, rest.strip_suffix(".html")?),
            (None, Some(rest)) => (Self::Capital, rest.strip_prefix("/part-")?),
            (None, None) => (Self::Short, target.strip_prefix("/part-")?),
        };
        Some((alias, read_tree_path(path)?))
    }
}
