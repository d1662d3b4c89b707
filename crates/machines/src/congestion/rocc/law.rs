//! RoCC's fair rate: a PI controller with quantised gains and two short cuts downwards (Algorithm 1).
//!
//! Menikkumbura, "Software-Defined Buffer Management and Robust Congestion Control for Modern Datacenter
//! Networks", Purdue University 2022, §3.3.2; Taheri, Menikkumbura, Vanini, Fahmy, Eugster, Edsall, "RoCC:
//! Robust Congestion Control for RDMA", CoNEXT 2020. The dissertation's symbols; all queues are whole steps
//! ΔQ, all rates steps ΔF.
//!
//! ```text
//! CHOICE RoCC §3.5 ("fixed point precision"): F has 16 binary places, and so have the gains. With whole
//! steps the controller would rest anywhere within ±1/(2α) ΔQ of its set point, 53 ΔQ in the sixth region.
//! ```

use thalweg_wire::RoccLaw;

/// Regions of F, each half of the one above: gains are divided by 1, 2, .. 32.
const REGIONS: u32 = 6;

/// Which line of Algorithm 1 has set F.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Line 2: the queue has reached Q_max; F is F_min.
    Collapse,
    /// Line 3: it has grown by Q_mid in one tick; F is halved.
    Halve,
    /// Line 4, with gains divided by the ratio.
    Steer {
        /// 1, 2, 4, 8, 16 or 32.
        ratio: u32,
    },
}

/// auto_tune(): log2 of what divides the gains, from F as it is before the update. F_max/2 itself is
/// still in the first region.
pub fn region(law: &RoccLaw, fair: i64) -> u32 {
    let mut level = 1;
    while level < REGIONS && fair < law.max >> level {
        level += 1;
    }
    level - 1
}

/// One tick: F and how it came about, from F before, Q_cur and Q_old.
pub fn update(law: &RoccLaw, fair: i64, queue: i64, old: i64) -> (i64, Step) {
    let high = law.decreases && fair > law.guard;
    let (next, step) = if high && queue >= law.limit {
        (law.min, Step::Collapse)
    } else if high && queue - old >= law.growth {
        (fair / 2, Step::Halve)
    } else {
        let region = region(law, fair);
        let change = law.alpha * (queue - law.reference) + law.beta * (queue - old);
        (fair - (change >> region), Step::Steer { ratio: 1 << region })
    };
    (next.clamp(law.min, law.max), step)
}

/// round(F) · ΔF, bit/s: what a message carries.
pub fn rate(law: &RoccLaw, fair: i64) -> u64 {
    ((fair + (1 << (RoccLaw::PLACES - 1))) >> RoccLaw::PLACES) as u64 * law.rate_step
}

/// Converts a number of steps or a gain to fixed point.
pub fn fixed(value: f64) -> i64 {
    libm::round(value * f64::from(1u32 << RoccLaw::PLACES)) as i64
}

