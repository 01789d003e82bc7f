"""Cases of predicates: each with transforms that change, drop and refuse, negated and not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transform_differential.cases import EVERY, FULL, MAPS, SPARSE, STRING, Case, optional

PATTERNS = (
    "topic",
    "top.*",
    "opi",
    "topic|x.y",
    r"\Qx.y\E",
    "(?i)TOPIC",
    r"\p{Lu}+",
    r"(?<first>t)\w+\k<first>?",
    "x.{1}y",
    "gone",
    "[",
    "",
    None,
)
TOPICS = ("topic", "x.y", "other", "TOPIC", "Ä", "topic-2", "xzy")
NAMES = ("a", "b", "A", "gone", "empty", "", None)
HEADERS: tuple[list[tuple[str, str | None]], ...] = (
    [("a", "1"), ("b", "x"), ("a", "2")],
    [],
    [("a", None)],
    [("", "1"), ("aa", "1")],
    [("b", "1")],
)
TRANSFORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("InsertHeader", {"header": "h", "value.literal": "5"}),
    ("Filter", {}),
    ("InsertField$Value", {"static.field": "added", "static.value": "v"}),
    ("Cast$Value", {"spec": "s:int32"}),
)
KINDS: tuple[tuple[str, list[Any], dict[str, Any] | None], ...] = (
    ("structs and nulls", [FULL, None, SPARSE, None, FULL, SPARSE, FULL], EVERY),
    ("optional structs", [None, FULL, SPARSE, None, FULL, FULL, None], optional(EVERY)),
    ("maps and others", [*MAPS, "text", None, 5, MAPS[0], [1]], None),
    ("strings", ["a", None, "", "b", "c", None, "d"], optional(STRING)),
    ("nulls", [None, None, None], None),
)


def _predicates() -> Iterator[tuple[str, dict[str, str]]]:
    for pattern in PATTERNS:
        yield "TopicNameMatches", {} if pattern is None else {"pattern": pattern}
    for name in NAMES:
        yield "HasHeaderKey", {} if name is None else {"name": name}
    yield "RecordIsTombstone", {}
    yield "RecordIsTombstone", {"any": "thing"}


def predicated() -> Iterator[Case]:
    """Every predicate on every kind of record."""
    for predicate, settings in _predicates():
        for transform, config in TRANSFORMS:
            for title, values, schema in KINDS:
                for negate in (False, True):
                    yield Case(
                        f"{predicate} {settings}{' negated' * negate}: {transform} on {title}",
                        transform,
                        config,
                        values,
                        schema,
                        topics=TOPICS,
                        headers=HEADERS,
                        predicate=predicate,
                        predicate_config=settings,
                        negate=negate,
                    )
