"""The folders that file connectors may read and write, if the worker restricts them.

Paths are compared with links resolved: when a config is checked, when a
task starts, and again for every file once it is open, since links may change in between.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from penstock.sdk.config import Config
from penstock.sdk.errors import RetriableError, UserError

ROOTS: Final = "file.allowed.roots"
"""The worker's property; a connector's config cannot set it."""


class Jail:
    """Some folders and everything below them; without ``roots``, the whole file system."""

    def __init__(self, roots: Sequence[str] | None) -> None:
        self._roots = None if roots is None else [Path(root).resolve() for root in roots]

    @staticmethod
    def of(config: Config | Mapping[str, str]) -> Jail:
        """The folders that the worker allows a connector or task with this config."""
        text = config.get(ROOTS)
        if text is None:
            return Jail(None)
        return Jail([root.strip() for root in text.split(",") if root.strip()])

    def check(self, path: str) -> None:
        """UserError if ``path`` is outside these folders."""
        if self._roots is None:
            return
        real = Path(path).resolve()
        if not any(real.is_relative_to(root) for root in self._roots):
            raise UserError(
                f"{path} is not in a folder that file connectors of this worker may use. Choose "
                f"another, or have the worker's operator add its folder to {ROOTS}."
            )

    def check_open(self, path: str, descriptor: int) -> None:
        """As ``check``, for the file that is really open: a link may have changed in between."""
        if self._roots is None:
            return
        self.check(path)
        if not os.path.samestat(Path(path).resolve().stat(), os.fstat(descriptor)):
            raise RetriableError(f"{path} was replaced while it was opened")


EVERYWHERE: Final = Jail(None)
