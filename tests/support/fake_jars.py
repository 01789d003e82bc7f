"""A cache of jars that are none, and places that jars cannot be had from."""

from __future__ import annotations

import json
from pathlib import Path

from penstock.embedded.jars import MARKER


def write_complete(folder: Path) -> None:
    """Make ``folder`` look complete."""
    for configuration, names in {"broker": ["a.jar", "b.jar"], "spark": ["c.jar"]}.items():
        (folder / configuration).mkdir(parents=True)
        for name in names:
            (folder / configuration / name).write_bytes(b"jar")
    sizes = {"broker": {"a.jar": 3, "b.jar": 3}, "spark": {"c.jar": 3}}
    (folder / MARKER).write_text(json.dumps(sizes))


def ivy_settings(file: Path, resolver: str) -> str:
    """Write settings of Ivy with one resolver, named `only`; where they are."""
    file.write_text(
        '<ivysettings><settings defaultResolver="only"/>'
        f"<resolvers>{resolver}</resolvers></ivysettings>"
    )
    return str(file)


def repository_at(url: str) -> str:
    """A resolver for a Maven repository."""
    return f'<ibiblio name="only" m2compatible="true" root="{url}"/>'
