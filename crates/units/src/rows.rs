//! Lists of different lengths, one behind the other.

use serde::{Deserialize, Serialize};

/// Rows of different lengths in two pieces of memory, however many there are.
///
/// ```
/// use thalweg_units::Rows;
///
/// let rows: Rows<u32> = [vec![1, 2], vec![], vec![3]].into_iter().collect();
/// assert_eq!((rows.row(0), rows.row(1), rows.row(2)), (&[1, 2][..], &[][..], &[3][..]));
/// assert_eq!((rows.len(), rows.items().len()), (3, 3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows<T> {
    /// Per row, where it ends in `items`.
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { ends: Vec::new(), items: Vec::new() }
    }
}

impl<T> Rows<T> {
    /// One more row, behind the others.
    ///
    /// # Panics
    /// If all rows together have more than 2³² items.
    pub fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.ends.push(u32::try_from(self.items.len()).expect("at most 2³² items"));
    }

    /// A row; empty beyond the last.
    #[inline]
    pub fn row(&self, at: usize) -> &[T] {
        let Some(end) = self.ends.get(at) else { return &[] };
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[begin as usize..*end as usize]
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// What is in all rows.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Its two halves fit each other, wherever they were read from.
    pub fn is_sound(&self) -> bool {
        self.ends.is_sorted() && self.ends.last().map_or(0, |end| *end as usize) == self.items.len()
    }
}

impl<T, R: IntoIterator<Item = T>> FromIterator<R> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut made = Self::default();
        rows.into_iter().for_each(|row| made.push(row));
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_last_row_there_is_nothing_and_halves_that_do_not_fit_are_seen() {
        let rows: Rows<u8> = [vec![], vec![7]].into_iter().collect();
        assert_eq!((rows.row(1), rows.row(2)), (&[7][..], &[][..]));
        assert!(rows.is_sound() && Rows::<u8>::default().is_sound());
        assert!(!Rows { ends: vec![1, 0], items: Vec::<u8>::new() }.is_sound());
        assert!(!Rows { ends: vec![1], items: vec![1, 2] }.is_sound());
    }
}
