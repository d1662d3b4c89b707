//! A damaged snapshot never resumes: it is refused in one line, before anything is decoded.

use std::path::Path;
use thalweg_lab::{Run, fuzzing};
use thalweg_scenario::load;
use thalweg_units::Stream;

fn saved(seed: u64) -> Vec<u8> {
    let text = format!(
        "seed = {seed}\n[topology]\nkind = \"star\"\nhosts = 4\n[[traffic]]\nkind = \"poisson\"\nsizes = {{ fixed = \"15KB\" }}\n\
         load = 0.6\nuntil = \"2ms\"\n[run]\nuntil = \"20ms\"\n"
    );
    let mut run = Run::new(&load(&text, "s.toml", Path::new("."), &[]).expect("right")).expect("a network");
    run.step(3000);
    run.save()
}

/// One accident: bits, bytes or blocks change, the end is missing, or something follows.
fn damage(good: &[u8], other: &[u8], s: &mut Stream) -> Vec<u8> {
    let mut bad = good.to_vec();
    let len = good.len();
    let mut at = |below: usize| s.below(below as u64) as usize;
    match at(8) {
        0 => bad[at(len)] ^= 1 << at(8),
        1 => (0..=at(16)).for_each(|_| bad[at(len)] ^= 1 << at(8)),
        2 => bad.truncate(at(len)),
        3 => bad.extend((0..=at(1000)).map(|_| at(256) as u8)),
        4 => {
            // Two blocks of a file system change places.
            let size = 16 << at(6);
            let (a, b) = (at(len / size), at(len / size));
            let first = good[a * size..][..size].to_vec();
            bad.copy_within(b * size..(b + 1) * size, a * size);
            bad[b * size..][..size].copy_from_slice(&first);
        }
        5 => {
            // A block was never written, or is one of an older file.
            let source = if at(2) == 0 { vec![0; len] } else { other.to_vec() };
            let from = at(len.min(source.len()) - 512);
            bad[from..from + 512].copy_from_slice(&source[from..from + 512]);
        }
        6 => drop(bad.drain(at(len)..).next()),
        _ => {
            let end = at(len);
            drop(bad.splice(at(end + 1)..end, other.iter().copied().take(64)));
        }
    }
    bad
}

#[test]
fn none_of_1000_damaged_snapshots_resumes() {
    let (good, other) = (saved(1), saved(2));
    assert!(Run::load(&good).is_ok(), "the good one does");
    let mut s = Stream::new(2026, "damage", 0);
    let mut tried = 0;
    while tried < 1000 {
        let bad = damage(&good, &other, &mut s);
        if bad == good {
            continue;
        }
        tried += 1;
        let Err(error) = Run::load(&bad) else { panic!("damage {tried} was not noticed") };
        let clear = error.contains("damaged") || error.contains("not a saved run");
        assert!(clear && !error.contains('\n'), "damage {tried}: {error:?}");
    }
}

#[test]
fn no_script_of_damages_panics() {
    let mut s = Stream::new(2026, "snapshot", 1);
    for _ in 0..500 {
        let script: Vec<u8> = (0..s.below(40)).map(|_| s.below(256) as u8).collect();
        fuzzing::snapshot(&script);
    }
}
