//! Distributions of flow sizes: quantiles to draw from, means to set loads by.

use super::Interpolation;

/// A cumulative distribution, given by points.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// (size in units, cumulative probability), both ascending, the last probability 1.
    points: Vec<(f64, f64)>,
    between: Interpolation,
    /// Bytes per unit. If it is more than one byte, sizes are rounded up to whole units.
    unit: u64,
}

/// Number of terms above which a sum is replaced by its integral.
const MOST_TERMS: f64 = 4e6;

impl Cdf {
    /// A distribution from the points of [`crate::parse::cdf::parse`].
    pub fn new(points: Vec<(f64, f64)>, between: Interpolation, unit: u64) -> Self {
        Self { points, between, unit: unit.max(1) }
    }

    /// Atoms of bytes with their probabilities.
    pub fn atoms(atoms: &[(u64, f64)]) -> Self {
        let mut sum = 0.0;
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (size, p) in atoms {
            sum += p;
            points.push((*size as f64, sum));
        }
        if let Some(last) = points.last_mut() {
            last.1 = 1.0;
        }
        Self::new(points, Interpolation::Atoms, 1)
    }

    /// Largest size, bytes.
    pub fn max(&self) -> u64 {
        self.points.last().map_or(1, |(s, _)| self.bytes(*s))
    }

    fn bytes(&self, x: f64) -> u64 {
        let units = if self.unit > 1 { libm::ceil(x) } else { libm::round(x) };
        (units as u64).max(1).saturating_mul(self.unit)
    }

    /// The quantile of `u` in [0, 1), in bytes.
    pub fn quantile(&self, u: f64) -> u64 {
        let i = self.points.partition_point(|(_, p)| *p <= u).min(self.points.len().saturating_sub(1));
        let Some(&(s1, p1)) = self.points.get(i) else { return 1 };
        if i == 0 || self.between == Interpolation::Atoms {
            return self.bytes(s1);
        }
        let (s0, p0) = self.points[i - 1];
        let t = if p1 > p0 { ((u - p0) / (p1 - p0)).clamp(0.0, 1.0) } else { 1.0 };
        self.bytes(self.inside(i, s0, s1, t))
    }

    /// The size at fraction `t` of segment `i`.
    fn inside(&self, i: usize, s0: f64, s1: f64, t: f64) -> f64 {
        match self.between {
            Interpolation::LogLinear if s0 > 0.0 => s0 * libm::pow(s1 / s0, t),
            Interpolation::InverseLinear if i > 1 && s0 > 0.0 => 1.0 / (1.0 / s0 + t * (1.0 / s1 - 1.0 / s0)),
            _ => s0 + t * (s1 - s0),
        }
    }

    /// P(X ≤ x), x in units.
    fn probability(&self, x: f64) -> f64 {
        let i = self.points.partition_point(|(s, _)| *s <= x);
        if i == 0 {
            return 0.0;
        }
        let (s0, p0) = self.points[i - 1];
        let Some(&(s1, p1)) = self.points.get(i).filter(|_| self.between != Interpolation::Atoms) else {
            return p0;
        };
        let t = match self.between {
            Interpolation::LogLinear if s0 > 0.0 => libm::log(x / s0) / libm::log(s1 / s0),
            Interpolation::InverseLinear if i > 1 && s0 > 0.0 => (1.0 / x - 1.0 / s0) / (1.0 / s1 - 1.0 / s0),
            _ => (x - s0) / (s1 - s0),
        };
        p0 + t * (p1 - p0)
    }

    /// Mean of the continuous distribution, in units.
    fn integral(&self) -> f64 {
        let mut mean = 0.0;
        for (i, &(s1, p1)) in self.points.iter().enumerate() {
            let (s0, p0) = if i == 0 { (s1, 0.0) } else { self.points[i - 1] };
            let of_segment = match self.between {
                Interpolation::LogLinear if s0 > 0.0 && s1 > s0 => (s1 - s0) / libm::log(s1 / s0),
                Interpolation::InverseLinear if i > 1 && s0 > 0.0 && s1 > s0 => {
                    libm::log(s1 / s0) / (1.0 / s0 - 1.0 / s1)
                }
                _ => f64::midpoint(s0, s1),
            };
            mean += (p1 - p0) * of_segment;
        }
        mean
    }

