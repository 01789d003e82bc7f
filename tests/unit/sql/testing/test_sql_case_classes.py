"""How many query cases of each class the data files have."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

import yaml

from penstock.sql.testing.cases import cases_in
from project_scripts import ROOT

DATA = ROOT / "tests/data/sql"
WANTED = 200
CLASSES = {
    "projections and functions": r"SELECT (?!\*)",
    "filters": r"\bWHERE\b",
    "formats": r"(KEY_|VALUE_)?FORMAT\s*=|JSON_SCHEMAS_ENABLE",
    "partition by": r"\bPARTITION BY\b",
    "aggregates": r"\bGROUP BY\b",
    "tumbling windows": r"\bWINDOW TUMBLING\b",
    "hopping windows": r"\bWINDOW HOPPING\b",
    "session windows": r"\bWINDOW SESSION\b",
    "final rows": r"\bEMIT FINAL\b",
    "inner joins": r"(?<!LEFT )(?<!OUTER )\bJOIN\b",
    "left joins": r"\bLEFT (OUTER )?JOIN\b",
    "right joins": r"\bRIGHT (OUTER )?JOIN\b",
    "full joins": r"\bFULL (OUTER )?JOIN\b",
    "joins of streams": r"\bWITHIN\b",
}
SIDES = ("in", "left", "right")
"""Where a turn has records."""
OF_RECORDS = ("tombstones", "out-of-order input")
LEAST = 5


def cases() -> list[dict[str, Any]]:
    """Queries with their records, and what comes out or is said."""
    files = [*DATA.glob("queries*.yaml"), *DATA.glob("persistent*.yaml")]
    files += [*DATA.glob("aggregates*.yaml"), *DATA.glob("pairs*.yaml")]
    found = [case for file in files for case in yaml.safe_load(file.read_text())]
    scripts = [
        {"sql": each.script, "title": each.name}
        for name in ("avro.sql", "pairs.sql", "windows.sql")
        for each in cases_in(DATA / name)
    ]
    return [*found, *scripts]


def text_of(case: dict[str, Any]) -> str:
    declared = (each["declare"] for each in case.get("sources", ()))
    return " ".join([*declared, case["sql"]])


def has_tombstone(case: dict[str, Any]) -> bool:
    given = [record for source in case.get("sources", ()) for record in source.get("records", ())]
    turns = [r for turn in case.get("turns", ()) for side in SIDES for r in turn.get(side, ())]
    out = [r for r in case.get("out", ()) if isinstance(r, list)]
    found = [*given, *turns, *out]
    return "NULL VALUES" in case["sql"] or any(len(r) > 1 and r[1] is None for r in found)


def is_out_of_order(case: dict[str, Any]) -> bool:
    """Whether a record is older than one before it in its partition."""
    logs: dict[Any, list[int]] = defaultdict(list)
    for number, source in enumerate(case.get("sources", ())):
        for _, _, *time in source.get("records", ()):
            logs[number].extend(time[:1])
    for turn in case.get("turns", ()):
        for side in SIDES:
            for _, _, *time in turn.get(side, ()):
                logs[side, *time[1:]].extend(time[:1])
    return any(times != sorted(times) for times in logs.values())


def test_there_are_enough_of_each_class() -> None:
    found = cases()
    counted: Counter[str] = Counter()
    for case in found:
        counted.update(c for c, words in CLASSES.items() if re.search(words, text_of(case), re.I))
        counted["tombstones"] += has_tombstone(case)
        counted["out-of-order input"] += is_out_of_order(case)
        counted["errors"] += "says" in case or "errors" in case
    assert len(found) >= WANTED
    few = {name: counted[name] for name in (*CLASSES, *OF_RECORDS) if counted[name] < LEAST}
    assert few == {}
    assert counted["errors"] >= LEAST
