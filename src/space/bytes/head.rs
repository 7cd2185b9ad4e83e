use crate::model::content::{Element, Page, Url};
use crate::model::facts::prose::PageText;
use crate::model::site::Site;

/// The beginning of a page up to its title: what its head declares.
pub(crate) fn push_head(
    html: &mut Vec<u8>,
    site: &Site,
    page: &Page,
    url: &Url,
    charset: Option<&'static str>,
) {
    let mut push = |text: &str| html.extend_from_slice(text.as_bytes());
    push("<!DOCTYPE html>\n<html");
    let is_written = !matches!(page.text, PageText::Filler);
    if let Some(declared) = site.facts.written.and_then(|written| written.declared).filter(|_| is_written) {
        push(" lang=\"");
        push(declared);
        push("\"");
    }
    push("><head>");
    if let Some(label) = charset {
        push("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=");
        push(label);
        push("\">");
    }
    if site.has_base {
        push(if url.is_https { "<base href=\"https://" } else { "<base href=\"http://" });
        push(&url.host);
        push("/\">");
    }
    if page.nofollow {
        push("<META NAME=Robots CONTENT=\"index, NoFollow\">");
    }
    for link in page.links.iter().filter(|link| link.element == Element::Refresh) {
        push("<meta http-equiv=refresh content=\"3; url=");
        push(&link.url.target);
        push("\">");
    }
    if let Some(generator) = site.facts.cms.and_then(|shown| shown.generator()) {
        push("<meta name=\"generator\" content=\"");
        push(generator);
        push("\">\n");
    }
    if let Some((head, _)) = site.facts.cms.and_then(|shown| shown.assets()) {
        push(head);
    }
}

/// The image in the body that shows the CMS.
pub(crate) fn push_image(html: &mut Vec<u8>, site: &Site) {
    if let Some((_, image)) = site.facts.cms.and_then(|shown| shown.assets()) {
        html.extend_from_slice(image.as_bytes());
    }
}
