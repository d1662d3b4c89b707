//! How a flow's bytes are cut into packets, and packets into segments.

use super::super::{RdmaAcks, RdmaSpec};

/// Packets of a flow are counted from 0; all are full except the last of each posted segment and of the flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    size: u64,
    payload: u64,
    /// Bytes of a segment; without segments, of a packet.
    segment: u64,
    /// Packets of a segment.
    per_segment: u64,
    /// Packets per acknowledgement and per round trip measured.
    group: u64,
    /// Header bytes of a packet.
    overhead: u64,
}

impl Layout {
    /// Of a flow of `size` bytes.
    #[inline]
    pub(super) fn new(spec: &RdmaSpec, size: u64) -> Self {
        let payload = u64::from(spec.payload);
        let overhead = u64::from(spec.header) + u64::from(spec.extra_header);
        let (segment, per_segment, group) = match &spec.segments {
            None => (payload, 1, u64::from(spec.rtt.segment)),
            Some(posted) => {
                let bytes = u64::from(posted.bytes);
                let packets = bytes.div_ceil(payload);
                (bytes, packets, packets)
            }
        };
        Self { size, payload, segment, per_segment, group, overhead }
    }

    /// Packets of the flow.
    pub(super) fn packets(&self) -> u64 {
        let rest = (self.size % self.segment).div_ceil(self.payload);
        self.size / self.segment * self.per_segment + rest
    }

    /// Offset in the flow of the first byte of packet `index`; its size for any that does not exist.
    #[inline]
    pub(super) fn offset(&self, index: u64) -> u64 {
        let at = match self.per_segment {
            1 => index.saturating_mul(self.segment),
            n => (index / n).saturating_mul(self.segment).saturating_add(index % n * self.payload),
        };
        at.min(self.size)
    }

    /// The packet that holds the byte at `offset`; one more than the last for the flow's size and beyond.
    #[inline]
    pub(super) fn index(&self, offset: u64) -> u64 {
        if offset >= self.size {
            return self.packets();
        }
        match self.per_segment {
            1 => offset / self.segment,
            n => offset / self.segment * n + offset % self.segment / self.payload,
        }
    }

    /// Payload bytes of packet `index`.
    #[inline]
    pub(super) fn len(&self, index: u64) -> u32 {
        (self.offset(index + 1) - self.offset(index)) as u32
    }

    /// Bytes on the wire of the packets from `start` to before `end`, fewer than 4 GB.
    #[inline]
    pub(super) fn wire(&self, start: u64, end: u64) -> u32 {
        (self.offset(end) - self.offset(start) + (end - start) * self.overhead) as u32
    }

    /// One more than the last packet of the segment that holds packet `index`.
    #[inline]
    pub(super) fn segment_end(&self, index: u64) -> u64 {
        ((index / self.per_segment + 1) * self.per_segment).min(self.packets())
    }

    /// Packet `index` is the last of its group: a segment's, or of as many as a round trip is measured on, or
    /// the flow's.
    #[inline]
    pub(super) fn ends_group(&self, index: u64) -> bool {
        self.group == 1 || (index + 1).is_multiple_of(self.group) || index + 1 == self.packets()
    }

    /// Whether a group ends within the packets from `start` to before `end`.
    #[inline]
    pub(super) fn group_ends_in(&self, start: u64, end: u64) -> bool {
        end > start && (start / self.group != end / self.group || end == self.packets())
    }

    /// Packets that one acknowledgement may cover.
    #[inline]
    pub(super) fn per_ack(&self, acks: RdmaAcks) -> u64 {
        if acks == RdmaAcks::PerSegment { self.group } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;
    use crate::transport::SegmentSpec;

    #[test]
    fn full_packets_and_the_rest() {
        let l = Layout::new(&spec(), 2500); // payload 1000, header 250
        assert_eq!((l.packets(), l.len(0), l.len(2), l.offset(3)), (3, 1000, 500, 2500));
        assert_eq!([l.index(0), l.index(999), l.index(1000), l.index(2500), l.index(9999)], [0, 0, 1, 3, 3]);
        assert_eq!(l.wire(1, 3), 1500 + 2 * 250);
        let endless = Layout::new(&spec(), u64::MAX);
        assert_eq!(endless.len(1 << 40), 1000);
        assert_eq!(endless.offset(u64::MAX), u64::MAX);
    }

    #[test]
    fn segments_end_with_a_shorter_packet_unless_the_mtu_divides_them() {
        let posted = SegmentSpec { bytes: 2300, outstanding: 2, nic_pace: None };
        // 1000 1000 300 | 1000 1000 300 | 400
        let l = Layout::new(&RdmaSpec { segments: Some(posted), ..spec() }, 5000);
        assert_eq!(l.packets(), 7);
        let lens: Vec<u32> = (0..7).map(|i| l.len(i)).collect();
        assert_eq!(lens, [1000, 1000, 300, 1000, 1000, 300, 400]);
        for i in 0..7 {
            assert_eq!(l.index(l.offset(i)), i);
            assert_eq!(l.ends_group(i), [2, 5, 6].contains(&i));
        }
        assert_eq!([l.segment_end(0), l.segment_end(2), l.segment_end(3), l.segment_end(6)], [3, 3, 6, 7]);
        assert!(
            l.group_ends_in(2, 3) && l.group_ends_in(1, 4) && !l.group_ends_in(0, 2) && l.group_ends_in(6, 7)
        );
    }
}
