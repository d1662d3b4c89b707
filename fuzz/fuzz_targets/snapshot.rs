#![no_main]
libfuzzer_sys::fuzz_target!(|script: &[u8]| thalweg_lab::fuzzing::snapshot(script));
