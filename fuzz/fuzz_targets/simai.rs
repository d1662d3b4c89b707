#![no_main]
libfuzzer_sys::fuzz_target!(|text: &str| thalweg_scenario::fuzzing::simai(text));
