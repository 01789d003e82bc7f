"""`penstock import-offsets`: carry on where Kafka Connect's standalone mode stood.

It goes over the REST API, so that the worker checks what it is asked, and only stopped connectors
are moved.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.altering import alter_offsets
from penstock.cli.completion import connector_names
from penstock.cli.discovery import Url, connect
from penstock.cli.offsets_file import Entry, read_offsets_file
from penstock.cli.output import compact, print_table, say, warn
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.client import ConnectClient

OffsetsFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="What offset.storage.file.filename names in the standalone worker's properties.",
        show_default=False,
    ),
]
Chosen = Annotated[
    list[str] | None,
    typer.Option(
        "--connector",
        metavar="NAME",
        help="Only this connector's offsets; may be given again.",
        autocompletion=connector_names,
        show_default=False,
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be set; change nothing.")]


def import_offsets(
    file: OffsetsFile, *, connector: Chosen = None, dry_run: DryRun = False, url: Url = None
) -> None:
    """Move stopped connectors to the offsets in a file of Kafka Connect's standalone mode.

    Create the connectors first, under the names they had there, and stop them.
    """
    found = _chosen(read_offsets_file(file), connector or [], file)
    with connect(url) as client:
        known = set(client.connectors())
        there = {name: entries for name, entries in found.items() if name in known}
        refused = [] if dry_run else [n for n, e in there.items() if not _set(client, n, e)]
    if dry_run:
        _show(there)
    missing = [name for name in found if name not in known]
    if missing or refused:
        raise UserError(_left_out(missing, refused))


def _chosen(found: dict[str, list[Entry]], wanted: list[str], file: Path) -> dict[str, list[Entry]]:
    absent = [name for name in wanted if name not in found]
    if absent:
        there = ", ".join(sorted(found)) or "no connector"
        raise UserError(
            f"{file} holds no offsets of {', '.join(absent)}, but of {there}."
        ).advising("Name one of these with --connector, or give the file of another worker.")
    return {name: found[name] for name in wanted or sorted(found)}


def _set(client: ConnectClient, name: str, entries: list[Entry]) -> bool:
    """Whether the worker took them; what it says goes to the user in any case."""
    from penstock.client import ConnectApiError

    try:
        message = alter_offsets(client, name, entries)
    except ConnectApiError as error:
        warn(f"{name}: {error.message}")
        return False
    say(f"{name}: {message}")
    return True


def _show(found: dict[str, list[Entry]]) -> None:
    rows = [
        [name, compact(entry["partition"]), compact(entry["offset"])]
        for name, entries in found.items()
        for entry in entries
    ]
    print_table(["Connector", "Partition", "Offset"], rows)


def _left_out(missing: list[str], refused: list[str]) -> str:
    parts = []
    if missing:
        parts.append(
            f"No connector here is called {', '.join(missing)}: create what is missing, or name "
            "the others with --connector."
        )
    if refused:
        parts.append(f"The offsets of {', '.join(refused)} were not set; the reason is above.")
    return " ".join(parts)
