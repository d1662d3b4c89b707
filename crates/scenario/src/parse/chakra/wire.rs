//! The wire format of protocol buffers: fields, each a number and a value (Google, Protocol Buffers, Encoding).

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A varint, or a fixed-length number.
    Number(u64),
    /// Text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Bytes(_) => None,
        }
    }

    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Number(_) => None,
            Self::Bytes(bytes) => Some(bytes),
        }
    }

    /// Numbers, one by one or packed.
    pub fn numbers(self, out: &mut Vec<u64>) -> Option<()> {
        match self {
            Self::Number(number) => out.push(number),
            Self::Bytes(mut packed) => {
                while !packed.is_empty() {
                    out.push(varint(&mut packed)?);
                }
            }
        }
        Some(())
    }
}

/// The fields of a message; `None` where the bytes are not one.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = field(&mut self.0);
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let key = varint(rest)?;
    let value = match key & 7 {
        0 => Value::Number(varint(rest)?),
        1 => {
            let (number, left) = rest.split_first_chunk::<8>()?;
            *rest = left;
            Value::Number(u64::from_le_bytes(*number))
        }
        2 => Value::Bytes(delimited(rest)?),
        5 => {
            let (number, left) = rest.split_first_chunk::<4>()?;
            *rest = left;
            Value::Number(u32::from_le_bytes(*number).into())
        }
        _ => return None,
    };
    Some((key >> 3, value))
}

/// Bytes preceded by their length.
pub(super) fn delimited<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let count = usize::try_from(varint(rest)?).ok()?;
    let (bytes, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(bytes)
}

/// Seven bits per byte, the lowest first; the eighth bit is set if more bytes follow.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, left) = rest.split_first()?;
        *rest = left;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}
