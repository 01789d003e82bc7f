"""``transaction.boundary`` and what it makes of a lease's limits."""

from __future__ import annotations

import pytest

from penstock.engine.lease.lease import Limits
from penstock.runtime.config.transaction_boundary import with_boundary
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.validation import Validator

LIMITS = Limits()
VALIDATOR = Validator(Plugins(), "cluster")


def bounded(flush: int = 60_000, **config: str) -> Limits:
    return with_boundary(LIMITS, {k.replace("_", "."): v for k, v in config.items()}, flush)


def test_polls_are_bundled_as_ever() -> None:
    assert bounded() == bounded(transaction_boundary="POLL") == LIMITS
    assert bounded(transaction_boundary_interval_ms="7") == LIMITS


@pytest.mark.parametrize(
    ("interval", "flush", "seconds"),
    [("500", 60_000, 0.5), ("0", 60_000, 0.0), (None, 2000, 2.0), (None, 60_000, 30.0)],
)
def test_an_interval(interval: str | None, flush: int, seconds: float) -> None:
    given = {} if interval is None else {"transaction_boundary_interval_ms": interval}
    limits = bounded(flush, transaction_boundary="Interval", **given)
    assert (limits.transaction_seconds, limits.commit_when_dry) == (seconds, False)
    assert limits.transaction_records == LIMITS.transaction_records


@pytest.mark.parametrize("boundary", ["connector", "CONNECTOR "])
def test_no_connector_defines_boundaries(boundary: str) -> None:
    config = {"name": "n", "connector.class": "FileStreamSource", "topic": "t", "file": "a.txt"}
    found = VALIDATOR.validate({**config, "transaction.boundary": boundary})
    assert {v.name: v.errors for v in found.values if v.errors} == {
        "transaction.boundary": [
            "The connector does not support connector-defined transaction boundaries with the "
            "given configuration. Please reconfigure it to use a different transaction boundary "
            "definition."
        ]
    }
    for right in ("poll", "interval"):
        assert VALIDATOR.validate({**config, "transaction.boundary": right}).errors == []


def test_a_sink_has_no_boundaries() -> None:
    config = {"name": "n", "connector.class": "FileStreamSink", "topics": "t", "file": "a.txt"}
    assert VALIDATOR.validate({**config, "transaction.boundary": "connector"}).errors == []
