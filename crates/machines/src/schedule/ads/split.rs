//! ADS's mapping (§3.3.1): thresholds that put the same number of packets into every queue.

/// Equal split: queue(p) = min(k − 1, ⌊k · H(p⁻) / H⌋), H(p⁻) packets being of strictly smaller priority than p.
/// `None` if the histogram is empty. Queue 0 is the highest.
pub fn equal(counts: &[u64], k: u8) -> Option<impl Iterator<Item = u8> + '_> {
    let total: u128 = counts.iter().map(|&c| u128::from(c)).sum();
    let mut below = 0u128;
    (total > 0).then(|| {
        counts.iter().map(move |&count| {
            let queue = u128::from(k) * below / total;
            below += u128::from(count);
            queue.min(u128::from(k.saturating_sub(1))) as u8
        })
    })
}

/// With nothing known: queue(p) = min(k − 1, ⌊k · ln p / ln P⌋) for p in 1 ..= P; priority 0 goes to queue 0.
pub fn log_uniform(largest: u32, k: u8) -> impl Iterator<Item = u8> {
    let whole = libm::log(f64::from(largest.max(2)));
    (0..=largest).map(move |p| {
        let share = libm::log(f64::from(p.max(1))) / whole;
        // The 1e-9 lets exact powers reach the queue they belong to in spite of rounding.
        ((f64::from(k) * share + 1e-9) as u8).min(k.saturating_sub(1))
    })
}
