#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| thalweg_scenario::fuzzing::chakra(bytes));
