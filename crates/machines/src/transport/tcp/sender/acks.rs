//! What the sender makes of an ACK, step by step: SND.UNA and the scoreboard take it in (RFC 9293 §3.10.7.4, RFC 6675
//! §5), a recovery episode goes on or ends (RFC 5681 §3.2, RFC 6582 §3.2, RFC 6937), the round trip is measured and the
//! timer restarts (RFC 6298, RFC 7323 §4.1), the controller is notified, and losses are detected (RFC 6675 §5, RFC 8985
//! §6.2). Losses come last: a controller has taken in what an ACK acknowledges when it is notified of a loss.

use super::super::super::{EcnSpec, Reception, Sack, TcpSpec};
use super::state::{Connection, Phase, Probing};
use super::{TcpSender, limits};
use crate::congestion::{AckSample, CongestionControl, Delivery, Feedback};
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::{Explicit, Flags, Packet};

/// What an ACK has acknowledged, and the state in which it found the sender.
#[derive(Clone, Copy)]
struct Acked {
    /// By how far it moved SND.UNA, in bytes; 0: not at all.
    advance: u64,
    /// Bytes acknowledged for the first time: by SND.UNA, and by SACK blocks above it.
    acked: u64,
    sacked: u64,
    /// It is older than others that have come: SEG.ACK < SND.UNA.
    stale: bool,
    /// It counts as a duplicate ACK.
    duplicate: bool,
    /// Without time stamps its round trip may be that of either of two copies (Karn).
    ambiguous: bool,
    /// Losses are inferred by time, not by duplicate ACKs and SACKs.
    by_time: bool,
    /// It shows that a tail loss probe has repaired a loss (RFC 8985 §7.4).
    repaired: bool,
    /// Fast recovery had begun before it.
    in_recovery: bool,
    /// The window was used up while what it acknowledges was in flight.
    cwnd_limited: bool,
    /// The sample of the round trip for the timer, and so for the controller (RFC 6298 §3).
    rtt: Option<Span>,
}

/// Whether an ACK counts as a duplicate ACK, which shows that a later segment has arrived. It is not older than others,
/// and data is outstanding. `harvests`: a second loop sends from the same buffer (RC3).
#[inline(always)]
fn is_duplicate(spec: &TcpSpec, packet: &Packet, advance: u64, sacked: u64, harvests: bool) -> bool {
    if harvests {
        // The packet that triggered it lies above the hole. Otherwise it was a copy of data that the other loop had
        // delivered, or a bump is repeated (RC3 §2.3.1): neither indicates a loss.
        advance == 0 && packet.payload > 0 && packet.trigger > packet.seq
    } else if spec.sack != Sack::Off {
        sacked > 0 // RFC 6675 §2: it SACKs new data, even if it advances
    } else {
        advance == 0 && packet.payload > 0 // RFC 5681 §2
    }
}

impl TcpSender {
    /// An ACK with these SACK blocks has come.
    pub(super) fn on_ack(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        packet: &Packet,
        blocks: &[(u64, u64)],
        written: Feedback<'_>,
    ) -> Reception {
        if self.state.connection != Connection::Open
            && !self.state.leave_reopened(packet.seq > self.space.una)
        {
            return Reception::Taken;
        }
        if self.log.is_some() {
            limits::check_app_limited(self, spec);
        }
        let bumped = self.take_in(packet.seq);
        if packet.seq > self.space.sent_to {
            return Reception::Taken; // RFC 9293 §3.10.7.4: it acknowledges something not yet sent
        }
        let mut ack = self.acknowledge(spec, now, packet, blocks, bumped.is_some());
        self.update_recovery(spec, &ack);
        if let Some(bumped) = bumped {
            // RC3 §2.3.1: a segment's worth for every ACK that advances, however far, and for those that repeat a bump.
            let grows = !ack.stale && (ack.advance > 0 || packet.seq == bumped);
            ack.acked = if grows { u64::from(spec.mss) } else { 0 };
        }
        let measured = self.measure(spec, now, packet, &mut ack);
        self.report_ack(spec, now, packet, blocks, written, &ack);
        self.detect_losses(spec, now, &ack);
        if self.extras.is_some() {
            self.note_silence(spec, now);
        }
        measured.into()
    }

