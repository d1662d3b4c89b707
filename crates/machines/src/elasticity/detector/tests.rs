use super::super::{cross_traffic, pulse};
use super::*;
use std::f64::consts::PI;
use thalweg_units::Stream;

/// 96 Mb/s, in B/s.
const MU: f64 = 12e6;

/// The window of `spec` full of these samples by their instant (s): (ẑ, R).
fn full(spec: DetectorSpec, of: impl Fn(f64) -> (f64, f64)) -> Detector {
    let mut d = Detector::new(spec);
    for i in 0..usize::from(spec.window) + if spec.align { LATE } else { 0 } {
        let (cross, received) = of(i as f64 * spec.spacing);
        d.push(cross, received, 0.05);
    }
    d
}

fn bare() -> DetectorSpec {
    DetectorSpec { guards: Guards::NONE, ..DetectorSpec::PAPER }
}

#[test]
fn a_line_at_the_pulse_is_elastic_and_one_elsewhere_is_not() {
    let tone = |f: f64| {
        move |t: f64| {
            (MU / 2.0 + 1e5 * libm::sin(2.0 * PI * f * t) + 1e4 * libm::sin(2.0 * PI * 7.0 * t), MU / 2.0)
        }
    };
    let eta = |f: f64| full(bare(), tone(f)).evaluate(5.0, MU).unwrap();
    assert!((eta(5.0).eta - 10.0).abs() < 1e-6, "{}", eta(5.0).eta);
    assert_eq!((eta(5.0).verdict, eta(8.0).verdict), (Verdict::Elastic, Verdict::Inelastic));
    assert_eq!(Detector::new(bare()).evaluate(5.0, MU), None, "an empty window says nothing");
}

/// What is at 10, 15, 20 Hz leaves η as it is.
#[test]
fn harmonics_of_the_pulse_do_not_change_eta() {
    let with = |more: f64| {
        full(bare(), move |t| {
            let line = |f: f64, a: f64| a * libm::sin(2.0 * PI * f * t + f);
            let own = line(5.0, 1e5) + line(7.4, 2e4);
            (MU / 2.0 + own + more * (line(10.0, 5e5) + line(15.0, 4e5) + line(20.0, 3e5)), MU / 2.0)
        })
        .evaluate(5.0, MU)
        .unwrap()
        .eta
    };
    assert!((with(1.0) - with(0.0)).abs() < 1e-6 && (with(0.0) - 5.0).abs() < 1e-6, "{}", with(1.0));
}

