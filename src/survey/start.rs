use std::io::{self, Read};

use crate::address::{Host, WebUrl};

/// The start URLs of a file, and the lines that hold none.
#[derive(Debug, Default, PartialEq)]
pub struct StartList {
    pub urls: Vec<WebUrl>,
    pub bad: Vec<BadLine>,
}

/// A line of a start list that is skipped.
#[derive(Debug, PartialEq, Eq)]
pub struct BadLine {
    pub line: u64,
    pub value: String,
    pub why: String,
}

impl StartList {
    /// Reads CSV with a column `url`, or one URL or host name a line. A host name `example.ke` stands for
    /// `http://example.ke/`. Empty lines and lines that begin with `#` are passed over.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn read(mut input: impl Read) -> io::Result<Self> {
        let mut text = Vec::new();
        input.read_to_end(&mut text)?;
        let first = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| is_content(line));
        let column = first.and_then(|line| {
            let names = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            names.split(|byte| *byte == b',').position(|name| trim_quotes(name).eq_ignore_ascii_case(b"url"))
        });
        let mut list = Self::default();
        match column {
            Some(column) => list.take_column(&text, column)?,
            None => list.take_lines(&text),
        }
        Ok(list)
    }

    fn take_column(&mut self, text: &[u8], column: usize) -> io::Result<()> {
        let mut reader = csv::ReaderBuilder::new().flexible(true).comment(Some(b'#')).from_reader(text);
        for record in reader.byte_records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            self.take(line, record.get(column).unwrap_or_default());
        }
        Ok(())
    }

    fn take_lines(&mut self, text: &[u8]) {
        for (line, content) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            if is_content(content.trim_ascii()) {
                self.take(line, content);
            }
        }
    }

    fn take(&mut self, line: u64, field: &[u8]) {
        let text = String::from_utf8_lossy(field);
        if text.trim().contains(['\n', '\r']) {
            let value = text.trim().lines().next().unwrap_or_default().chars().take(80).collect();
            let why = "a quote is opened here and closed on a later line".to_owned();
            return self.bad.push(BadLine { line, value, why });
        }
        let text = text.trim().trim_start_matches('\u{feff}');
        match parse(text) {
            Ok(url) => self.urls.push(url),
            Err(why) => self.bad.push(BadLine { line, value: text.chars().take(80).collect(), why }),
        }
    }
}

fn is_content(line: &[u8]) -> bool {
    !line.is_empty() && !line.starts_with(b"#")
}

fn trim_quotes(name: &[u8]) -> &[u8] {
    let name = name.trim_ascii();
    name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name)
}

fn parse(text: &str) -> Result<WebUrl, String> {
    if text.is_empty() {
        return Err("no URL".to_owned());
    }
    if text.contains("://") {
        return WebUrl::parse(text).map_err(|wrong| wrong.to_string());
    }
    let is_name =
        text.contains('.') && Host::parse(text.split(['/', ':', '?']).next().unwrap_or(text)).is_ok();
    if !is_name {
        return Err("neither a URL nor a host name".to_owned());
    }
    WebUrl::parse(&format!("http://{text}")).map_err(|wrong| wrong.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> StartList {
        StartList::read(text.as_bytes()).unwrap()
    }

    fn urls(list: &StartList) -> Vec<&str> {
        list.urls.iter().map(WebUrl::as_str).collect()
    }

    #[test]
    fn a_column_named_url_is_read_wherever_it_stands() {
        let list = read("site,URL\na,http://a.ke/\nb,\"http://b.ke/x,y\"\n");
        assert_eq!(urls(&list), ["http://a.ke/", "http://b.ke/x,y"]);
    }

    #[test]
    fn lines_of_urls_and_host_names_need_no_header() {
        let list = read("# my list\nexample.ke\nhttps://b.ke/x\n\nwww.c.ke:8080/d,e\n");
        assert_eq!(urls(&list), ["http://example.ke/", "https://b.ke/x", "http://www.c.ke:8080/d,e"]);
        assert_eq!(list.bad, []);
    }

    #[test]
    fn bad_lines_are_named_and_the_rest_is_used() {
        let list = read("url\nhttp://a.ke/\nftp://b.ke/\nnonsense\n\"\"\nhttp://c.ke/\n");
        assert_eq!(urls(&list), ["http://a.ke/", "http://c.ke/"]);
        let bad: Vec<_> =
            list.bad.iter().map(|bad| (bad.line, bad.value.as_str(), bad.why.as_str())).collect();
        assert_eq!(
            bad,
            [
                (3, "ftp://b.ke/", "not an http or https URL"),
                (4, "nonsense", "neither a URL nor a host name"),
                (5, "", "no URL"),
            ]
        );
    }

    #[test]
    fn a_quote_that_is_not_closed_on_its_line_is_a_bad_line() {
        let list = read("url\nhttp://a.ke/\n\"http://b.ke/\nhttp://c.ke/\n");
        assert_eq!(urls(&list), ["http://a.ke/"]);
        assert_eq!((list.bad[0].line, list.bad[0].value.as_str()), (3, "http://b.ke/"));
    }

    #[test]
    fn bytes_that_are_no_text_are_a_bad_line() {
        let list = StartList::read(&b"url\n\xff\xfe\nhttp://a.ke/\n"[..]).unwrap();
        assert_eq!((list.urls.len(), list.bad.len()), (1, 1));
    }
}
