"""JDBC's addresses of databases, which users of Kafka Connect have in their configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from penstock.sdk.errors import ConfigError

POSTGRESQL: Final = "postgresql"
SQLITE: Final = "sqlite"
URL: Final = "connection.url"

_FORMS: Final = "jdbc:postgresql://host:5432/database or jdbc:sqlite:/path/of/a/file"
_PASSED_ON: Final = {
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "connecttimeout": "connect_timeout",
    "logintimeout": "connect_timeout",
    "applicationname": "application_name",
    "options": "options",
    "targetservertype": "target_session_attrs",
    "tcpkeepalive": "keepalives",
    "channelbinding": "channel_binding",
}
"""What libpq calls the properties of PostgreSQL's JDBC driver, in lower case."""
_SERVER_TYPES: Final = {
    "any": "any",
    "primary": "primary",
    "master": "primary",
    "secondary": "standby",
    "slave": "standby",
    "preferSecondary": "prefer-standby",
}


@dataclass(frozen=True)
class Database:
    """Where a database is and how to log in. Its text has no password."""

    kind: str
    """``postgresql`` or ``sqlite``."""
    address: str
    """Host, port and database, or the path of a file: what may be shown."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def uri(self) -> str:
        """The address as drivers want it, with the password."""
        if self.kind == SQLITE:
            return self.address
        login = quote(self.user or "", safe="")
        if self.password is not None:
            login += ":" + quote(self.password, safe="")
        options = f"?{urlencode(self.options, quote_via=quote)}" if self.options else ""
        return f"postgresql://{login}{'@' if login else ''}{self.address}{options}"

    def __str__(self) -> str:
        return f"{self.kind} database {self.address}"


def database(url: str, user: str | None = None, password: str | None = None) -> Database:
    """The database of a URL such as ``jdbc:postgresql://host:5432/db?sslmode=require``.

    ``user`` and ``password`` win over those in the URL. ``ConfigError`` repeats nothing of the
    URL's query, which may have a password in it.
    """
    bare = url.strip().removeprefix("jdbc:")
    kind, _, rest = bare.partition(":")
    if kind == SQLITE and rest:
        return Database(SQLITE, rest.partition("?")[0])
    if kind in (POSTGRESQL, "postgres") and rest:
        return _postgresql(rest, user, password)
    message = f"Databases of kind '{kind[:40]}' are not supported: write {_FORMS}."
    raise ConfigError(message, key=URL)


def _postgresql(rest: str, user: str | None, password: str | None) -> Database:
    parts = urlsplit(rest if rest.startswith("//") else f"//localhost/{rest.lstrip('/')}")
    if parts.username or parts.password:
        raise ConfigError(
            "Put user and password into 'connection.user' and 'connection.password', not into the "
            "URL.",
            key=URL,
        )
    given = {name.lower(): text for name, text in parse_qsl(parts.query, keep_blank_values=True)}
    user = user or given.pop("user", None)
    password = password if password is not None else given.pop("password", None)
    hosts = parts.netloc or "localhost"
    address = f"{hosts}/{parts.path.lstrip('/') or quote(user or '', safe='')}"
    return Database(POSTGRESQL, address, user, password, _libpq(given))


def _libpq(given: Mapping[str, str]) -> dict[str, str]:
    options = {_PASSED_ON[name]: text for name, text in given.items() if name in _PASSED_ON}
    if given.get("ssl", "").lower() == "true":
        options.setdefault("sslmode", "verify-full")
    if "target_session_attrs" in options:
        wanted = options["target_session_attrs"]
        options["target_session_attrs"] = _SERVER_TYPES.get(wanted, "any")
    if "keepalives" in options:
        options["keepalives"] = "1" if options["keepalives"].lower() == "true" else "0"
    options.setdefault("connect_timeout", "10")
    options.setdefault("application_name", "penstock")
    return options
