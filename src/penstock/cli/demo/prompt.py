"""A prompt that types for itself: each statement is shown, run and answered."""

from __future__ import annotations

import re

from rich.console import Console

from penstock.sql.running.session import SqlSession
from penstock.sql.shell.output import Form, Output

_PATH = re.compile(r"\$\{file:\S*/(?=[^/]+:)")


class Prompt:
    """Statements on a session; what is printed goes to ``out``."""

    def __init__(self, session: SqlSession, out: Console) -> None:
        self._session, self._out = session, out
        self._told: list[str] = []
        self._answers = Output(
            Form.TABLE, self._write, self._write, out.width if out.is_terminal else None
        )

    def __call__(self, statement: str) -> str:
        """Run one statement; what it answered, as printed."""
        # A scratch folder's name says nothing, and lines stay short without it.
        shown = _PATH.sub("${file:", statement)
        self._out.print(f"\nsql> {shown}", markup=False, style="bold", soft_wrap=True)
        self._told = []
        for ran in self._session.run(statement):
            self._answers.show(ran)
        return "".join(self._told)

    def _write(self, text: str) -> None:
        self._told.append(text)
        self._out.print(text, end="", markup=False, soft_wrap=True)
