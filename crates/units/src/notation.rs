//! Quantities as files write them: strings with compulsory units, and their JSON Schema.
//!
//! [`Span`], [`Rate`] and [`Bytes`] are such strings in text formats and plain integers in binary ones, so a
//! struct of them is both the schema of a table and a machine's parameters.

use crate::{Bytes, QuantityError, Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A [`Span`], [`Rate`] or [`Bytes`] in a section of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Q<T>(pub T);

impl<T: FromStr> Q<T>
where
    T::Err: fmt::Debug,
{
    /// A constant of the schema.
    ///
    /// # Panics
    /// If the text is not a quantity: a bug of the schema, never the user's.
    pub fn of(text: &str) -> Self {
        Self(text.parse().expect("a quantity in the schema"))
    }
}

/// A queue length or a window: bytes or packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// `"30KB"`.
    Bytes(Bytes),
    /// `"15pkts"`.
    Packets(u32),
}

/// A limit: bytes, packets, or `"unlimited"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// `"500KB"`.
    Bytes(Bytes),
    /// `"300pkts"`.
    Packets(u32),
    /// `"unlimited"`.
    Unlimited,
}

/// A queueing delay: a time, or packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delay {
    /// `"17.5us"`.
    Time(Span),
    /// `"15pkts"`: their transmission times.
    Packets(u32),
}

/// Bytes sent, or `"none"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counter {
    /// `"10MB"`.
    Bytes(Bytes),
    /// `"none"`: bytes do not count.
    Off,
}

/// A cap on packets in flight: a number, `"auto"` or `"none"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cap {
    /// `110`.
    Packets(u32),
    /// `"auto"`: from the topology.
    Auto,
    /// `"none"`.
    Off,
}

impl FromStr for Counter {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "none" {
            return Ok(Self::Off);
        }
        text.parse().map(Self::Bytes).map_err(|e: QuantityError| {
            format!("`{text}` is not a size or \"none\": {} (units: {})", e.reason, e.units)
        })
    }
}
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(b) => b.fmt(f),
            Self::Off => f.write_str("none"),
        }
    }
}

/// The words of [`Cap`].
const CAP_WORDS: [(&str, Cap); 2] = [("auto", Cap::Auto), ("none", Cap::Off)];

impl Serialize for Cap {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Packets(n) => s.serialize_u32(*n),
            Self::Auto => s.serialize_str("auto"),
            Self::Off => s.serialize_str("none"),
        }
    }
}
impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(u32),
            Word(String),
        }
        match Either::deserialize(d)? {
            Either::Number(n) => Ok(Self::Packets(n)),
            Either::Word(word) => {
                let known = CAP_WORDS.iter().find(|(w, _)| *w == word);
                known.map(|(_, cap)| *cap).ok_or_else(|| serde::de::Error::custom("not a cap"))
            }
        }
    }
}
impl JsonSchema for Cap {
    fn schema_name() -> Cow<'static, str> {
        "Cap".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["integer", "string"], "x-quantity": "cap", "minimum": 1, "maximum": u32::MAX,
            "examples": [110, "auto", "none"]
        })
    }
}

impl FromStr for Delay {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(Length::Packets(n)) = text.parse() {
            return Ok(Self::Packets(n));
        }
        check("time", text)
            .map_err(|e| format!("{}, pkts)", e.strip_suffix(')').unwrap_or(&e)))
            .map(|()| Self::Time(text.parse().unwrap_or_default()))
    }
}
impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(t) => t.fmt(f),
            Self::Packets(p) => write!(f, "{p}pkts"),
        }
    }
}
impl FromStr for Length {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let packets = ["packets", "packet", "pkts", "pkt"].iter().find_map(|unit| trimmed.strip_suffix(unit));
        if let Some(number) = packets {
            let number = number.trim().replace('_', "");
            return match number.parse::<u32>() {
                Ok(n) => Ok(Self::Packets(n)),
                Err(_) => Err(format!(
                    "`{text}` is not a number of packets: `{number}` is not a whole number below 2^32"
                )),
            };
        }
        trimmed.parse().map(Self::Bytes).map_err(|e| {
            format!("`{text}` is not a size: {} (units: B, KB, MB, GB, TB, KiB, MiB, GiB, pkts)", e.reason)
        })
    }
}
impl FromStr for Capacity {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::Unlimited);
        }
        match text.parse()? {
            Length::Bytes(b) => Ok(Self::Bytes(b)),
            Length::Packets(p) => Ok(Self::Packets(p)),
        }
    }
}
impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(b) => b.fmt(f),
            Self::Packets(p) => write!(f, "{p}pkts"),
        }
    }
}
impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(b) => b.fmt(f),
            Self::Packets(p) => write!(f, "{p}pkts"),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}
