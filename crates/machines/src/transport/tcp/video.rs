//! Adaptive video streaming (DASH) as the server sees it: the viewer requests one chunk after the other, each at the
//! highest rate of a ladder that the throughput of the last chunks allows, and pauses while its playback buffer is
//! full. The choice by the harmonic mean of the last five throughputs is that of Jiang, Sekar, Zhang, "FESTIVE", CoNEXT
//! 2012, §3.3.
//!
//! Chunks come over one connection. A request is half a round trip on its way, as an ACK is: the viewer has a chunk
//! half a round trip before its last byte is acknowledged, and what it requests then reaches the server with that ACK,
//! which is not delayed.
//!
//! CHOICE: players differ in their rules; these are the plainest of those published. Other reading: by the buffer.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, Rate, Span, Time};

/// The most rates of a ladder.
pub const RUNGS: usize = 8;
/// Chunks whose throughput counts.
const MEMORY: usize = 5;

/// A video and its viewer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VideoSpec {
    /// Encoding rates, ascending, as payload rates; unused entries are zero.
    pub ladder: [Rate; RUNGS],
    /// Playing time of a chunk.
    pub chunk: Span,
    /// Size of the playback buffer in playing time. The viewer requests a chunk when there is room for it.
    pub buffer: Span,
    /// Largest encoding rate as a fraction of the estimated throughput.
    pub safety: f64,
}

/// The viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Viewer {
    /// The chunk on its way: bytes, and when it was requested.
    bytes: u64,
    requested: Time,
    /// Bytes of the last chunks and how long they took, the newest first; zero: none yet.
    seen: [(u64, Span); MEMORY],
    /// What was stored when the last chunk had come, and when that was.
    stored: Span,
    came: Time,
}

impl Viewer {
    /// The viewer requests a chunk at `now`. Returns its size in bytes.
    pub(super) fn request(&mut self, spec: &VideoSpec, now: Time) -> Bytes {
        let allowed = spec.safety * self.throughput();
        let mut rate = spec.ladder[0];
        for rung in spec.ladder.into_iter().filter(|rung| rung.bps() as f64 <= allowed) {
            rate = rate.max(rung);
        }
        let bytes = rate.over(spec.chunk);
        (self.bytes, self.requested) = (bytes.get().max(1), now);
        Bytes::new(self.bytes)
    }

    /// The chunk has arrived. Returns when the viewer requests the next one.
    pub(super) fn on_chunk(&mut self, spec: &VideoSpec, now: Time) -> Time {
        self.seen.rotate_right(1);
        self.seen[0] = (self.bytes, now.since(self.requested).max(Span::from_ps(1)));
        let played = now.since(self.came).min(self.stored);
        (self.stored, self.came) = (self.stored - played + spec.chunk, now);
        // Room for a chunk.
        let most = spec.buffer - spec.chunk.min(spec.buffer);
        now.saturating_add(self.stored - most.min(self.stored))
    }

    /// Harmonic mean throughput of the last chunks, b/s; zero before the first.
    fn throughput(&self) -> f64 {
        let known = self.seen.iter().filter(|(bytes, _)| *bytes > 0);
        let (count, inverse) = known
            .fold((0.0, 0.0), |(n, sum), (bytes, took)| (n + 1.0, sum + took.secs() / (8.0 * *bytes as f64)));
        if count > 0.0 { count / inverse } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, 4, 8 Mb/s; chunks of 4 s; 12 s of buffer; 0.8.
    fn spec() -> VideoSpec {
        let mut ladder = [Rate::ZERO; RUNGS];
        for (rung, mbps) in ladder.iter_mut().zip([1, 2, 4, 8]) {
            *rung = Rate::from_mbps(mbps);
        }
        VideoSpec { ladder, chunk: Span::from_secs(4), buffer: Span::from_secs(12), safety: 0.8 }
    }

    #[test]
    fn the_first_chunk_is_of_the_lowest_rate_and_the_next_of_what_the_throughput_allows() {
        let (spec, mut v) = (spec(), Viewer::default());
        // 4 s of 1 Mb/s, in 100 ms: 40 Mb/s.
        assert_eq!(v.request(&spec, Time::from_ms(0)), Bytes::kb(500));
        assert_eq!(v.on_chunk(&spec, Time::from_ms(100)), Time::from_ms(100), "4 of 12 s are stored");
        // 4 MB in 8 s: 4 Mb/s. The harmonic mean is 2 / (1/40 + 1/4) = 7.27, 0.8 of it 5.8.
        assert_eq!(v.request(&spec, Time::from_ms(100)), Bytes::kb(4000));
        v.on_chunk(&spec, Time::from_ms(8100));
        assert_eq!(v.request(&spec, Time::from_ms(8100)), Bytes::kb(2000));
    }

    #[test]
    fn five_chunks_count_and_no_more() {
        let (spec, mut v, mut now) = (spec(), Viewer::default(), Time::ZERO);
        let mut take = |v: &mut Viewer, ms: u64| {
            let bytes = v.request(&spec, now);
            now = now.saturating_add(Span::from_ms(ms));
            v.on_chunk(&spec, now);
            bytes.get() / 500_000
        };
        // The first takes 4 s: 1 Mb/s. With two of 40 Mb/s it makes 3 / 1.05, 0.8 of which are 2.3; with two of 80 Mb/s
        // more 5 / 1.075, 0.8 of which are 3.7.
        assert_eq!([4000, 100, 100, 100, 100, 100].map(|ms| take(&mut v, ms)), [1, 1, 1, 2, 2, 2]);
        assert_eq!(take(&mut v, 100), 8, "the slow one is forgotten");
    }

    /// 12 s of buffer hold three chunks: it requests when 8 s are stored.
    #[test]
    fn it_pauses_while_its_buffer_has_no_room() {
        let (spec, mut v) = (spec(), Viewer::default());
        let ends = [1, 2, 3].map(|s| {
            v.request(&spec, Time::from_ms(1000 * s - 500));
            v.on_chunk(&spec, Time::from_ms(1000 * s)).ps() / 1_000_000_000
        });
        // 4 stored; 7 after a second of playing; 10: two seconds until 8.
        assert_eq!(ends, [1000, 2000, 5000]);
        // It ran dry: 10 s were stored 20 s ago.
        v.request(&spec, Time::from_ms(5000));
        assert_eq!(v.on_chunk(&spec, Time::from_ms(23_000)), Time::from_ms(23_000));
        assert_eq!(v.stored, Span::from_secs(4));
    }
}
