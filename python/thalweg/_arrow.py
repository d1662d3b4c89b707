"""Tables of the engine as Arrow, and Arrow's as polars data frames; nothing of runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars
    import pyarrow

    from thalweg._core import Column


def arrow_table(name: str, doc: str, columns: Iterable[Column]) -> pyarrow.Table:
    """A table of the engine as Arrow, without copying numbers."""
    import numpy as np
    import pyarrow as pa

    fields, arrays = [], []
    for column, unit, meaning, buffer, offsets in columns:
        nullable = buffer.dtype.endswith("?")
        if offsets is not None:
            lengths = np.diff(np.frombuffer(memoryview(offsets), dtype="int64"))
            valid = pa.py_buffer(np.packbits(lengths > 0, bitorder="little")) if nullable else None
            parts = [valid, pa.py_buffer(offsets), pa.py_buffer(buffer)]
            array = pa.Array.from_buffers(pa.large_string(), len(lengths), parts)
        elif nullable:
            values = np.frombuffer(memoryview(buffer), dtype=buffer.dtype[:-1])
            array = pa.array(values, mask=np.isnan(values) if values.dtype.kind == "f" else values < 0)
        else:
            array = pa.array(np.frombuffer(memoryview(buffer), dtype=buffer.dtype))
        arrays.append(array)
        fields.append(pa.field(column, array.type, nullable=nullable, metadata={"unit": unit, "doc": meaning}))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata={"table": name, "doc": doc}))


def frame(table: pyarrow.Table) -> polars.DataFrame:
    """The same as a polars data frame."""
    import polars

    made = polars.from_arrow(table)
    assert isinstance(made, polars.DataFrame), "a table is a data frame"
    return made


def largest(column: polars.Series) -> float:
    """The largest of a column of numbers, of whole ones exactly; 0: there is none."""
    found = column.max()
    assert found is None or isinstance(found, int | float), "a column of numbers"
    return found or 0
