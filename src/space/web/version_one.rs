use std::iter::from_fn;

/// Turns a certificate of X.509 version 3 into one of version 1: without version and extensions (RFC 5280
/// §4.1), and signed again. None if the input is no such certificate.
pub(super) fn version_one<E>(
    certificate: &[u8],
    sign: impl FnOnce(&[u8]) -> Result<Vec<u8>, E>,
) -> Option<Result<Vec<u8>, E>> {
    let [signed, algorithm, _signature] = parts(content(certificate)?)[..] else { return None };
    let kept = parts(content(signed)?).into_iter().filter(|part| ![VERSION, EXTENSIONS].contains(&part[0]));
    let signed = element(SEQUENCE, &kept.flatten().copied().collect::<Vec<u8>>());
    Some(sign(&signed).map(|signature| {
        let signature = element(BIT_STRING, &[&[0], &signature[..]].concat());
        element(SEQUENCE, &[&signed, algorithm, &signature].concat())
    }))
}

/// DER tags (X.690 §8.1.2).
const BIT_STRING: u8 = 0x03;
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const EXTENSIONS: u8 = 0xa3;

/// The consecutive elements in `bytes`, each with its tag and length.
fn parts(mut bytes: &[u8]) -> Vec<&[u8]> {
    from_fn(|| {
        let (head, length) = head(bytes)?;
        let (part, rest) = bytes.split_at_checked(head + length)?;
        bytes = rest;
        Some(part)
    })
    .collect()
}

fn content(element: &[u8]) -> Option<&[u8]> {
    let (head, length) = head(element)?;
    element.get(head..head + length)
}

/// The size of tag and length, and the length of the content.
fn head(element: &[u8]) -> Option<(usize, usize)> {
    match element {
        [_, length @ 0..=0x7f, ..] => Some((2, usize::from(*length))),
        [_, 0x81, length, ..] => Some((3, usize::from(*length))),
        [_, 0x82, high, low, ..] => Some((4, usize::from(u16::from_be_bytes([*high, *low])))),
        _ => None,
    }
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let [.., high, low] = content.len().to_be_bytes();
    let head = match content.len() {
        0..=0x7f => vec![tag, low],
        0x80..=0xff => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [&head, content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_extensions_are_left_out_and_all_else_stays() {
        let [version, serial, extensions] =
            [element(VERSION, &[2, 1, 2]), element(2, &[7]), element(EXTENSIONS, &[9; 300])];
        let signed = element(SEQUENCE, &[version, serial.clone(), extensions].concat());
        let algorithm = element(SEQUENCE, &[6, 1, 1]);
        let whole = element(SEQUENCE, &[&signed, &algorithm, &element(BIT_STRING, &[0, 5])[..]].concat());
        let made = version_one::<()>(&whole, |signed| Ok(vec![signed.len() as u8; 200])).unwrap().unwrap();
        let signed = element(SEQUENCE, &serial);
        let signature = element(BIT_STRING, &[&[0], &[signed.len() as u8; 200][..]].concat());
        assert_eq!(made, element(SEQUENCE, &[signed, algorithm, signature].concat()));
        assert_eq!(version_one::<()>(b"no certificate", |_| Ok(Vec::new())), None);
    }
}
