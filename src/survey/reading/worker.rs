use std::path::PathBuf;
use std::sync::Arc;

use super::quarantine::{ReceivedResponse, ResponseBody, ResponseReader};
use crate::address::OptOuts;
use crate::fetch::{Clock, FetchError, Fetcher, Meter};
use crate::settings::Settings;
use crate::survey::agents::remote_worker::{RemoteRequest, RemoteResponse};
use crate::survey::error::SurveyError;
use crate::walk;

/// Puts the questions of a survey that another process keeps, and reads what comes.
///
/// It decides nothing: whose turn it is, where servers are and who has opted out is looked at where orders come from.
pub struct Worker {
    fetcher: Fetcher,
    reader: ResponseReader,
}

impl Worker {
    /// For a survey with these settings.
    ///
    /// # Errors
    /// When a setting cannot be obeyed here.
    pub fn new(settings: &Settings, clock: Clock) -> Result<Self, FetchError> {
        let fetcher = Fetcher::without_names(settings.into(), Arc::new(OptOuts::default()), clock)?;
        let product_token = walk::WalkSettings::from(settings).product_token;
        Ok(Self { fetcher, reader: ResponseReader::new(settings.exclude_text.clone(), product_token) })
    }

    /// Gives the program that reads, when it is called with [`READ_ANSWER`](crate::survey::READ_ANSWER), an answer at which
    /// a process died: this one, as a rule.
    pub fn read_suspects_with(&self, program: PathBuf) {
        self.reader.read_suspects_with(program);
    }

    /// Puts a question and reads the answer. A process that dies at it tells nothing of it any more, and that tells enough.
    ///
    /// # Errors
    /// When the system gives no process to read apart what another died at.
    pub async fn execute(
        &self,
        order: &RemoteRequest,
        meter: &dyn Meter,
    ) -> Result<RemoteResponse, SurveyError> {
        let RemoteRequest { request, address, known, byte_limit, manner, is_suspect, .. } = order;
        let (response, body) =
            self.fetcher.fetch_in(*manner, known, request, *address, *byte_limit, meter).await;
        let received = ReceivedResponse {
            request: request.clone(),
            response,
            body: ResponseBody::Unread(body),
            // Who keeps the survey knows the earlier one, and completes what has not changed.
            earlier: None,
            is_suspect: *is_suspect,
            ahead: None,
        };
        let record = self.reader.read_response(received, async |_mark| Ok(())).await?;
        Ok(RemoteResponse::new(record))
    }
}