/// The published one: ΔF 10 Mb/s, ΔQ 600 B.
#[cfg(test)]
pub(crate) fn at_40_gbps() -> RoccLaw {
    RoccLaw {
        min: fixed(10.0),
        max: fixed(4000.0),
        reference: 250,
        growth: 500,
        limit: 600,
        alpha: fixed(0.3),
        beta: fixed(1.5),
        guard: fixed(500.0),
        decreases: true,
        rate_step: 10_000_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(fair: i64) -> f64 {
        fair as f64 / f64::from(1u32 << RoccLaw::PLACES)
    }
    fn steered(fair: f64, queue: i64, old: i64) -> (f64, u32) {
        match update(&at_40_gbps(), fixed(fair), queue, old) {
            (fair, Step::Steer { ratio }) => (whole(fair), ratio),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn six_regions_divide_the_gains_and_their_lower_edges_belong_to_them() {
        let cases = [(4000.0, 1), (2000.0, 1), (1999.9, 2), (1000.0, 2), (999.0, 4), (500.0, 4)];
        let low = [(499.0, 8), (250.0, 8), (249.0, 16), (125.0, 16), (124.0, 32), (10.0, 32)];
        for (fair, ratio) in cases.into_iter().chain(low) {
            assert_eq!(1 << region(&at_40_gbps(), fixed(fair)), ratio, "F = {fair}");
        }
    }

    #[test]
    fn a_queue_50_steps_too_long_that_has_grown_by_20_takes_45_steps_off_f_in_the_first_region() {
        // 0.3 · 50 + 1.5 · 20 = 45; in the third, at F = 600 < 1000, a quarter of it.
        let (fair, ratio) = steered(2500.0, 300, 280);
        assert!((fair - 2455.0).abs() < 0.01 && ratio == 1, "{fair} {ratio}");
        let (fair, ratio) = steered(600.0, 300, 280);
        assert!((fair - 588.75).abs() < 0.01 && ratio == 4, "{fair} {ratio}");
        // Empty and still: +0.3 · 250 = 75.
        let (fair, _) = steered(2500.0, 0, 0);
        assert!((fair - 2575.0).abs() < 0.01, "{fair}");
    }

    #[test]
    fn at_the_set_point_nothing_moves_and_the_ends_hold() {
        for fair in [10.0, 77.7, 1234.5, 4000.0] {
            assert_eq!(update(&at_40_gbps(), fixed(fair), 250, 250).0, fixed(fair), "no drift");
        }
        assert_eq!(whole(update(&at_40_gbps(), fixed(3990.0), 0, 0).0), 4000.0);
        assert_eq!(
            whole(update(&at_40_gbps(), fixed(20.0), 599, 0).0),
            10.0,
            "below the guard nothing is halved"
        );
    }

    #[test]
    fn a_long_queue_collapses_f_to_its_least_and_a_fast_one_halves_it_but_only_above_an_eighth() {
        let law = at_40_gbps();
        assert_eq!(update(&law, fixed(4000.0), 600, 590), (fixed(10.0), Step::Collapse));
        assert_eq!(update(&law, fixed(4000.0), 599, 99), (fixed(2000.0), Step::Halve));
        assert!(matches!(update(&law, fixed(500.0), 700, 0).1, Step::Steer { ratio: 4 }));
        let calm = RoccLaw { decreases: false, ..law };
        assert!(matches!(update(&calm, fixed(4000.0), 700, 0).1, Step::Steer { ratio: 1 }));
    }

    #[test]
    fn a_message_carries_f_rounded_to_whole_steps() {
        assert_eq!(rate(&at_40_gbps(), fixed(399.5)), 4_000_000_000);
        assert_eq!(rate(&at_40_gbps(), fixed(399.49)), 3_990_000_000);
    }

    proptest! {
        /// S1: always between F_min and F_max.
        #[test]
        fn f_stays_between_its_ends(fair in 10.0..4000.0, queue in 0i64..20_000, old in 0i64..20_000) {
            let (fair, _) = update(&at_40_gbps(), fixed(fair), queue, old);
            prop_assert!(fair >= at_40_gbps().min && fair <= at_40_gbps().max);
        }

        /// ROCC-P2: steps of the queue k times as fine with gains k times as small do the same.
        #[test]
        fn finer_steps_with_smaller_gains_change_nothing(fair in 10.0..4000.0, queue in 0i64..700, old in 0i64..700) {
            let RoccLaw { reference, growth, limit, .. } = at_40_gbps();
            let (alpha, beta) = (fixed(0.3 / 4.0), fixed(1.5 / 4.0));
            let fine = RoccLaw { reference: 4 * reference, growth: 4 * growth, limit: 4 * limit, alpha, beta, ..at_40_gbps() };
            let (a, step) = update(&at_40_gbps(), fixed(fair), queue, old);
            let (b, same) = update(&fine, fixed(fair), 4 * queue, 4 * old);
            prop_assert_eq!(step, same);
            prop_assert!((whole(a) - whole(b)).abs() < 0.1, "{} {}", whole(a), whole(b));
        }
    }
}
