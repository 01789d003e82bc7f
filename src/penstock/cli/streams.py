"""What the commands about topics and consumers have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from penstock.cli.completion import consumer_names, topic_names

TopicName = Annotated[
    str,
    typer.Argument(metavar="TOPIC", help="Name of the topic.", autocompletion=topic_names),
]
ConsumerNames = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME",
        help="Names of consumers, or patterns: 'test-*'.",
        autocompletion=consumer_names,
    ),
]
ConsumerName = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the consumer.", autocompletion=consumer_names),
]


def examples(*commands: str) -> str:
    """What stands below a command's help."""
    # The backspace keeps the lines apart: click would join them into a paragraph.
    return "\n".join(("\b", "Examples:", *(f"  {command}" for command in commands)))


@contextmanager
def usage() -> Iterator[None]:
    """Options that do not go together, or mean nothing, are wrong usage (exit code 2)."""
    from penstock.consumers.errors import InvalidConsumer

    try:
        yield
    except InvalidConsumer as error:
        raise typer.BadParameter(str(error)) from error


def refuse_together(*given: tuple[str, bool]) -> None:
    """Wrong usage if more than one of these options is given."""
    named = [option for option, is_given in given if is_given]
    if len(named) > 1:
        raise typer.BadParameter(f"{' and '.join(named)} exclude each other: give one of them.")


def key_values(option: str, texts: Iterable[str] | None) -> list[tuple[str, str]]:
    """The pairs of an option that is given as ``k=v``, perhaps several times."""
    pairs = [text.partition("=") for text in texts or ()]
    for key, sign, _ in pairs:
        if not sign or not key:
            raise typer.BadParameter(f"{option} needs KEY=VALUE, not {key!r}.")
    return [(key, value) for key, _, value in pairs]
