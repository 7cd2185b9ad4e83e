use serde::Serialize;
use serde::de::DeserializeOwned;

/// The length and the CRC-32 of an entry.
pub(in crate::survey) const PREFIX_BYTES: usize = 8;
/// The initial buffer size in bytes. Most entries are shorter, so the buffer is not reallocated while they
/// are written.
const USUAL_ENTRY_BYTES: usize = 2048;

/// An entry as it is stored in a file: its length, its CRC-32, and its bytes.
pub(in crate::survey) fn encode_frame(entry: &impl Serialize) -> Result<Vec<u8>, postcard::Error> {
    let mut bytes = Vec::with_capacity(USUAL_ENTRY_BYTES);
    bytes.resize(PREFIX_BYTES, 0);
    let mut bytes = postcard::to_extend(entry, bytes)?;
    let length = u32::try_from(bytes.len() - PREFIX_BYTES).unwrap_or(u32::MAX);
    let checksum = crc32fast::hash(&bytes[PREFIX_BYTES..]);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..PREFIX_BYTES].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// The whole entries at the beginning of a file, up to the first that is cut or damaged.
pub(in crate::survey) fn entries<T: DeserializeOwned>(mut bytes: &[u8]) -> impl Iterator<Item = T> {
    std::iter::from_fn(move || {
        let (prefix, rest) = bytes.split_at_checked(PREFIX_BYTES)?;
        let (length, checksum) = prefix.split_at(PREFIX_BYTES / 2);
        let [length, checksum] =
            [length, checksum].map(|it| u32::from_le_bytes(it.try_into().unwrap_or_default()));
        let (entry, rest) = rest.split_at_checked(length as usize)?;
        bytes = rest;
        if crc32fast::hash(entry) == checksum { postcard::from_bytes(entry).ok() } else { None }
    })
    .fuse()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_are_read_back_up_to_where_the_file_is_cut_or_flipped(
            written in prop::collection::vec((any::<u32>(), ".{0,20}"), 0..8),
            cut in any::<prop::sample::Index>(),
            flipped in any::<prop::sample::Index>(),
        ) {
            let whole: Vec<u8> = written.iter().flat_map(|entry| encode_frame(entry).unwrap()).collect();
            let read = |bytes: &[u8]| entries::<(u32, String)>(bytes).collect::<Vec<_>>();
            prop_assert_eq!(&read(&whole), &written);
            let kept = read(&whole[..cut.index(whole.len() + 1)]);
            prop_assert_eq!(&kept[..], &written[..kept.len()]);
            if !whole.is_empty() {
                let mut bytes = whole.clone();
                bytes[flipped.index(whole.len())] ^= 1;
                let kept = read(&bytes);
                prop_assert!(kept.len() < written.len());
                prop_assert_eq!(&kept[..], &written[..kept.len()]);
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = entries::<(u32, String)>(&bytes).count();
        }
    }

    #[test]
    fn zeros_are_no_entries() {
        assert_eq!(entries::<(u32, String)>(&[0; 100]).count(), 0);
    }
}