    /// Takes in what it acknowledges: SND.UNA moves (RFC 9293 §3.10.7.4), the scoreboard is updated (Update() of RFC
    /// 6675 §5), and with it what RACK knows of deliveries (RFC 8985 §6.2, steps 1 to 5).
    #[inline(always)]
    fn acknowledge(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        packet: &Packet,
        blocks: &[(u64, u64)],
        harvests: bool,
    ) -> Acked {
        self.repair.timeouts_in_row = 0;
        let advance = packet.seq.saturating_sub(self.space.una);
        let stale = packet.seq < self.space.una;
        self.departures.held = advance == 0;
        if matches!(self.state.probing, Probing::Due | Probing::Sent) {
            self.leave_probe_mode();
        }
        let cwnd_limited = limits::was_used_up(self, spec);

        self.space.una += advance;
        let (mut acked, mut sacked) = (advance, 0);
        if let Some(board) = self.repair.board.as_mut().filter(|_| advance > 0) {
            acked -= board.advance(self.space.una);
        }
        if !blocks.is_empty() {
            sacked = self.insert_blocks(blocks);
        }
        let by_time = self.repair.rack().is_some();
        let repaired = by_time && self.update_rack(spec, now, packet, advance, blocks);
        let duplicate =
            !stale && self.space.outstanding() > 0 && is_duplicate(spec, packet, advance, sacked, harvests);
        // Karn (RFC 6298 §3): a sample only from segments never resent, unless time stamps show which was
        // meant.
        let ambiguous = !spec.timestamps && self.repair.is_ambiguous(packet);
        let in_recovery = self.state.phase == Phase::Recovery;
        Acked {
            advance,
            acked,
            sacked,
            stale,
            duplicate,
            ambiguous,
            by_time,
            repaired,
            in_recovery,
            cwnd_limited,
            rtt: None,
        }
    }

    /// Moves the recovery episode: it ends at the recovery point, a partial ACK goes on with the next hole (RFC 6582
    /// §3.2, step 3), a duplicate ACK inflates the window where there are no SACKs (RFC 5681 §3.2, step 4), and in
    /// between the window follows what is delivered (RFC 6937).
    #[inline(always)]
    fn update_recovery(&mut self, spec: &TcpSpec, ack: &Acked) {
        if ack.advance > 0 {
            self.repair.dup_acks = 0;
            self.progress(spec, ack.acked);
        }
        if ack.duplicate {
            self.repair.dup_acks = self.repair.dup_acks.saturating_add(1);
            if ack.in_recovery && spec.sack == Sack::Off {
                self.scoreboard().inflation += u64::from(spec.mss);
            }
        }
        self.refresh(spec);
        if ack.in_recovery && self.state.phase == Phase::Recovery {
            self.repair.reduce(spec, ack.acked + ack.sacked, ack.advance > 0);
        }
    }

    /// Measures the round trip, gives the timer its sample (RFC 6298 §3) and restarts it (§5.2, §5.3). Returns the
    /// round trip of every ACK that moves SND.UNA (RFC 7323 §4.1).
    // CHOICE RFC 7323 §4.1: the timer's samples come from ACKs that SACK new data, too, as in Linux, with the gains of
    // RFC 6298 however many there are in a round trip (§4.2). Other reading: only if SND.UNA advances.
    #[inline(always)]
    fn measure(&mut self, spec: &TcpSpec, now: Time, packet: &Packet, ack: &mut Acked) -> Option<Span> {
        let measured = (ack.advance > 0 && packet.payload > 0).then(|| now.since(packet.stamp));
        if let Some(rtt) = measured {
            self.counts.round_trip(rtt);
        }
        let delivers = ack.acked + ack.sacked > 0 && packet.payload > 0;
        ack.rtt = (delivers && !ack.ambiguous).then(|| now.since(packet.stamp));
        if let Some(rtt) = ack.rtt {
            self.timer.rto.sample(rtt);
            if ack.by_time {
                self.repair.measures();
            }
        }
        if ack.advance > 0 {
            // CHOICE RFC 6582 §4: the timer restarts at every partial ACK too ("slow but steady"), as RFC
            // 6298 §5.3 states of every ACK of new data. Other reading (`impatient`): at the first one only.
            let partial = ack.in_recovery && self.state.phase == Phase::Recovery;
            let again = std::mem::replace(&mut self.repair.partial, partial) && partial;
            if !(again && spec.impatient && spec.sack == Sack::Off) {
                self.timer.restart(&spec.rto, now, self.space.outstanding() == 0);
            }
        }
        measured
    }

