use memchr::memchr;

use super::element_name::{ElementName, Namespace};

/// The namespaces of an XML document (Namespaces in XML 1.0, §6): the namespace of each prefix, and the scope
/// of each declaration.
#[derive(Default)]
pub(in crate::page) struct Namespaces {
    /// In the order in which they were declared; those from `in_force` on belong to the tag that is being
    /// read.
    declared: Vec<Declaration>,
    in_force: usize,
    open: Vec<OpenScope>,
    /// Open elements beyond [`MOST_OPEN`].
    untracked: u32,
    /// The prefix of the tag that is being read.
    prefix: Prefix,
    /// The value of the last declaration, while it is being read.
    value: Option<Vec<u8>>,
}

/// None for the default namespace.
type Prefix = Option<ElementName>;

struct Declaration {
    prefix: Prefix,
    namespace: Namespace,
}

/// An open element, and the number of declarations in force around it.
struct OpenScope {
    name: ElementName,
    outer: usize,
}

/// As in HTML; deeper elements have no declarations.
const MOST_OPEN: usize = 256;
const MOST_DECLARED: usize = 256;
/// Longer than the name of any namespace that is distinguished.
const MOST_NAME_BYTES: usize = 64;

impl Namespaces {
    /// Begins a tag; returns its name without the prefix.
    pub(in crate::page) fn begin<'n>(&mut self, name: &'n [u8]) -> &'n [u8] {
        self.value = None;
        self.declared.truncate(self.in_force);
        let (prefix, local) = split_prefix(name);
        self.prefix = prefix;
        local
    }

    /// Begins an attribute, if it declares a namespace.
    pub(in crate::page) fn declare(&mut self, name: &[u8]) -> bool {
        let prefix = match split_prefix(name) {
            (None, b"xmlns") => None,
            (Some(xmlns), prefix) if xmlns.is_named(b"xmlns") => Some(ElementName::spelled(prefix)),
            _ => return false,
        };
        self.settle();
        let is_kept = self.declared.len() < MOST_DECLARED;
        if is_kept {
            self.declared.push(Declaration { prefix, namespace: Namespace::Other });
            self.value = Some(Vec::new());
        }
        is_kept
    }

    pub(in crate::page) fn push_value(&mut self, piece: &[u8]) {
        if let Some(value) = &mut self.value {
            value.extend(piece.iter().take(MOST_NAME_BYTES - value.len().min(MOST_NAME_BYTES)));
        }
    }

    /// The namespace of the tag's element, according to the declarations so far.
    pub(in crate::page) fn current(&self) -> Namespace {
        let declaration = self.declared.iter().rev().find(|declared| declared.prefix == self.prefix);
        // A document without any declaration means HTML.
        let is_plain = self.prefix.is_none() && self.declared.is_empty();
        let usual = if is_plain { Namespace::Html } else { Namespace::Other };
        declaration.map_or(usual, |declared| declared.namespace)
    }

    /// Enters the tag's element; returns its namespace.
    pub(in crate::page) fn enter(&mut self, name: ElementName, is_empty: bool) -> Namespace {
        self.settle();
        let namespace = self.current();
        if is_empty {
            self.declared.truncate(self.in_force);
        } else if self.open.len() < MOST_OPEN {
            self.open.push(OpenScope { name, outer: self.in_force });
            self.in_force = self.declared.len();
        } else {
            self.untracked = self.untracked.saturating_add(1);
            self.declared.truncate(self.in_force);
        }
        namespace
    }

    /// Leaves the innermost element of this name, and all elements open in it.
    pub(in crate::page) fn leave(&mut self, name: ElementName) {
        if self.untracked > 0 {
            self.untracked -= 1;
        } else if let Some(at) = self.open.iter().rposition(|open| open.name == name) {
            self.in_force = self.open[at].outer;
            self.declared.truncate(self.in_force);
            self.open.truncate(at);
        }
    }

    fn settle(&mut self) {
        if let (Some(value), Some(last)) = (self.value.take(), self.declared.last_mut()) {
            last.namespace = match value.as_slice() {
                b"http://www.w3.org/1999/xhtml" => Namespace::Html,
                b"http://www.w3.org/2000/svg" => Namespace::Svg,
                b"http://www.w3.org/1998/Math/MathML" => Namespace::Math,
                _ => Namespace::Other,
            };
        }
    }
}

fn split_prefix(name: &[u8]) -> (Prefix, &[u8]) {
    match memchr(b':', name) {
        Some(colon) => (Some(ElementName::spelled(&name[..colon])), &name[colon + 1..]),
        None => (None, name),
    }
}
