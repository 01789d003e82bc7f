"""What a connector that is installed on this machine says of itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.sdk import Connector


def plugin_guarantee(name: str) -> str:
    """What a connector promises of every record, or nothing."""
    from penstock.sdk.guarantees import described

    cls = _installed(name)
    return "" if cls is None else described(cls.guarantee, cls.guarantee_limits)


def plugin_example(name: str) -> str:
    """A connector's example, as a file for `penstock apply`, or nothing."""
    cls = _installed(name)
    if cls is None or not cls.example:
        return ""
    example = dict(cls.example)
    called = example["connector.class"].rpartition(".")[2].removesuffix("Connector").lower()
    return json.dumps({"name": f"my-{called}", "config": example}, indent=2)


def _installed(name: str) -> type[Connector] | None:
    from penstock.runtime.errors import BadRequest

    try:
        from penstock.runtime.plugins import Plugins

        found: type[Connector] = Plugins().connector(name).cls
    except (ImportError, BadRequest):
        return None
    return found