    /// Mean size, in bytes.
    pub fn mean(&self) -> f64 {
        let largest = self.points.last().map_or(0.0, |p| p.0);
        if self.between == Interpolation::Atoms {
            let mut below = 0.0;
            let share =
                |(size, p): &(f64, f64)| self.bytes(*size) as f64 * (p - std::mem::replace(&mut below, *p));
            return self.points.iter().map(share).sum();
        }
        if self.unit == 1 {
            return self.integral().max(1.0) * self.unit as f64;
        }
        if largest > MOST_TERMS {
            return (self.integral() + 0.5) * self.unit as f64;
        }
        // E⌈X⌉ = Σ P(X > k), and every size is at least one unit.
        let rest: f64 = (1..=largest as u64).map(|k| 1.0 - self.probability(k as f64)).sum();
        (1.0 + rest) * self.unit as f64
    }

    /// Mean number of packets of `payload` bytes that a flow takes.
    pub fn mean_packets(&self, payload: u64) -> f64 {
        let payload = payload.max(1);
        let terms = self.max() as f64 / payload as f64;
        if terms > MOST_TERMS {
            return self.mean() / payload as f64 + 0.5;
        }
        // E⌈S/m⌉ = Σ P(S > k·m); where sizes are whole units, S > y means X > ⌊y / unit⌋.
        let above = |k: u64| {
            let y = k * payload;
            1.0 - self.probability(if self.unit > 1 { (y / self.unit) as f64 } else { y as f64 })
        };
        1.0 + (1..=libm::ceil(terms) as u64).map(above).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_come_out_with_their_probabilities() {
        let cdf = Cdf::atoms(&[(2000, 0.5), (2_000_000, 0.5)]);
        assert_eq!(cdf.quantile(0.0), 2000);
        assert_eq!(cdf.quantile(0.499), 2000);
        assert_eq!(cdf.quantile(0.5), 2_000_000);
        assert_eq!(cdf.quantile(0.999), 2_000_000);
        assert!((cdf.mean() - 1_001_000.0).abs() < 1e-9);
        // ⌈2000/1460⌉ = 2 and ⌈2e6/1460⌉ = 1370 packets.
        assert!((cdf.mean_packets(1460) - 686.0).abs() < 1e-9);
    }

    #[test]
    fn atoms_between_whole_units_count_as_what_is_drawn() {
        let cdf = Cdf::new(vec![(0.5, 0.5), (1.5, 1.0)], Interpolation::Atoms, 1000);
        assert_eq!((cdf.quantile(0.2), cdf.quantile(0.8)), (1000, 2000));
        assert!((cdf.mean() - 1500.0).abs() < 1e-9);
    }

    #[test]
    fn means_agree_with_what_is_drawn() {
        for between in [
            Interpolation::Linear,
            Interpolation::LogLinear,
            Interpolation::InverseLinear,
            Interpolation::Atoms,
        ] {
            for unit in [1, 1460] {
                let cdf = Cdf::new(vec![(1.0, 0.1), (10.0, 0.5), (200.0, 0.9), (1000.0, 1.0)], between, unit);
                let n = 200_000;
                let drawn: Vec<u64> =
                    (0..n).map(|i| cdf.quantile((f64::from(i) + 0.5) / f64::from(n))).collect();
                let mean = drawn.iter().map(|s| *s as f64).sum::<f64>() / f64::from(n);
                let packets = drawn.iter().map(|s| s.div_ceil(1460) as f64).sum::<f64>() / f64::from(n);
                assert!((mean / cdf.mean() - 1.0).abs() < 1e-3, "{between:?} {unit}: {mean} {}", cdf.mean());
                let expected = cdf.mean_packets(1460);
                assert!((packets / expected - 1.0).abs() < 1e-3, "{between:?} {unit}: {packets} {expected}");
            }
        }
    }
}
