//! The observations and permits of a controller as qlog (draft-ietf-quic-qlog-main-schema,
//! draft-ietf-quic-qlog-quic-events), in JSON text sequences (RFC 7464) of one connection, which qvis draws: for
//! simulated flows, for the kernel's TCP, and for QUIC.
//!
//! QUIC numbers packets, but a controller only counts bytes. Here a packet's number is that of its transmission, as in
//! QUIC. `acked_ranges` are the oldest packets that the acknowledged bytes cover, which is exact if no packet is lost.

use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, Write};
use thalweg_machines::congestion::decisions::{Decision, Log};
use thalweg_machines::congestion::{AckSample, Observation, Permit};
use thalweg_units::{Span, Time};

/// Milliseconds, the unit of qlog.
fn ms(at: Time) -> f64 {
    at.ps() as f64 * 1e-9
}
fn span_ms(span: Span) -> f64 {
    span.ps() as f64 * 1e-9
}

/// `recovery:metrics_updated`: the values that have changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pacing_rate: Option<u64>,
}

/// Packets in flight, as far as they can be inferred from a controller's observations.
#[derive(Default)]
struct Flight {
    next: u64,
    /// Number and bytes, oldest first.
    sent: VecDeque<(u64, u64)>,
    acked: u64,
}

impl Flight {
    fn send(&mut self, bytes: u64) -> u64 {
        self.sent.push_back((self.next, bytes));
        self.next += 1;
        self.next - 1
    }

    /// The range of the oldest packets that this many acknowledged bytes cover.
    fn acknowledge(&mut self, bytes: u64) -> Option<[u64; 2]> {
        self.acked += bytes;
        let mut range = None::<[u64; 2]>;
        while let Some(&(number, bytes)) = self.sent.front().filter(|(_, bytes)| *bytes <= self.acked) {
            self.acked -= bytes;
            self.sent.pop_front();
            range = Some([range.map_or(number, |[first, _]| first), number]);
        }
        range
    }

    fn oldest(&self) -> u64 {
        self.sent.front().map_or(self.next, |(number, _)| *number)
    }
}

struct Trace<W> {
    out: W,
    before: Metrics,
    min_rtt: Option<Span>,
    flight: Flight,
    /// Total number of packets that arrived with CE (RFC 9000 §19.3.2).
    ce: u64,
}

