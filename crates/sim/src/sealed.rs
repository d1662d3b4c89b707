//! Saved bytes whose damage is detected: a head of 64 bytes states the kind and layout of what follows, the version
//! that wrote it, its length and its hash. All of that is verified before anything is decoded: decoding random
//! bytes can request any amount of memory, and may even succeed.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | kind, as text |
//! | 2 | layout of the body |
//! | 30 | version of thalweg that wrote it, as text, filled up with zeros |
//! | 8 | length of the body |
//! | 16 | XXH3-128 of the 48 bytes above and the body |
//!
//! Numbers are little-endian. The hash detects accidents; it is no signature.

use xxhash_rust::xxh3::Xxh3Default;

const HEAD: usize = 64;
const UNHASHED: usize = 16;
const BUILD: &str = env!("CARGO_PKG_VERSION");

/// The kind of a body, and the layout that is read and written here.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// First bytes.
    pub magic: [u8; 8],
    /// Layout number, raised whenever the body's layout changes.
    pub layout: u16,
}

/// Why bytes cannot be loaded as a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The bytes are not a snapshot.
    #[error("this is not a saved run")]
    NotASnapshot,
    /// Written by another version.
    #[error(
        "this run was saved by another version of thalweg (layout {found}, by version {by}; this is version \
         {BUILD}, which reads layout {expected})"
    )]
    OtherVersion {
        /// The layout of the bytes.
        found: u16,
        /// The version that wrote them.
        by: String,
        /// The layout that this version reads.
        expected: u16,
    },
    /// Bytes are missing, or there are too many.
    #[error("this saved run is damaged: it should have {expected} bytes and has {found}")]
    Length {
        /// The length that the head states.
        expected: u64,
        /// The actual length.
        found: u64,
    },
    /// Bytes have changed since it was written.
    #[error("this saved run is damaged: its content is not what was saved (checksum)")]
    Checksum,
    /// The hash holds, but the content cannot be decoded: it was written by something else.
    #[error("this saved run makes no sense: {0}")]
    Damaged(String),
}

fn hash(head: &[u8], body: &[u8]) -> [u8; UNHASHED] {
    let mut h = Xxh3Default::new();
    h.update(head);
    h.update(body);
    h.digest128().to_le_bytes()
}

/// Bytes that are being sealed: append the body to `bytes`, then call [`Sealing::finish`].
///
/// Works in place, so that a large run is not copied.
pub struct Sealing {
    /// The body is appended here.
    pub bytes: Vec<u8>,
    start: usize,
}

impl Sealing {
    /// Begins at the end of `bytes`.
    pub fn begin(mut bytes: Vec<u8>, kind: Kind) -> Self {
        let start = bytes.len();
        let mut build = [0; 30];
        let len = BUILD.len().min(build.len());
        build[..len].copy_from_slice(&BUILD.as_bytes()[..len]);
        bytes.extend_from_slice(&kind.magic);
        bytes.extend_from_slice(&kind.layout.to_le_bytes());
        bytes.extend_from_slice(&build);
        bytes.resize(start + HEAD, 0);
        Self { bytes, start }
    }

    /// Writes length and hash into the head.
    pub fn finish(mut self) -> Vec<u8> {
        let (head, body) = self.bytes[self.start..].split_at_mut(HEAD);
        head[40..48].copy_from_slice(&(body.len() as u64).to_le_bytes());
        let sum = hash(&head[..48], body);
        head[48..].copy_from_slice(&sum);
        self.bytes
    }
}

/// The body of sealed bytes.
///
/// # Errors
/// If the bytes are of another kind, in another layout, or not exactly what was sealed.
pub fn open(bytes: &[u8], kind: Kind) -> Result<&[u8], LoadError> {
    let known = bytes.len().min(kind.magic.len());
    if bytes.is_empty() || bytes[..known] != kind.magic[..known] {
        return Err(LoadError::NotASnapshot);
    }
    let found = bytes.len() as u64;
    let Some((head, body)) = bytes.split_at_checked(HEAD) else {
        return Err(LoadError::Length { expected: HEAD as u64, found });
    };
    let length = u64::from_le_bytes(head[40..48].try_into().expect("eight bytes"));
    let expected = length.saturating_add(HEAD as u64);
    if expected != found {
        return Err(LoadError::Length { expected, found });
    }
    if hash(&head[..48], body) != head[48..] {
        return Err(LoadError::Checksum);
    }
    // After the hash: a flipped bit in the layout is damage, not another version.
    let layout = u16::from_le_bytes([head[8], head[9]]);
    if layout != kind.layout {
        let by = String::from_utf8_lossy(&head[10..40]).trim_end_matches('\0').to_owned();
        return Err(LoadError::OtherVersion { found: layout, by, expected: kind.layout });
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: Kind = Kind { magic: *b"letter\x00\x00", layout: 3 };

    fn sealed(body: &[u8]) -> Vec<u8> {
        let mut s = Sealing::begin(Vec::new(), LETTER);
        s.bytes.extend_from_slice(body);
        s.finish()
    }

    #[test]
    fn what_was_sealed_is_opened() {
        for body in [&b""[..], b"x", &[7; 1000]] {
            let bytes = sealed(body);
            assert_eq!(bytes.len(), 64 + body.len());
            assert_eq!(open(&bytes, LETTER), Ok(body));
        }
    }

    /// The format is fixed: files of one machine are read on all.
    #[test]
    fn the_hash_is_xxh3_of_128_bits_over_head_and_body() {
        let bytes = sealed(b"dear reader");
        assert_eq!(bytes[..10], *b"letter\x00\x00\x03\x00");
        assert_eq!(bytes[10..40].split(|&b| b == 0).next(), Some(BUILD.as_bytes()));
        assert_eq!(bytes[40..48], 11u64.to_le_bytes());
        let all = [&bytes[..48], b"dear reader"].concat();
        assert_eq!(bytes[48..64], xxhash_rust::xxh3::xxh3_128(&all).to_le_bytes());
    }

    #[test]
    fn every_flipped_bit_and_every_wrong_length_is_found() {
        let good = sealed(b"dear reader");
        for at in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[at / 8] ^= 1 << (at % 8);
            let error = open(&bad, LETTER).expect_err("damaged");
            assert!(!matches!(error, LoadError::OtherVersion { .. }), "bit {at}: {error}");
        }
        for len in 0..good.len() {
            assert!(open(&good[..len], LETTER).is_err(), "{len} bytes");
        }
        let longer = [&good[..], b"\0"].concat();
        assert_eq!(open(&longer, LETTER), Err(LoadError::Length { expected: 75, found: 76 }));
    }

    #[test]
    fn another_layout_is_refused_by_name() {
        let error = open(&sealed(b"dear reader"), Kind { layout: 4, ..LETTER }).expect_err("older");
        assert_eq!(error, LoadError::OtherVersion { found: 3, by: BUILD.into(), expected: 4 });
        let line = error.to_string();
        assert!(line.contains("layout 3, by version 0.") && line.contains("reads layout 4"), "{line}");
        assert_eq!(open(b"hello", LETTER), Err(LoadError::NotASnapshot));
        assert_eq!(open(b"", LETTER), Err(LoadError::NotASnapshot));
    }
}
