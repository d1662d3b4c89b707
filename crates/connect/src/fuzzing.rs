//! Functions for the fuzz target and the mutation test: every reader of data from peers and the kernel, none of which
//! may panic.

/// The header of a file. A header that is read is written identically, and its file name stays within the folder.
///
/// # Panics
/// If one of these does not hold.
#[cfg(feature = "quic")]
pub fn header(bytes: &[u8]) {
    use crate::quic::Header;
    if let Ok(Some((header, length))) = Header::parse(bytes) {
        assert_eq!(header.encode(), &bytes[..length]);
        assert_eq!(std::path::Path::new(header.name()).components().count(), 1);
    }
}

/// A receiver's answer.
///
/// # Panics
/// If an answer that is read, written and read again differs.
#[cfg(feature = "quic")]
pub fn reply(bytes: &[u8]) {
    use crate::quic::Reply;
    if let Ok(reply) = Reply::parse(bytes) {
        let _ = Reply::parse(&reply.encode()).unwrap();
    }
}

/// Records of the kernel, one after the other, for adapters with controllers of every kind.
///
/// # Panics
/// If a decision stops a flow.
#[cfg(feature = "kernel")]
pub fn records(bytes: &[u8]) {
    use crate::kernel::{Adapter, Record};
    use crate::{Make, Sender};
    use thalweg_machines::congestion::ControllerSpec;
    use thalweg_units::Span;

    let mut records = bytes.chunks(112).filter_map(Record::parse);
    let Some(opened) = records.next() else { return };
    let start = Sender::default().start(
        0,
        opened.mss.clamp(1, 1 << 16),
        52,
        Span::from_us(u64::from(opened.srtt_us)),
    );
    let records: Vec<Record> = records.collect();
    for spec in
        [ControllerSpec::cubic(), ControllerSpec::bbr(), ControllerSpec::copa(), ControllerSpec::vegas()]
    {
        let Ok(controller) = Make::make(&spec, &start) else { continue };
        let mut adapter = Adapter::open(controller, &spec.needs(), &opened);
        for record in &records {
            adapter.on_record(record);
            adapter.on_tick(record.time_ns);
            assert!(adapter.decision().cwnd > 0);
        }
    }
}
