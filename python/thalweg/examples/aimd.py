"""A congestion controller in twenty lines: additive increase, multiplicative decrease.

thalweg run scenario.toml --import thalweg.examples.aimd --set 'transport.congestion={ kind = "custom", name =
"python-aimd" }'
"""

import thalweg


@thalweg.controller("python-aimd", params={"decrease": 0.5})
class Aimd:
    def __init__(self, flow):
        self.mss, self.window = flow.mss, float(flow.initial_window)
        self.threshold, self.decrease = float("inf"), flow.params["decrease"]

    def on_ack(self, ack):
        if ack.in_recovery:
            return
        slow_start = self.window < self.threshold
        self.window += ack.acked if slow_start else self.mss * ack.acked / self.window

    def on_loss(self, loss):
        self.threshold = self.window = max(self.window * self.decrease, 2 * self.mss)

    def on_timeout(self, loss):
        self.threshold, self.window = max(self.window * self.decrease, 2 * self.mss), float(self.mss)
