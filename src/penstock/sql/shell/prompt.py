"""The prompt: several lines to a statement, highlighting, completion, a history without secrets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer

from penstock.sdk.errors import PenstockError
from penstock.sql.errors import SqlError
from penstock.sql.grammar.masking import blotted
from penstock.sql.grammar.parser import grammar, masked_text
from penstock.sql.grammar.splitting import QUOTES, comment_end, is_complete, pieces

PROMPT, MORE = "penstock> ", "     ...> "
EXIT = ("exit", "quit", "\\q")
Names = Callable[[], Iterable[str]]


def keywords() -> list[str]:
    """The words of the grammar."""
    names = {str(each.name) for each in grammar().terminals}
    return sorted({"SHOW", "LIST", "DESCRIBE"} | {n for n in names if _is_word(n)})


NO_WORDS = {"NAME", "DASHED", "KEY_", "STRING", "QUOTED", "BACKQUOTED", "BARE", "FLOAT", "INTEGER"}
NO_WORDS |= {"COMMENT", "CONTINUED", "VARIABLE", "COMPARISON", "COMMA", "DOT", "LPAR", "RPAR"}


def _is_word(name: str) -> bool:
    terminal = grammar().get_terminal(name)
    return name.isalpha() and terminal.pattern.type == "str" and name not in NO_WORDS


class MaskedHistory(History):
    """Another history that is given statements without their secrets."""

    def __init__(self, inner: History) -> None:
        super().__init__()
        self._inner = inner

    def load_history_strings(self) -> Iterable[str]:
        """What was typed in earlier sessions."""
        return self._inner.load_history_strings()

    def store_string(self, string: str) -> None:
        """Keep a text, masked."""
        self._inner.store_string(masked_script(string))

    def append_string(self, string: str) -> None:
        """Also in this session, the arrow keys bring back only what may be shown."""
        super().append_string(masked_script(string))


def masked_script(script: str) -> str:
    """A script as it may be kept; of what is no statement, texts and values are blotted out."""
    return " ".join(_masked(piece.text, piece.complete) for piece in pieces(script))


def _masked(text: str, complete: bool) -> str:
    ending = ";" if complete else ""
    try:
        return masked_text(text) + ending
    except SqlError:
        return blotted(text) + ending


class SqlCompleter(Completer):
    """Keywords, names of streams, tables, connectors and topics, and keys of configs."""

    def __init__(self, names: Names, keys: Names) -> None:
        self._names = names
        self._keys = keys
        self._keywords = keywords()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Any]:
        """What the word before the cursor may become."""
        word = document.get_word_before_cursor(WORD=True).split("(")[-1].split(",")[-1]
        word = word.lstrip("'\"`")
        if word:
            yield from (
                Completion(each, start_position=-len(word))
                for each in self._candidates(document.text_before_cursor)
                if each.lower().startswith(word.lower())
            )

    def _candidates(self, before: str) -> list[str]:
        inside = _in_with(before)
        try:
            return sorted(self._keys()) if inside else [*self._keywords, *sorted(self._names())]
        except PenstockError:
            return [] if inside else self._keywords


def _in_with(before: str) -> bool:
    """Whether the cursor is within the parentheses of WITH."""
    last = pieces(before)[-1].text.upper() if pieces(before) else ""
    head, found, inside = last.rpartition("WITH")
    return bool(head and found) and "(" in inside and ")" not in inside


class SqlLexer(Lexer):
    """Colours: keywords, texts and comments."""

    def __init__(self) -> None:
        self._keywords = set(keywords())

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """The styled parts of a line."""
        return lambda number: self._line(document.lines[number])

    def _line(self, line: str) -> StyleAndTextTuples:
        parts: StyleAndTextTuples = []
        at = 0
        while at < len(line):
            end, style = self._token(line, at)
            parts.append((style, line[at:end]))
            at = end
        return parts

    def _token(self, line: str, at: int) -> tuple[int, str]:
        if (end := comment_end(line, at)) > at:
            return end, "ansibrightblack"
        if line[at] in QUOTES:
            end = line.find(line[at], at + 1)
            return (len(line) if end < 0 else end + 1), "ansigreen"
        end = at
        while end < len(line) and (line[end].isalnum() or line[end] == "_"):
            end += 1
        word = line[at:end].upper()
        return max(end, at + 1), "ansiblue bold" if word in self._keywords else ""


def prompt_session(history_file: Path | None, names: Names, keys: Names) -> PromptSession[str]:
    """A prompt that ends a statement at its semicolon."""
    return PromptSession(
        PROMPT,
        multiline=Condition(_unfinished),
        prompt_continuation=MORE,
        history=MaskedHistory(_history(history_file)),
        completer=SqlCompleter(names, keys),
        complete_while_typing=False,
        lexer=SqlLexer(),
        key_bindings=_keys(),
    )


def _history(file: Path | None) -> History:
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
        os.chmod(file, 0o600)  # noqa: PTH101 (also of a file that was there)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(file))


def _unfinished() -> bool:
    from prompt_toolkit.application import get_app

    text = get_app().current_buffer.text
    return bool(text.strip()) and text.strip().lower() not in EXIT and not is_complete(text)


def _keys() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        """Run it although its semicolon is missing."""
        event.current_buffer.validate_and_handle()

    return bindings
