"""Dataclasses over a carrier's connection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from penstock.engine.carriers.codec import Codec, CodecError


class Colour(StrEnum):
    RED = "red"


class Base:
    pass


class Good(Base):
    pass


class Foreign:
    pass


@dataclass(frozen=True)
class Inner:
    data: bytes
    share: float = 0.5


@dataclass(frozen=True)
class One:
    a: int


@dataclass(frozen=True)
class Two:
    b: str


class Either:
    pass


@dataclass(frozen=True)
class Outer:
    inner: Inner
    maybe: Inner | None
    colour: Colour
    cls: type[Base]
    keyed: tuple[tuple[bytes, Mapping[str, Any], Mapping[str, Any]], ...]
    places: Mapping[tuple[str, int], tuple[int, str]]
    names: frozenset[str]
    either: Either
    settings: Mapping[str, Any] = field(default_factory=dict)
    previous: str | None = None


CLASSES = {"good": Good, "foreign": Foreign}
CODEC = Codec(
    name=lambda cls: next(name for name, known in CLASSES.items() if known is cls),
    load=CLASSES.__getitem__,
    variants={Either: {"One": One, "Two": Two}},
)


def _outer(**more: Any) -> Outer:
    values: dict[str, Any] = {
        "inner": Inner(b"\x00\xff"),
        "maybe": None,
        "colour": Colour.RED,
        "cls": Good,
        "keyed": ((b"k", {"file": "ä"}, {"position": 2**60}),),
        "places": {("t", 0): (5, "m"), ("u", 1): (6, "")},
        "names": frozenset({"x", "y"}),
        "either": Two("b"),
        "settings": {"linger.ms": 5, "on": True, "none": None},
    }
    return Outer(**{**values, **more})


@pytest.mark.parametrize("more", [{}, {"maybe": Inner(b"", 1)}, {"either": One(1)}])
def test_what_was_encoded_comes_back(more: dict[str, Any]) -> None:
    before = _outer(**more)
    text = json.dumps(CODEC.encode(before))
    assert CODEC.decode(Outer, json.loads(text)) == before


@pytest.mark.parametrize(
    "change",
    [
        {"cls": "foreign"},
        {"cls": "unknown"},
        {"inner": {"data": "AA=="}},
        {"inner": [1]},
        {"names": 5},
        {"previous": 5},
        {"either": ["Three", {}]},
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any]) -> None:
    data = {**json.loads(json.dumps(CODEC.encode(_outer()))), **change}
    with pytest.raises((CodecError, ValueError)):
        CODEC.decode(Outer, data)
