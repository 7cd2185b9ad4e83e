use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::context::{CreateStreamErrorKind, GetStreamErrorKind, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::{LastRawMessageError, LastRawMessageErrorKind};
use async_nats::jetstream::{self, Context, ErrorCode, stream};
use async_nats::{Client, ConnectErrorKind, ServerAddr, Subject, Subscriber};
use futures_util::TryStreamExt;
use tokio::sync::watch;
use tokio::time::Instant;

use super::outage::{BusCondition, DatedOutage, SubjectRefusal};
use super::{ClusterError, Login, Outage};

/// A NATS server with JetStream, as a survey uses it.
#[derive(Clone)]
pub struct Bus {
    pub(super) client: Client,
    context: Context,
    server: String,
    /// We have presented a certificate, so others must do so too.
    shows_certificate: bool,
    condition: Arc<BusCondition>,
}

/// Whether the subject now holds a published entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Published {
    /// It does, under this sequence.
    At(u64),
    /// Another entry stands where this one was to follow.
    Refused,
}

/// Prefix of the names of our streams.
const PREFIX: &str = "ccsurvey_";
/// Number of entries that are kept per site tree. A reply has 75 parts at most, and parts that were copied
/// are not needed any more.
const ENTRIES_PER_SUBJECT: i64 = 160;
/// A running bus responds within milliseconds, or within seconds if its leader has died.
const PATIENCE: Duration = Duration::from_secs(5);
/// By then a cluster that has lost servers has elected new leaders, or has too few servers.
const ELECTION: Duration = Duration::from_mins(1);
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// Sending a request and receiving the response may each take [`PATIENCE`]; an attempt that takes longer than
/// both hangs.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(15);
/// A stream is gone once it has not been found for this long: a server that has just started may not know it
/// yet.
const GONE_CONFIRMED_AFTER: Duration = Duration::from_secs(3);
/// Number of copies of a stream in a cluster: one of its servers may die.
const REPLICAS: usize = 3;
/// Bytes of a message that our fields may take. A server accepts a message of one mebibyte by default.
const HEADER_BYTES: usize = 4096;

/// Retries for the given time, then returns the reason of the failure.
macro_rules! patiently {
    ($bus:expr, $patience:expr, $attempt:expr) => {{
        let mut wait = RetryWait::new($bus, $patience);
        loop {
            match $bus.attempt(Box::pin(async { $attempt })).await {
                Ok(done) => break done,
                Err(outage) => wait.after(outage).await?,
            }
        }
    }};
}

/// A wait for the bus, which ends after some time, or when waiting is useless.
struct RetryWait<'a> {
    bus: &'a Bus,
    until: Instant,
    /// Since when the stream of the survey has not been found.
    gone_since: Option<Instant>,
}

impl<'a> RetryWait<'a> {
    fn new(bus: &'a Bus, patience: Duration) -> Self {
        Self { bus, until: Instant::now() + patience, gone_since: None }
    }

    /// An attempt has failed: waits for the next one.
    async fn after(&mut self, outage: Outage) -> Result<(), ClusterError> {
        self.bus.condition.note_failure(&outage);
        let now = Instant::now();
        self.gone_since = (outage == Outage::StreamGone).then(|| self.gone_since.unwrap_or(now));
        let is_gone = self.gone_since.is_some_and(|since| now >= since + GONE_CONFIRMED_AFTER);
        if now >= self.until || is_gone {
            return Err(self.bus.outage_error(outage));
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
        Ok(())
    }
}

impl Bus {
    /// Connects to the server at `address`, `nats://HOST:PORT`, or to one of several that are separated by
    /// commas.
    ///
    /// # Errors
    /// When that is not an address, nothing responds there, the login is refused, or there is no JetStream.
    pub async fn connect(address: &str, login: &Login) -> Result<Self, ClusterError> {
        let servers = address.split(',').map(parse_server).collect::<Result<Vec<_>, _>>()?;
        let name = address.to_owned();
        let condition = Arc::new(BusCondition::default());
        let reports = condition.clone();
        let options = login
            .options()
            .name("ccsurvey")
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            .event_callback(move |event| {
                reports.note_event(event);
                std::future::ready(())
            });
        let client = options.connect(servers).await.map_err(|error| {
            let (server, why) = (name.clone(), error.to_string());
            match error.kind() {
                ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                    ClusterError::NotLetIn { server, why }
                }
                _ => ClusterError::Unreachable { server, why },
            }
        })?;
        if !client.server_info().jetstream {
            return Err(ClusterError::NoJetStream(name));
        }
        let context =
            jetstream::ContextBuilder::new().timeout(PATIENCE).ack_timeout(PATIENCE).build(client.clone());
        Ok(Self { client, context, server: name, shows_certificate: login.has_certificate(), condition })
    }

