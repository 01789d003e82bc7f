"""`penstock hash-secret`: a line for the users file of a worker."""

from __future__ import annotations

import secrets
import sys
from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli.output import warn
from penstock.sdk.errors import UserError

SHORTEST = 12


class RoleName(StrEnum):
    """What a user may do."""

    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"


Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.", show_default=False)]
RoleOption = Annotated[
    RoleName,
    typer.Option(
        "--role",
        help="read looks; operate also changes connectors and offsets; admin also loggers.",
    ),
]
Generate = Annotated[
    bool,
    typer.Option("--generate", help="Make a secret, and show its token once, on standard error."),
]


def hash_secret(name: Name, role: RoleOption = RoleName.READ, generate: Generate = False) -> None:
    """Print a line for the file that rest.auth.users.file names: a user with a hashed secret.

    It prompts for the secret, or reads it from standard input: never from an argument. The user
    then sends it as the bearer token NAME.SECRET, or by basic authentication; commands take the
    token from PENSTOCK_TOKEN.
    """
    from penstock.rest.access.hashed_secrets import hashed
    from penstock.rest.access.users import LOCAL, NAME

    if not NAME.fullmatch(name) or name == LOCAL:
        raise typer.BadParameter(f"a name has only A-Z, a-z, 0-9, _ and -, and is not {LOCAL}")
    secret = secrets.token_urlsafe(32) if generate else _asked()
    sys.stdout.write(f"{name}:{role}:{hashed(secret)}\n")
    if generate:
        warn(f"PENSTOCK_TOKEN={name}.{secret}")


def _asked() -> str:
    if sys.stdin.isatty():
        secret: str = typer.prompt("Secret", hide_input=True, confirmation_prompt=True, err=True)
    else:
        secret = sys.stdin.readline().rstrip("\r\n")
    if len(secret) < SHORTEST:
        raise UserError(
            f"A secret has at least {SHORTEST} characters: give a longer one, or let --generate "
            "make one."
        )
    return secret
