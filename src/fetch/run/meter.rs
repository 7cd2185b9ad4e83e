use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// Decides when an exchange may read on: the rate of the survey may be used up.
pub trait Meter: Send + Sync {
    /// Waits until the exchange may have transferred `bytes` in total, in both directions.
    fn read_on(&self, bytes: u64) -> BoxFuture<'_, ()>;
}

/// A meter for exchanges without a rate limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn read_on(&self, _bytes: u64) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }
}
