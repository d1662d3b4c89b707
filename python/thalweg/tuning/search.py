"""Optuna chooses what to try next. What it chooses depends on the seed and on what was measured before, and on nothing
else: not on where or in what order runs were made, nor on whether the search was interrupted."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thalweg.executors.named import needed
from thalweg.tuning.ranges import Range

JOURNAL = "optuna.journal"
WHY = "why"


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Optuna reports every trial, and what of it is experimental."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


class Search:
    """A study of Optuna's, kept as a journal in a folder (`optuna-dashboard FOLDER/optuna.journal` shows it).

    Settings are chosen in groups of `batch`; the values of a group are reported together, in its order.
    """

    def __init__(self, folder: Path, varied: Sequence[Range], maximize: bool, seed: int, batch: int):
        self._optuna = optuna = needed("optuna", "tune")
        self._varied, self._seed, self._batch = varied, seed, batch
        self._space = {r.key: r.distribution(optuna) for r in varied}
        with _quiet(optuna):
            backend = optuna.storages.journal.JournalFileBackend(str(folder / JOURNAL))
            self._study = optuna.create_study(
                study_name="thalweg tune",
                storage=optuna.storages.JournalStorage(backend),
                direction="maximize" if maximize else "minimize",
                load_if_exists=True,
            )
            for trial in self._of("RUNNING"):
                if trial.params.keys() != self._space.keys():  # killed while it was being chosen
                    self._study.tell(trial.number, state=optuna.trial.TrialState.FAIL)

    def _of(self, *states: str) -> list[Any]:
        wanted = tuple(self._optuna.trial.TrialState[s] for s in states)
        return self._study.get_trials(deepcopy=False, states=wanted)

    def group(self, trials: int) -> list[tuple[int, dict[str, Any]]]:
        """The numbers and settings to be measured next; empty when `trials` have been. Those that an interrupted search
        had chosen come first."""
        done, under_way = len(self._of("COMPLETE", "PRUNED")), self._of("RUNNING")
        with _quiet(self._optuna):
            while (n := done + len(under_way)) < trials and (not under_way or n % self._batch):
                # A stream per trial, so that it does not matter where a search went on.
                stream = hashlib.sha256(f"{self._seed} {n}".encode()).digest()
                self._study.sampler = self._optuna.samplers.TPESampler(
                    seed=int.from_bytes(stream[:4], "little"), constant_liar=True
                )
                self._study.ask(self._space)
                under_way = self._of("RUNNING")
        return [(t.number, self._settings(t)) for t in under_way]

    def _settings(self, trial: Any) -> dict[str, Any]:
        return {r.key: r.setting(trial.params[r.key]) for r in self._varied}

    def report(self, number: int, value: float | None, why: str = "") -> None:
        """What came of a trial; `None`: there is no value, and `why`. The search avoids such settings."""
        with _quiet(self._optuna):
            if value is None:
                self._study.set_user_attr(f"{WHY} {number}", why)
                self._study.tell(number, state=self._optuna.trial.TrialState.PRUNED)
            else:
                self._study.tell(number, value)

    def measured(self) -> list[tuple[int, dict[str, Any], float | None, str]]:
        """All trials that have been measured: number, settings, value, and why there is none."""
        found, whys = self._of("COMPLETE", "PRUNED"), self._study.user_attrs
        value = lambda t: t.value if t.state.name == "COMPLETE" else None  # noqa: E731
        return [(t.number, self._settings(t), value(t), whys.get(f"{WHY} {t.number}", "")) for t in found]
