"""Calls of SQL's functions as Spark has them.

Only what is listed can be called: Spark has functions that reach outside of a query.
"""

from __future__ import annotations

import re

from penstock.sql.errors import StatementError, nearest
from penstock.sql.planning.function_list import AGGREGATES, MOVING, SCALAR, UNITS, Template

PLACE = re.compile(r"\{([\d*+])\}")
ALL, REST = "*", "+"


def spark_call(name: str, arguments: list[str], *, distinct: bool) -> str:
    """The call as Spark has it; StatementError for a name or a count that is wrong."""
    if name in MOVING:
        return _moved(name, arguments)
    found = {**SCALAR, **AGGREGATES}.get(name)
    if found is None:
        hint = nearest(name, [*SCALAR, *AGGREGATES, *MOVING])
        raise StatementError(f"There is no function {name}.{hint} SHOW FUNCTIONS; lists all.")
    template = _fitting(name, found, len(arguments))
    listed = ("DISTINCT " if distinct else "") + ", ".join(arguments)
    texts = {ALL: listed, REST: ", ".join(arguments[1:])}
    return PLACE.sub(lambda at: texts[at[1]] if at[1] in texts else arguments[int(at[1])], template)


def _fitting(name: str, found: Template, given: int) -> str:
    """That of the templates which takes so many arguments."""
    templates = (found,) if isinstance(found, str) else found
    for template in templates:
        count, is_least = _count(template)
        if given == count or (is_least and given >= count):
            return template
    counts = [_count(template)[0] for template in templates]
    many = "at least " if _count(templates[-1])[1] else ""
    told = " or ".join(map(str, counts))
    raise StatementError(
        f"{name} takes {many}{told} argument{'' if counts[-1] == 1 else 's'}, not {given}."
    )


def _count(template: str) -> tuple[int, bool]:
    """How many arguments it takes, and whether it takes more."""
    places = PLACE.findall(template)
    numbers = [int(each) + 1 for each in places if each.isdigit()]
    least = {ALL: 1, REST: 2}
    return max([*numbers, *(least[each] for each in places if each in least), 0]), any(
        each in least for each in places
    )


def _moved(name: str, arguments: list[str]) -> str:
    """A time that is earlier or later: ``DATEADD(DAYS, 3, d)``."""
    if len(arguments) != 3:
        raise StatementError(f"{name} takes 3 arguments: a unit, a number and a time.")
    unit, number, time = arguments
    chosen = unit.strip("'").upper()
    named = chosen if chosen.endswith("S") else f"{chosen}S"
    sign, kind = MOVING[name]
    size = f"CAST({number} AS INT)" if sign > 0 else f"-CAST({number} AS INT)"
    if named == "MILLISECONDS":
        parts = ["0"] * 6 + [f"CAST({size} / 1000.0 AS DECIMAL(18, 6))"]
    elif named in UNITS:
        parts = [size if each == named else "0" for each in UNITS]
    else:
        known = [*UNITS, "MILLISECONDS"]
        hint = nearest(named, known)
        raise StatementError(f"There is no unit {chosen}.{hint} Units are {', '.join(known)}.")
    return f"CAST(try_add(CAST({time} AS TIMESTAMP), make_interval({', '.join(parts)})) AS {kind})"
