use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

use super::error::StartError;

/// A compressed list with more bytes than this is refused: the zones of the largest country domains have a
/// tenth of it.
pub const MOST_UNPACKED: u64 = 16 << 30;

/// The compression of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Not compressed.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The bytes of an empty frame after its first byte (RFC 8878 §3.1.2): pzstd puts such a frame before each
/// other frame.
const ZSTD_SKIPPABLE: &[u8] = &[0x2a, 0x4d, 0x18];
/// Formats that are recognised by their first bytes and not read.
const NOT_READ: [(&[u8], &str); 17] = [
    (b"PK\x03\x04", "a zip archive or a spreadsheet: unpack it, or save it as CSV"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xfd7zXZ\0", "packed with xz: unpack it"),
    (b"BZh", "packed with bzip2: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"),
    (b"Rar!\x1a\x07", "a rar archive: unpack it"),
    (b"\x04\x22\x4d\x18", "packed with lz4: unpack it"),
    (b"\x1f\x9d", "packed with compress: unpack it"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet (.xls): save it as CSV"),
    (b"PAR1", "a Parquet file: export its column of names as CSV"),
    (b"SQLite format 3", "an SQLite database: export its column of names as CSV"),
    (b"%PDF-", "a PDF: the list must be text"),
    (b"{\\rtf", "an RTF document: save it as plain text"),
    // Its mark begins like that of UTF-16.
    (b"\xff\xfe\0\0", "UTF-32: save it as UTF-8"),
    (b"\0\0\xfe\xff", "UTF-32: save it as UTF-8"),
    (b"\xff\xfe", "UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16: save it as UTF-8"),
];
/// The number of bytes at the beginning that are enough to recognise all of these.
const MARK_BYTES: usize = 512;
/// The position and the mark of a tar archive (POSIX pax, ustar header).
const TAR: (usize, &[u8]) = (257, b"ustar");

/// The bytes of a list that may be compressed. Unsupported formats are refused with advice.
pub(super) fn unpacked<'a>(
    mut input: impl Read + 'a,
    limit: u64,
) -> Result<(Packing, Box<dyn Read + 'a>), StartError> {
    let begins = beginning(&mut input, MARK_BYTES)?;
    let packing = packing_of(&begins);
    if packing == Packing::None {
        check_supported(&begins)?;
    }
    let whole = io::Cursor::new(begins).chain(input);
    let mut plain: Box<dyn Read + 'a> = match packing {
        Packing::None => return Ok((packing, Box::new(whole))),
        Packing::Gzip => Box::new(Bounded::new(Members(Some(GzDecoder::new(BufReader::new(whole)))), limit)),
        Packing::Zstd => Box::new(Bounded::new(zstd::stream::read::Decoder::new(whole)?, limit)),
    };
    let begins = beginning(&mut plain, MARK_BYTES)?;
    if packing_of(&begins) != Packing::None {
        return Err(StartError::Unreadable("it is packed more than once: unpack it".to_owned()));
    }
    check_supported(&begins)?;
    Ok((packing, Box::new(io::Cursor::new(begins).chain(plain))))
}

fn packing_of(begins: &[u8]) -> Packing {
    let is_skippable = matches!(begins, [0x50..=0x5f, rest @ ..] if rest.starts_with(ZSTD_SKIPPABLE));
    if begins.starts_with(GZIP) {
        Packing::Gzip
    } else if begins.starts_with(ZSTD) || is_skippable {
        Packing::Zstd
    } else {
        Packing::None
    }
}

/// # Errors
/// If these first bytes are those of no list, or of one in a form that is not read.
fn check_supported(begins: &[u8]) -> Result<(), StartError> {
    let (at, mark) = TAR;
    let reason = if begins.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
        Some("a tar archive: unpack it")
    } else {
        let marked = NOT_READ.iter().find(|(mark, _)| begins.starts_with(mark));
        marked.map(|(_, reason)| *reason).or_else(|| markup_of(begins))
    };
    reason.map_or(Ok(()), |reason| Err(StartError::Unreadable(format!("it is {reason}"))))
}

