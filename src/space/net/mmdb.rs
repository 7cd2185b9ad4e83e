use std::collections::BTreeMap;
use std::net::IpAddr;

/// A value in a location database (specification 2.0 of the `MaxMind` format, data section).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::space) enum Value {
    Text(String),
    U16(u16),
    U32(u32),
    U64(u64),
    Map(Vec<(&'static str, Value)>),
    List(Vec<Value>),
}

/// Bits of a record: half a node of the search tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::space) enum RecordSize {
    Bits24,
    Bits28,
    Bits32,
}

/// A block of addresses with what is known of it.
#[derive(Clone, Debug)]
pub(in crate::space) struct NetworkEntry {
    pub first: IpAddr,
    pub prefix: u8,
    pub value: Value,
}

/// Where a branch of the search tree leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Branch {
    Nothing,
    Node(usize),
    Data(usize),
}

const DATA_SEPARATOR: [u8; 16] = [0; 16];
const METADATA_MARKER: &[u8] = b"\xab\xcd\xefMaxMind.com";

/// The bytes of a database: an IPv6 search tree with the IPv4 addresses in `::/96`, the data, the
/// metadata. Blocks must not overlap. Records are as small as can be, or of at least `size`.
pub(in crate::space) fn write(
    entries: &[NetworkEntry],
    size: RecordSize,
    metadata: Vec<(&'static str, Value)>,
) -> Vec<u8> {
    let mut data = Vec::new();
    let mut offsets: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut nodes = vec![[Branch::Nothing; 2]];
    for entry in entries {
        let mut bytes = Vec::new();
        encode(&entry.value, &mut bytes);
        let offset = *offsets.entry(bytes.clone()).or_insert_with(|| {
            data.extend_from_slice(&bytes);
            data.len() - bytes.len()
        });
        insert(&mut nodes, entry, offset);
    }
    let size = size.max(RecordSize::holding(nodes.len() + DATA_SEPARATOR.len() + data.len()));
    let mut database: Vec<u8> = nodes.iter().flat_map(|node| node_bytes(*node, nodes.len(), size)).collect();
    database.extend_from_slice(&DATA_SEPARATOR);
    database.extend_from_slice(&data);
    database.extend_from_slice(METADATA_MARKER);
    let mut facts = metadata;
    facts.extend([
        ("binary_format_major_version", Value::U16(2)),
        ("binary_format_minor_version", Value::U16(0)),
        ("ip_version", Value::U16(6)),
        ("node_count", Value::U32(u32::try_from(nodes.len()).unwrap_or(u32::MAX))),
        ("record_size", Value::U16(size.bits())),
    ]);
    encode(&Value::Map(facts), &mut database);
    database
}

impl RecordSize {
    /// The smallest that holds a record of this value.
    fn holding(record: usize) -> Self {
        match record {
            0..0x0100_0000 => Self::Bits24,
            0x0100_0000..0x1000_0000 => Self::Bits28,
            _ => Self::Bits32,
        }
    }

    fn bits(self) -> u16 {
        match self {
            Self::Bits24 => 24,
            Self::Bits28 => 28,
            Self::Bits32 => 32,
        }
    }
}

fn insert(nodes: &mut Vec<[Branch; 2]>, entry: &NetworkEntry, offset: usize) {
    let (bits, length) = match entry.first {
        IpAddr::V4(v4) => (u128::from(u32::from(v4)), u32::from(entry.prefix) + 96),
        IpAddr::V6(v6) => (u128::from(v6), u32::from(entry.prefix)),
    };
    let side = |depth: u32| usize::from(bits >> (127 - depth) & 1 == 1);
    let mut at = 0;
    for depth in 0..length.saturating_sub(1) {
        at = if let Branch::Node(next) = nodes[at][side(depth)] {
            next
        } else {
            nodes.push([Branch::Nothing; 2]);
            let next = nodes.len() - 1;
            nodes[at][side(depth)] = Branch::Node(next);
            next
        };
    }
    nodes[at][side(length.saturating_sub(1))] = Branch::Data(offset);
}

/// Two records; a record beyond the number of nodes points into the data, the separator included.
fn node_bytes(node: [Branch; 2], nodes: usize, size: RecordSize) -> Vec<u8> {
    let [left, right] = node.map(|branch| {
        let record = match branch {
            Branch::Nothing => nodes,
            Branch::Node(number) => number,
            Branch::Data(offset) => nodes + DATA_SEPARATOR.len() + offset,
        };
        u32::try_from(record).unwrap_or(u32::MAX).to_be_bytes()
    });
    match size {
        RecordSize::Bits24 => [&left[1..], &right[1..]].concat(),
        // The middle byte holds the four high bits of both.
        RecordSize::Bits28 => [&left[1..], &[(left[0] << 4) | (right[0] & 0x0f)], &right[1..]].concat(),
        RecordSize::Bits32 => [left, right].concat(),
    }
}

fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Text(text) => {
            push_control(2, text.len(), out);
            out.extend_from_slice(text.as_bytes());
        }
        Value::U16(number) => push_number(5, &number.to_be_bytes(), out),
        Value::U32(number) => push_number(6, &number.to_be_bytes(), out),
        Value::U64(number) => push_number(9, &number.to_be_bytes(), out),
        Value::Map(fields) => {
            push_control(7, fields.len(), out);
            for (name, value) in fields {
                encode(&Value::Text((*name).to_owned()), out);
                encode(value, out);
            }
        }
        Value::List(items) => {
            push_control(11, items.len(), out);
            for item in items {
                encode(item, out);
            }
        }
    }
}

