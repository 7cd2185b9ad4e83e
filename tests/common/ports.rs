//! Ports for servers that are programs of their own.

use std::net::{IpAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};

/// A free port of an address, below those that the system gives to whoever asks for any (32,768 and more): it
/// is still free when the server begins, and when it begins again after it was killed.
pub(crate) fn free_port(address: impl Into<IpAddr>) -> u16 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let address = address.into();
    let is_free = |port: &u16| TcpListener::bind((address, *port)).is_ok();
    let candidates = std::iter::repeat_with(|| {
        let number = u64::from(std::process::id()) * 37 + COUNT.fetch_add(1, Ordering::SeqCst);
        10_000 + u16::try_from(number % 20_000).unwrap()
    });
    candidates.take(1000).find(is_free).expect("a port is free")
}
