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

/// A kind of table, as data: what its rows are and what each column is of a row.
pub(crate) trait Rows: Sized + 'static {
    /// Of a run.
    type Row<'a>;
    /// As [`Table::name`].
    const NAME: &'static str;
    /// As [`Table::doc`].
    const DOC: &'static str;
    /// What it always has.
    const FIELDS: &'static [Field<Self>];
    /// What it has behind these in some runs.
    const SOMETIMES: &'static [Field<Self>] = &[];

    /// The table of these rows.
    fn table(rows: &[Self::Row<'_>], sometimes: bool) -> Table {
        let further = if sometimes { Self::SOMETIMES } else { &[] };
        let columns = Self::FIELDS.iter().chain(further).map(|field| field.of(rows)).collect();
        Table { name: Self::NAME, doc: Self::DOC, columns }
    }

    /// What columns it may have.
    fn layout() -> Layout {
        let columns = Self::FIELDS.iter().chain(Self::SOMETIMES).map(|f| (f.name, f.unit, f.doc)).collect();
        Layout { name: Self::NAME, doc: Self::DOC, columns }
    }
}

/// A table without its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// As [`Table::name`].
    pub name: &'static str,
    /// As [`Table::doc`].
    pub doc: &'static str,
    /// Name, unit and meaning of every column that it may have, in order.
    pub columns: Vec<(&'static str, &'static str, &'static str)>,
}

/// A column as data: its name, unit and meaning, and what it is of a row.
pub(crate) struct Field<T: Rows> {
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    value: Value<T>,
}

/// What is of a row, as [`ColumnData`] has it.
pub(crate) enum Value<T: Rows> {
    U64(for<'a, 'b> fn(&'b T::Row<'a>) -> u64),
    Maybe(for<'a, 'b> fn(&'b T::Row<'a>) -> Option<u64>),
    F64(for<'a, 'b> fn(&'b T::Row<'a>) -> f64),
    MaybeF64(for<'a, 'b> fn(&'b T::Row<'a>) -> Option<f64>),
    U32(for<'a, 'b> fn(&'b T::Row<'a>) -> u32),
    Bool(for<'a, 'b> fn(&'b T::Row<'a>) -> bool),
    Text(for<'a, 'b> fn(&'b T::Row<'a>) -> String),
    MaybeText(for<'a, 'b> fn(&'b T::Row<'a>) -> Option<&'static str>),
}

impl<T: Rows> Field<T> {
    pub const fn new(name: &'static str, unit: &'static str, doc: &'static str, value: Value<T>) -> Self {
        Self { name, unit, doc, value }
    }

    fn of(&self, rows: &[T::Row<'_>]) -> Column {
        let data = match self.value {
            Value::U64(f) => ColumnData::U64(rows.iter().map(f).collect()),
            Value::Maybe(f) => ColumnData::Maybe(rows.iter().map(f).collect()),
            Value::F64(f) => ColumnData::F64(rows.iter().map(f).collect()),
            Value::MaybeF64(f) => ColumnData::MaybeF64(rows.iter().map(f).collect()),
            Value::U32(f) => ColumnData::U32(rows.iter().map(f).collect()),
            Value::Bool(f) => ColumnData::Bool(rows.iter().map(|row| u8::from(f(row))).collect()),
            Value::Text(f) => ColumnData::Text(rows.iter().map(f).collect()),
            Value::MaybeText(f) => {
                ColumnData::MaybeText(rows.iter().map(|row| f(row).map(str::to_owned)).collect())
            }
        };
        column(self.name, self.unit, self.doc, data)
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
