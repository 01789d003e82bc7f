"""Groups of commands that answer a wrong word with the command that was probably meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperGroup

MEANT = {
    "add": "apply -f FILE",
    "alter": "patch offsets NAME",
    "connector": "get connectors",
    "connectors": "get connectors",
    "context": "config",
    "contexts": "config list",
    "create": "apply -f FILE",
    "deadletters": "dlq ls",
    "edit": "patch connector NAME KEY=VALUE",
    "help": "--help",
    "list": "get connectors",
    "log": "logs",
    "ls": "get connectors",
    "offsets": "get offsets NAME",
    "plugins": "get plugins",
    "ps": "get connectors",
    "remove": "delete connector NAME",
    "rm": "delete connector NAME",
    "run": "up",
    "set": "patch connector NAME KEY=VALUE",
    "show": "describe connector NAME",
    "start": "up",
    "status": "describe connector NAME",
    "unpause": "resume connector NAME",
    "validate": "apply -f FILE",
}
"""What people type who know other tools, and the command that does it here."""
WHOLE = 1000
"""Letters of a summary."""
OF_CONNECTORS = "connector"
_PYDANTIC = (
    (re.compile(r"Value error, "), ""),
    (re.compile(r", unable to parse string as an? \w+"), ""),
    (re.compile(r"Input should be a valid integer"), "this must be a whole number"),
    (re.compile(r"Input should be"), "this must be"),
)


class Commands(TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that ``args`` name; wrong usage, with what was meant, if there is none."""
        word = args[0]
        if not word.startswith("-") and self.get_command(ctx, word) is None:
            ctx.fail(f"No such command '{word}'.{self._hint(ctx, args)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their whole summaries: click would cut them to one line."""
        shown = {name: each for name, each in self.commands.items() if not each.hidden}
        with formatter.section("Commands"):
            rows = [(name, each.get_short_help_str(WHOLE)) for name, each in shown.items()]
            formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what is wrong with its values is said in plain words."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = plain_words(error.message)
            raise

    def _hint(self, ctx: Any, args: list[str]) -> str:
        meant = self._meant(ctx.parent is None, args)
        if meant:
            return f" Did you mean `{ctx.command_path} {meant}`?"
        listed = ", ".join(name for name, each in self.commands.items() if not each.hidden)
        return "" if ctx.parent is None else f" `{ctx.command_path}` takes one of: {listed}."

    def _meant(self, root: bool, args: list[str]) -> str:
        word, *rest = args
        if root and word in MEANT:
            return MEANT[word]
        close = get_close_matches(word, self.commands, n=1)
        if close:
            return " ".join([close[0], *rest])
        named = not root and OF_CONNECTORS in self.commands
        return " ".join([OF_CONNECTORS, *args]) if named else ""


def plain_words(text: str) -> str:
    """What is wrong with a value, without the terms of the library that has checked it."""
    for pattern, words in _PYDANTIC:
        text = pattern.sub(words, text)
    return text


def group(summary: str, *, name: str | None = None) -> typer.Typer:
    """A command whose first argument is a command, too."""
    return typer.Typer(name=name, help=summary, cls=Commands, no_args_is_help=True)
