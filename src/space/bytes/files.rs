use crate::World;
use crate::draw::{Key, rounded};

/// The bytes of a file other than HTML: a realistic beginning, then something that looks like a link but is
/// none, then one byte repeated.
pub(crate) fn file(world: &World, content_type: &str, key: Key) -> Vec<u8> {
    let mut bytes = start(content_type).to_vec();
    bytes.extend_from_slice(b"<a href=\"/ghost/file.html\">");
    bytes.resize(file_bytes(world, content_type, key), b'.');
    bytes
}

/// The size drawn for a file.
pub(crate) fn file_bytes(world: &World, content_type: &str, key: Key) -> usize {
    let files = &world.files;
    let median = match content_type {
        "application/pdf" => files.pdf_median,
        "image/png" => files.png_median,
        "application/msword" => files.msword_median,
        "application/zip" => files.zip_median,
        _ => files.jpeg_median,
    };
    let bytes = rounded(key.draw("bytes").log_normal(median, files.sigma)).min(files.most_bytes);
    usize::try_from(bytes).unwrap_or(0)
}

/// The first bytes that identify a file of this kind.
fn start(content_type: &str) -> &'static [u8] {
    match content_type {
        "application/pdf" => b"%PDF-1.4\n",
        "image/png" => b"\x89PNG\r\n\x1a\n",
        "application/msword" => b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "application/zip" => b"PK\x03\x04\x14\x00",
        _ => b"\xff\xd8\xff\xe0\x00\x10JFIF",
    }
}