/// Of white noise P(η ≥ c) = Π i/(i + c²) over the twenty neighbours.
#[test]
fn white_noise_passes_as_often_as_it_must() {
    let (windows, mut stream) = (20_000, Stream::new(1, "noise", 0));
    let mut normal = || (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
    let mut d = Detector::new(bare());
    let mut above = [0u32; 3];
    for _ in 0..windows {
        (0..500).for_each(|_| d.push(normal(), 1.0, 0.05));
        let eta = d.evaluate(5.0, 1.0).unwrap().eta;
        for (count, c) in above.iter_mut().zip([0.45, 1.0, 1.5]) {
            *count += u32::from(eta >= c);
        }
    }
    for (count, c) in above.into_iter().zip([0.45f64, 1.0, 1.5]) {
        let p: f64 = (1..=20).map(|i| f64::from(i) / (f64::from(i) + c * c)).product();
        let (mean, deviation) = (p * f64::from(windows), (f64::from(windows) * p * (1.0 - p)).sqrt());
        assert!(
            (f64::from(count) - mean).abs() < 4.0 * deviation,
            "{c}: {count} of {windows}, expected {mean}"
        );
    }
}

/// D2: cross traffic that is clocked by ACKs has the line that the sender's own arrivals have; it is elastic by both
/// profiles. Constant traffic shows nothing but the residue of divisions: G2 detects it.
#[test]
fn acks_make_it_elastic_and_constant_traffic_is_inelastic_by_both_profiles() {
    for (spec, frequency) in [(DetectorSpec::PAPER, 5.0), (DetectorSpec::ARTIFACT, 6.0)] {
        let run = |elastic: bool| {
            let rates = move |t: f64| {
                let own = MU / 2.0 + MU / 4.0 * pulse(frequency * t);
                // A round trip later the others have what was left: 1 / (1 − …) with a full answer.
                let others = MU / 2.0 - if elastic { MU / 4.0 * pulse(frequency * (t - 0.06)) } else { 0.0 };
                let received = MU * own / (own + others);
                (cross_traffic(MU, own, received), received)
            };
            let mut d = full(spec, rates);
            // The smoothed one takes its time.
            (0..300).map(|_| d.evaluate(frequency, MU).unwrap()).last().unwrap()
        };
        assert_eq!(run(true).verdict, Verdict::Elastic, "{:?}", run(true));
        assert_eq!(run(false).verdict, Verdict::Inelastic, "{:?}", run(false));
    }
}

#[test]
fn guards() {
    let line = |z: f64, amplitude: f64, own: f64| {
        move |t: f64| {
            let sine = libm::sin(2.0 * PI * 5.0 * t);
            (z * MU + amplitude * sine, MU / 2.0 + own * sine)
        }
    };
    let verdict = |of: &dyn Fn(f64) -> (f64, f64)| full(DetectorSpec::PAPER, of).evaluate(5.0, MU).unwrap();
    // G1: a tenth of the link.
    assert_eq!(verdict(&line(0.09, 1e5, 1e5)).verdict, Verdict::Inelastic);
    assert_eq!(verdict(&line(0.11, 1e5, 1e5)).verdict, Verdict::Elastic);
    // G2: a fifth of the sender's own line makes three times four fifths, a tenth three times two fifths.
    assert!((verdict(&line(0.5, 2e4, 1e5)).eta - 2.4).abs() < 1e-6);
    assert!((verdict(&line(0.5, 1e4, 1e5)).eta - 1.2).abs() < 1e-6);
    // G4: less than a twelfth of the link for a second.
    let starved = full(DetectorSpec::PAPER, |_| (0.95 * MU, MU / 13.0)).evaluate(5.0, MU).unwrap();
    assert_eq!(starved.verdict, Verdict::Elastic);
    let enough = full(DetectorSpec::PAPER, |_| (0.85 * MU, MU / 11.0)).evaluate(5.0, MU).unwrap();
    assert_eq!(enough.verdict, Verdict::Inelastic);
}

#[test]
fn between_the_thresholds_it_is_what_it_was() {
    let spec = DetectorSpec { elastic_from: 2.25, ..bare() };
    let with = |neighbour: f64| {
        move |t: f64| {
            let line = |f: f64, a: f64| a * libm::sin(2.0 * PI * f * t);
            (MU / 2.0 + line(5.0, 21.0) + line(7.0, neighbour), MU / 2.0)
        }
    };
    // η of 2.1 after 1 is inelastic only if it was before; a new window is elastic.
    let mut d = full(spec, with(10.0));
    assert_eq!(d.evaluate(5.0, MU).unwrap().verdict, Verdict::Elastic);
    (0..500).for_each(|i| d.push(with(21.0)(f64::from(i) * 0.01).0, MU / 2.0, 0.05));
    assert_eq!(d.evaluate(5.0, MU).unwrap().verdict, Verdict::Inelastic);
    (0..500).for_each(|i| d.push(with(10.0)(f64::from(i) * 0.01).0, MU / 2.0, 0.05));
    let between = d.evaluate(5.0, MU).unwrap();
    assert!((between.eta - 2.1).abs() < 1e-6 && between.verdict == Verdict::Inelastic);
}

/// The published implementation takes ẑ two round trips later, as long as they were then.
#[test]
fn alignment_moves_samples_by_two_round_trips() {
    let mut d = Detector::new(DetectorSpec::ARTIFACT);
    for i in 0..=LATE + 20 {
        d.push(i as f64, 1.0, if i < 10 { 0.05 } else { 0.1 });
    }
    // Sample 20 was moved by 20, sample 9 by 10.
    let aligned: Vec<f64> = d.cross.recent(12).collect();
    assert_eq!((aligned[0], aligned[10], aligned[11]), (40.0, 30.0, 19.0));
}
