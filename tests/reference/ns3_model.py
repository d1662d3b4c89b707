"""ns-3's TcpCubic and TcpNewReno with its TcpPrrRecovery, rule by rule, as controllers: what separates them
from RFC 9438 (`kind = "cubic"`) and RFC 5681 (`kind = "newreno"`).

Every parameter is one rule of the peer; off, it is the RFC's. `peer_ns3.py` compares with all of them on;
README.md says what each is worth. ACKs, losses and the scoreboard are thalweg's.
"""

from __future__ import annotations

import math

import thalweg

SECOND = 10**12
C, BETA = 0.4, 0.7
# HyStart: samples of a round, spacing of an ACK train, least window, bounds of the growth that ends slow start.
SAMPLES, TRAIN, LOW, FLOOR, CEILING = 8, 2 * 10**9, 16, 4 * 10**9, SECOND
# Round trips right after a recovery are not used.
DEAF = 10 * 10**9
UNSET = 0

MILLISECOND = 10**9

# Of every controller there.
RECOVERY = {
    # The window falls over the round trip of recovery (RFC 6937), else at once.
    "prr": True,
    # The ACK that ends recovery counts with all that it acknowledges, else not at all.
    "last_ack": True,
}
CUBIC = RECOVERY | {
    # Time stamps count milliseconds, so round trips are differences of whole ones.
    "milliseconds": True,
    # Slow start ends at once when a train of ACKs lasts a round trip, or when round trips have doubled; else
    # HyStart is off.
    "hystart": True,
    # The curve is read the smallest round trip ahead, else the smoothed one.
    "delay_min": True,
    # Whole segments: target, maximum and the number of ACKs per segment are rounded.
    "whole": True,
    # Without a maximum the window grows by one in twenty at least.
    "clamp": True,
    # Reno's window gains 8/15 of a segment per window, whatever it has reached; else 1 from the last maximum on.
    "reno": True,
}


class Ns3:
    """The transport's side: tcp-socket-base.cc, tcp-prr-recovery.cc. A subclass has `hear`, `increase` and `cut`."""

    def __init__(self, flow):
        self.rules, self.mss, self.window = dict(flow.params), flow.mss, float(flow.initial_window)
        self.threshold, self.flight = math.inf, 0
        self.acked_to, self.recover, self.recovering, self.timed_out = 0, 0, False, False
        self.pipe, self.at_recovery, self.delivered, self.sent = 0, 0, 0, 0

    def on_ack(self, ack):
        advance, self.acked_to = ack.acked_to - self.acked_to, ack.acked_to
        self.pipe = ack.in_flight
        if self.recovering and ack.acked_to < self.recover:
            if self.rules["prr"]:
                self.reduce(ack.acked + ack.sacked)
            return
        self.hear(ack)
        if advance == 0:
            return
        segments = advance // self.mss
        if self.recovering:
            self.recovering, self.window = False, self.threshold
            if not self.rules["last_ack"]:
                return
        elif self.timed_out:
            # No peer's run that is compared times out once it goes; here what was SACKED before does not open
            # the window twice.
            self.timed_out, segments = ack.acked_to < self.recover, ack.acked // self.mss
        self.increase(ack, segments)

    def reduce(self, delivered):
        """DoRecovery (RFC 6937), with the conservative bound: good progress is not looked for."""
        self.delivered += delivered
        if self.pipe > self.threshold:
            quota = math.ceil(self.delivered * self.threshold / self.at_recovery) - self.sent
        else:
            quota = min(max(self.delivered - self.sent, delivered), self.threshold - self.pipe)
        self.window = self.pipe + max(quota, 0 if self.sent else self.mss)

    def on_sent(self, sent):
        if self.recovering:
            self.sent += sent[1]

    def on_loss(self, loss):
        self.flight = loss.in_flight
        self.cut()
        self.recovering, self.recover, self.timed_out = True, loss.sent_to, False
        self.at_recovery, self.delivered, self.sent = max(self.pipe, self.mss), 0, 0
        self.window = self.pipe + self.mss if self.rules["prr"] else self.threshold

    def on_timeout(self, loss):
        self.flight = loss.in_flight
        self.cut()
        self.recovering, self.recover, self.timed_out = False, loss.sent_to, True
        self.window = float(self.mss)


NEWRENO = RECOVERY | {
    # Half of what is in the network, without what was SACKed or is lost; else of all that is outstanding (FlightSize).
    "pipe": True,
    # Whole bytes: MSS² / window is rounded down.
    "whole": True,
}


