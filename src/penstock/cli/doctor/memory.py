"""Memory: what Kafka and Spark may take against what is free, here and in this control group."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psutil

from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.findings import Finding, failed, ok, warning
from penstock.cli.doctor.folders import size
from penstock.embedded.kafka_command import largest_heap

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
LOWER = "Close other programs, or lower spark.driver.memory (--worker-config)"


def check(asked: Asked) -> list[Finding]:
    """Whether the heaps find room; Python and Spark's workers want about as much again."""
    parts = {"Spark's driver (spark.driver.memory)": _driver(asked)}
    if not asked.given_brokers:
        parts["Kafka (PENSTOCK_BROKER_HEAP)"] = (largest_heap(), UNITS[""])
    unread = [f"{name}: {text}" for name, (text, unit) in parts.items() if not bytes_of(text, unit)]
    if unread:
        found = f"not a size: {', '.join(unread)}"
        return [failed("memory", found, "Write a number and a unit, such as 512m or 2g.")]
    needed = sum(bytes_of(text, unit) for text, unit in parts.values())
    asks = " and ".join(f"{text} for {name}" for name, (text, _) in parts.items())
    return [memory_finding(available(), needed, asks, embedded=not asked.given_brokers)]


def _driver(asked: Asked) -> tuple[str, int]:
    from penstock.engine.driver.session import DRIVER_MEMORY

    # Spark takes a number without a unit for MB, Java for bytes.
    return asked.config.properties.get("spark.driver.memory", DRIVER_MEMORY), UNITS["m"]


def memory_finding(free: int, needed: int, asks: str, *, embedded: bool) -> Finding:
    """Whether ``free`` is enough, and comfortable."""
    found = f"{size(free)} available; {asks}"
    heap = " and PENSTOCK_BROKER_HEAP" if embedded else ""
    advice = f"{LOWER}{heap}."
    if free < needed:
        return failed("memory", f"{found}: {size(needed)} are needed", advice)
    if free < 2 * needed:
        return warning("memory", f"{found}, and Python's work comes on top", advice)
    return ok("memory", found)


def bytes_of(text: str, unit: int = 1) -> int:
    """A size as Java and Spark write it; 0 if it is none. ``unit`` is that of a bare number."""
    match = re.fullmatch(r"(\d+)([kmgt]?)b?", text.strip().lower())
    if match is None:
        return 0
    return int(match[1]) * (UNITS[match[2]] if match[2] else unit)


def available() -> int:
    """Bytes that programs may still take: of the machine, and of the groups this process is in."""
    return min([psutil.virtual_memory().available, *group_rooms()])


def group_rooms(groups: Path = GROUPS, membership: Path = MEMBERSHIP) -> Iterator[int]:
    """What each limited control group leaves; nothing where there are none (not on Linux)."""
    try:
        entries = membership.read_text().splitlines()
    except OSError:
        return
    for entry in entries:
        _, controllers, path = entry.split(":", 2)
        if not controllers:
            yield from _rooms(groups, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _rooms(groups / "memory", path, *names)


def _rooms(root: Path, path: str, limit: str, used: str, cache: str) -> Iterator[int]:
    group = root / path.strip("/")
    # In a container the path may be the host's, which cannot be seen: its own group is the root.
    for folder in (group, *group.parents):
        if not folder.is_relative_to(root):
            return
        try:
            most, now = int((folder / limit).read_text()), int((folder / used).read_text())
            stat = (folder / "memory.stat").read_text()
        except (OSError, ValueError):  # No such group, or `max`: no limit.
            continue
        match = re.search(rf"^{cache} (\d+)$", stat, re.MULTILINE)
        yield max(0, most - now + (int(match[1]) if match else 0))
