"""`penstock config`: named clusters, one of which commands talk to when they are told no other."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.asking import Yes, ask
from penstock.cli.commands import group
from penstock.cli.output import Format, Output, print_objects, print_table, say
from penstock.cli.paths import config_dir
from penstock.sdk.errors import UserError

app = group("Keep the addresses of clusters, and choose one.")

ContextName = Annotated[str, typer.Argument(metavar="CONTEXT", help="Name of the context.")]


@dataclass(frozen=True)
class Context:
    """Where a cluster is. Secrets stay in the files that it names."""

    url: str = ""
    bootstrap_servers: str = ""
    token_file: str = ""
    ca_file: str = ""

    @property
    def token(self) -> str:
        """What the token's file holds; UserError if it cannot be read."""
        if not self.token_file:
            return ""
        try:
            return Path(self.token_file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise UserError(
                f"Cannot read the token in {self.token_file}: {error.strerror}. Correct the "
                "context with `penstock config set`."
            ) from error


def _file() -> Path:
    return config_dir() / "contexts.json"


def _read() -> dict[str, Any]:
    try:
        content = json.loads(_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"current": "", "contexts": {}}
    except (OSError, ValueError) as error:
        raise UserError(f"{_file()} cannot be read ({error}). Repair or delete it.") from error
    return dict(content)


def _write(current: str, contexts: Mapping[str, Any]) -> None:
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_suffix(f".{os.getpid()}.tmp")
    draft.write_text(json.dumps({"current": current, "contexts": contexts}, indent=2) + "\n")
    draft.replace(file)


def current_context() -> Context:
    """The one in use; one without addresses if there is none."""
    found = _read()
    return Context(**found["contexts"].get(found["current"], {}))


@app.command("set")
def set_context(
    name: ContextName,
    *,
    url: Annotated[str, typer.Option(help="REST address of a worker.")] = "",
    bootstrap_servers: Annotated[str, typer.Option(help="Kafka brokers, host:port,...")] = "",
    token_file: Annotated[
        str, typer.Option(metavar="FILE", help="File with <name>.<secret> for the REST API.")
    ] = "",
    ca_file: Annotated[
        str, typer.Option(metavar="FILE", help="Certificates to trust for https:// addresses.")
    ] = "",
) -> None:
    """Add a context or change it, and use it from now on."""
    found = _read()
    if not url and not bootstrap_servers and name not in found["contexts"]:
        raise typer.BadParameter("give --url, --bootstrap-servers or both")
    files = {"token_file": _absolute(token_file), "ca_file": _absolute(ca_file)}
    given = {"url": url, "bootstrap_servers": bootstrap_servers, **files}
    before = asdict(Context(**found["contexts"].get(name, {})))
    context = before | {key: value for key, value in given.items() if value}
    _write(name, {**found["contexts"], name: context})
    say(f"Using context {name}.")


def _absolute(path: str) -> str:
    return str(Path(path).expanduser().absolute()) if path else ""


@app.command("use")
def use_context(name: ContextName) -> None:
    """Talk to this cluster from now on; `none` goes back to the worker on this machine."""
    found = _read()
    if name != "none":
        _refuse_unknown(name, found["contexts"])
    _write("" if name == "none" else name, found["contexts"])
    say("Using no context." if name == "none" else f"Using context {name}.")


@app.command("list")
def list_contexts(output: Output = Format.TABLE) -> None:
    """List the contexts; the one in use is marked with *."""
    found = _read()
    rows = [(name, Context(**each)) for name, each in sorted(found["contexts"].items())]
    objects = (
        {"name": name, "current": name == found["current"], **asdict(each)} for name, each in rows
    )
    if print_objects(output, objects):
        return
    print_table(
        ["Current", "Name", "URL", "Bootstrap servers"],
        [
            ["*" if name == found["current"] else "", name, each.url, each.bootstrap_servers]
            for name, each in rows
        ],
    )


class Shown(StrEnum):
    """What can be shown alone."""

    URL = "url"
    BOOTSTRAP_SERVERS = "bootstrap-servers"


@app.command("show")
def show(
    what: Annotated[
        Shown | None,
        typer.Argument(metavar="WHAT", help="Print only this, for scripts.", show_default=False),
    ] = None,
) -> None:
    """Show the worker and the brokers that commands talk to."""
    from penstock.cli.discovery import find_bootstrap_servers, find_url

    finders = {Shown.URL: find_url, Shown.BOOTSTRAP_SERVERS: find_bootstrap_servers}
    variables = {
        Shown.URL: "PENSTOCK_URL",
        Shown.BOOTSTRAP_SERVERS: "PENSTOCK_BOOTSTRAP_SERVERS",
    }
    for each in [what] if what else Shown:
        found = finders[each](os.environ.get(variables[each]))
        say(found if what else f"{each}: {found}")


@app.command("delete")
def delete_context(name: ContextName, yes: Yes = False) -> None:
    """Delete a context. Asks first if it runs on a terminal."""
    found = _read()
    _refuse_unknown(name, found["contexts"])
    ask(f"Delete context {name}?", yes=yes)
    current = "" if found["current"] == name else found["current"]
    _write(current, {key: each for key, each in found["contexts"].items() if key != name})
    say(f"Context {name} deleted.")


def _refuse_unknown(name: str, contexts: Mapping[str, Any]) -> None:
    if name not in contexts:
        raise UserError(f"There is no context {name}.").advising(
            "`penstock config list` lists the contexts, `penstock config set` adds one."
        )
