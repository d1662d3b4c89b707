"""A run, seen over time: its network with queues that fill, a time slider, curves. The same view is in notebooks
(`results.animate()`), in reports, and in the playground of the documentation.

What is drawn is made here of a run's tables, and in the playground by the engine (`crates/playground/src/drawn.rs`).
How it is drawn is `web/src/view`, which is `view/view.js` in this package.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.errors import refuse

if TYPE_CHECKING:
    import polars

    from thalweg.rundata import RunData

#: The columns of each table that are drawn. Tables that a run does not have are left out.
COLUMNS: dict[str, tuple[str, ...]] = {
    "nodes": ("name", "kind"),
    "ports": ("from", "to", "rate_bps", "dropped", "lost", "max_queue", "pauses", "paused_ps", "utilisation"),
    "flows": (
        *("id", "src", "dst", "size", "start_ps", "fct_ps", "slowdown", "delivered", "throughput_bps"),
        *("retransmissions", "timeouts", "drops", "section", "controller", "status"),
    ),
    "queues": ("time_ps", "port", "packets", "bytes", "dropped", "marked"),
    "links": ("time_ps", "port", "bytes", "capacity"),
    "controllers": ("time_ps", "flow", "window", "in_flight", "srtt_ps", "arrived", "pace"),
    "pauses": ("port", "began_ps", "ended_ps"),
}
#: Instants of each series; of more, every second, third, .. is kept.
MOST_SAMPLES = 1000
#: What is sampled over time: without any of these nothing moves.
SAMPLED = ("queues", "links", "controllers")


def drawn(results: RunData) -> dict[str, Any]:
    """What is drawn of a run: `tables` (columns by name, by table), `summary`, `scenario` (the resolved one)."""
    tables = {
        name: _columns(results.tables[name], columns) for name, columns in COLUMNS.items() if name in results.tables
    }
    return {"tables": tables, "summary": results.summary, "scenario": results.scenario_toml}


def moves(results: RunData) -> bool:
    """Whether anything was sampled over time, so that there is something to play."""
    return any(name in results.tables and results.tables.arrow(name).num_rows for name in SAMPLED)


def animate(results: RunData) -> Any:
    """A widget for notebooks (Jupyter, VS Code, Colab, marimo). Needs `pip install 'thalweg[notebook]'`.

    `ScenarioError`: the run has no samples; it says which key makes them.

    ```
    results = thalweg.run(scenario.with_({"measure.queues": {"every": "10us"}}))
    results.animate()
    ```
    """
    if not moves(results):
        hint = "set measure.queues = { every = '10us' }, and measure.links and measure.controllers likewise"
        raise refuse("this run has no samples over time: there is nothing to animate", hint=hint)
    return _widget()(run=_json(results))


@cache
def _widget() -> Callable[..., Any]:
    """The widget's class, of a package that need not be there."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError("the package anywidget is not installed: pip install 'thalweg[notebook]'") from None

    class Animation(anywidget.AnyWidget):
        _esm = _module()
        run = traitlets.Unicode().tag(sync=True)

    return Animation


def page_section(results: RunData) -> str:
    """HTML for a page that needs nothing from elsewhere: the view and the run, compressed."""
    packed = (("code", _module()), ("run", _json(results)))
    parts = "".join(f"<script type='text/plain' id=view-{name}>{_packed(text)}</script>" for name, text in packed)
    return f"<div id=view></div><noscript><p class=soft>Needs JavaScript.</p></noscript>{parts}{_START}"


# Where scripts are not run, or cannot unpack, the figures of the page remain.
_START = """<script type=module>
const unpacked = async (name) => {
  const bytes = Uint8Array.from(atob(document.getElementById(`view-${name}`).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
};
const code = new Blob([await unpacked("code")], { type: "text/javascript" });
const { mount } = await import(URL.createObjectURL(code));
mount(document.getElementById("view"), JSON.parse(await unpacked("run")));
</script>"""


def _module() -> str:
    return (Path(__file__).parent / "view" / "view.js").read_text(encoding="utf-8")


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _json(results: RunData) -> str:
    return json.dumps(drawn(results), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _columns(frame: polars.DataFrame, wanted: tuple[str, ...]) -> dict[str, list[Any]]:
    if "time_ps" in frame.columns:
        frame = _thinned(frame)
    return {name: [_value(v) for v in frame[name].to_list()] for name in wanted if name in frame.columns}


def _thinned(frame: polars.DataFrame) -> polars.DataFrame:
    instants = frame["time_ps"].unique().sort()
    nth = math.ceil(len(instants) / MOST_SAMPLES)
    return frame.filter(frame["time_ps"].is_in(instants.gather_every(nth).implode())) if nth > 1 else frame


def _value(value: object) -> object:
    """JSON has no word for what is not a number."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
