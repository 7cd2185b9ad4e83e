use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// Says when an exchange may read on: the rate of a survey may be used up.
pub trait Meter: Send + Sync {
    /// Waits until the exchange may have moved `bytes` in all, both ways.
    fn read_on(&self, bytes: u64) -> BoxFuture<'_, ()>;
}

/// For exchanges that no rate bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn read_on(&self, _bytes: u64) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}
