use std::io::{self, BufReader, Read};

use super::error::StartError;

/// A packed list that holds more than this is none: the zones of the largest country domains have a tenth of it.
pub const MOST_UNPACKED: u64 = 16 << 30;

/// How a list came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    #[default]
    None,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// What is told by its first bytes and not read.
const NOT_READ: [(&[u8], &str); 5] = [
    (b"PK\x03\x04", "a zip archive (or a spreadsheet, which is one): unpack it, or save it as CSV"),
    (b"\xfd7zXZ\0", "packed with xz: unpack it"),
    (b"BZh", "packed with bzip2: unpack it"),
    (b"\xff\xfe", "UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16: save it as UTF-8"),
];

/// The bytes of a list that may be packed; what is not read is refused with what to do.
pub(super) fn unpacked<'a>(
    mut input: impl Read + 'a,
    most: u64,
) -> Result<(Packing, Box<dyn Read + 'a>), StartError> {
    let begins = beginning(&mut input, GZIP.len().max(ZSTD.len()).max(6))?;
    let packing = if begins.starts_with(GZIP) {
        Packing::Gzip
    } else if begins.starts_with(ZSTD) {
        Packing::Zstd
    } else {
        refuse(&begins)?;
        Packing::None
    };
    let whole = io::Cursor::new(begins).chain(input);
    let mut plain: Box<dyn Read + 'a> = match packing {
        Packing::None => return Ok((packing, Box::new(whole))),
        Packing::Gzip => {
            Box::new(Bounded::new(flate2::read::MultiGzDecoder::new(BufReader::new(whole)), most))
        }
        Packing::Zstd => Box::new(Bounded::new(zstd::stream::read::Decoder::new(whole)?, most)),
    };
    let begins = beginning(&mut plain, 6)?;
    if begins.starts_with(GZIP) || begins.starts_with(ZSTD) {
        return Err(StartError::Unreadable("it is packed more than once: unpack it".to_owned()));
    }
    refuse(&begins)?;
    Ok((packing, Box::new(io::Cursor::new(begins).chain(plain))))
}

fn refuse(begins: &[u8]) -> Result<(), StartError> {
    match NOT_READ.iter().find(|(mark, _)| begins.starts_with(mark)) {
        Some((_, what)) => Err(StartError::Unreadable(format!("it is {what}"))),
        None => Ok(()),
    }
}

/// Reads so many bytes, or all that there are.
pub(super) fn beginning(input: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut begins = Vec::new();
    input.by_ref().take(bytes as u64).read_to_end(&mut begins)?;
    Ok(begins)
}

/// What a decoder gives, as long as it is not too much.
struct Bounded<R> {
    input: R,
    left: u64,
    most: u64,
}

impl<R> Bounded<R> {
    fn new(input: R, most: u64) -> Self {
        Self { input, left: most, most }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self
            .input
            .read(buffer)
            .map_err(|wrong| io::Error::other(format!("it cannot be unpacked: {wrong}")))?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                let what = format!("it unpacks to more than {} bytes, which no start list has", self.most);
                return Err(io::Error::other(what));
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

    fn read(bytes: &[u8], most: u64) -> Result<(Packing, Vec<u8>), String> {
        let read = || -> Result<_, StartError> {
            let (packing, mut plain) = unpacked(bytes, most)?;
            let mut all = Vec::new();
            plain.read_to_end(&mut all)?;
            Ok((packing, all))
        };
        read().map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn what_is_packed_is_told_by_its_first_bytes() {
        let text = b"a.ke\nb.ke\n".to_vec();
        assert_eq!(read(&text, 100), Ok((Packing::None, text.clone())));
        assert_eq!(read(b"a", 100), Ok((Packing::None, b"a".to_vec())));
        assert_eq!(read(&gzip(&text), 100), Ok((Packing::Gzip, text.clone())));
        assert_eq!(read(&zstd(&text), 100), Ok((Packing::Zstd, text.clone())));
        let two_parts = [gzip(b"a.ke\n"), gzip(b"b.ke\n")].concat();
        assert_eq!(read(&two_parts, 100), Ok((Packing::Gzip, text)));
    }

    #[test]
    fn what_unpacks_without_end_is_refused() {
        let bomb = vec![b'x'; 1_000_000];
        for packed in [gzip(&bomb), zstd(&bomb)] {
            assert_eq!(
                read(&packed, 999_999),
                Err("it unpacks to more than 999999 bytes, which no start list has".to_owned())
            );
            assert!(read(&packed, 1_000_000).is_ok());
        }
    }

    #[test]
    fn what_is_not_read_is_refused_with_what_to_do() {
        for (bytes, told) in [
            (
                b"PK\x03\x04rest".to_vec(),
                "it is a zip archive (or a spreadsheet, which is one): unpack it, or save it as CSV",
            ),
            (b"\xfd7zXZ\0rest".to_vec(), "it is packed with xz: unpack it"),
            (b"BZh9rest".to_vec(), "it is packed with bzip2: unpack it"),
            (b"\xff\xfea\0".to_vec(), "it is UTF-16: save it as UTF-8"),
            (gzip(&zstd(b"a.ke")), "it is packed more than once: unpack it"),
        ] {
            assert_eq!(read(&bytes, 1000).unwrap_err(), told);
        }
        let cut = &gzip(&b"a.ke\n".repeat(1000))[..20];
        assert!(read(cut, 10_000).unwrap_err().starts_with("it cannot be unpacked: "));
    }
}
