//! The report as one HTML file.

mod csv;
mod view;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};

use super::Report;
use view::PageView;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");

/// Why the page cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the page: {0}")]
pub struct PageError(#[from] minijinja::Error);

impl Report {
    /// The report as one HTML file without external resources.
    ///
    /// # Errors
    /// If the template of the page and its data disagree, which is a bug in this program.
    pub fn html(&self) -> Result<String, PageError> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        // A line that holds only a template tag leaves no empty line.
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.add_template("page.html", TEMPLATE)?;
        Ok(environment.get_template("page.html")?.render(Serde(PageView::new(self, STYLE)))?)
    }
}
