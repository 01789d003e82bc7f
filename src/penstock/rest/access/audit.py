"""The audit: one line, a JSON object, for every change and for every refusal of one.

``when``, ``who``, ``from``, ``what``, ``connector`` and ``outcome`` are in each, and
``certificate``, the subject of the client's, where one was shown. Configs are told by the names of
the keys that changed, never by values; offsets by their old and new values. What is about a named
consumer or a topic has no connector, and names them instead.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from penstock.rest.access.caller import current
from penstock.runtime.cluster.peers import NotLeading
from penstock.runtime.errors import RequestError

log = logging.getLogger("penstock.audit")

MOST_OFFSETS = 1000
"""Told in a line; of more, how many are left out."""


def audit(what: str, connector: str | None, outcome: str, **details: Any) -> None:
    """Write the line of a change by the caller of the present request."""
    caller = current()
    line = {
        "when": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "who": caller.name,
        "from": caller.address,
        **({"certificate": caller.certificate} if caller.certificate else {}),
        "what": what,
        "connector": connector,
        "outcome": outcome,
        **details,
    }
    log.info("%s", json.dumps(line, default=str))


@contextmanager
def telling(what: str, connector: str | None, **details: Any) -> Iterator[dict[str, Any]]:
    """Write the line of what is done inside, whatever comes of it; more details may be put into
    what is given there."""
    with telling_failure(what, connector, **details) as told:
        yield told
    audit(what, connector, "done", **told)


@contextmanager
def telling_failure(what: str, connector: str | None, **details: Any) -> Iterator[dict[str, Any]]:
    """Write the line of what is done inside if it is refused or fails."""
    try:
        yield details
    except NotLeading:
        raise  # it is passed on to the leader, who tells of it
    except RequestError as error:
        audit(what, connector, f"refused: {error.status}", **details)
        raise
    except Exception as error:
        audit(what, connector, f"failed: {type(error).__name__}", **details)
        raise


def few(offsets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Offsets for a line that is not endless."""
    left_out = len(offsets) - MOST_OFFSETS
    return offsets[:MOST_OFFSETS] + ([{"left_out": left_out}] if left_out > 0 else [])
