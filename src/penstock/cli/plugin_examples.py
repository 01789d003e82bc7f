"""A connector's example, as a file for `penstock apply`."""

from __future__ import annotations

import json


def plugin_example(name: str) -> str:
    """The JSON of a connector that is installed on this machine, or nothing."""
    from penstock.runtime.errors import BadRequest

    try:
        from penstock.runtime.plugins import Plugins

        plugin = Plugins().connector(name)
    except (ImportError, BadRequest):
        return ""
    example = dict(plugin.cls.example)
    if not example:
        return ""
    called = example["connector.class"].rpartition(".")[2].removesuffix("Connector").lower()
    return json.dumps({"name": f"my-{called}", "config": example}, indent=2)
