"""Prometheus' text format (version 0.0.4): families of samples, with help, type and escaping.

Written here and not by a client library: a page has thousands of samples, dozens for each task,
and measurements show that escaping their labels costs most. Here the labels of one object are
escaped once for all its samples; a library would escape them for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_LABEL = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_HELP = str.maketrans({"\\": r"\\", "\n": r"\n"})


def labels(**values: object) -> str:
    """``{name="value",…}``; made once for all samples of one object, since escaping costs most."""
    inside = ",".join(f'{name}="{str(v).translate(_LABEL)}"' for name, v in values.items())
    return f"{{{inside}}}"


@dataclass
class Family:
    """All samples of one name."""

    name: str
    help: str
    type: str = "gauge"
    samples: list[str] = field(default_factory=list)

    def add(self, labelled: str, value: float) -> None:
        """A sample; ``labelled`` is the result of ``labels``, or empty."""
        self.samples.append(f"{self.name}{labelled} {_number(value)}")

    def lines(self) -> Iterable[str]:
        """Empty if there are no samples."""
        if self.samples:
            yield f"# HELP {self.name} {self.help.translate(_HELP)}"
            yield f"# TYPE {self.name} {self.type}"
            yield from self.samples


def render(families: Iterable[Family]) -> str:
    """The whole page."""
    return "".join(f"{line}\n" for family in families for line in family.lines())


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(int(value))
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else f"{'+' if value > 0 else '-'}Inf"