    /// Receives each outage and its end.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Option<DatedOutage>> {
        self.condition.watch()
    }

    /// Receives each refusal of a subject to our user.
    pub(super) fn watch_refusals(&self) -> watch::Receiver<Option<SubjectRefusal>> {
        self.condition.watch_refusals()
    }

    /// Attempts an operation once, if there is a connection: a message that is sent without one would arrive
    /// when all else has changed.
    async fn attempt<T, E: std::error::Error + 'static>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Outage> {
        let tried =
            if self.is_connected() { Some(tokio::time::timeout(ATTEMPT_TIMEOUT, work).await) } else { None };
        match tried {
            Some(Ok(Ok(done))) => Ok(done),
            Some(Ok(Err(error))) if self.is_connected() => {
                Err(self.condition.explain(Outage::from_error(&error)))
            }
            Some(Err(_elapsed)) if self.is_connected() => Err(self.condition.explain(Outage::Silent)),
            _ => Err(self.condition.of_connection()),
        }
    }

    /// Whether anyone may connect to the server to read and write there.
    #[must_use]
    pub fn is_open_to_everybody(&self) -> bool {
        !self.client.server_info().auth_required && !self.shows_certificate
    }

    /// Whether it is a cluster of servers that lose entries when one of them is restarted: they take the
    /// removal of the entries of one subject for the removal of all earlier entries (nats-server issue 4196).
    #[must_use]
    pub fn loses_entries(&self) -> bool {
        self.is_cluster() && is_before_2_10(&self.client.server_info().version)
    }

    /// Address of the server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Largest message in bytes that is published in one piece.
    pub(super) fn max_payload_bytes(&self) -> usize {
        self.client.server_info().max_payload.saturating_sub(HEADER_BYTES)
    }

    /// The surveys that have a stream on the bus.
    pub(super) async fn surveys(&self) -> Result<Vec<String>, ClusterError> {
        let names = self.attempt(self.context.stream_names().try_collect::<Vec<String>>()).await;
        let names = names.map_err(|outage| self.outage_error(outage))?;
        self.condition.note_response();
        let mut ours: Vec<String> =
            names.iter().filter_map(|name| name.strip_prefix(PREFIX).map(ToOwned::to_owned)).collect();
        ours.sort();
        Ok(ours)
    }

    /// Opens the stream of a survey, or creates it; `id` distinguishes the survey from others of this name.
    pub(super) async fn open(&self, name: &str, id: &str) -> Result<stream::Stream, ClusterError> {
        match self.find_stream(name).await? {
            Some(stream) => {
                let is_ours = stream.cached_info().config.description.as_deref() == Some(id);
                if is_ours { Ok(stream) } else { Err(self.name_taken_error(name)) }
            }
            None => self.create(name, id).await,
        }
    }

    /// The stream of a survey, if there is one.
    async fn find_stream(&self, name: &str) -> Result<Option<stream::Stream>, ClusterError> {
        let found = patiently!(self, ELECTION, {
            match self.context.get_stream(stream_name(name)).await {
                Ok(stream) => Ok(Some(stream)),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(error),
            }
        });
        self.condition.note_response();
        Ok(found)
    }

    pub(super) fn name_taken_error(&self, name: &str) -> ClusterError {
        ClusterError::Taken { server: self.server.clone(), name: name.to_owned() }
    }

    async fn create(&self, name: &str, id: &str) -> Result<stream::Stream, ClusterError> {
        let config = |num_replicas| stream::Config {
            name: stream_name(name),
            description: Some(id.to_owned()),
            subjects: vec![tree_subject(name, "*"), coordinator_subject(name)],
            max_messages_per_subject: ENTRIES_PER_SUBJECT,
            storage: stream::StorageType::File,
            num_replicas,
            ..stream::Config::default()
        };
        let copies = if self.is_cluster() { REPLICAS } else { 1 };
        Ok(patiently!(self, ELECTION, {
            match self.context.create_stream(config(copies)).await {
                // Fewer than three servers are up, or fewer have room. Copies are added later, if possible.
                Err(error) if matches!(error.kind(), CreateStreamErrorKind::JetStream(_)) => {
                    self.context.create_stream(config(1)).await
                }
                made => made,
            }
        }))
    }

    fn is_cluster(&self) -> bool {
        self.client.server_info().cluster.is_some()
    }

    /// Whether the stream has fewer copies than the servers of a cluster can keep.
    pub(super) fn lacks_copies(&self, stream: &stream::Stream) -> bool {
        self.is_cluster() && stream.cached_info().config.num_replicas < REPLICAS
    }

    /// Makes the servers of a cluster keep more copies of a stream, if enough of them are up.
    pub(super) async fn add_copies(&self, stream: &stream::Stream) -> Result<(), Outage> {
        let config = stream::Config { num_replicas: REPLICAS, ..stream.cached_info().config.clone() };
        self.attempt(Box::pin(self.context.update_stream(config))).await.map(|_| ())
    }

    /// Removes the stream of a survey that is over.
    pub(super) async fn remove(&self, name: &str) -> Result<(), ClusterError> {
        let removed = self.attempt(Box::pin(self.context.delete_stream(stream_name(name)))).await;
        removed.map(|_| ()).map_err(|outage| self.outage_error(outage))
    }

    /// Whether the survey has a stream.
    pub(super) async fn has(&self, name: &str) -> Result<bool, ClusterError> {
        Ok(self.find_stream(name).await?.is_some())
    }

    /// The next entry on a subject, or on any subject that a pattern matches, from this sequence on.
    pub(super) async fn next<I: Send + Sync>(
        &self,
        stream: &stream::Stream<I>,
        subject: &str,
        from: u64,
    ) -> Result<Option<StreamMessage>, ClusterError> {
        let next = patiently!(self, super::PATIENCE, {
            found(stream.get_first_raw_message_by_subject(subject, from).await)
        });
        self.condition.note_success();
        Ok(next)
    }

    /// Publishes an entry that is to follow the one with the sequence `after`, or any entry. `id` prevents
    /// that an entry is published again if only its acknowledgement was lost.
    ///
    /// Retries while the bus is away, for `patience`.
    pub(super) async fn publish(
        &self,
        subject: String,
        after: Option<u64>,
        id: &str,
        bytes: Vec<u8>,
        patience: Duration,
    ) -> Result<Published, ClusterError> {
        let mut wait = RetryWait::new(self, patience);
        let bytes = bytes::Bytes::from(bytes);
        let mut is_retry = false;
        loop {
            let message = PublishMessage::build().payload(bytes.clone()).message_id(id);
            let message = match after {
                Some(after) => message.expected_last_subject_sequence(after),
                None => message,
            };
            let sent = async {
                let acknowledged = self.context.send_publish(subject.clone(), message).await?.await;
                match acknowledged {
                    Ok(ack) => Ok(Some(ack)),
                    Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(None),
                    Err(error) => Err(error),
                }
            };
            match self.attempt(Box::pin(sent)).await {
                // An entry that is there already is ours only if we have tried before.
                Ok(Some(ack)) if ack.duplicate && !is_retry => return Ok(Published::Refused),
                Ok(Some(ack)) => {
                    self.condition.note_success();
                    return Ok(Published::At(ack.sequence));
                }
                Ok(None) => return self.resolve_refusal(&subject, after.unwrap_or_default(), id).await,
                Err(outage @ Outage::Full(_)) => {
                    self.condition.note_failure(&outage);
                    return Err(self.outage_error(outage));
                }
                Err(Outage::NoLeader) => wait.after(self.leader_outage(&subject).await).await?,
                Err(outage) => wait.after(outage).await?,
            }
            is_retry = true;
        }
    }

    /// Why no stream takes what is published on a subject of a survey.
    async fn leader_outage(&self, subject: &str) -> Outage {
        let stream = stream_name(survey_from_subject(subject));
        self.attempt(Box::pin(self.context.get_stream(stream)))
            .await
            .map_or_else(|outage| outage, |_| Outage::NoLeader)
    }

    /// The bus refused an entry. Perhaps it has that entry already, and only the acknowledgement was lost.
    async fn resolve_refusal(&self, subject: &str, after: u64, id: &str) -> Result<Published, ClusterError> {
        let stream = self.stream(survey_from_subject(subject)).await?;
        let next = self.next(&stream, subject, after + 1).await?;
        let ours =
            next.filter(|entry| entry.headers.get(NATS_MESSAGE_ID).is_some_and(|value| value.as_str() == id));
        Ok(ours.map_or(Published::Refused, |entry| Published::At(entry.sequence)))
    }

    pub(super) async fn stream(&self, name: &str) -> Result<stream::Stream<()>, ClusterError> {
        let stream = self.context.get_stream_no_info(stream_name(name)).await;
        stream.map_err(|error| self.error("open the stream of the survey", error))
    }

    /// The last sequence on a subject; 0 where it is empty.
    pub(super) async fn last<I: Send + Sync>(
        &self,
        stream: &stream::Stream<I>,
        subject: &str,
    ) -> Result<u64, ClusterError> {
        let last = patiently!(self, super::PATIENCE, {
            found(stream.get_last_raw_message_by_subject(subject).await)
        });
        self.condition.note_success();
        Ok(last.map_or(0, |entry| entry.sequence))
    }

    /// The subjects of all trees that have entries.
    pub(super) async fn tree_subjects(
        &self,
        stream: &stream::Stream,
        name: &str,
    ) -> Result<Vec<String>, ClusterError> {
        let subjects =
            patiently!(self, super::PATIENCE, stream.info_with_subjects(tree_subject(name, "*")).await);
        let found = subjects.try_collect::<Vec<(String, usize)>>().await;
        let found = found.map_err(|error| self.error("list the subjects of the stream", error))?;
        Ok(found.into_iter().map(|(subject, _)| subject).collect())
    }

    /// Whether there is a connection now.
    pub(super) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Removes all entries of a subject.
    pub(super) async fn purge(&self, name: &str, subject: String) -> Result<(), ClusterError> {
        let purged = self.stream(name).await?.purge().filter(subject).await;
        purged.map(|_| ()).map_err(|error| self.error("purge a subject", error))
    }

    /// Subscribes to a subject.
    pub(super) async fn subscribe(&self, subject: String) -> Result<Subscriber, ClusterError> {
        self.client.subscribe(subject).await.map_err(|error| self.error("subscribe to a subject", error))
    }

    /// Publishes a message that nothing keeps. When this returns, the message has left this process.
    pub(super) async fn send(&self, subject: String, bytes: Vec<u8>) -> Result<(), ClusterError> {
        let published = self.client.publish(Subject::from(subject), bytes.into()).await;
        published.map_err(|error| self.error("publish a message", error))?;
        self.client.flush().await.map_err(|error| self.error("publish a message", error))
    }

    /// Replies to a request, without waiting until the reply has left this process.
    pub(super) async fn reply(&self, to: Subject, bytes: Vec<u8>) -> Result<(), ClusterError> {
        self.client.publish(to, bytes.into()).await.map_err(|error| self.error("publish a reply", error))
    }

    /// An error of the bus, with what it tells of the state of the bus.
    pub(super) fn error(&self, what: &'static str, error: impl std::error::Error + 'static) -> ClusterError {
        ClusterError::Bus { server: self.server.clone(), what, why: Outage::from_error(&error) }
    }

    fn outage_error(&self, outage: Outage) -> ClusterError {
        ClusterError::Outage { server: self.server.clone(), outage }
    }
}