/// Numbers are written without leading zero bytes.
fn push_number(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    push_control(kind, bytes.len() - zeros, out);
    out.extend_from_slice(&bytes[zeros..]);
}

/// The control byte, with the type in a second byte where it is above 7 and a longer size after it.
fn push_control(kind: u8, size: usize, out: &mut Vec<u8>) {
    let (short, longer) = match size {
        0..=28 => (size, Vec::new()),
        29..=284 => (29, vec![size - 29]),
        _ => (30, vec![(size - 285) >> 8 & 0xff, (size - 285) & 0xff]),
    };
    let low = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
    if kind <= 7 {
        out.push(kind << 5 | low(short));
    } else {
        out.extend([low(short), kind - 7]);
    }
    out.extend(longer.into_iter().map(low));
}

#[cfg(test)]
mod tests {
    use maxminddb::Reader;
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, Debug, PartialEq)]
    struct Found {
        name: String,
        number: u64,
    }

    fn entry(network: &str, number: u64) -> NetworkEntry {
        let (first, prefix) = network.split_once('/').unwrap();
        let name = Value::Text("x".repeat(usize::try_from(number).unwrap()));
        NetworkEntry {
            first: first.parse().unwrap(),
            prefix: prefix.parse().unwrap(),
            value: Value::Map(vec![("name", name), ("number", Value::U64(number))]),
        }
    }

    fn metadata() -> Vec<(&'static str, Value)> {
        vec![
            ("build_epoch", Value::U64(1)),
            ("database_type", Value::Text("Test".into())),
            ("description", Value::Map(vec![("en", Value::Text("Test".into()))])),
            ("languages", Value::List(vec![Value::Text("en".into())])),
        ]
    }

    #[test]
    fn every_record_size_is_read_back() {
        let entries = [
            entry("41.90.0.0/16", 0),
            entry("41.91.0.0/16", 28),
            entry("41.92.7.9/32", 29),
            entry("2c0f:fe38::/32", 284),
            entry("2c0f:fe39::1/128", 285),
            entry("105.0.0.0/8", 1000),
        ];
        for size in [RecordSize::Bits24, RecordSize::Bits28, RecordSize::Bits32] {
            let reader = Reader::from_source(write(&entries, size, metadata())).unwrap();
            reader.verify().unwrap();
            for entry in &entries {
                let found: Found = reader.lookup(entry.first).unwrap().decode().unwrap().unwrap();
                let Value::Map(fields) = &entry.value else { unreachable!() };
                assert_eq!(Value::Text(found.name), fields[0].1);
                assert_eq!(Value::U64(found.number), fields[1].1);
            }
            for nowhere in ["41.89.255.255", "41.92.7.8", "2c0f:fe39::2", "127.0.0.1"] {
                assert!(!reader.lookup(nowhere.parse().unwrap()).unwrap().has_data(), "{nowhere}");
            }
        }
    }
}
