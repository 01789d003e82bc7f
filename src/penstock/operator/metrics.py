"""Counters and gauges in Prometheus' text form."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable


class Metrics:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: defaultdict[tuple[str, tuple[tuple[str, str], ...]], int]
        self._counters = defaultdict(int)
        self._gauges: dict[str, Callable[[], float]] = {}

    def count(self, name: str, **labels: str) -> None:
        """One more."""
        with self._lock:
            self._counters[name, tuple(sorted(labels.items()))] += 1

    def gauge(self, name: str, value: Callable[[], float]) -> None:
        """A value that is asked for when it is shown."""
        self._gauges[name] = value

    def render(self) -> str:
        """All of them."""
        with self._lock:
            counters = sorted(self._counters.items())
        lines: list[str] = []
        for name in sorted({name for (name, _), _ in counters}):
            lines.append(f"# TYPE {name} counter")
            lines += [f"{name}{_labels(ls)} {n}" for (found, ls), n in counters if found == name]
        for name, value in sorted(self._gauges.items()):
            lines += [f"# TYPE {name} gauge", f"{name} {value():g}"]
        return "\n".join(lines) + "\n"


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    if not labels:
        return ""
    inside = ",".join(f'{key}="{value}"' for key, value in labels)
    return f"{{{inside}}}"
