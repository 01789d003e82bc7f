"""Values without a schema as another type: what ``cast_columns`` does, for one parsed value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.java_numbers import (
    narrowed,
    parsed_float,
    parsed_integer,
    single,
    truncated,
)
from penstock.columnar.transforms.json_rows import JAVA_NAMES
from penstock.sdk.java_text import float_text
from penstock.sdk.schema import SchemaType

_BITS: Final = {
    SchemaType.INT8: 8,
    SchemaType.INT16: 16,
    SchemaType.INT32: 32,
    SchemaType.INT64: 64,
}


def cast_json(value: Any, target: SchemaType) -> Any:
    """``value`` as ``target``; ``Misfit`` if it cannot be. None stays None."""
    if value is None:
        return None
    if isinstance(value, list | dict):
        name = JAVA_NAMES[type(value)]
        raise Misfit(f"Cast transformation does not support casting from {name}")
    if target in _BITS:
        return _integer(value, _BITS[target])
    return _OTHERS[target](value)


def _integer(value: Any, bits: int) -> int:
    if isinstance(value, str):
        return parsed_integer(value, bits)
    return truncated(value, bits) if isinstance(value, float) else narrowed(int(value), bits)


def _float(value: Any) -> float:
    return parsed_float(value) if isinstance(value, str) else float(value)


def _finite(number: float) -> float | str:
    """JSON has no number for the others; Kafka Connect's converter writes them as text."""
    return number if math.isfinite(number) else float_text(number)


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() == "true"
    return _integer(value, 64) != 0


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return float_text(value) if isinstance(value, float) else str(value)


_OTHERS: Final[dict[SchemaType, Callable[[Any], Any]]] = {
    SchemaType.FLOAT32: lambda value: _finite(single(_float(value))),
    SchemaType.FLOAT64: lambda value: _finite(_float(value)),
    SchemaType.BOOLEAN: _boolean,
    SchemaType.STRING: _text,
}
