"""TrackEvents into a file, as they come: Perfetto's protobuf by the bindings of the package `perfetto`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    CounterDescriptor,
    Trace,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)

# Packets of a file that are in memory at a time.
_BATCH = 4096
_SEQUENCE = 1
_UNITS = {
    "B": CounterDescriptor.UNIT_SIZE_BYTES,
    "": CounterDescriptor.UNIT_COUNT,
}


class Writer:
    """A trace on its way into a file. Stamps are given in picoseconds and written in whole nanoseconds."""

    def __init__(self, file: IO[bytes], title: str):
        self._file, self._trace = file, Trace()
        self._tracks = 0
        self._names: dict[str, int] = {}
        self._keys: dict[str, int] = {}
        first = self._packet()
        first.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        first.first_packet_on_sequence = True
        self.track(title, describes="made from the tables of a run; times in picoseconds are in the annotations")

    def track(
        self,
        name: str,
        parent: int | None = None,
        *,
        unit: str | None = None,
        rank: int = 0,
        ordered: bool = False,
        describes: str = "",
    ) -> int:
        """A new track: its number. `unit`: it is a counter's; `ordered`: its children stand by `rank`."""
        self._tracks += 1
        made = self._packet().track_descriptor
        made.uuid, made.name, made.sibling_order_rank = self._tracks, name, rank
        if parent is not None:
            made.parent_uuid = parent
        if describes:
            made.description = describes
        if ordered:
            made.child_ordering = TrackDescriptor.EXPLICIT
        if unit is not None:
            if unit in _UNITS:
                made.counter.unit = _UNITS[unit]
            else:
                made.counter.unit_name = unit
        return self._tracks

    def slice(
        self,
        track: int,
        name: str,
        begins_ps: int,
        ends_ps: int,
        about: Mapping[str, int | str],
        leads_to: Iterable[int] = (),
        comes_from: int | None = None,
    ) -> None:
        """What lasts. Slices of a track come in order. `leads_to`, `comes_from`: numbers of arrows."""
        event = self._event(TrackEvent.TYPE_SLICE_BEGIN, track, begins_ps, name)
        self._annotate(event, {**about, "from_ps": begins_ps, "to_ps": ends_ps})
        event.flow_ids.extend(leads_to)
        if comes_from is not None:
            event.terminating_flow_ids.append(comes_from)
        self._event(TrackEvent.TYPE_SLICE_END, track, ends_ps)

    def instant(self, track: int, name: str, at_ps: int, about: Mapping[str, int | str]) -> None:
        """What happens at an instant."""
        event = self._event(TrackEvent.TYPE_INSTANT, track, at_ps, name)
        self._annotate(event, {**about, "at_ps": at_ps})

    def sample(self, track: int, at_ps: int, value: float) -> None:
        """A counter's value from an instant on."""
        event = self._event(TrackEvent.TYPE_COUNTER, track, at_ps)
        if isinstance(value, int):
            event.counter_value = value
        else:
            event.double_counter_value = value

    def close(self) -> None:
        """Writes what is left."""
        self._file.write(self._trace.SerializeToString())
        # A new one: a message that is cleared keeps its memory.
        self._trace = Trace()

    def _packet(self) -> TracePacket:
        if len(self._trace.packet) >= _BATCH:
            self.close()
        packet = self._trace.packet.add()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def _event(self, kind: int, track: int, at_ps: int, name: str | None = None) -> TrackEvent:
        packet = self._packet()
        packet.timestamp = at_ps // 1000
        packet.sequence_flags = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        event = packet.track_event
        event.type, event.track_uuid = kind, track
        if name is not None:
            event.name_iid = self._names.get(name) or self._new(self._names, name, "event_names")
        return event

    def _annotate(self, event: TrackEvent, about: Mapping[str, int | str]) -> None:
        add = event.debug_annotations.add
        for key, value in about.items():
            number = self._keys.get(key) or self._new(self._keys, key, "debug_annotation_names")
            if isinstance(value, str):
                add(name_iid=number, string_value=value)
            else:
                add(name_iid=number, int_value=value)

    def _new(self, known: dict[str, int], text: str, kind: str) -> int:
        """A number for a text that occurs again and again: the packet at hand carries both."""
        known[text] = len(known) + 1
        getattr(self._trace.packet[-1].interned_data, kind).add(iid=known[text], name=text)
        return known[text]
