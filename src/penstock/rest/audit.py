"""The audit: one line, a JSON object, for every change and for every refusal of one.

``when``, ``who``, ``from``, ``what``, ``connector`` and ``outcome`` are in each, and
``certificate``, the subject of the client's, where one was shown. Configs are told by the names of
the keys that changed, never by values; offsets by their old and new values.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from penstock.rest.caller import current

log = logging.getLogger("penstock.audit")


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
