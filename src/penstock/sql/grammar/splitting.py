"""A script as statements: where each begins and ends, with no idea of what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

QUOTES = "'\"`"


@dataclass(frozen=True)
class Piece:
    """One statement without its semicolon, and where in the script it begins (from 1)."""

    text: str
    line: int
    column: int
    complete: bool = True
    """Whether a semicolon ended it."""


def pieces(script: str) -> list[Piece]:
    """The statements of a script; the last may lack its semicolon."""
    found, start = [], 0
    for end in _semicolons(script):
        found.append(_piece(script, start, end, complete=True))
        start = end + 1
    found.append(_piece(script, start, len(script), complete=False))
    return [piece for piece in found if piece.text]


def is_complete(script: str) -> bool:
    """Whether nothing is missing at the end: at a prompt, whether Enter should run it."""
    return all(piece.complete for piece in pieces(script))


def _piece(script: str, start: int, end: int, *, complete: bool) -> Piece:
    start = min(_after_blanks(script, start), end)
    before = script[:start]
    column = start - (before.rfind("\n") + 1) + 1
    return Piece(script[start:end].rstrip(), before.count("\n") + 1, column, complete)


def _after_blanks(script: str, at: int) -> int:
    """Where the next word begins, past blanks and comments."""
    while at < len(script):
        if script[at].isspace():
            at += 1
        elif (end := comment_end(script, at)) > at:
            at = end
        else:
            break
    return at


def _semicolons(script: str) -> Iterator[int]:
    """Places of the semicolons that are in no text and no comment."""
    at = 0
    while at < len(script):
        if (end := _opaque_end(script, at)) > at:
            at = end
            continue
        if script[at] == ";":
            yield at
        at += 1


def _opaque_end(script: str, at: int) -> int:
    """The end of the text or comment that begins here; ``at`` itself if none does."""
    if script[at] in QUOTES:
        end = script.find(script[at], at + 1)
        return len(script) if end < 0 else end + 1
    return comment_end(script, at)


def comment_end(script: str, at: int) -> int:
    """The end of the comment that begins here; ``at`` itself if none does."""
    for begin, closing in (("--", "\n"), ("/*", "*/")):
        if script.startswith(begin, at):
            end = script.find(closing, at + 2)
            return len(script) if end < 0 else end + len(closing)
    return at
