//! Reading of untrusted responses, such that no response can end a survey.
//!
//! Before a response is read, its journal says so
//! ([`Entry::Reading`](crate::survey::journal::entry::Entry::Reading)). If the process dies while reading,
//! the body is lost and the request is sent once more. This time a separate process reads the response, and
//! its death costs the survey nothing. Without a program for that, the response is read in this process
//! again, and a second death settles the matter: the response is then recorded from the journal with the
//! failure `unreadable`, and no third request is sent. If reading merely panics, the panic is caught and
//! recorded at once.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use crate::exchange::{Challenge, Document, Head, Purpose, Request, Response, is_bodiless};
use crate::fetch::Prefetched;
use crate::page::{Page, PageFacts, Source};
use crate::robots::Rules;
use crate::survey::earlier::EarlierPage;
use crate::survey::error::SurveyError;
use crate::survey::journal::entry::ExchangeRecord;
use crate::walk::Content;

/// The argument that makes a program read a response in a separate process: [`read_answer`].
pub const READ_ANSWER: &str = "read-answer";

/// A response with its body, as it is passed to the process that reads it.
#[derive(Serialize, Deserialize)]
struct ResponseToRead {
    exclude_text: Vec<String>,
    product_token: String,
    request: Request,
    response: Response,
    /// A header of the response that is not recorded.
    refresh: Option<String>,
    body: Vec<u8>,
}

/// Reads the responses of a survey.
pub(in crate::survey) struct ResponseReader {
    exclude_text: Vec<String>,
    product_token: String,
    /// The program that reads the responses at which a process died.
    program: OnceLock<PathBuf>,
}

/// A response as it was received.
pub(in crate::survey) struct ReceivedResponse {
    pub request: Request,
    pub response: Response,
    pub body: ResponseBody,
    /// What an earlier survey knows about the page or file.
    pub earlier: Option<EarlierPage>,
    /// A process died while it read the response.
    pub is_suspect: bool,
    /// The content read from the prefetched response.
    pub ahead: Option<Box<ReadAhead>>,
}

/// A prefetched response and the content read from it.
pub(in crate::survey) struct ReadAhead {
    prefetched: Prefetched,
    content: Content,
}

/// The body of a response.
pub(in crate::survey) enum ResponseBody {
    Unread(Vec<u8>),
    /// A remote worker has read it.
    Read(Content),
}

/// Requests whose responses were lost with the agents that were to report them, in this run of the survey. An
/// agent may have died at such a response, so the next one reads it in a separate process.
#[derive(Debug, Default)]
pub(in crate::survey) struct Suspects(Mutex<HashSet<(u64, u32)>>);

impl Suspects {
    pub(in crate::survey) fn add(&self, tree: u64, number: u32) {
        self.lock().insert((tree, number));
    }

    /// Forgets a tree, which is finished.
    pub(in crate::survey) fn forget(&self, tree: u64) {
        self.lock().retain(|(other, _)| *other != tree);
    }

    pub(in crate::survey) fn has(&self, tree: u64, number: u32) -> bool {
        self.lock().contains(&(tree, number))
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(u64, u32)>> {
        self.0.lock()
    }
}

impl ResponseReader {
    pub(in crate::survey) fn new(exclude_text: Vec<String>, product_token: String) -> Self {
        Self { exclude_text, product_token, program: OnceLock::new() }
    }

    /// Sets the program that is called with [`READ_ANSWER`]. Only the first call counts.
    pub(in crate::survey) fn read_suspects_with(&self, program: PathBuf) {
        let _ = self.program.set(program);
    }

