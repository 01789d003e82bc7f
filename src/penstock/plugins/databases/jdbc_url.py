"""JDBC's addresses of databases, which users of Kafka Connect have in their configurations."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Final

from penstock.sdk.databases import GROUP, Database, Dialect
from penstock.sdk.errors import ConfigError
from penstock.sdk.named_plugins import load_named, names_in

URL: Final = "connection.url"

_HERE: Final = "penstock.plugins.databases"
BUILT_IN: Final = (
    EntryPoint("postgresql", f"{_HERE}.postgres_dialect:PostgresDialect", GROUP),
    EntryPoint("postgres", f"{_HERE}.postgres_dialect:PostgresDialect", GROUP),
    EntryPoint("sqlite", f"{_HERE}.sqlite_dialect:SqliteDialect", GROUP),
)
"""They are looked up and loaded as those of other packages are, and come first."""


def located(
    url: str, user: str | None = None, password: str | None = None
) -> tuple[type[Dialect], Database]:
    """The database of a URL such as ``jdbc:postgresql://host:5432/db``, and how to ask it.

    ``user`` and ``password`` win over those in the URL. ``ConfigError`` repeats nothing of the
    URL's query, which may have a password in it.
    """
    dialect = dialect_class(kind_of(url))
    rest = url.strip().removeprefix("jdbc:").partition(":")[2]
    return dialect, dialect.database(rest, user, password)


def kind_of(url: str) -> str:
    """What stands behind ``jdbc:``."""
    return url.strip().removeprefix("jdbc:").partition(":")[0].strip().lower()


def dialect_class(kind: str) -> type[Dialect]:
    """The dialect for URLs that begin with ``jdbc:`` and ``kind``."""
    installed = names_in(GROUP, BUILT_IN)
    if kind not in installed:
        raise ConfigError(
            f"Databases of kind '{kind[:40]}' are not supported: there is one for "
            f"{', '.join(installed)}. Install a package that brings another one (entry point "
            f"{GROUP}), or use SparkSource, which reads any database with a JDBC driver.",
            key=URL,
        )
    try:
        return load_named(GROUP, kind, Dialect, "kind of database", BUILT_IN)  # type: ignore[type-abstract]  # no instance is made
    except ConfigError as error:
        raise ConfigError(str(error), key=URL) from None
