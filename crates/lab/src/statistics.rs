//! Mean and percentiles of what a run has many of.

use serde_json::{Value as Json, json};

/// Mean and percentiles (nearest rank: the smallest value that a fraction p does not exceed).
pub(crate) fn statistics(mut values: Vec<f64>) -> Json {
    if values.is_empty() {
        return json!({ "count": 0 });
    }
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let rank = |p: f64| values[(libm::ceil(p * n as f64) as usize).clamp(1, n) - 1];
    json!({
        "count": n,
        "mean": values.iter().sum::<f64>() / n as f64,
        "p50": rank(0.50),
        "p95": rank(0.95),
        "p99": rank(0.99),
        "max": values[n - 1],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let s = statistics((1..=200).map(f64::from).collect());
        assert_eq!(
            (s["p50"].as_f64(), s["p99"].as_f64(), s["max"].as_f64()),
            (Some(100.0), Some(198.0), Some(200.0))
        );
        assert_eq!(s["mean"], 100.5);
        assert_eq!(statistics(Vec::new()), json!({ "count": 0 }));
    }
}