/// The format of a text that is made for programs and does not consist of lines.
fn markup_of(begins: &[u8]) -> Option<&'static str> {
    const JSON: &str = "JSON: extract the names, for example with 'jq -r .domain list.json > list.txt'";
    const XML: &str = "XML or HTML: extract the URLs, one per line";
    const TOML: &str = "TOML or another settings file: extract the names, one per line";
    const PROGRAM: &str = "data in the syntax of a program: extract the names, one per line";
    let text = begins.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begins).trim_ascii_start();
    match text {
        _ if is_toml(text) => Some(TOML),
        // A list may begin with an IPv6 address, `[2001:db8::1]`, or a URL between `<` and `>`, and may be in
        // brackets.
        [b'{', rest @ ..] => match key_of(rest.trim_ascii_start()) {
            Key::Quoted => Some(JSON),
            Key::Bare => Some(PROGRAM),
            Key::None => None,
        },
        [b'[', rest @ ..] => match rest.trim_ascii_start() {
            [] | [b'{' | b'"' | b'[', ..] => Some(JSON),
            _ => None,
        },
        [b'<', b'?' | b'!', ..] => Some(XML),
        [b'<', rest @ ..] => {
            let tag = rest.split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
            let is_root = [&b"html"[..], b"urlset", b"sitemapindex", b"rss", b"feed"]
                .iter()
                .any(|name| tag.eq_ignore_ascii_case(name));
            is_root.then_some(XML)
        }
        _ if begins.contains(&0) => {
            Some("not text (UTF-16 without a byte order mark, or binary data): save it as UTF-8")
        }
        _ => None,
    }
}

/// The text after a brace.
enum Key {
    /// A key as in JSON; or nothing, which is JSON too.
    Quoted,
    /// A key as in Python, JavaScript or YAML.
    Bare,
    /// A value.
    None,
}

fn key_of(text: &[u8]) -> Key {
    let (is_json, rest) = match text {
        [] | [b'}', ..] => return Key::Quoted,
        [quote @ (b'"' | b'\''), rest @ ..] => match rest.iter().position(|byte| byte == quote) {
            Some(end) => (*quote == b'"', &rest[end + 1..]),
            None => return if *quote == b'"' { Key::Quoted } else { Key::None },
        },
        [b'{' | b'[', ..] => return Key::Bare,
        word => {
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            (false, &word[word.iter().take_while(|byte| is_word(byte)).count()..])
        }
    };
    match rest.trim_ascii_start() {
        // The rest may be cut off here; and the URL `http://…` is no key.
        [b':', rest @ ..] if !rest.starts_with(b"//") => {
            if is_json {
                Key::Quoted
            } else {
                Key::Bare
            }
        }
        [b'=', ..] => Key::Bare,
        _ => Key::None,
    }
}

/// Whether a text begins like TOML: with a table's name in brackets on a line of its own, and a key with its
/// value below.
fn is_toml(text: &[u8]) -> bool {
    let is_content = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b";");
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(is_content);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-[]\"' :/".contains(byte);
    let is_table = |line: &[u8]| {
        line.starts_with(b"[") && line.ends_with(b"]") && line.len() > 2 && line.iter().all(is_name)
    };
    let is_value = |line: &[u8]| {
        let key = line.split(|byte| *byte == b'=').next().unwrap_or_default();
        let begins = key.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_\"'".contains(byte));
        key.len() < line.len() && begins && !key.contains(&b'/') && !key.contains(&b'?')
    };
    lines.next().is_some_and(is_table) && lines.next().is_some_and(is_value)
}

/// The members of a gzip file in sequence (RFC 1952 §2.2). Zeros after a member are padding, as for gzip(1):
/// tapes and block devices add it.
struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(mut rest) = self.0.take().map(GzDecoder::into_inner) else { break };
            if !ends_in_zeros(&mut rest)? {
                if rest.fill_buf()?.first() != GZIP.first() {
                    return Err(io::Error::other("the data after the compressed list is not gzip"));
                }
                self.0 = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
    }
}

