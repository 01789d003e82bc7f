"""What ``GET /`` says about this worker: the version of its API, and of its code."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import penstock

CONNECT_API = "4.3.1"
"""The version of Kafka Connect whose REST API this is. Clients ask for it before they use endpoints
that older versions lack."""


def described() -> dict[str, str]:
    """Kafka Connect's ``version`` and ``commit``, and Penstock's own version."""
    return {
        "version": CONNECT_API,
        "commit": fingerprint(),
        "penstock_version": penstock.__version__,
    }


@cache
def fingerprint() -> str:
    """16 hexadecimal digits that change with the code, in the place of a commit's id.

    An installed package has no commit, but this distinguishes workers that run different code.
    """
    folder = Path(penstock.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
