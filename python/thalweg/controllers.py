"""Congestion controllers written in Python.

    @thalweg.controller("my-aimd")
    class Aimd:
        def __init__(self, flow):
            self.mss, self.window = flow.mss, flow.initial_window

        def on_ack(self, ack):
            if not ack.in_recovery:
                self.window += self.mss * ack.acked / self.window

        def on_loss(self, loss):
            self.window = max(self.window / 2, self.mss)

        def on_timeout(self, loss):
            self.window = self.mss

A scenario then says `transport.congestion = { kind = "custom", name = "my-aimd" }`. After every call the attributes `window` (payload bytes), and if the
class has them `pace` (bit/s or None) and `wake_ps` (when `on_tick(now_ps)` is wanted, or None), are what the flow
may do; a method `permit()` that returns a window or `(window, pace, wake_ps)` is the other way to say so.

`flow`: `mss`, `initial_window`, `max_window`, `line_rate` (bit/s), `base_rtt_ps`, `params` (what the scenario wrote there).
`ack`: `now_ps`, `rtt_ps` (None for retransmitted data), `acked`, `sacked`, `in_flight`, `acked_to`, `sent_to`,
`marked`, `in_recovery`, `app_limited`. `loss`: `now_ps`, `in_flight`, `acked_to`, `sent_to`. Bytes are payload.

State is data: an instance is saved by pickling its attributes, so keep numbers and containers in them, not files or generators.
Chance must come from a seed that the scenario gives, or runs stop being repeatable.
"""

from __future__ import annotations

import copyreg
import pickle
import runpy
import sys
import time
from importlib import import_module
from pathlib import Path

from thalweg import _core
from thalweg.errors import refuse

_REQUIRED = ("on_ack", "on_loss", "on_timeout")


def controller(name: str):
    """Class decorator: makes the class available to scenarios under `name`."""

    def register(cls):
        missing = [m for m in _REQUIRED if not callable(getattr(cls, m, None))]
        if missing:
            raise TypeError(f"controller {name!r}: {cls.__name__} has no {', '.join(missing)}")
        cls.thalweg_name = name
        _core.register_controller(name, cls)
        return cls

    return register


def make(cls, flow):
    """One flow's instance (called by the engine)."""
    made = cls(flow)
    if not hasattr(made, "permit") and not hasattr(made, "window"):
        raise TypeError(f"controller {cls.thalweg_name!r} has neither `window` nor `permit()` after __init__")
    return made


def save_state(instance) -> bytes:
    """An instance's state (called by the engine)."""
    return pickle.dumps(instance.__getstate__(), protocol=5)


def load_state(cls, saved: bytes):
    """An instance from its saved state (called by the engine)."""
    instance = copyreg.__newobj__(cls)
    state = pickle.loads(saved)
    if hasattr(instance, "__setstate__"):
        instance.__setstate__(state)
        return instance
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    vars(instance).update(attributes or {}) if attributes else None
    for key, value in (slots or {}).items():
        setattr(instance, key, value)
    return instance


def cost_per_ack(name: str, acks: int = 5000) -> float:
    """Nanoseconds that one ACK costs in a registered Python controller, here and now."""
    _core.exercise_controller(name, acks // 10)
    begun = time.perf_counter_ns()
    _core.exercise_controller(name, acks)
    return (time.perf_counter_ns() - begun) / acks


def names() -> list[str]:
    """The Python controllers registered in this process."""
    return [name for name, _, _ in _core.controller_costs()]


def import_plugins(where: str) -> None:
    """Imports a module, or runs a Python file, whose controllers are wanted."""
    if where.endswith(".py"):
        if not Path(where).is_file():
            raise refuse("no such file", file=where)
        sys.path.insert(0, str(Path(where).parent.absolute()))
        try:
            runpy.run_path(where, run_name=Path(where).stem)
        except Exception as e:
            raise refuse(f"{type(e).__name__}: {e}", file=where) from None
        return
    try:
        import_module(where)
    except Exception as e:
        raise refuse(f"cannot be imported: {type(e).__name__}: {e}", file=where) from None
