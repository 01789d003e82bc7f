"""Configurations as the documents show them, for tests that run them."""

from __future__ import annotations

import json
import re

from project_scripts import ROOT


def documented(document: str, connector: str) -> dict[str, str]:
    """The configuration of the connector of that name in a document."""
    shown = [json.loads(block) for block in _blocks(document) if '"config"' in block]
    (config,) = (each["config"] for each in shown if each["name"] == connector)
    return dict(config)


def documented_alone(document: str, *, having: str) -> dict[str, str]:
    """The one configuration without a name in a document that has this key."""
    shown = [json.loads(block) for block in _blocks(document) if '"connector.class"' in block]
    (config,) = (each for each in shown if having in each)
    return dict(config)


def _blocks(document: str) -> list[str]:
    text = (ROOT / document).read_text()
    return re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
