"""Tokens as what they mean: names, texts, and the variables in them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.sql.errors import StatementError, nearest

# Inside one text only: statements are parsed by the grammar.
VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}")
Variables = Mapping[str, str]


def unquoted(text: str) -> str:
    """A quoted text without its quotes; within it, two quotes are one."""
    return text[1:-1].replace(text[0] * 2, text[0])


def identifier(kind: str, text: str) -> str:
    """The name of a stream, table or column: in upper case, unless it is quoted or has a dash."""
    if kind in ("QUOTED", "BACKQUOTED"):
        return unquoted(text)
    return text if kind == "DASHED" else text.upper()


def plain(kind: str, text: str) -> str:
    """The name of a connector or topic, or a value: as it is written."""
    return unquoted(text) if kind in ("QUOTED", "BACKQUOTED", "STRING") else text


def filled(text: str, variables: Variables) -> str:
    """``text`` with its variables replaced. ``${provider:…}`` is Kafka Connect's and stays."""
    return VARIABLE.sub(lambda found: variable(found[1], variables), text)


def variable(name: str, variables: Variables) -> str:
    """The value of a variable, whatever case its name is written in."""
    by_lower = {each.lower(): value for each, value in variables.items()}
    try:
        return by_lower[name.lower()]
    except KeyError:
        raise StatementError(
            f"There is no variable {name}.{nearest(name, variables)} "
            f"Define it with DEFINE {name} = '…';"
        ) from None