impl<W: Write> Trace<W> {
    fn record(&mut self, value: &Value) -> io::Result<()> {
        self.out.write_all(b"\x1e")?;
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    fn event(&mut self, at: Time, name: &str, data: Value) -> io::Result<()> {
        self.record(&json!({ "time": ms(at), "name": name, "data": data }))
    }

    fn decision(&mut self, decision: &Decision) -> io::Result<()> {
        let (at, mut rtt, mut in_flight) = (decision.observation.at(), None, None);
        match &decision.observation {
            Observation::Sent { bytes, in_flight: now, .. } => {
                in_flight = Some(now.get());
                let number = self.flight.send(bytes.get());
                let data = json!({ "header": header(number), "raw": { "length": bytes.get() } });
                self.event(at, "transport:packet_sent", data)?;
            }
            Observation::Ack { sample, .. } => {
                (rtt, in_flight) = (sample.rtt, Some(sample.in_flight.get()));
                self.ack(sample)?;
            }
            // `in_flight` of a loss is all outstanding data (RFC 5681's FlightSize), including SACKed data.
            // `bytes_in_flight` is the pipe, which sends and acknowledgements give, and stays as it was.
            Observation::Loss(_) => {
                let data =
                    json!({ "header": header(self.flight.oldest()), "trigger": "reordering_threshold" });
                self.event(at, "recovery:packet_lost", data)?;
            }
            Observation::Timeout(_) => {
                let data = json!({ "timer_type": "pto", "event_type": "expired" });
                self.event(at, "recovery:loss_timer_updated", data)?;
            }
            _ => {}
        }
        self.metrics(at, rtt, in_flight, decision.permit)
    }

    fn ack(&mut self, sample: &AckSample<'_>) -> io::Result<()> {
        let acked = (sample.acked + sample.sacked).get();
        let range = self.flight.acknowledge(acked);
        if sample.marked.get() > 0 {
            // The number of marked bytes is known; the number of marked packets is in proportion, and at least one.
            let packets = range.map_or(1, |[first, last]| last - first + 1);
            self.ce += (packets * sample.marked.get()).div_ceil(acked.max(1)).max(1);
        }
        let Some(range) = range else { return Ok(()) };
        let mut frame = json!({ "frame_type": "ack", "acked_ranges": [range] });
        if self.ce > 0 {
            frame["ce"] = json!(self.ce);
        }
        let data = json!({ "header": { "packet_type": "1RTT" }, "frames": [frame] });
        self.event(sample.now, "transport:packet_received", data)
    }

    fn metrics(
        &mut self,
        at: Time,
        rtt: Option<Span>,
        flight: Option<u64>,
        permit: Permit,
    ) -> io::Result<()> {
        self.min_rtt = [self.min_rtt, rtt].into_iter().flatten().min();
        // An unlimited window has no value that could be drawn.
        let window = Some(permit.window.get()).filter(|window| *window < 1 << 53);
        let now = Metrics {
            congestion_window: window,
            bytes_in_flight: flight.or(self.before.bytes_in_flight),
            latest_rtt: rtt.map(span_ms).or(self.before.latest_rtt),
            min_rtt: self.min_rtt.map(span_ms),
            pacing_rate: permit.pace.map(|rate| rate.bps()),
        };
        if now == self.before {
            return Ok(());
        }
        self.before = now;
        self.event(at, "recovery:metrics_updated", serde_json::to_value(now)?)
    }
}

fn header(number: u64) -> Value {
    json!({ "packet_type": "1RTT", "packet_number": number })
}

/// Writes one controller's record.
///
/// # Errors
/// Errors of `out`; one of kind `InvalidData` if the record is damaged.
pub fn write<W: Write>(out: W, log: &Log, title: &str) -> io::Result<()> {
    let invalid = |e: &dyn std::fmt::Display| io::Error::new(io::ErrorKind::InvalidData, e.to_string());
    let controller = log.spec().map_err(|e| invalid(&e))?.key();
    let mut trace =
        Trace { out, before: Metrics::default(), min_rtt: None, flight: Flight::default(), ce: 0 };
    let start = log.start();
    trace.record(&json!({
        "qlog_format": "JSON-SEQ",
        "qlog_version": "0.3",
        "title": title,
        "trace": {
            "title": format!("flow {} ({controller})", log.flow().0),
            "vantage_point": { "type": "client", "name": "sender" },
            "common_fields": { "time_format": "relative", "reference_time": 0, "ODCID": format!("{:08x}", log.flow().0) },
        },
    }))?;
    let begins = log.decisions().next().transpose().map_err(|e| invalid(&e))?;
    let at = begins.map_or(Time::ZERO, |first| first.observation.at());
    let initial = start.initial_window.get();
    let set = json!({ "max_datagram_size": start.mss, "initial_congestion_window": initial });
    trace.event(at, "recovery:parameters_set", set)?;
    for decision in log.decisions() {
        trace.decision(&decision.map_err(|e| invalid(&e))?)?;
    }
    trace.out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_machines::congestion::{CongestionControl, ControllerSpec, Loss, Start};
    use thalweg_units::{Bytes, Rate};

    fn events() -> Vec<Value> {
        let start = Start {
            mss: 1000,
            initial_window: Bytes::new(4000),
            max_window: Bytes::MAX,
            initial_threshold: Bytes::MAX,
            line_rate: Rate::from_gbps(1),
            base_rtt: Span::from_us(100),
            records: true,
            ..Start::default()
        };
        let mut c = ControllerSpec::newreno().make(&start).unwrap();
        let us = Time::from_us;
        for n in 0..4 {
            c.on_sent(us(n), Bytes::new(1000), Bytes::new(1000 * (n + 1)));
        }
        let acked = Bytes::new(2000);
        let ack = AckSample {
            now: us(100),
            rtt: Some(Span::from_us(100)),
            acked,
            cwnd_limited: true,
            ..Default::default()
        };
        c.on_ack(&AckSample { in_flight: Bytes::new(2000), ..ack });
        c.on_loss(&Loss { now: us(200), in_flight: Bytes::new(3000), acked_to: 2000, sent_to: 4000 });
        let mut out = Vec::new();
        write(&mut out, &c.take_log().unwrap(), "a run").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with('\n'));
        text.split('\u{1e}').skip(1).map(|record| serde_json::from_str(record).unwrap()).collect()
    }

    #[test]
    fn a_small_flow() {
        let found = events();
        assert_eq!(found[0]["trace"]["title"], "flow 0 (newreno)");
        let name = |v: &Value| v["name"].as_str().unwrap_or_default().to_owned();
        let names: Vec<String> =
            found[1..].iter().map(name).filter(|n| n != "recovery:metrics_updated").collect();
        let sent = "transport:packet_sent";
        let expected = [
            "recovery:parameters_set",
            sent,
            sent,
            sent,
            sent,
            "transport:packet_received",
            "recovery:packet_lost",
        ];
        assert_eq!(names, expected);
        let of = |wanted: &str| found.iter().filter(|v| name(v) == wanted).cloned().collect::<Vec<_>>();
        assert_eq!(of("transport:packet_received")[0]["data"]["frames"][0]["acked_ranges"], json!([[0, 1]]));
        assert_eq!(of("recovery:packet_lost")[0]["data"]["header"]["packet_number"], 2);
        let last = of("recovery:metrics_updated").pop().unwrap();
        assert_eq!(last["time"], 0.2);
        // The loss was found with 3000 B outstanding; the pipe is what the last acknowledgement left.
        assert_eq!(last["data"]["bytes_in_flight"], 2000);
        assert_eq!((&last["data"]["latest_rtt"], &last["data"]["min_rtt"]), (&json!(0.1), &json!(0.1)));
        assert!(last["data"]["congestion_window"].as_u64().unwrap() <= 3000);
    }
}
