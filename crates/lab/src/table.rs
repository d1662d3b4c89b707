//! A table: columns with units.

use std::borrow::Cow;

/// Values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Counts, sizes.
    U64(Vec<u64>),
    /// Times, counts and sizes that may be missing.
    Maybe(Vec<Option<u64>>),
    /// Ratios.
    F64(Vec<f64>),
    /// Ratios that may be missing.
    MaybeF64(Vec<Option<f64>>),
    /// Numbers of things.
    U32(Vec<u32>),
    /// 0 or 1.
    Bool(Vec<u8>),
    /// Words.
    Text(Vec<String>),
    /// Words that may be missing; none is empty.
    MaybeText(Vec<Option<String>>),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its unit; empty: none.
    pub unit: Cow<'static, str>,
    /// What it is.
    pub doc: Cow<'static, str>,
    /// Its values.
    pub data: ColumnData,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name: that of its file.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// All of one length.
    pub columns: Vec<Column>,
}

impl ColumnData {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::U64(v) => v.len(),
            Self::Maybe(v) => v.len(),
            Self::F64(v) => v.len(),
            Self::MaybeF64(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::Bool(v) => v.len(),
            Self::Text(v) => v.len(),
            Self::MaybeText(v) => v.len(),
        }
    }
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

pub(crate) fn column(
    name: impl Into<Cow<'static, str>>,
    unit: impl Into<Cow<'static, str>>,
    doc: impl Into<Cow<'static, str>>,
    data: ColumnData,
) -> Column {
    Column { name: name.into(), unit: unit.into(), doc: doc.into(), data }
}
