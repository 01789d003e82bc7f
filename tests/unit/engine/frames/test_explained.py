"""Errors of Spark's, in a sentence."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from penstock.engine.frames.errors import FormatError, WriteError
from penstock.engine.frames.turn import explained

PYTHONS = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 3, in main
    raise ValueError("no such look-up")
ValueError: no such look-up
"""
RAISED = "[USER_RAISED_EXCEPTION] the value of t-0 at offset 1 SQLSTATE: P0001"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PYTHONS, "ValueError: no such look-up"),
        (RAISED, "the value of t-0 at offset 1"),
        ("\nPath does not exist\nat x.Y", "Path does not exist"),
        ("No suitable driver", "No suitable driver: give format.options.driver, the class of"),
        ("", "Spark gave no reason"),
    ],
)
def test_the_reason_is_told_without_what_is_around_it(text: str, said: str) -> None:
    with pytest.raises(WriteError) as error, explained("/data/out"):
        raise PySparkException(text)
    assert str(error.value).startswith(f"/data/out was not written: {said}")


def test_what_is_a_sentence_already_stays_so() -> None:
    with pytest.raises(FormatError, match=r"^no such format$"), explained("/data/out"):
        raise FormatError("no such format")