impl Length {
    /// In bytes, a packet being `packet` bytes.
    pub fn bytes(self, packet: u32) -> Bytes {
        match self {
            Self::Bytes(b) => b,
            Self::Packets(p) => Bytes::new(u64::from(p) * u64::from(packet)),
        }
    }
}
impl Capacity {
    /// In bytes, a packet being `packet` bytes; [`Bytes::MAX`] if there is no limit.
    pub fn bytes(self, packet: u32) -> Bytes {
        match self {
            Self::Bytes(b) => b,
            Self::Packets(p) => Bytes::new(u64::from(p) * u64::from(packet)),
            Self::Unlimited => Bytes::MAX,
        }
    }
}

/// A quantity: a string with a unit in text formats, its integer in binary ones; the format of its schema.
macro_rules! quantity {
    ($t:ty, $get:ident, $make:path, $name:literal, $format:literal, [$($example:literal),*]) => {
        impl Serialize for $t {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                if s.is_human_readable() { s.collect_str(self) } else { s.serialize_u64(self.$get()) }
            }
        }
        impl<'de> Deserialize<'de> for $t {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                if !d.is_human_readable() {
                    return u64::deserialize(d).map($make);
                }
                let text = Cow::<'de, str>::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl JsonSchema for $t {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "x-quantity": $format, "examples": [$($example),*] })
            }
        }
    };
}
quantity!(Span, ps, Span::from_ps, "Time", "time", ["2us", "1.5ms"]);
quantity!(Rate, bps, Rate::from_bps, "Rate", "rate", ["10Gbps"]);
quantity!(Bytes, get, Bytes::new, "Size", "size", ["500KB", "2MiB"]);

impl<T: Serialize> Serialize for Q<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(s)
    }
}
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Q<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        T::deserialize(d).map(Self)
    }
}
impl<T: JsonSchema> JsonSchema for Q<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

macro_rules! text {
    ($t:ty, $name:literal, $format:literal, [$($example:literal),*]) => {
        impl Serialize for $t {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $t {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
        impl JsonSchema for $t {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "x-quantity": $format, "examples": [$($example),*] })
            }
        }
    };
}
text!(Length, "Length", "length", ["15pkts", "30KB"]);
text!(Delay, "Delay", "delay", ["17.5us", "15pkts"]);
text!(Counter, "Counter", "counter", ["10MB", "none"]);
text!(Capacity, "Capacity", "capacity", ["500KB", "300pkts", "1bdp", "unlimited"]);

/// The longest time that can be written.
pub const LONGEST: Span = Span::from_secs(1_000_000);

/// A number as [`Span`] and its like read it.
const NUMBER: &str = r"(?:_*[0-9][0-9_]*(?:\.[0-9_]*)?|_*\._*[0-9][0-9_]*)";
const PACKETS: &str = r"_*[0-9][0-9_]*\s*(?:packets|packet|pkts|pkt)";
const TIME: &str = "(?:ps|ns|us|ms|s)";
const RATE: &str = "(?:bps|[Kk]bps|Mbps|Gbps|Tbps)";
const SIZE: &str = "(?:B|KB|MB|GB|TB|KiB|MiB|GiB)";

/// For a length that may be written so (`"0.5bdp"`): the bandwidth-delay products in it, in billionths.
pub fn multiple(quantity: &str, text: &str) -> Option<Result<u64, String>> {
    if !["room", "length", "capacity"].contains(&quantity) {
        return None;
    }
    let number = text.trim().strip_suffix("bdp")?.trim_end();
    // As exact as sizes: a product is a "GB" of billionths.
    let billionths = format!("{number}GB").parse::<Bytes>();
    Some(billionths.map(Bytes::get).map_err(|e| {
        let why = if e.reason.contains("smallest unit") {
            "it has more than nine decimal places"
        } else {
            &e.reason
        };
        format!("`{text}` is not a multiple of the bandwidth-delay product: {why}")
    }))
}

/// So many billionths of something, to the nearest byte.
pub fn times(product: Bytes, billionths: u64) -> Option<Bytes> {
    let sum = u128::from(product.get()) * u128::from(billionths) + 500_000_000;
    u64::try_from(sum / 1_000_000_000).ok().map(Bytes::new)
}

