"""URLs of PostgreSQL's JDBC driver in terms of libpq."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from penstock.plugins.databases.jdbc_url import URL
from penstock.sdk.databases import Database
from penstock.sdk.errors import ConfigError

POSTGRESQL: Final = "postgresql"

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


def postgresql(rest: str, user: str | None, password: str | None) -> Database:
    """The database of what stands behind ``jdbc:postgresql:``."""
    if not rest:
        message = "Write jdbc:postgresql://host:5432/database."
        raise ConfigError(message, key=URL)
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
    uri = _uri(address, user, password, _libpq(given))
    return Database(POSTGRESQL, address, uri, user, password)


def _uri(address: str, user: str | None, password: str | None, options: Mapping[str, str]) -> str:
    login = quote(user or "", safe="")
    if password is not None:
        login += ":" + quote(password, safe="")
    return (
        f"postgresql://{login}{'@' if login else ''}{address}?{urlencode(options, quote_via=quote)}"
    )


def _libpq(given: Mapping[str, str]) -> dict[str, str]:
    options = {_PASSED_ON[name]: text for name, text in given.items() if name in _PASSED_ON}
    if given.get("ssl", "").lower() == "true":
        options.setdefault("sslmode", "verify-full")
    if "target_session_attrs" in options:
        wanted = options["target_session_attrs"]
        options["target_session_attrs"] = _SERVER_TYPES.get(wanted, "any")
    if "keepalives" in options:
        options["keepalives"] = "1" if options["keepalives"].lower() == "true" else "0"
    if path := given.get("currentschema"):
        server = (options.get("options", ""), f"-c search_path={_escaped(path)}")
        options["options"] = " ".join(server).strip()
    options.setdefault("connect_timeout", "10")
    options.setdefault("application_name", "penstock")
    return options


def _escaped(value: str) -> str:
    """For the server's command line, which is cut at spaces."""
    return value.replace("\\", "\\\\").replace(" ", "\\ ")
