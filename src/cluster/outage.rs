use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind, PublishError,
    PublishErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::stream::{
    LastRawMessageError, LastRawMessageErrorKind, PurgeError, PurgeErrorKind,
};
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{ClientError, ConnectErrorKind, Event, ServerError};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::fetch::Clock;

/// Why the bus does not work, as far as can be seen. The message names the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outage {
    /// There is no connection, and none can be made.
    Away,
    /// The server accepts connections, but not our credentials.
    LoginRefused,
    /// There is a connection, and requests to JetStream get no response.
    Silent,
    /// There is a connection to a server without JetStream.
    NoJetStream,
    /// The stream of the survey exists but takes nothing, as while a cluster elects a leader.
    NoLeader,
    /// The server refuses a subject to our user; holds its message.
    NotPermitted(String),
    /// The server's disk, or our share of it, is full; holds its message.
    Full(String),
    /// The server has no stream of the survey.
    StreamGone,
    /// Any other error, in the words of the library.
    Other(String),
}

impl fmt::Display for Outage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Away => "no NATS server responds there (start it again, or repair the network)",
            Self::LoginRefused => {
                "the NATS server now refuses our login (restore our user there, or correct the file of --nats-login \
                 and restart this process)"
            }
            Self::Silent => {
                "the JetStream of the NATS server does not respond: its disk may be full, it may be stopped or cut off, or \
                 most servers of its cluster are down (check its log and disk, free some space and restart it)"
            }
            Self::NoJetStream => {
                "the NATS server no longer has JetStream (restart it with its earlier configuration and store)"
            }
            Self::NoLeader => {
                "the NATS cluster has no leader for the survey's stream (start the servers that are down)"
            }
            Self::NotPermitted(why) => {
                return write!(
                    formatter,
                    "our user lacks a permission on the NATS server: {why} (a survey and its agents publish and \
                     subscribe to `ccsurvey.>`, `$JS.API.>` and `_INBOX.>`)"
                );
            }
            Self::Full(why) => {
                return write!(formatter, "the NATS server cannot store more: {why} (free some space there)");
            }
            Self::StreamGone => {
                "the NATS server no longer has the stream of the survey: its store was emptied or replaced, or the \
                 stream was removed"
            }
            Self::Other(why) => why,
        };
        formatter.write_str(text)
    }
}

impl Outage {
    /// The outage that an error of the library indicates.
    pub(super) fn from_error(error: &(dyn Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            if let Some(outage) = recognized(cause) {
                return outage;
            }
            next = cause.source();
        }
        Self::Other(with_causes(error))
    }

    /// Whether it is an outage of the connection, which reports its state itself.
    fn is_of_connection(&self) -> bool {
        matches!(self, Self::Away | Self::LoginRefused)
    }
}

