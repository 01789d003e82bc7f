"""Log levels at run time."""

from __future__ import annotations

from differential.steps import Step, Until, get, put, raw

LOGGERS = "/admin/loggers"
MINE = f"{LOGGERS}/{{s}}.acme"

STEPS: tuple[Step, ...] = (
    get(f"{LOGGERS}/{{s}}.unknown"),
    get(f"{LOGGERS}/root"),
    put(MINE, {"level": "DEBUG"}),
    get(MINE),
    put(MINE, {"level": "DEBUG"}, "the same again"),
    put(MINE, {"level": "warn"}, "small letters"),
    get(MINE, "small letters"),
    put(f"{MINE}.below", {"level": "ERROR"}),
    put(MINE, {"level": "INFO"}, "and what is below it"),
    get(f"{MINE}.below"),
    put(MINE, {"level": "LOUD"}, "an unknown level"),
    put(MINE, {"level": ""}, "an empty level"),
    put(MINE, {}, "no level"),
    put(MINE, {"level": None}, "level null"),
    put(MINE, {"level": 5}, "a number"),
    put(MINE, {"level": "INFO", "more": "x"}, "more than a level"),
    raw("PUT", MINE, b"null", "null"),
    raw("PUT", MINE, b"{", "an object without end"),
    raw("PUT", MINE, b"[]", "a list"),
    put(f"{MINE}?scope=worker", {"level": "WARN"}),
    put(f"{MINE}?scope=somewhere", {"level": "WARN"}),
    put(f"{MINE}?scope=cluster", {"level": "ERROR"}),
    Until(MINE, {"level": "ERROR"}),
    get(MINE, "changed for the cluster"),
    put(f"{MINE}?scope=cluster", {"level": "LOUD"}, "an unknown level"),
    put(f"{MINE}?scope=cluster", {}, "no level"),
    put(f"{LOGGERS}/{{s}}.fresh?scope=cluster", {"level": "TRACE"}),
    Until(f"{LOGGERS}/{{s}}.fresh", {"level": "TRACE"}),
    get(f"{LOGGERS}/"),
)
