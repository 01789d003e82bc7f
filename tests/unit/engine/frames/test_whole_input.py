"""Whether a Python stage got all of its input."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from penstock.engine.frames.whole_input import InputCutError, refuse_cut_input


def main(infile: io.BufferedReader) -> None:
    """As PySpark's worker calls a function: on the way there are others, and generators."""

    def stage() -> Iterator[int]:
        refuse_cut_input()
        yield 1

    assert list(stage()) == [1]
    assert infile.read() == b"\xff\xff\xff\xfc", "the mark is left for Spark's worker"


def _input(left: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(left))


def test_an_end_mark_follows() -> None:
    main(_input(b"\xff\xff\xff\xfc"))


def test_the_stream_has_just_ended() -> None:
    with pytest.raises(InputCutError, match="before all of it had come"):
        main(_input(b""))


def test_where_it_cannot_be_told_nothing_may_be_committed() -> None:
    with pytest.raises(InputCutError, match="is not known"):
        refuse_cut_input()
