"""What is wrong with the jars' cache, and whether jars can be downloaded; changes nothing."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penstock.embedded.ivy import BROKER_AND_SPARK, IvyError, JarSet, retrieve
from penstock.embedded.jars import MARKER, is_complete
from penstock.embedded.java import Java

# The smallest of the broker's jars: where it comes from, the others do.
PROBE = JarSet(
    "A small jar",
    ("probe",),
    """\
<ivy-module version="2.0">
  <info organisation="penstock" module="probe"/>
  <configurations><conf name="probe"/></configurations>
  <dependencies>
    <dependency org="org.slf4j" name="slf4j-simple" rev="1.7.36" conf="probe->default"
                transitive="false"/>
  </dependencies>
</ivy-module>
""",
    megabytes=1,
)


def damage(folder: Path, jar_set: JarSet = BROKER_AND_SPARK) -> str:
    """Return the first thing that is wrong with a folder of jars; empty if it is complete."""
    if is_complete(folder, jar_set):
        return ""
    for name, size in _expected(folder):
        jar = folder / name
        if not jar.is_file():
            return f"{name} is missing"
        if jar.stat().st_size != size:
            return f"{name} has {jar.stat().st_size:,} bytes instead of {size:,}"
    return f"{MARKER} does not list exactly the jars that are there"


def _expected(folder: Path) -> Iterator[tuple[str, int]]:
    try:
        sizes = json.loads((folder / MARKER).read_text())
        listed = [(f"{c}/{name}", size) for c in sizes for name, size in sizes[c].items()]
    except (OSError, ValueError, TypeError, AttributeError):
        return iter(())
    return iter(listed)


def why_no_download(java: Java, seconds: float) -> str:
    """Return why jars cannot be downloaded; empty if they can.

    Downloads a small one as the others would be, by Ivy and its settings, into a temporary folder.
    """
    deadline = time.monotonic() + seconds

    def in_time(_: str) -> None:
        if time.monotonic() > deadline:
            raise IvyError(f"no answer within {seconds:.0f} s")

    try:
        with tempfile.TemporaryDirectory(prefix="penstock-probe-") as folder:
            retrieve(PROBE, java, Path(folder), in_time)
    except IvyError as why:
        return str(why)
    return ""