fn recognized(error: &(dyn Error + 'static)) -> Option<Outage> {
    if let Some(error) = error.downcast_ref::<jetstream::Error>() {
        return from_code(error);
    }
    if let Some(error) = error.downcast_ref::<PublishError>() {
        return match error.kind() {
            PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => Some(Outage::Silent),
            // Nobody serves the subject: no stream, or no leader of it, or no JetStream.
            PublishErrorKind::StreamNotFound => Some(Outage::NoLeader),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<RequestError>() {
        return match error.kind() {
            RequestErrorKind::TimedOut => Some(Outage::Silent),
            RequestErrorKind::NoResponders => Some(Outage::NoJetStream),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<async_nats::RequestError>() {
        return match error.kind() {
            async_nats::RequestErrorKind::TimedOut => Some(Outage::Silent),
            async_nats::RequestErrorKind::NoResponders => Some(Outage::NoJetStream),
            _ => None,
        };
    }
    // These errors carry JetStream's own error in their kind, not in their source.
    if let Some(error) = error.downcast_ref::<GetStreamError>() {
        return match error.kind() {
            GetStreamErrorKind::JetStream(reported) => from_code(&reported),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<CreateStreamError>() {
        return match error.kind() {
            CreateStreamErrorKind::JetStream(reported) => from_code(&reported),
            CreateStreamErrorKind::TimedOut => Some(Outage::Silent),
            CreateStreamErrorKind::JetStreamUnavailable => Some(Outage::NoJetStream),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<LastRawMessageError>() {
        return match error.kind() {
            LastRawMessageErrorKind::JetStream(reported) => from_code(&reported),
            _ => None,
        };
    }
    match error.downcast_ref::<PurgeError>()?.kind() {
        PurgeErrorKind::JetStream(reported) => from_code(&reported),
        PurgeErrorKind::TimedOut => Some(Outage::Silent),
        PurgeErrorKind::Request => None,
    }
}

fn from_code(error: &jetstream::Error) -> Option<Outage> {
    match error.error_code() {
        ErrorCode::STREAM_NOT_FOUND => Some(Outage::StreamGone),
        ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => {
            Some(Outage::NoJetStream)
        }
        ErrorCode::CLUSTER_NOT_AVAILABLE | ErrorCode::CLUSTER_NOT_LEADER | ErrorCode::STREAM_OFFLINE => {
            Some(Outage::NoLeader)
        }
        _ if is_full(&error.to_string()) => Some(Outage::Full(error.to_string())),
        _ => None,
    }
}

/// The disk of the server, or our share of it, is used up. One code covers this and other failures to store.
fn is_full(reported: &str) -> bool {
    ["insufficient", "resource limits exceeded", "maximum bytes exceeded", "no space left"]
        .iter()
        .any(|text| reported.contains(text))
}

/// An error with its causes, in one line.
pub(super) fn with_causes(error: &dyn Error) -> String {
    let mut described = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !described.contains(&text) {
            described = format!("{described}: {text}");
        }
        cause = inner.source();
    }
    described
}

/// An outage, and since when the bus has not worked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatedOutage {
    /// The current problem.
    pub outage: Outage,
    /// When the first problem of this unbroken series was noticed, by the clock of this process.
    pub at: SystemTime,
}

/// The server has refused a subject to our user.
#[derive(Clone, Debug)]
pub(super) struct SubjectRefusal {
    /// In the words of the server.
    pub what: String,
    /// When it was refused last.
    at: Instant,
}

/// Whether the bus works, as all its users in this process find. Changes are logged.
pub(super) struct BusCondition {
    outage: watch::Sender<Option<DatedOutage>>,
    refusal: watch::Sender<Option<SubjectRefusal>>,
    is_connected: AtomicBool,
}

/// How long a refusal explains why a request gets no response.
const EXPLAINS_FOR: Duration = Duration::from_secs(15);

impl Default for BusCondition {
    fn default() -> Self {
        let (outage, refusal) = (watch::Sender::new(None), watch::Sender::new(None));
        Self { outage, refusal, is_connected: AtomicBool::new(false) }
    }
}

impl BusCondition {
    /// Receives each change.
    pub(super) fn watch(&self) -> watch::Receiver<Option<DatedOutage>> {
        self.outage.subscribe()
    }

    /// Receives each refusal that differs from the one before.
    pub(super) fn watch_refusals(&self) -> watch::Receiver<Option<SubjectRefusal>> {
        self.refusal.subscribe()
    }

    /// An entry was stored or read.
    pub(super) fn note_success(&self) {
        self.clear(|_| true);
    }

    /// JetStream has responded, which does not mean that it takes entries.
    pub(super) fn note_response(&self) {
        self.clear(|outage| matches!(outage, Outage::Silent | Outage::NoJetStream | Outage::NotPermitted(_)));
    }

    /// An operation failed. Outages of the connection are left to its own reports.
    pub(super) fn note_failure(&self, outage: &Outage) {
        if !outage.is_of_connection() {
            self.set(outage.clone());
        }
    }

    /// An event of the connection.
    pub(super) fn note_event(&self, event: Event) {
        match event {
            Event::Connected => {
                self.is_connected.store(true, Ordering::Relaxed);
                self.clear(Outage::is_of_connection);
            }
            // The client may reconnect to another server of a cluster at once: failures to connect tell
            // whether it does.
            Event::Disconnected => self.is_connected.store(false, Ordering::Relaxed),
            Event::ClientError(ClientError::Other(what)) if !self.is_connected.load(Ordering::Relaxed) => {
                let refusals = [ConnectErrorKind::AuthorizationViolation, ConnectErrorKind::Authentication];
                let is_refused = refusals.iter().any(|kind| kind.to_string() == what);
                self.set(if is_refused { Outage::LoginRefused } else { Outage::Away });
            }
            Event::ServerError(ServerError::Other(what)) => self.note_refusal(what),
            _ => {}
        }
    }

    fn note_refusal(&self, what: String) {
        self.refusal.send_if_modified(|last| {
            let is_new = last.as_ref().is_none_or(|last| last.what != what);
            if is_new {
                tracing::warn!(what, "our user lacks a permission on the NATS server");
            }
            *last = Some(SubjectRefusal { what, at: Instant::now() });
            is_new
        });
    }

    /// Why the connection is away.
    pub(super) fn of_connection(&self) -> Outage {
        let now = self.outage.borrow().as_ref().map(|dated| dated.outage.clone());
        now.filter(Outage::is_of_connection).unwrap_or(Outage::Away)
    }

    /// A recent refusal explains why there is no response.
    pub(super) fn explain(&self, outage: Outage) -> Outage {
        match (&*self.refusal.borrow(), outage) {
            (Some(SubjectRefusal { what, at }), Outage::Silent) if at.elapsed() < EXPLAINS_FOR => {
                Outage::NotPermitted(what.clone())
            }
            (_, outage) => outage,
        }
    }

    fn set(&self, outage: Outage) {
        self.outage.send_if_modified(|now| {
            if now.as_ref().is_some_and(|dated| dated.outage == outage) {
                return false;
            }
            tracing::warn!(problem = %outage, "the bus does not work");
            let at = now.as_ref().map_or_else(|| Clock::system().now(), |dated| dated.at);
            *now = Some(DatedOutage { outage, at });
            true
        });
    }

    fn clear(&self, is_over: impl Fn(&Outage) -> bool) {
        if self.outage.borrow().is_none() {
            return;
        }
        self.outage.send_if_modified(|now| {
            let is_over = now.as_ref().is_some_and(|dated| is_over(&dated.outage));
            if is_over {
                tracing::info!("the bus works again");
                *now = None;
            }
            is_over
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage_of(condition: &BusCondition) -> Option<Outage> {
        condition.watch().borrow().as_ref().map(|dated| dated.outage.clone())
    }

    fn failed(kind: ConnectErrorKind) -> Event {
        Event::ClientError(ClientError::Other(kind.to_string()))
    }

    #[test]
    fn the_connection_reports_why_it_is_away_and_when_it_is_back() {
        let condition = BusCondition::default();
        condition.note_event(Event::Connected);
        condition.note_event(Event::Disconnected);
        assert_eq!(outage_of(&condition), None, "another server of the cluster may take over at once");
        condition.note_event(failed(ConnectErrorKind::Io));
        assert_eq!(outage_of(&condition), Some(Outage::Away));
        let dated = condition.watch().borrow().as_ref().map(|dated| dated.at);
        condition.note_event(failed(ConnectErrorKind::AuthorizationViolation));
        assert_eq!(outage_of(&condition), Some(Outage::LoginRefused));
        assert_eq!(condition.watch().borrow().as_ref().map(|dated| dated.at), dated, "one outage");
        condition.note_failure(&Outage::Away);
        assert_eq!(outage_of(&condition), Some(Outage::LoginRefused), "the connection knows better");
        condition.note_event(Event::Connected);
        assert_eq!(outage_of(&condition), None);
    }

    #[test]
    fn a_connection_that_is_back_does_not_mean_that_jetstream_is() {
        let condition = BusCondition::default();
        condition.note_event(Event::Connected);
        condition.note_failure(&Outage::Silent);
        condition.note_event(Event::Disconnected);
        condition.note_event(Event::Connected);
        assert_eq!(outage_of(&condition), Some(Outage::Silent));
        condition.note_success();
        assert_eq!(outage_of(&condition), None);
    }

    #[tokio::test]
    async fn a_refused_subject_explains_a_request_without_a_response() {
        let condition = BusCondition::default();
        assert_eq!(condition.explain(Outage::Silent), Outage::Silent);
        let what = "Permissions Violation for Publish to \"$JS.API.STREAM.NAMES\"";
        condition.note_event(Event::ServerError(ServerError::Other(what.to_owned())));
        assert_eq!(condition.explain(Outage::Silent), Outage::NotPermitted(what.to_owned()));
        assert_eq!(condition.explain(Outage::StreamGone), Outage::StreamGone);
    }

    #[test]
    fn errors_of_the_library_are_recognized_through_their_causes() {
        let reported = |code: u64, text: &str| {
            let json = format!("{{\"code\":503,\"err_code\":{code},\"description\":\"{text}\"}}");
            serde_json::from_str::<jetstream::Error>(&json).unwrap()
        };
        let request = |kind| RequestError::new(kind);
        for (error, outage) in [
            (Box::new(PublishError::new(PublishErrorKind::TimedOut)) as Box<dyn Error>, Outage::Silent),
            (Box::new(PublishError::new(PublishErrorKind::StreamNotFound)), Outage::NoLeader),
            (
                Box::new(PublishError::with_source(
                    PublishErrorKind::Other,
                    reported(10077, "no space left on device"),
                )),
                Outage::Full("no space left on device (code 503, error code 10077)".to_owned()),
            ),
            (
                Box::new(PublishError::with_source(
                    PublishErrorKind::Other,
                    reported(10047, "insufficient storage resources available"),
                )),
                Outage::Full(
                    "insufficient storage resources available (code 503, error code 10047)".to_owned(),
                ),
            ),
            (
                Box::new(GetStreamError::with_source(
                    GetStreamErrorKind::Request,
                    request(RequestErrorKind::NoResponders),
                )),
                Outage::NoJetStream,
            ),
            (
                Box::new(GetStreamError::new(GetStreamErrorKind::JetStream(reported(
                    10059,
                    "stream not found",
                )))),
                Outage::StreamGone,
            ),
            (
                Box::new(LastRawMessageError::with_source(
                    LastRawMessageErrorKind::Other,
                    request(RequestErrorKind::TimedOut),
                )),
                Outage::Silent,
            ),
        ] {
            assert_eq!(Outage::from_error(&*error), outage, "{error}");
        }
        let other = PublishError::with_source(PublishErrorKind::Other, reported(10099, "something new"));
        let Outage::Other(text) = Outage::from_error(&other) else { panic!() };
        assert!(text.contains("something new"), "{text}");
    }
}