    /// Reports to the controller what is acknowledged. If that is nothing new, only a forecast is passed on.
    #[inline(always)]
    fn report_ack(
        &mut self,
        spec: &TcpSpec,
        now: Time,
        packet: &Packet,
        blocks: &[(u64, u64)],
        written: Feedback<'_>,
        &Acked { acked, sacked, rtt, in_recovery, cwnd_limited, .. }: &Acked,
    ) {
        if acked + sacked > 0 {
            let echo = spec.ecn != EcnSpec::Off && packet.flags.has(Flags::ECE);
            if echo && spec.ecn == EcnSpec::Classic && self.departures.is_news(self.space.una) {
                self.departures.signal_cut(self.space.sent_to);
            }
            let reported = |yes| Bytes::new(if yes { acked + sacked } else { 0 });
            let brakes = spec.ecn == EcnSpec::Codepoints && !echo && !packet.flags.has(Flags::NS);
            let delivery = self.delivery(spec, now, blocks);
            let feedback = if written == Feedback::None && echo { Feedback::Mark } else { written };
            let planned = self.planned(spec, written);
            let least = limits::is_marked_least(self, spec, echo);
            self.controller.on_ack(&AckSample {
                now,
                rtt,
                acked: Bytes::new(acked),
                sacked: Bytes::new(sacked),
                in_flight: Bytes::new(self.in_flight()),
                acked_to: self.space.una,
                sent_to: self.space.sent_to,
                marked: reported(echo),
                braked: reported(brakes),
                in_recovery,
                app_limited: self.space.sent_to == self.written(),
                cwnd_limited,
                delivery,
                feedback,
            });
            if least {
                limits::wait_for_timer(self, spec, now);
            }
            if let Some(planned) = planned {
                self.departures.replan(spec.mss + spec.header, planned, || self.controller.permit().pace);
            }
        } else if let Feedback::Explicit(Explicit::Forecast(_)) = written {
            self.controller.on_feedback(now, written, Bytes::new(self.in_flight()));
        }
    }

    /// The delivery rate sample of an ACK, if the controller needs it.
    #[inline]
    fn delivery(&mut self, spec: &TcpSpec, now: Time, blocks: &[(u64, u64)]) -> Option<Delivery> {
        let log = self.log.as_mut()?;
        let mss = u64::from(spec.mss);
        log.on_arrived(now, 0, self.space.una.div_ceil(mss));
        let harvests = self.extras.as_ref().is_some_and(|extras| extras.harvests());
        let fresh = self.repair.board.as_ref().map(|board| &board.fresh[..]);
        for &(start, end) in fresh.filter(|_| !harvests && !blocks.is_empty()).unwrap_or(blocks) {
            log.on_arrived(now, start / mss, end.div_ceil(mss));
        }
        log.sample()
    }

    /// Detects losses: by time (RFC 8985 §6.2), or by duplicate ACKs and SACKs (RFC 6675 §5, RFC 5681 §3.2).
    #[inline(always)]
    fn detect_losses(&mut self, spec: &TcpSpec, now: Time, ack: &Acked) {
        if ack.by_time {
            self.answer_times(spec, now, ack.acked + ack.sacked, ack.advance > 0, ack.repaired);
        } else if self.state.phase == Phase::Normal && (self.repair.dup_acks > 0 || self.repair.sacked() > 0)
        {
            self.detect_loss(spec, now, ack.acked + ack.sacked);
        }
    }
}
