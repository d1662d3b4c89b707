//! What peers and the kernel send: headers and answers of files, records of the ring buffer. What is read is written
//! again as it was; records in any order and with any content make no controller or adapter panic.
#![no_main]
use thalweg_connect::fuzzing;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    fuzzing::header(input);
    fuzzing::reply(input);
    fuzzing::records(input);
});
