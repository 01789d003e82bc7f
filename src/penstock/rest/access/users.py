"""The users file: who may use the REST API, and as what. Read again when it changes."""

from __future__ import annotations

import logging
import re
import stat
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.rest.access.caller import Role
from penstock.rest.access.certificate_names import ClientCertificate, Identity, identity_of
from penstock.rest.access.hashed_secrets import check_form
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Without a dot, which ends the name in a token."""
LOCAL = "local"
"""The name under which `up` itself is known: no file may give it to another user."""
ROLES = ", ".join(role.word for role in Role)


@dataclass(frozen=True)
class User:
    """A line of the file with the hash of a secret."""

    name: str
    role: Role
    hash: str = field(repr=False)


@dataclass(frozen=True)
class Holder:
    """A line of the file about a certificate."""

    name: str
    role: Role
    identity: Identity


@dataclass(frozen=True)
class KnownUsers:
    """What a file says. A name may have a secret, certificates, or both, each with a role."""

    by_name: Mapping[str, User]
    by_identity: Mapping[Identity, Holder]

    def __len__(self) -> int:
        return len(self.by_name) + len(self.by_identity)


class Users:
    """Those of a file, and perhaps one more. Thread-safe."""

    def __init__(self, file: Path, extra: User | None = None) -> None:
        self._file = file
        self._extra = {} if extra is None else {extra.name: extra}
        self._lock = threading.Lock()
        self._seen = self._look()
        self._users = read_users(file)

    def get(self, name: str) -> User | None:
        """Who goes by ``name`` now."""
        with self._lock:
            self._refresh()
            return self._extra.get(name) or self._users.by_name.get(name)

    def holder(self, certificate: ClientCertificate) -> Holder | None:
        """Whose certificate this is now."""
        with self._lock:
            self._refresh()
            known = self._users.by_identity
            found = (known[identity] for identity in certificate.identities if identity in known)
            return next(found, None)

    def _refresh(self) -> None:
        """A file that cannot be read leaves the users as they were."""
        seen = self._look()
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._users = read_users(self._file)
            log.info("the users file has changed and holds %d lines now", len(self._users))
        except ConfigError as error:
            log.error("the users stay as they were: %s", error)  # noqa: TRY400 (the text says all)

    def _look(self) -> tuple[int, int, int] | None:
        try:
            status = self._file.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


def read_users(file: Path) -> KnownUsers:
    """All users in the file; ConfigError names the file and line that is wrong."""
    try:
        if file.stat().st_mode & stat.S_IWOTH:
            raise ConfigError(f"Anyone may write {file}: remove that right (chmod o-w).")
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"Cannot read the users file {file}: {why}.") from error
    known = [
        _user(line.strip(), f"{file}, line {number}")
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not known:
        raise ConfigError(f"{file} has no users: add what `penstock hash-secret NAME` prints.")
    return KnownUsers(
        {user.name: user for user in known if isinstance(user, User)},
        _by_identity(file, [user for user in known if isinstance(user, Holder)]),
    )


def _by_identity(file: Path, holders: list[Holder]) -> Mapping[Identity, Holder]:
    """ConfigError where one certificate would be two users."""
    known: dict[Identity, Holder] = {}
    for holder in holders:
        if known.setdefault(holder.identity, holder) != holder:
            names = f"{known[holder.identity].name} and {holder.name}"
            raise ConfigError(f"{file}: {names} have the same certificate: remove one of them.")
    return known


def _user(line: str, where: str) -> User | Holder:
    name, role, digest = [*line.split(":", 2), "", ""][:3]
    if not NAME.fullmatch(name) or name == LOCAL:
        raise ConfigError(f"{where}: a name has only A-Z, a-z, 0-9, _ and -, and is not {LOCAL}.")
    try:
        identity = identity_of(name, digest)
        if identity is not None:
            return Holder(name, Role.named(role), identity)
        check_form(digest)
        return User(name, Role.named(role), digest)
    except KeyError:
        raise ConfigError(f"{where}: the role of {name} must be one of {ROLES}.") from None
    except ValueError as error:
        raise ConfigError(f"{where}: what follows {name}:{role}: {error}.") from None
