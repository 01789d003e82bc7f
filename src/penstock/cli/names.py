"""Several names in one command, and patterns among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from penstock.sdk.errors import UserError

MARKS = frozenset("*?[")


def chosen(given: Sequence[str], known: Callable[[], Iterable[str]], what: str) -> list[str]:
    """The names that are meant, each once, in the order given.

    What has no ``*``, ``?`` or ``[`` in it is a name, whether it is known or not; anything else is
    a pattern, for which the ``known`` names are asked. UserError if a pattern matches none.
    """
    if not any(MARKS & set(each) for each in given):
        return list(dict.fromkeys(given))
    names = sorted(known())
    meant = [name for each in given for name in _matching(each, names, what)]
    return list(dict.fromkeys(meant))


def _matching(given: str, names: list[str], what: str) -> list[str]:
    if given in names or not MARKS & set(given):
        return [given]
    found = [name for name in names if fnmatchcase(name, given)]
    if not found:
        there = ", ".join(names) or f"there are no {what}s"
        raise UserError(f"No {what} matches '{given}'. Known: {there}.")
    return found