/// Skips zeros; returns whether nothing else follows.
fn ends_in_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = input.fill_buf()?;
        let (bytes, zeros) = (buffer.len(), buffer.iter().take_while(|byte| **byte == 0).count());
        input.consume(zeros);
        if bytes == 0 || zeros < bytes {
            return Ok(bytes == 0);
        }
    }
}

/// Reads the given number of bytes, or all if there are fewer.
pub(super) fn beginning(input: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut begins = Vec::new();
    input.by_ref().take(bytes as u64).read_to_end(&mut begins)?;
    Ok(begins)
}

/// The output of a decoder, up to a limit.
struct Bounded<R> {
    input: R,
    left: u64,
    limit: u64,
}

impl<R> Bounded<R> {
    fn new(input: R, limit: u64) -> Self {
        Self { input, left: limit, limit }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self
            .input
            .read(buffer)
            .map_err(|error| io::Error::other(format!("it cannot be unpacked: {error}")))?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                let reason =
                    format!("it unpacks to more than {} bytes, the limit for a start list", self.limit);
                return Err(io::Error::other(reason));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    fn read(bytes: &[u8], limit: u64) -> Result<(Packing, Vec<u8>), String> {
        let read = || -> Result<_, StartError> {
            let (packing, mut plain) = unpacked(bytes, limit)?;
            let mut all = Vec::new();
            plain.read_to_end(&mut all)?;
            Ok((packing, all))
        };
        read().map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_packed_is_told_by_its_first_bytes() {
        let text = b"a.ke\nb.ke\n".to_vec();
        assert_eq!(read(&text, 100), Ok((Packing::None, text.clone())));
        assert_eq!(read(b"a", 100), Ok((Packing::None, b"a".to_vec())));
        assert_eq!(read(&gzip(&text), 100), Ok((Packing::Gzip, text.clone())));
        assert_eq!(read(&zstd(&text), 100), Ok((Packing::Zstd, text.clone())));
        let two_parts = [gzip(b"a.ke\n"), gzip(b"b.ke\n")].concat();
        assert_eq!(read(&two_parts, 100), Ok((Packing::Gzip, text.clone())));
        let two_frames = [b"\x50\x2a\x4d\x18\x01\0\0\0x".to_vec(), zstd(b"a.ke\n"), zstd(b"b.ke\n")].concat();
        assert_eq!(read(&two_frames, 100), Ok((Packing::Zstd, text)));
    }

    #[test]
    fn zeros_behind_a_member_are_padding() {
        let zeros = |count| vec![0; count];
        for padding in [1, 511, 100_000] {
            let padded = [gzip(b"a.ke\n"), zeros(padding)].concat();
            assert_eq!(read(&padded, 100), Ok((Packing::Gzip, b"a.ke\n".to_vec())), "{padding}");
            let two = [padded, gzip(b"b.ke\n"), zeros(padding)].concat();
            assert_eq!(read(&two, 100), Ok((Packing::Gzip, b"a.ke\nb.ke\n".to_vec())), "{padding}");
        }
        let more = [gzip(b"a.ke\n"), zeros(3), b"b.ke\n".to_vec()].concat();
        assert_eq!(
            read(&more, 100),
            Err("it cannot be unpacked: the data after the compressed list is not gzip".to_owned())
        );
    }

    #[test]
    fn what_unpacks_without_end_is_refused() {
        let bomb = vec![b'x'; 1_000_000];
        for packed in [gzip(&bomb), zstd(&bomb)] {
            assert_eq!(
                read(&packed, 999_999),
                Err("it unpacks to more than 999999 bytes, the limit for a start list".to_owned())
            );
            assert!(read(&packed, 1_000_000).is_ok());
        }
    }

    #[test]
    fn what_is_not_read_is_refused_with_what_to_do() {
        for (bytes, failure) in [
            (
                b"PK\x03\x04rest".to_vec(),
                "it is a zip archive or a spreadsheet: unpack it, or save it as CSV",
            ),
            (b"\xfd7zXZ\0rest".to_vec(), "it is packed with xz: unpack it"),
            (b"BZh9rest".to_vec(), "it is packed with bzip2: unpack it"),
            (b"\xff\xfea\0".to_vec(), "it is UTF-16: save it as UTF-8"),
            (gzip(&zstd(b"a.ke")), "it is packed more than once: unpack it"),
            (gzip(&[vec![b'x'; 257], b"ustar\0".to_vec()].concat()), "it is a tar archive: unpack it"),
            (b"PAR1".to_vec(), "it is a Parquet file: export its column of names as CSV"),
            (b"\xd0\xcf\x11\xe0".to_vec(), "it is a spreadsheet (.xls): save it as CSV"),
            (
                b"a\0.\0k\0e\0".to_vec(),
                "it is not text (UTF-16 without a byte order mark, or binary data): save it as UTF-8",
            ),
        ] {
            assert_eq!(read(&bytes, 1000).unwrap_err(), failure);
        }
        let refused = |text: &str, reason: &str| {
            let failure = read(text.as_bytes(), 1000).unwrap_err();
            assert!(failure.starts_with(&format!("it is {reason}: ")), "{text}: {failure}");
        };
        for text in [
            "{\"domain\":\"a.ke\"}\n",
            "[\n  \"a.ke\"\n]",
            " [{\"x\":1}]",
            "\u{feff}{",
            "{}",
            "{ \"a\" : [",
            "[[\"a.ke\"]]",
        ] {
            refused(text, "JSON");
        }
        for text in [
            "[[sites]]\nurl = \"http://a.ke/\"\n",
            "# mine\n[sites]\n\na.ke = \"http://a.ke/\"\n",
            "[tool.sites]\nurls=['a.ke']\n",
            "[a.ke]\r\nuser=x\r\n",
            "[\"a b\"]\nx = 1\n",
            "; mine\n[main]\nsite_1=x\n",
        ] {
            refused(text, "TOML or another settings file");
        }
        for text in ["{'domain': 'a.ke'}", "{domain: 'a.ke'}", "{ url = 'a.ke' }", "{{'a.ke'}}"] {
            refused(text, "data in the syntax of a program");
        }
        for (bytes, reason) in [
            (&b"{\\rtf1\\ansi a.ke}"[..], "an RTF document"),
            (b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
            (b"\0\0\xfe\xff\0\0\0a", "UTF-32"),
            (b"\xff\xfea\0", "UTF-16"),
            (b"\xfe\xff\0a", "UTF-16"),
        ] {
            for bytes in [bytes.to_vec(), gzip(bytes), zstd(bytes)] {
                let failure = read(&bytes, 1000).unwrap_err();
                assert!(failure.starts_with(&format!("it is {reason}: ")), "{failure}");
            }
        }
        for text in ["<?xml version='1.0'?>", "<urlset xmlns='x'>", "<!DOCTYPE html>", "\n<HTML>"] {
            assert!(read(text.as_bytes(), 1000).unwrap_err().starts_with("it is XML or HTML: "), "{text}");
        }
        for text in [
            "[2001:db8::1]\n",
            "[2001:db8::1]\n[2001:db8::2]\n",
            "<http://a.ke/>\n",
            "7z.ke\n",
            "BZ.ke\n",
            "{'a.ke', 'b.ke'}",
            "{\"a.ke\", \"b.ke\"}",
            "{http://a.ke/, http://b.ke/}",
            "[a.ke]\n[b.ke]\n",
            "[a.ke]\nhttp://b.ke/?x=y\n",
        ] {
            assert!(read(text.as_bytes(), 1000).is_ok(), "{text}");
        }
        let cut = &gzip(&b"a.ke\n".repeat(1000))[..20];
        assert!(read(cut, 10_000).unwrap_err().starts_with("it cannot be unpacked: "));
    }
}
