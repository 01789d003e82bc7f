"""`penstock new connector`: a project for a connector of your own, with its test."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from penstock.cli.output import say
from penstock.sdk.errors import UserError

app = typer.Typer(help="Start a connector of your own.", no_args_is_help=True)

SUFFIX = ".template"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*")


@app.callback()
def options() -> None:
    """Start a connector of your own."""


@app.command()
def connector(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of the source, e.g. weather.", show_default=False
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Where to put it; NAME-connector if left out."),
    ] = None,
) -> None:
    """Make a project for a source connector, with its test."""
    words = names(name)
    target = folder or Path(words["project"])
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserError(f"{target} is there already. Give another place with --folder.")
    write(target, words)
    say(f"{target} is a source connector that works, with its test. Next:")
    say(f"  cd {target} && pip install -e '.[test]' && pytest")


def names(name: str) -> dict[str, str]:
    """What the parts of a project are called that is called ``name``."""
    if not NAME.fullmatch(name):
        raise UserError(
            f"{name} cannot be the name of a connector: use letters and digits, with single - or _ "
            "between them, and begin with a letter."
        )
    words = re.split("[-_]", name)
    return {
        "name": "-".join(words).lower(),
        "title": "".join(word[0].upper() + word[1:] for word in words),
        "project": "-".join([*words, "connector"]).lower(),
        "module": "_".join([*words, "connector"]).lower(),
    }


def write(target: Path, words: dict[str, str]) -> None:
    """The project's files, from the templates that come with Penstock."""
    _write(files("penstock.cli") / "scaffold" / "source", target, words)


def _write(source: Traversable, target: Path, words: dict[str, str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for found in source.iterdir():
        name = found.name.removesuffix(SUFFIX).replace("module", words["module"])
        if found.is_dir():
            _write(found, target / name, words)
        elif found.name.endswith(SUFFIX):
            text = Template(found.read_text(encoding="utf-8")).substitute(words)
            (target / name).write_text(text, encoding="utf-8")
