//! Chakra traces as bytes, for tests.

fn varint(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

pub(crate) fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

pub(crate) fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

/// An attribute that is a number.
pub(crate) fn attribute(name: &str, value: u64) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), number(13, value)].concat())
}

/// One that is text.
pub(crate) fn text(name: &str, value: &str) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), bytes(29, value.as_bytes())].concat())
}

/// A node that depends on others, with further fields.
pub(crate) fn node(id: u64, kind: u64, after: &[u64], more: &[Vec<u8>]) -> Vec<u8> {
    let packed: Vec<u8> = after.iter().flat_map(|id| varint(*id)).collect();
    [number(1, id), number(3, kind), bytes(5, &packed), more.concat()].concat()
}

/// A file with these nodes.
pub(crate) fn file(nodes: &[Vec<u8>]) -> Vec<u8> {
    let head = bytes(1, b"0.0.4");
    let all = std::iter::once(&head).chain(nodes);
    all.flat_map(|message| [varint(message.len() as u64), message.clone()].concat()).collect()
}
