use super::super::tables::{ByKey, key};

/// Names of sites or addresses, numbered from 0. A name is identified by its hash; among 10⁸ names, 0.0003
/// collisions are expected.
#[derive(Default)]
pub(super) struct Names {
    numbers: ByKey<u32>,
    names: Vec<Box<str>>,
}

impl Names {
    /// The number of a name. A new name gets the next number.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        *self.numbers.entry(key(name)).or_insert_with(|| {
            self.names.push(name.into());
            u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// The number of a name that has one.
    pub(super) fn known(&self, name: &str) -> Option<u32> {
        self.numbers.get(&key(name)).copied()
    }

    pub(super) fn contains_key(&self, key: u64) -> bool {
        self.numbers.contains_key(&key)
    }

    pub(super) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
}
