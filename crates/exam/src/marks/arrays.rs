//! Arithmetic over series, the same as NumPy's.

/// A part of a whole; not a number where there is nothing.
pub(super) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

/// Jain's index.
pub(super) fn jain(x: &[f64]) -> f64 {
    let (sum, squares) = (x.iter().sum::<f64>(), x.iter().map(|x| x * x).sum::<f64>());
    ratio(sum * sum, x.len() as f64 * squares)
}

/// The least value that 95 % of all do not exceed (the inverted distribution function); not a number of none.
pub(super) fn percentile_95(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let place = values.len() as f64 * 0.95 - 1.0;
    let place = place.ceil().max(0.0) as usize;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Of an even number the mean of the middle two; not a number of none.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// A series at an instant, on a straight line between two of its own; nothing before the first, the last after it.
pub(super) fn interpolated(at: f64, times: &[f64], values: &[f64]) -> f64 {
    let before = times.partition_point(|t| *t <= at);
    let Some(left) = before.checked_sub(1) else { return 0.0 };
    if before == times.len() || times[left] == at {
        return values[left];
    }
    let slope = (values[before] - values[left]) / (times[before] - times[left]);
    slope * (at - times[left]) + values[left]
}

/// The first place at which `at` could stand in what is sorted.
pub(super) fn place(times: &[f64], at: f64) -> usize {
    times.partition_point(|t| *t < at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occur() {
        let of = |n: u32| percentile_95(&mut (1..=n).map(f64::from).collect::<Vec<_>>());
        // NumPy, method "inverted_cdf".
        assert_eq!([1, 2, 10, 20, 40, 100].map(of), [1.0, 2.0, 10.0, 19.0, 38.0, 95.0]);
        assert!(percentile_95(&mut []).is_nan());
    }

    #[test]
    fn medians_of_an_even_number_lie_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn series_are_zero_before_they_begin_and_stay_after_they_end() {
        let at = |t: f64| interpolated(t, &[1.0, 2.0, 4.0], &[10.0, 20.0, 60.0]);
        assert_eq!([0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0].map(at), [0.0, 10.0, 15.0, 20.0, 40.0, 60.0, 60.0]);
        assert_eq!(interpolated(1.0, &[], &[]), 0.0);
    }

    #[test]
    fn jains_index_is_one_of_equals_and_a_nth_of_one_alone() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), 1.0);
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), 0.25);
        assert!(jain(&[0.0, 0.0]).is_nan());
    }
}