@thalweg.controller("ns3-newreno", params=NEWRENO)
class Ns3NewReno(Ns3):
    """tcp-congestion-ops.cc."""

    def hear(self, ack):
        pass

    def cut(self):
        self.threshold = max(2 * self.mss, (self.pipe if self.rules["pipe"] else self.flight) // 2)

    def increase(self, ack, segments):
        if self.window < self.threshold:
            self.window = min(self.window + segments * self.mss, self.threshold)
        elif segments:
            gain = max(1.0, self.mss**2 / self.window)
            self.window += int(gain) if self.rules["whole"] else gain


@thalweg.controller("ns3-cubic", params=CUBIC)
class Ns3Cubic(Ns3):
    """tcp-cubic.cc."""

    def __init__(self, flow):
        super().__init__(flow)
        self.last_max, self.epoch = UNSET, None
        self.origin, self.k, self.count, self.ack_count, self.reno = 0, 0.0, 0, 0, 0
        self.prior = 0.0
        self.delay_min, self.smoothed, self.last_rtt = None, float(flow.base_rtt_ps), 0
        self.found, self.round_start, self.round_end, self.last_ack = False, 0, 0, 0
        self.round_min, self.samples = None, 0

    def on_ack(self, ack):
        if ack.rtt_ps is not None:
            rtt = ack.rtt_ps
            if self.rules["milliseconds"]:
                rtt = (ack.now_ps // MILLISECOND - (ack.now_ps - rtt) // MILLISECOND) * MILLISECOND
            self.last_rtt = rtt
            self.smoothed += (rtt - self.smoothed) / 8
        super().on_ack(ack)

    def on_timeout(self, loss):
        super().on_timeout(loss)
        self.last_max, self.delay_min, self.found = UNSET, None, False
        self.begin_round(loss.now_ps, loss.sent_to)

    def cut(self):
        """GetSsThresh."""
        window = self.segments()
        self.prior = window
        kept = window * (1 + BETA) / 2
        self.last_max = (int(kept) if self.rules["whole"] else kept) if window < self.last_max else window
        self.epoch = None
        reduced = int(window * BETA) if self.rules["whole"] else window * BETA
        self.threshold = max(reduced, 2) * self.mss

    def segments(self):
        return int(self.window // self.mss) if self.rules["whole"] else self.window / self.mss

    def hear(self, ack):
        """PktsAcked."""
        rtt, now = self.last_rtt, ack.now_ps
        if not rtt or (self.epoch is not None and now - self.epoch < DEAF):
            return
        if self.delay_min is None or self.delay_min > rtt:
            self.delay_min = rtt
        slow = self.window <= self.threshold and self.window >= LOW * self.mss
        if not self.rules["hystart"] or self.found or not slow:
            return
        if now - self.last_ack <= TRAIN:
            self.last_ack = now
            self.found = now - self.round_start > self.delay_min
        if self.samples < SAMPLES:
            self.round_min = rtt if self.round_min is None else min(self.round_min, rtt)
            self.samples += 1
        elif self.round_min > self.delay_min + min(max(self.delay_min, FLOOR), CEILING):
            self.found = True
        if self.found:
            self.threshold = self.window

    def begin_round(self, now, end):
        self.round_start = self.last_ack = now
        self.round_end, self.round_min, self.samples = end, None, 0

    def increase(self, ack, segments):
        """IncreaseWindow."""
        if self.window < self.threshold:
            if self.rules["hystart"] and ack.acked_to > self.round_end:
                self.begin_round(ack.now_ps, ack.sent_to)
            self.window += segments * self.mss
            return
        if not segments:
            return
        per_segment = self.update(ack.now_ps, segments)
        if not self.rules["whole"]:
            self.window += self.mss * segments / per_segment
            return
        self.count += segments
        if self.count >= per_segment:
            self.window += self.mss
            self.count -= per_segment

    def update(self, now, segments):
        """Update: how many ACKs make a segment."""
        rules, window = self.rules, self.segments()
        self.ack_count += segments
        if self.epoch is None:
            self.epoch, self.ack_count, self.reno = now, segments, window
            above = self.last_max > window
            self.k = ((self.last_max - window) / C) ** (1 / 3) if above else 0.0
            self.origin = self.last_max if above else window
        ahead = self.delay_min or 0 if rules["delay_min"] else self.smoothed
        t = (now + ahead - self.epoch) / SECOND
        delta = C * (t - self.k) ** 3
        target = self.origin + (int(delta) if rules["whole"] else delta)
        if target > window:
            per_segment = window // (target - window) if rules["whole"] else window / (target - window)
        else:
            per_segment = 100 * window
        if rules["clamp"] and self.last_max == UNSET:
            per_segment = min(per_segment, 20)
        if rules["reno"]:
            per_reno = window * 15 / 8
            if rules["whole"]:
                per_reno = int(per_reno)
            while self.ack_count > per_reno:
                self.ack_count -= per_reno
                self.reno += 1
        else:
            alpha = 3 * (1 - BETA) / (1 + BETA) if self.reno < self.prior else 1.0
            self.reno += alpha * segments / window
        if self.reno > window:
            lead = self.reno - window
            per_segment = min(per_segment, window // lead if rules["whole"] else window / lead)
        return max(per_segment, 2)
