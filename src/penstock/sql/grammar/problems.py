"""Why a text is no statement: where, what was expected there, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from lark import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from penstock.sql.errors import SyntaxProblem
from penstock.sql.grammar.masking import blotted
from penstock.sql.grammar.splitting import QUOTES, Piece

SPELLED = {
    "_SHOW": ("SHOW", "LIST"),
    "_DESCRIBE": ("DESCRIBE",),
    "NAME": ("a name",),
    "DASHED": (),
    "BACKQUOTED": (),
    "QUOTED": (),
    "VARIABLE": (),
    "KEY": ("a key",),
    "BARE": ("a value",),
    "STRING": ("a text in quotes",),
    "INTEGER": ("a number",),
    "DECIMAL": (),
    "FLOAT": (),
    "LPAR": ("(",),
    "RPAR": (")",),
    "COMMA": (",",),
    "EQUAL": ("=",),
    "DOT": (".",),
    "MINUS": (),
    "PLUS": (),
    "STAR": (),
    "COMPARISON": (),
    "$END": ("the end",),
}
FEW = 8
"""Things that may come next, of which a list is still of use."""


def problem_of(error: UnexpectedInput, piece: Piece) -> SyntaxProblem:
    """The error for a user; places are those in the whole script."""
    line, column = _place(error, piece.text)
    expected, word = _expected(error), _word(piece.text, line, column)
    message = f"{_found(error, word)}{_meant(word, expected)}{_listed(expected)}"
    shown = _pointed(piece.text, line, column)
    if line == 1:
        column += piece.column - 1
    return SyntaxProblem(message, line + piece.line - 1, column, shown)


def _place(error: UnexpectedInput, text: str) -> tuple[int, int]:
    if _at_end(error):
        lines = text.split("\n")
        return len(lines), len(lines[-1]) + 1
    return max(error.line, 1), max(error.column, 1)


def _at_end(error: UnexpectedInput) -> bool:
    return isinstance(error, UnexpectedToken) and error.token.type == "$END"


def _word(text: str, line: int, column: int) -> str:
    """The word at a place, or the one character; of a value, which may be a secret, nothing."""
    before, here = text.split("\n")[line - 1][: column - 1], text.split("\n")[line - 1]
    end = column - 1
    while end < len(here) and (here[end].isalnum() or here[end] == "_"):
        end += 1
    return "" if before.rstrip().endswith("=") else here[column - 1 : max(end, column)]


def _found(error: UnexpectedInput, word: str) -> str:
    if _at_end(error):
        return "the statement ends too early"
    if isinstance(error, UnexpectedCharacters) and error.char in QUOTES:
        return "the text that begins here has no end"
    return f"unexpected '{word}'" if word else "unexpected value"


def _expected(error: UnexpectedInput) -> list[str]:
    names = getattr(error, "accepts", None) or getattr(error, "expected", None)
    names = names or getattr(error, "allowed", None) or ()
    return sorted({word for name in names for word in _spelled(str(name))})


def _spelled(name: str) -> Iterable[str]:
    return SPELLED.get(name, (name,) if name.isalpha() else ())


def _meant(word: str, expected: list[str]) -> str:
    """The nearest keyword that may stand there."""
    words = [each for each in expected if each.isupper()]
    close = get_close_matches(word.upper(), words, n=1, cutoff=0.6)
    return f". Did you mean {close[0]}?" if close else ""


def _listed(expected: list[str]) -> str:
    if not expected or len(expected) > FEW:
        return ""
    return f" (expected: {', '.join(expected)})"


def _pointed(text: str, line: int, column: int) -> str:
    """The line with a mark below the place; secrets are blotted out, and nothing moves."""
    shown = blotted(text).split("\n")[line - 1].rstrip("\r")
    return f"    {shown}\n    {' ' * (column - 1)}^"
