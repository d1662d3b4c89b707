//! Frames off a device: any bytes have a view, nothing is read beyond their end, and ECN bits can be written.
#![no_main]
use thalweg_emulate::header::{Ip, View, view, write_ecn};
use thalweg_wire::Ecn;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut frame = input.to_vec();
    if let View::Ip(ip) = view(&frame) {
        assert!(ip.at + ip.wire as usize <= frame.len() && ip.payload <= ip.wire);
        write_ecn(&mut frame, &ip, Ecn::Ce);
        assert_eq!(view(&frame), View::Ip(Ip { ecn: Ecn::Ce, ..ip }));
    }
});