fn is_before_2_10(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(major), Some(minor)) if (major, minor) < (2, 10))
}

/// A server by its address, which may not contain a secret.
fn parse_server(address: &str) -> Result<ServerAddr, ClusterError> {
    let address = address.trim();
    let server = address
        .parse::<ServerAddr>()
        .ok()
        .filter(|server| !server.has_user_pass() && !server.host().is_empty());
    let is_known = ["nats://", "tls://"].iter().any(|scheme| address.starts_with(scheme));
    // The error message leaves out what may be secret.
    let without_login = || address.rsplit('@').next().unwrap_or_default().to_owned();
    server.filter(|_| is_known).ok_or_else(|| ClusterError::Address(without_login()))
}

/// Name of the stream of a survey.
fn stream_name(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// Subject of one tree, or the pattern of all.
pub(super) fn tree_subject(name: &str, tree: impl std::fmt::Display) -> String {
    format!("ccsurvey.{name}.tree.{tree}")
}

/// Number of the tree that has this subject.
pub(super) fn tree_from_subject(subject: &str) -> Option<u64> {
    subject.rsplit_once(".tree.")?.1.parse().ok()
}

/// Name of the survey that has this subject.
fn survey_from_subject(subject: &str) -> &str {
    subject.split('.').nth(1).unwrap_or_default()
}

/// Where a coordinator announces its presence.
pub(super) fn coordinator_subject(name: &str) -> String {
    format!("ccsurvey.{name}.coordinator")
}

/// Where agents send heartbeats.
pub(super) fn heartbeat_subject(name: &str) -> String {
    format!("ccsurvey.{name}.here")
}

/// Where a coordinator announces that the survey is finished.
pub(super) fn finished_subject(name: &str) -> String {
    format!("ccsurvey.{name}.finished")
}

/// Where an agent receives its dispatches.
pub(super) fn dispatch_subject(name: &str, agent: &str) -> String {
    format!("ccsurvey.{name}.orders.{agent}")
}

/// Where agents ask for permission to send requests.
pub(super) fn ping_subject(name: &str) -> String {
    format!("ccsurvey.{name}.ping")
}

/// Where agents report the results of requests.
pub(super) fn report_subject(name: &str) -> String {
    format!("ccsurvey.{name}.said")
}

/// Turns any name into a word that is valid in subjects.
pub(super) fn subject_word(name: &str) -> String {
    let word: String =
        name.chars().map(|it| if it.is_ascii_alphanumeric() || it == '-' { it } else { '_' }).collect();
    if word.is_empty() { "survey".to_owned() } else { word }
}

fn is_missing(error: &jetstream::context::GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// An entry, or `None` where there is none.
fn found(
    response: Result<StreamMessage, LastRawMessageError>,
) -> Result<Option<StreamMessage>, LastRawMessageError> {
    match response {
        Ok(entry) => Ok(Some(entry)),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders_become_words_of_subjects() {
        let words = ["kenya", "kenya 2026.11", "…", ""].map(subject_word);
        assert_eq!(words, ["kenya", "kenya_2026_11", "_", "survey"]);
    }

    #[test]
    fn an_address_names_a_server_and_nothing_secret() {
        for good in ["nats://127.0.0.1:4222", "tls://bus.example.org", " nats://[::1]:4222"] {
            parse_server(good).unwrap();
        }
        for bad in [
            "",
            "bus.example.org",
            "http://bus.example.org",
            "nats://",
            "nats://me:hush@bus.example.org:4222",
        ] {
            let message = parse_server(bad).unwrap_err().to_string();
            assert!(message.contains("expected nats://HOST:PORT") && !message.contains("hush"), "{message}");
        }
    }

    #[test]
    fn servers_that_lose_entries_are_told_by_their_version() {
        let old = ["2.9.10", "2.9.25", "1.4.1", "2.9"].map(is_before_2_10);
        let new = ["2.10.0", "2.15.1", "3.0.0", "2.10.0-beta.1", "", "dev"].map(is_before_2_10);
        assert_eq!((old, new), ([true; 4], [false; 6]));
    }

    #[test]
    fn a_tree_is_told_from_its_subject() {
        assert_eq!(tree_from_subject(&tree_subject("ke", 17)), Some(17));
        assert_eq!(
            [tree_from_subject("ccsurvey.ke.coordinator"), tree_from_subject("ccsurvey.ke.tree.x")],
            [None, None]
        );
    }
}
