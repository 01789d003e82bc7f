"""A Structured Streaming job as a user of Spark would write it, as a side of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.bed import Bed
from bench.child import Child

STREAMING = "structured streaming"


@contextmanager
def streaming(bed: Bed, jars: Sequence[Path] = ()) -> Iterator[Child]:
    """Spark with two cores, which takes the orders of ``bench.streaming_query``."""
    folder = bed.folder / bed.name("streaming")
    folder.mkdir()
    given = (bed.connection.bootstrap_servers, str(folder), *map(str, jars))
    with Child("bench.streaming_query", *given) as child:
        yield child