    /// Reads a prefetched page. Returns none for a response that will not be read.
    pub(in crate::survey) fn read_ahead(
        &self,
        request: &Request,
        prefetched: Prefetched,
    ) -> Option<ReadAhead> {
        let content_type = prefetched.content_type.as_deref();
        if prefetched.status != 200 || Document::detect(content_type, &prefetched.body).is_none() {
            return None;
        }
        let source = Source { body: &prefetched.body, url: &request.url, content_type, robots_tag: None };
        let page = || Page::read_response(request, source).exclude_if_contains(&self.exclude_text, source);
        // If this panics, the later reading will panic too and report it.
        let page = catch_unwind(AssertUnwindSafe(page)).ok()?;
        Some(ReadAhead { prefetched, content: Content::Page(Box::new(page)) })
    }

    /// Determines what a response means to a survey: it carries a page or rules, or says that the page of an
    /// earlier survey is still right. Before this process reads it, `about_to_read` records what is known of
    /// it.
    pub(in crate::survey) async fn read_response(
        &self,
        received: ReceivedResponse,
        about_to_read: impl AsyncFnOnce(ExchangeRecord) -> Result<(), SurveyError>,
    ) -> Result<ExchangeRecord, SurveyError> {
        let ReceivedResponse { request, mut response, body, earlier, is_suspect, ahead } = received;
        if let Some((content, whole)) = earlier.and_then(|page| page.complete_response(&mut response)) {
            return Ok(ExchangeRecord { request, response, content, unchanged_bytes: Some(whole) });
        }
        let body = match body {
            ResponseBody::Read(content) => {
                return Ok(ExchangeRecord { request, response, content, unchanged_bytes: None });
            }
            ResponseBody::Unread(body) if is_read(&request, &response, &body) => body,
            ResponseBody::Unread(_) => return Ok(ExchangeRecord::nothing(request, response)),
        };
        if let Some(ahead) = ahead.filter(|ahead| ahead.is_for(&response, &body)) {
            return Ok(without_interstitial(request, response, ahead.content, &body));
        }
        let (exclude_text, product_token) = (self.exclude_text.clone(), self.product_token.clone());
        let refresh = response.head.refresh.clone();
        let unread = ResponseToRead { exclude_text, product_token, request, response, refresh, body };
        let program = self.program.get().filter(|_| is_suspect);
        let (unread, content_from_child) = match program {
            Some(program) => {
                let program = program.clone();
                tokio::task::spawn_blocking(move || {
                    let content_from_child = read_in_child_process(&program, &unread).ok();
                    (unread, content_from_child)
                })
                .await
                .map_err(|error| SurveyError::Broken(error.to_string()))?
            }
            None => (unread, None),
        };
        let content = match content_from_child {
            Some(content) => content,
            None => {
                let mark = ExchangeRecord::nothing(unread.request.clone(), unread.response.clone());
                about_to_read(mark).await?;
                catch_unwind(AssertUnwindSafe(|| read(&unread))).ok()
            }
        };
        let ResponseToRead { request, response, body, .. } = unread;
        Ok(match content {
            Some(content) => without_interstitial(request, response, content, &body),
            None => {
                tracing::error!(
                    url = request.url.as_str(),
                    "a response cannot be parsed: please report this page"
                );
                ExchangeRecord::unreadable(request, response)
            }
        })
    }
}

impl ReadAhead {
    /// Whether this response is the one that was prefetched.
    fn is_for(&self, response: &Response, body: &[u8]) -> bool {
        let Prefetched { content_type, body: prefetched, .. } = &self.prefetched;
        let Head { content_type: received_type, robots_tag, refresh, .. } = &response.head;
        received_type == content_type && robots_tag.is_none() && refresh.is_none() && prefetched == body
    }
}

/// Clears the links of a challenge page or of another page that replaces the requested one: they are of no
/// interest. For a page that was requested only to see whether it comes, the content is dropped.
fn without_interstitial(
    request: Request,
    mut response: Response,
    mut content: Content,
    body: &[u8],
) -> ExchangeRecord {
    if let (Content::Page(page), Some(status)) = (&mut content, response.status) {
        let (title, links) = (page.title.as_deref(), page.links.len());
        let challenge = &mut response.head.challenge;
        *challenge = challenge.or_else(|| Challenge::from_page(status, title, links, body));
        if challenge.is_some() {
            page.links.clear();
        }
    }
    if request.purpose == Purpose::Check {
        content = Content::Nothing;
    }
    ExchangeRecord { request, response, content, unchanged_bytes: None }
}

/// Whether a response has content to read. A page with a failure and no body has none; an empty page that
/// came whole has.
fn is_read(request: &Request, response: &Response, body: &[u8]) -> bool {
    let may_be_page =
        !(response.status.is_some_and(is_bodiless) || body.is_empty() && response.failure.is_some());
    response.is_success()
        && match request.purpose {
            Purpose::Robots => true,
            Purpose::Page | Purpose::Probe | Purpose::Check => {
                may_be_page && Document::detect(response.head.content_type.as_deref(), body).is_some()
            }
            Purpose::Head => false,
        }
}

fn read(unread: &ResponseToRead) -> Content {
    let ResponseToRead { exclude_text, product_token, request, response, refresh, body } = unread;
    #[cfg(feature = "hazards")]
    super::hazards::abort_at(&request.url);
    if request.purpose == Purpose::Robots {
        // The walk parses it once more, after it is recorded.
        let _on_trial = Rules::parse(body, product_token);
        return Content::Robots(body.clone());
    }
    let content_type = response.head.content_type.as_deref();
    let robots_tag = response.head.robots_tag.as_deref();
    let source = Source { body, url: &request.url, content_type, robots_tag };
    let page = Page::read_response(request, source).refreshed_by(refresh.as_deref(), &request.url);
    Content::Page(Box::new(page.exclude_if_contains(exclude_text, source)))
}

/// The content that a separate process reads from a response; none if that process dies.
///
/// # Errors
/// When the process cannot be started or its output cannot be read.
fn read_in_child_process(program: &Path, unread: &ResponseToRead) -> io::Result<Option<Content>> {
    let bytes = postcard::to_stdvec(unread).map_err(io::Error::other)?;
    let mut child = Command::new(program)
        .arg(READ_ANSWER)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    // The exit of a child that dies before it has taken all its input tells more than a broken pipe.
    let _ = child.stdin.take().is_some_and(|mut input| input.write_all(&bytes).is_ok());
    let output = child.wait_with_output()?;
    let content = output.status.success().then(|| postcard::from_bytes(&output.stdout).ok()).flatten();
    Ok(content.map(|(mut content, facts): (Content, PageFacts)| {
        content.set_page_facts(facts);
        content
    }))
}

/// Reads a response in a process that may die at it. Returns the content in the form that the survey expects.
///
/// # Errors
/// When the input cannot be read, or is not a response to be read.
pub fn read_answer(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let unread: ResponseToRead = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
    let content = read(&unread);
    postcard::to_stdvec(&(&content, content.page_facts())).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Failure;
    use crate::survey::journal::entry::tests::failed_exchange;

    fn request_and_response(purpose: Purpose, status: u16, media_type: &str) -> (Request, Response) {
        let ExchangeRecord { request, mut response, .. } = failed_exchange(0, Failure::Reset);
        (response.failure, response.status) = (None, Some(status));
        response.head.content_type = Some(media_type.to_owned());
        (Request { purpose, ..request }, response)
    }

    #[test]
    fn pages_and_rules_that_came_are_read_and_nothing_else() {
        for (purpose, status, media_type, is_to_be_read) in [
            (Purpose::Page, 200, "text/html", true),
            (Purpose::Page, 200, "text/html, charset=utf-8", true),
            (Purpose::Page, 200, "html", true),
            (Purpose::Page, 206, "text/html", true),
            (Purpose::Probe, 200, "text/html", true),
            (Purpose::Page, 200, "image/png", false),
            (Purpose::Page, 200, "text/plain", false),
            (Purpose::Page, 204, "text/html", false),
            (Purpose::Page, 404, "text/html", false),
            (Purpose::Robots, 200, "text/plain", true),
            (Purpose::Robots, 404, "text/plain", false),
            (Purpose::Head, 200, "text/html", false),
        ] {
            let (request, response) = request_and_response(purpose, status, media_type);
            assert_eq!(
                is_read(&request, &response, b"<p>x"),
                is_to_be_read,
                "{purpose:?} {status} {media_type}"
            );
        }
    }

    #[test]
    fn a_page_of_which_nothing_came_is_read_only_if_it_is_empty() {
        let (request, mut response) = request_and_response(Purpose::Page, 200, "text/html");
        assert!(is_read(&request, &response, b""));
        for failure in [Failure::BodyEncoding, Failure::BodyTruncated, Failure::IdleTimeout] {
            response.failure = Some(failure);
            assert!(!is_read(&request, &response, b"") && is_read(&request, &response, b"<"), "{failure}");
        }
    }

    #[test]
    fn an_interstitial_is_told_as_such_and_leads_nowhere() {
        let record = |purpose, title: &str| {
            let (request, response) = request_and_response(purpose, 200, "text/html");
            let body = format!("<title>{title}</title><a href=http://maker.com/>x</a>");
            let content_type = response.head.content_type.as_deref();
            let source = Source { body: body.as_bytes(), url: &request.url, content_type, robots_tag: None };
            let page = Content::Page(Box::new(Page::read(source)));
            let ExchangeRecord { response, content, .. } =
                without_interstitial(request, response, page, body.as_bytes());
            let links = if let Content::Page(page) = content { Some(page.links.len()) } else { None };
            (response.head.challenge, links)
        };
        let anubis = Some(Challenge::Anubis);
        assert_eq!(record(Purpose::Page, "Making sure you&#39;re not a bot!"), (anubis, Some(0)));
        assert_eq!(record(Purpose::Page, "A page"), (None, Some(1)));
        assert_eq!(record(Purpose::Check, "Making sure you&#39;re not a bot!"), (anubis, None));
        assert_eq!(record(Purpose::Check, "A page"), (None, None), "it is known already");
    }

    #[test]
    fn an_answer_that_is_given_to_a_process_is_read_there() {
        let (request, response) = request_and_response(Purpose::Robots, 200, "text/plain");
        let body = b"User-agent: *".to_vec();
        let unread = ResponseToRead {
            exclude_text: Vec::new(),
            product_token: String::new(),
            request,
            response,
            refresh: None,
            body: body.clone(),
        };
        let read = read_answer(&postcard::to_stdvec(&unread).unwrap()[..]).unwrap();
        assert_eq!(postcard::from_bytes::<Content>(&read).unwrap(), Content::Robots(body));
        read_answer(&b"something else"[..]).unwrap_err();
    }

    #[cfg(unix)]
    #[test]
    fn what_a_process_of_its_own_reads_is_taken_and_where_it_dies_nothing() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let (request, response) = request_and_response(Purpose::Page, 200, "text/html");
        let reply_file = folder.path().join("told");
        let reply = (Content::Robots(b"read".to_vec()), PageFacts::NONE);
        fs::write(&reply_file, postcard::to_stdvec(&reply).unwrap()).unwrap();
        let unread = ResponseToRead {
            exclude_text: Vec::new(),
            product_token: String::new(),
            request,
            response,
            refresh: None,
            body: vec![0; 1 << 20],
        };
        let program = |name: &str, script: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = {READ_ANSWER} ] || exit 0\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
            path
        };
        let reads = program("reads", &format!("cat > /dev/null; cat {}", reply_file.display()));
        assert_eq!(read_in_child_process(&reads, &unread).unwrap(), Some(Content::Robots(b"read".to_vec())));
        for (name, script) in
            [("dies", "kill -9 $$"), ("fails", "exit 1"), ("babbles", "cat > /dev/null; echo")]
        {
            assert_eq!(read_in_child_process(&program(name, script), &unread).unwrap(), None, "{name}");
        }
        assert!(read_in_child_process(&folder.path().join("gone"), &unread).is_err());
    }
}
