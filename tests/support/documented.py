"""Configurations as the documents show them, for tests that run them."""

from __future__ import annotations

import json
import re

from project_scripts import ROOT


def documented(document: str, connector: str) -> dict[str, str]:
    """The configuration of the connector of that name in a document."""
    text = (ROOT / document).read_text()
    blocks = re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    shown = [json.loads(block) for block in blocks if '"config"' in block]
    (config,) = (each["config"] for each in shown if each["name"] == connector)
    return dict(config)
