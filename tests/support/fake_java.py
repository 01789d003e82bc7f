"""Programs that answer as Java does."""

from __future__ import annotations

from pathlib import Path


def fake_java(home: Path, version: str, modules: str = "jdk.incubator.vector@1") -> Path:
    """Write a script that answers as a Java of this version and records each start."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        f'#!/bin/sh\necho "$1" >> {home}/starts\n'
        f'case "$1" in\n--list-modules) echo {modules};;\n'
        f"*) echo 'openjdk version \"{version}\" 2025-04-15' >&2;;\nesac\n"
    )
    executable.chmod(0o755)
    return executable
