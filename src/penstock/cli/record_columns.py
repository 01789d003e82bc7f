"""Values as bytes for standard output, made of whole columns: no object for each record."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

from penstock.cli.record_printing import Form, is_text, readable, text

if TYPE_CHECKING:
    import pyarrow as pa

FORMS = frozenset({Form.RAW, Form.TEXT, Form.DYNAMIC})
"""Those that print values and nothing else."""


def spare_pandas() -> None:
    """Have pyarrow do without pandas in this process. It would import that with the first value
    that it converts, which is half of the time that a short command takes."""
    import pyarrow as pa

    absent = _Absent()
    sys.meta_path.insert(0, absent)
    try:
        pa.scalar(0)  # here it looks for it, and never again
    finally:
        sys.meta_path.remove(absent)


class _Absent(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)
        return None


def print_values(form: Form, batches: Sequence[pa.RecordBatch]) -> bytes:
    """What the form's printer of records prints."""
    return b"".join(_printed(form, batch.column("value")) for batch in batches)


def _printed(form: Form, values: pa.Array) -> bytes:
    if form is Form.RAW:
        return _lines(values)
    if not values.null_count and is_text(together := _lines(values)):
        return together
    shown = readable if form is Form.DYNAMIC else text
    return "".join(f"{shown(value)}\n" for value in values.to_pylist()).encode()


def _lines(values: pa.Array) -> bytes:
    """Each with a line feed, nothing where there is no value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    empty = pa.scalar(b"", values.type)
    separator = pa.scalar(b"\n", values.type)
    lines = pc.binary_join_element_wise(
        values, empty, separator, null_handling="replace", null_replacement=""
    )
    # They lie one behind the other in memory.
    _, bounds, memory = lines.buffers()
    ends = memoryview(bounds).cast("i")
    first, last = ends[lines.offset], ends[lines.offset + len(lines)]
    return memoryview(memory)[first:last].tobytes()
