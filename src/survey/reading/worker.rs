use std::path::PathBuf;
use std::sync::Arc;

use super::quarantine::{ReceivedResponse, ResponseBody, ResponseReader};
use crate::address::OptOuts;
use crate::fetch::{Clock, FetchError, Fetcher, Meter};
use crate::settings::Settings;
use crate::survey::agents::remote_worker::{RemoteRequest, RemoteResponse};
use crate::survey::error::SurveyError;
use crate::walk;

/// Sends the requests of a survey that another process runs, and reads the responses.
///
/// It decides nothing: turns, server addresses and opt-outs are checked where the requests come from.
pub struct Worker {
    fetcher: Fetcher,
    reader: ResponseReader,
}

impl Worker {
    /// Creates a worker for a survey with these settings.
    ///
    /// # Errors
    /// When a setting cannot be obeyed here.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, FetchError> {
        let fetcher = Fetcher::without_names(settings.into(), Arc::new(OptOuts::default()), clock)?;
        let product_token = walk::WalkSettings::from(settings).product_token;
        Ok(Self { fetcher, reader: ResponseReader::new(settings.exclude_text.clone(), product_token) })
    }

    /// Sets the program that reads a response at which a process died, when called with
    /// [`READ_ANSWER`](crate::survey::READ_ANSWER). It is usually this program itself.
    pub fn read_suspects_with(&self, program: PathBuf) {
        self.reader.read_suspects_with(program);
    }

    /// Sends a request and reads the response. If the process dies while reading, nothing more is reported,
    /// and that tells enough.
    ///
    /// # Errors
    /// When the task that waits for the separate process fails.
    pub async fn execute(
        &self,
        remote_request: &RemoteRequest,
        meter: &dyn Meter,
    ) -> Result<RemoteResponse, SurveyError> {
        let RemoteRequest { request, address, known, byte_limit, manner, is_suspect, .. } = remote_request;
        let (response, body) =
            self.fetcher.fetch_with(*manner, known, request, *address, *byte_limit, meter).await;
        let received = ReceivedResponse {
            request: request.clone(),
            response,
            body: ResponseBody::Unread(body),
            // The process that runs the survey knows the earlier one, and completes what has not changed.
            earlier: None,
            is_suspect: *is_suspect,
            ahead: None,
        };
        let record = self.reader.read_response(received, async |_mark| Ok(())).await?;
        Ok(RemoteResponse::new(record))
    }
}