/// The regular expression of a schema's `x-quantity`, for editors: as [`check`], but for what is too large.
pub fn pattern(quantity: &str) -> Option<String> {
    let amount = |units: &str| format!(r"{NUMBER}\s*{units}");
    let any_of = match quantity {
        "time" => amount(TIME),
        "rate" => amount(RATE),
        "size" => amount(SIZE),
        "room" => format!("{}|{}", amount(SIZE), amount("bdp")),
        "length" => format!("{}|{}|{PACKETS}", amount(SIZE), amount("bdp")),
        "delay" => format!("{}|{PACKETS}", amount(TIME)),
        "capacity" => format!("{}|{}|{PACKETS}|unlimited", amount(SIZE), amount("bdp")),
        "counter" => format!("{}|none", amount(SIZE)),
        // No blanks around words that stand for themselves.
        "cap" => return Some("^(?:auto|none)$".into()),
        _ => return None,
    };
    Some(format!(r"^\s*(?:{any_of})\s*$"))
}

/// Checks a string against a schema's `x-quantity`; unknown ones accept everything.
pub fn check(quantity: &str, text: &str) -> Result<(), String> {
    let products = ["room", "length", "capacity"].contains(&quantity);
    check_plain(quantity, text).map_err(|e| match e.strip_suffix(')') {
        // What may be a multiple of the bandwidth-delay product declares it.
        Some(units) if products && units.contains("(units: ") => {
            let near = text.trim_end().to_ascii_lowercase().ends_with("bdp");
            format!("{units}, bdp){}", if near { "; the unit is written `bdp`" } else { "" })
        }
        _ => e,
    })
}

fn check_plain(quantity: &str, text: &str) -> Result<(), String> {
    match quantity {
        // Instants are sums of such times: they must stay far from the end of 64 bits of picoseconds.
        "time" => match text.parse::<Span>() {
            Ok(span) if span > LONGEST => Err(format!("`{text}` is too long (at most {LONGEST})")),
            Ok(_) => Ok(()),
            Err(e) => Err(e.to_string()),
        },
        "rate" => text.parse::<Rate>().map(drop).map_err(|e| e.to_string()),
        "size" | "room" => text.parse::<Bytes>().map(drop).map_err(|e| e.to_string()),
        "length" => text.parse::<Length>().map(drop),
        "delay" => text.parse::<Delay>().map(drop),
        "capacity" => text.parse::<Capacity>().map(drop),
        "counter" => text.parse::<Counter>().map(drop),
        "cap" => match CAP_WORDS.iter().any(|(word, _)| *word == text) {
            true => Ok(()),
            false => Err(format!("`{text}` is not a cap: a number of packets, \"auto\" or \"none\"")),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_bandwidth_and_delay_are_exact() {
        assert_eq!(multiple("capacity", "0.5bdp"), Some(Ok(500_000_000)));
        assert_eq!(multiple("room", " 2 bdp"), Some(Ok(2_000_000_000)));
        assert_eq!((multiple("size", "1bdp"), multiple("length", "1KB")), (None, None));
        let why = "`-1bdp` is not a multiple of the bandwidth-delay product: it is negative";
        assert_eq!(multiple("length", "-1bdp"), Some(Err(why.into())));
        // 10 Gb/s x 100 us = 125 000 B.
        let product = Bytes::kb(125);
        assert_eq!(times(product, 500_000_000), Some(Bytes::new(62_500)));
        assert_eq!(times(product, 333_333_333), Some(Bytes::new(41_667)));
        assert_eq!(times(Bytes::MAX, 2_000_000_000), None);
    }

    #[test]
    fn what_may_be_a_multiple_of_the_product_lists_its_unit() {
        for quantity in ["room", "length", "capacity"] {
            let why = check(quantity, "0.5BDP").expect_err("a unit in capitals");
            assert!(why.contains(", bdp); the unit is written `bdp`"), "{why}");
            assert!(check(quantity, "5 apples").expect_err("no unit").ends_with(", bdp)"));
        }
        assert!(!check("size", "5 apples").expect_err("no unit").contains("bdp"));
    }

    #[test]
    fn queue_lengths_are_packets_or_bytes_and_limits_may_be_missing() {
        assert_eq!("15pkts".parse(), Ok(Length::Packets(15)));
        assert_eq!("30KB".parse(), Ok(Length::Bytes(Bytes::kb(30))));
        assert_eq!("unlimited".parse(), Ok(Capacity::Unlimited));
        assert_eq!(Capacity::Packets(300).to_string(), "300pkts");
        assert_eq!(
            "15".parse::<Length>(),
            Err("`15` is not a size: the unit is missing (units: B, KB, MB, GB, TB, KiB, MiB, GiB, pkts)"
                .into())
        );
        assert_eq!(
            "1.5pkts".parse::<Length>(),
            Err("`1.5pkts` is not a number of packets: `1.5` is not a whole number below 2^32".into())
        );
    }
}
