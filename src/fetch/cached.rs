use std::collections::HashMap;
use std::hash::Hash;
use std::mem;

/// A map of bounded size that forgets the oldest half when it is full: two generations, of which
/// the older is dropped as a whole. Every operation is O(1).
pub(super) struct Cached<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    half: usize,
}

impl<K: Hash + Eq, V: Clone> Cached<K, V> {
    pub(super) fn with_capacity(entries: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), half: (entries / 2).max(1) }
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.young.get(key).or_else(|| self.old.get(key)).cloned()
    }

    pub(super) fn remove(&mut self, key: &K) {
        self.young.remove(key);
        self.old.remove(key);
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.half && !self.young.contains_key(&key) {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_holds_more_than_its_capacity_and_keeps_the_latest() {
        let mut cached = Cached::with_capacity(100);
        for number in 0..1000 {
            cached.insert(number, number * 2);
            assert!(cached.young.len() + cached.old.len() <= 100);
        }
        assert_eq!(cached.get(&999), Some(1998));
        assert_eq!(cached.get(&960), Some(1920));
        assert_eq!(cached.get(&0), None);
        cached.remove(&999);
        assert_eq!(cached.get(&999), None);
    }
}
