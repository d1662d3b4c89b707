//! Sorting the events of a day.
//!
//! A few events are sorted by sorting networks (Knuth, The Art of Computer Programming, vol. 3, §5.3.4): the
//! outcome of a comparison is a coin toss, and a mispredicted branch costs more than some unnecessary comparisons.

/// An event of a day: the time since the beginning of the day (ps), in the bits above its tag.
pub(super) type Word = u64;

/// Compares and exchanges pairs of words, in this sequence.
macro_rules! network {
    ($words:ident: $($a:literal $b:literal),*) => {
        $({
            let (a, b) = ($words[$a], $words[$b]);
            ($words[$a], $words[$b]) = (a.max(b), a.min(b));
        })*
    };
}

/// Sorts `words`, largest first.
#[inline]
pub(super) fn sort_descending(words: &mut Vec<Word>) {
    match words.len() {
        0 | 1 => {}
        2..=4 => padded(words, four),
        5..=8 => padded(words, eight),
        9..=16 => padded(words, sixteen),
        _ => words.sort_unstable_by(|a, b| b.cmp(a)),
    }
}

/// Sorts `words` with a network of `N` inputs, padded with zeros, which come last.
#[inline(always)]
fn padded<const N: usize>(words: &mut Vec<Word>, network: impl Fn(&mut [Word; N])) {
    let len = words.len();
    words.resize(N, 0);
    network(words.first_chunk_mut().expect("resized"));
    words.truncate(len);
}

#[inline(always)]
fn four(words: &mut [Word; 4]) {
    network!(words: 0 2, 1 3, 0 1, 2 3, 1 2);
}

#[inline(always)]
fn eight(words: &mut [Word; 8]) {
    network!(words: 0 2, 1 3, 4 6, 5 7, 0 4, 1 5, 2 6, 3 7, 0 1, 2 3, 4 5, 6 7, 2 4, 3 5, 1 4, 3 6, 1 2, 3 4, 5 6);
}

/// Green's network: sixty comparisons.
#[inline(never)]
fn sixteen(words: &mut [Word; 16]) {
    network!(words: 0 13, 1 12, 2 15, 3 14, 4 8, 5 6, 7 11, 9 10,
        0 5, 1 7, 2 9, 3 4, 6 13, 8 14, 10 15, 11 12,
        0 1, 2 3, 4 5, 6 8, 7 9, 10 11, 12 13, 14 15,
        0 2, 1 3, 4 10, 5 11, 6 7, 8 9, 12 14, 13 15,
        1 2, 3 12, 4 6, 5 7, 8 10, 9 11, 13 14,
        1 4, 2 6, 5 8, 7 10, 9 13, 11 14,
        2 4, 3 6, 9 12, 11 13,
        3 5, 6 8, 7 9, 10 12,
        3 4, 5 6, 7 8, 9 10, 11 12,
        6 7, 8 9);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network sorts everything if it sorts all sequences of zeros and ones (Knuth, §5.3.4, theorem Z).
    #[test]
    fn networks_sort_all_sequences_of_zeros_and_ones() {
        for len in 0..=16 {
            for bits in 0u32..1 << len {
                let mut words: Vec<Word> = (0..len).map(|i| 1 + u64::from(bits >> i & 1)).collect();
                sort_descending(&mut words);
                assert!(words.is_sorted_by(|a, b| a >= b), "{bits:b} of {len}: {words:?}");
                assert_eq!(words.iter().sum::<u64>(), len + u64::from(bits.count_ones()));
            }
        }
    }
}
