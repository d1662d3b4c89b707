//! The format of a file on a stream: a header, the file's bytes, and the end of the stream. The receiver then answers.
//!
//! ```text
//! "TWF1", length of the name (1 byte), name (UTF-8), size (8 bytes)   then the file's bytes, and the end
//! 0                                                                   kept
//! 1, length (2 bytes), why (UTF-8)                                    not kept
//! ```
//!
//! Numbers are big-endian.

use super::Error;

const MAGIC: &[u8; 4] = b"TWF1";

/// The header before a file's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    name: String,
    size: u64,
}

impl Header {
    /// The header of a file with this name, without folders, and this size.
    ///
    /// # Errors
    /// If the name could refer to a place outside the receiver's folder, or has characters that cannot be shown.
    pub fn new(name: &str, size: u64) -> Result<Self, Error> {
        let shown = name.escape_debug();
        let refuse = |why: &str| Err(Error::Malformed(format!("`{shown}` is no name for a file: {why}")));
        if name.is_empty() || name.len() > 255 {
            return refuse("1 to 255 bytes are allowed");
        }
        if name.starts_with('.') {
            return refuse("it begins with a dot");
        }
        if let Some(wrong) = name.chars().find(|c| matches!(c, '/' | '\\' | ':') || c.is_control()) {
            return refuse(&format!("it contains {wrong:?}"));
        }
        Ok(Self { name: name.to_owned(), size })
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The encoded header.
    pub fn encode(&self) -> Vec<u8> {
        let length = self.name.len() as u8; // at most 255, see `new`
        [&MAGIC[..], &[length], self.name.as_bytes(), &self.size.to_be_bytes()].concat()
    }

    /// Reads the header at the beginning of a stream. Returns it with its length; `None` if more bytes are needed.
    ///
    /// # Errors
    /// If the bytes are no header, as soon as that is known.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Error> {
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(Error::Malformed("the sender does not speak this protocol".into()));
        }
        let Some(&length) = bytes.get(4) else { return Ok(None) };
        let end = 5 + usize::from(length);
        let (Some(name), Some(size)) = (bytes.get(5..end), bytes.get(end..end + 8)) else { return Ok(None) };
        let name = std::str::from_utf8(name)
            .map_err(|_| Error::Malformed("the sender's name for the file is no UTF-8".into()))?;
        let size = size.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Ok(Some((Self::new(name, size)?, end + 8)))
    }
}

/// The receiver's answer at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// The whole file was received and kept.
    Kept,
    /// The file was not kept, for this reason.
    Refused(String),
}

impl Reply {
    /// The encoded answer; long reasons are cut.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Kept => vec![0],
            Self::Refused(why) => {
                let end = (0..=why.len().min(1000)).rev().find(|end| why.is_char_boundary(*end)).unwrap_or(0);
                let length = (end as u16).to_be_bytes();
                [&[1], &length[..], &why.as_bytes()[..end]].concat()
            }
        }
    }

    /// Reads the receiver's whole stream.
    ///
    /// # Errors
    /// If it is no answer.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        match bytes {
            [0] => Ok(Self::Kept),
            [1, high, low, why @ ..] if why.len() == usize::from(u16::from_be_bytes([*high, *low])) => {
                // The peer's text is shown on a terminal, so control characters are removed.
                let why = String::from_utf8_lossy(why).chars().filter(|c| !c.is_control()).collect();
                Ok(Self::Refused(why))
            }
            _ => Err(Error::Malformed("the receiver's answer cannot be read".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_byte_by_byte() {
        let header = Header::new("größe.bin", 1 << 40).unwrap();
        let bytes = header.encode();
        for cut in 0..bytes.len() {
            assert_eq!(Header::parse(&bytes[..cut]).unwrap(), None, "{cut}");
        }
        let more = [&bytes[..], b"data"].concat();
        assert_eq!(Header::parse(&more).unwrap(), Some((header, bytes.len())));
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for name in
            ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "c:x", "a\nb", "\u{1b}[2J", ".hidden"]
        {
            assert!(Header::new(name, 0).is_err(), "{name:?}");
        }
        let long = "x".repeat(256);
        assert!(Header::new(&long, 0).is_err() && Header::new(&long[1..], 0).is_ok());
        assert!(Header::parse(b"TWF1\x02..\0\0\0\0\0\0\0\0").is_err());
        assert!(Header::parse(b"GET ").is_err() && Header::parse(b"X").is_err());
    }

    #[test]
    fn an_answer_reads_back_and_shows_no_control_characters() {
        let refused = Reply::Refused("it is there already".into());
        for reply in [Reply::Kept, refused.clone()] {
            assert_eq!(Reply::parse(&reply.encode()).unwrap(), reply);
        }
        let cut = &refused.encode()[..9];
        assert!(Reply::parse(cut).is_err() && Reply::parse(&[]).is_err() && Reply::parse(&[0, 0]).is_err());
        assert_eq!(Reply::parse(b"\x01\0\x03a\x1bb").unwrap(), Reply::Refused("ab".into()));
        let long = Reply::Refused("ä".repeat(2000)).encode();
        assert!(matches!(Reply::parse(&long), Ok(Reply::Refused(why)) if why.chars().count() == 500));
    }
}
