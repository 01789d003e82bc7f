"""Which installed connector a statement means."""

from __future__ import annotations

from penstock.sdk.errors import PenstockError
from penstock.sql.connecting.connect_api import Connect, Json, status_of
from penstock.sql.errors import StatementError, nearest


def installed_class(connect: Connect, given: str, kind: str) -> str:
    """The class as it is installed, whatever its case in the statement; of that kind."""
    plugins = connect.plugins()
    plugin = _named(plugins, given)
    if plugin is None:
        _refuse_unknown(connect, given, plugins)
        return given
    if plugin["type"] != kind:
        raise StatementError(
            f"{plugin['class']} is a {plugin['type']} connector: "
            f"use CREATE {plugin['type'].upper()} CONNECTOR."
        )
    return given if given == simple_name(plugin["class"]) else str(plugin["class"])


def _named(plugins: list[Json], given: str) -> Json | None:
    lower = given.lower()
    by_class = {plugin["class"].lower(): plugin for plugin in plugins}
    by_simple = {simple_name(name): plugin for name, plugin in by_class.items()}
    return by_class.get(lower) or (None if "." in lower else by_simple.get(lower))


def _refuse_unknown(connect: Connect, given: str, plugins: list[Json]) -> None:
    """A class has further names, which only the worker knows."""
    try:
        connect.plugin_config(given)
    except PenstockError as error:
        if not status_of(error):
            raise
        raise StatementError(_unknown(given, plugins)) from None


def _unknown(given: str, plugins: list[Json]) -> str:
    classes = [str(plugin["class"]) for plugin in plugins]
    hint = nearest(given, classes) or nearest_simple(given, classes)
    return f"No connector of class {given} is installed.{hint} SHOW CONNECTOR PLUGINS; lists all."


def nearest_simple(given: str, classes: list[str]) -> str:
    """As ``nearest``, by the last part of the names."""
    by_simple = {simple_name(name): name for name in classes}
    hint = nearest(simple_name(given), by_simple)
    word = hint.removeprefix(" Did you mean ").removesuffix("?")
    return f" Did you mean {by_simple[word]}?" if hint else ""


def simple_name(class_name: str) -> str:
    """``JdbcSourceConnector`` of ``io.confluent.connect.jdbc.JdbcSourceConnector``."""
    return class_name.rpartition(".")[2]
