//! A connection to an address, a request on it, and the cost of both on the wire.

pub(super) mod request;
pub(super) mod wire;

use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tower::{Layer, Service};

tokio::task_local! {
    static NOTES: Arc<Notes>;
}

type BoxError = Box<dyn Error + Send + Sync>;

/// Facts about one exchange from the layers below HTTP. They travel beside the request because the HTTP
/// client has no way to return them.
#[derive(Default)]
pub(super) struct Notes(Mutex<Moments>);

/// When the connection of an exchange reached which point; all none on a connection kept alive.
#[derive(Clone, Copy, Default)]
pub(super) struct Moments {
    pub connect_start: Option<Instant>,
    /// TCP is connected and the TLS handshake begins; not set for plain HTTP.
    pub tls_start: Option<Instant>,
    pub ready: Option<Instant>,
    /// The connection failed or was abandoned.
    pub failed: bool,
    /// Bytes of the certificates in the handshake; none when a session was resumed.
    pub certificate_bytes: Option<u64>,
    /// The server refused our TLS in a way that is typical of servers with older TLS.
    pub may_speak_older_tls: bool,
}

/// A connection that was abandoned because a phase took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Slow {
    #[error("no TCP connection in time")]
    Connect,
    #[error("no TLS handshake in time")]
    Handshake,
}

impl Notes {
    /// Runs an exchange and records the connection that it opens, if any, in these notes.
    pub(super) async fn during<F: Future>(notes: Arc<Self>, exchange: F) -> F::Output {
        NOTES.scope(notes, exchange).await
    }

    pub(super) fn moments(&self) -> Moments {
        *self.0.lock()
    }

    pub(super) fn note(&self, change: impl FnOnce(&mut Moments)) {
        change(&mut self.0.lock());
    }

    /// Called when the TLS library makes its first message.
    pub(super) fn note_tls_start() {
        let now = Instant::now();
        let _ = NOTES.try_with(|notes| {
            notes.note(|moments| {
                moments.tls_start.get_or_insert(now);
            });
        });
    }

    /// Called when the server's certificates are checked.
    pub(super) fn certificates(bytes: u64) {
        let _ = NOTES.try_with(|notes| notes.note(|moments| moments.certificate_bytes = Some(bytes)));
    }
}

/// A layer around the connector that records its moments and ends each phase in time.
#[derive(Clone, Copy)]
pub(super) struct ConnectTimer {
    pub connect: Duration,
    pub tls: Duration,
}

#[derive(Clone)]
pub(super) struct TimedConnector<S> {
    inner: S,
    timer: ConnectTimer,
}

impl<S> Layer<S> for ConnectTimer {
    type Service = TimedConnector<S>;

    fn layer(&self, inner: S) -> TimedConnector<S> {
        TimedConnector { inner, timer: *self }
    }
}

impl<S, R> Service<R> for TimedConnector<S>
where
    S: Service<R, Error = BoxError>,
    S::Future: Send + 'static,
    S::Response: 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let notes = NOTES.try_with(Arc::clone).unwrap_or_default();
        let (connecting, timer) = (self.inner.call(request), self.timer);
        // The future takes the scope along, because the client may finish a connection in the background.
        Box::pin(NOTES.scope(notes.clone(), async move { timer.limit_time(connecting, &notes).await }))
    }
}

impl ConnectTimer {
    async fn limit_time<T>(
        self,
        connecting: impl Future<Output = Result<T, BoxError>>,
        notes: &Notes,
    ) -> Result<T, BoxError> {
        let start = Instant::now();
        notes.note(|moments| moments.connect_start = Some(start));
        let mut connecting = pin!(connecting);
        let mut deadline_timer = pin!(sleep(self.connect));
        let mut phase = Slow::Connect;
        let result = poll_fn(|cx| {
            if let Poll::Ready(result) = connecting.as_mut().poll(cx) {
                return Poll::Ready(result);
            }
            if let (Slow::Connect, Some(tls_start)) = (phase, notes.moments().tls_start) {
                phase = Slow::Handshake;
                deadline_timer.as_mut().reset(tls_start + self.tls);
            }
            deadline_timer.as_mut().poll(cx).map(|()| Err(phase.into()))
        })
        .await;
        let now = Instant::now();
        notes.note(|moments| match result {
            Ok(_) => moments.ready = Some(now),
            Err(_) => moments.failed = true,
        });
        result
    }
}
