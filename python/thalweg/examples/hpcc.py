"""HPCC (Li et al., SIGCOMM 2019, Algorithm 1) in forty lines: a controller that reads what switches write into packets.

thalweg run scenario.toml --import thalweg.examples.hpcc --set 'transport.congestion={ kind = "custom", name =
"python-hpcc" }'

The built-in `hpcc` does the same, faster; with the same T their runs do not differ.
"""

import math

import thalweg


@thalweg.controller("python-hpcc", telemetry=True, params={"eta": 0.95, "max_stage": 5})
class Hpcc:
    def __init__(self, flow):
        self.mss, self.max_window, self.line_rate = flow.mss, flow.max_window, flow.line_rate
        self.eta, self.max_stage = flow.params["eta"], flow.params["max_stage"]
        self.t = float(flow.base_rtt_ps)
        self.w_init = flow.line_rate / 8e12 * self.t
        self.w_ai = self.w_init * max(1.0 - self.eta, 0.01) / 100.0
        self.u, self.w_c, self.inc_stage, self.last_update = 1.0, self.w_init, 0, 0
        self.hops, self.path = [], None
        self.allow(self.w_init, flow.line_rate)

    def allow(self, window, rate):
        packets = max(math.ceil(int(window) / self.mss), 1)
        self.window = min(packets * self.mss, max(self.max_window, self.mss))
        self.pace = min(max(int(rate), 1), self.line_rate)

    def on_ack(self, ack):
        if ack.telemetry is None:
            return
        new, old = [(h.at_ps, h.tx_bytes, h.queue, h.rate) for h in ack.telemetry], self.hops
        if ack.path != self.path or len(new) != len(old):  # the first, or another path
            self.hops, self.path, self.last_update = new, ack.path, ack.sent_to
        elif old and all(n[0] > o[0] for n, o in zip(new, old, strict=True)):
            self.react(ack, new, self.measure_inflight(new))

    def measure_inflight(self, new):
        """The utilisation of the busiest link, averaged over T."""
        u, tau = 0.0, 0.0
        for (at, sent, queue, rate), (at0, sent0, queue0, _) in zip(new, self.hops, strict=True):
            link = (min(queue, queue0) / self.t + (sent - sent0) / (at - at0)) / (rate / 8e12)
            if link > u:
                u, tau = link, float(at - at0)
        tau = min(tau, self.t)
        self.u = (1.0 - tau / self.t) * self.u + tau / self.t * u
        return self.u

    def react(self, ack, new, u):
        """Against the reference window of the round trip, which moves once in each."""
        much = u >= self.eta or self.inc_stage >= self.max_stage
        w = min((self.w_c / (u / self.eta) if much else self.w_c) + self.w_ai, self.w_init)
        if ack.acked_to > self.last_update:
            self.inc_stage = 0 if much else self.inc_stage + 1
            self.w_c, self.last_update = w, ack.sent_to
        self.allow(w, w / self.t * 8e12)
        self.hops = new

    def on_loss(self, loss):
        pass

    def on_timeout(self, loss):
        pass
