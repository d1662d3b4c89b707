//! What the fuzz target for saved runs and its short test call; the readers of text are `thalweg_scenario`'s.

use std::path::Path;

const PAIR: &str =
    "topology = { kind = \"pair\" }\n[[traffic]]\nkind = \"flow\"\nsrc = 0\ndst = 1\nsize = \"1MB\"\n";

/// Saved runs: foreign bytes are refused, and so is a good run after any damage that the bytes describe, three for the
/// place and one for what is done there.
///
/// # Panics
/// If damage is not noticed, or an error has more than one line.
pub fn snapshot(script: &[u8]) {
    use std::sync::OnceLock;
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    let good = GOOD.get_or_init(|| {
        let s = thalweg_scenario::load(PAIR, "good.toml", Path::new("/nonexistent"), &[])
            .expect("a good scenario");
        let mut run = crate::Run::new(&s).expect("a network");
        run.step(500);
        run.save()
    });
    let mut bad = good.clone();
    for step in script.chunks_exact(4) {
        let at = u32::from_be_bytes([0, step[0], step[1], step[2]]) as usize % (bad.len() + 1);
        match step[3] {
            0 => bad.truncate(at),
            1 => bad.insert(at, step[0]),
            with => bad[at..].iter_mut().take(1).for_each(|byte| *byte ^= with - 1),
        }
    }
    for bytes in [&bad[..], script] {
        match crate::Run::load(bytes) {
            Ok(_) => assert!(bytes == good, "damage was not noticed"),
            Err(e) => assert!(!e.is_empty() && !e.contains('\n'), "{e:?}"),
        }
    }
}
