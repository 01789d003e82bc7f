"""A statement as it may be shown: in echoes, errors, logs and the history.

Which values of a config are secret only the connector knows, so all are hidden but those that
cannot be: the class, names of topics, plain numbers, and references to config providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lark import Tree
from lark.lexer import Token

from penstock.runtime.validation.secret_keys import sounds_secret
from penstock.sql.grammar.splitting import QUOTES, comment_end
from penstock.sql.grammar.words import plain

STRING, VALUE = "'[string]'", "'[value]'"
SHOWN = {"connector.class", "tasks.max", "topic", "topics", "topic.prefix", "name"}
OF_CONNECTORS = {"create_connector", "create_external", "alter_connector", "create_from_connector"}
WITH_ROWS = {"insert_values", "assert_values", "assert_tombstone"}
READING = ("SELECT", "SHOW", "LIST", "DESC", "PRINT", "DROP", "EXPLAIN")
Span = tuple[int, int, str]


def masked(text: str, tree: Tree[Token]) -> str:
    """``text``, whose tree is ``tree``, with its values hidden."""
    shown = text
    for start, end, instead in sorted(_spans(tree), reverse=True):
        shown = shown[:start] + instead + shown[end:]
    return shown


def _spans(tree: Tree[Token]) -> Iterator[Span]:
    if tree.data in OF_CONNECTORS:
        yield from _of_properties(tree)
    elif tree.data in WITH_ROWS:
        for row in tree.find_data("row"):
            yield from ((*_span(value), VALUE) for value in row.children)
    elif tree.data == "define" or (tree.data == "set" and sounds_secret(str(tree.children[0]))):
        yield (*_span(tree.children[1]), STRING)


def _of_properties(tree: Tree[Token]) -> Iterator[Span]:
    for each in tree.find_data("property"):
        key, value = (_first(child) for child in each.children)
        if not _harmless(plain(key.type, key), plain(value.type, value)):
            yield (*_span(value), STRING)


def _harmless(key: str, value: str) -> bool:
    if key in SHOWN:
        return True
    reference = value.startswith("${") and value.find("}") == len(value) - 1
    plain_value = value.isdigit() or value.lower() in ("true", "false", "null")
    return reference or (plain_value and not sounds_secret(key))


def _first(node: Tree[Token] | Token) -> Token:
    return node if isinstance(node, Token) else _first(node.children[0])


def _span(node: Tree[Token] | Token) -> tuple[int, int]:
    place = node if isinstance(node, Token) else node.meta
    return (place.start_pos or 0, place.end_pos or 0)


def blotted(text: str) -> str:
    """A text that is no statement, as long as it was, with stars for texts and bare values.

    What begins like a query or a list has no secrets, and is shown as it is.
    """
    if text.lstrip()[:8].upper().startswith(READING):
        return text
    shown, at = list(text), 0
    while at < len(text):
        start, end, after = _hidden_at(text, at)
        shown[start:end] = "*" * (end - start)
        at = max(after, at + 1)
    return "".join(shown)


def _hidden_at(text: str, at: int) -> tuple[int, int, int]:
    """The part to hide that begins here, and where to look on."""
    if text[at] in QUOTES:
        end = text.find(text[at], at + 1)
        return (at + 1, len(text), len(text)) if end < 0 else (at + 1, end, end + 1)
    if text[at] == "=":
        start = at + 1 + len(text[at + 1 :]) - len(text[at + 1 :].lstrip())
        end = start if text[start : start + 1] in QUOTES else _first_of(text, start, ",) \t\n")
        return start, end, end
    return at, at, comment_end(text, at)


def _first_of(text: str, start: int, ends: Iterable[str]) -> int:
    found = [at for each in ends if (at := text.find(each, start)) >= 0]
    return min(found, default=len(text))
