"""Which files a configuration means: one by its name, or many by a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from penstock.plugins.files.file_errors import missing_file
from penstock.plugins.files.file_glob import FileGlob
from penstock.plugins.files.file_jail import Jail
from penstock.plugins.files.file_source_config import FILE, FILE_GLOB, FILE_SOURCE_CONFIG
from penstock.sdk.errors import ConfigError, UserError

_NEITHER: Final = " ".join(
    [
        missing_file("read", "standard input"),
        f"To read many files, set '{FILE_GLOB}' to a pattern instead.",
    ]
)
_BOTH: Final = (
    f"Set either '{FILE}', to read one file, or '{FILE_GLOB}', to read all files that match a "
    "pattern, but not both."
)


class Files(Protocol):
    """The files to read."""

    @property
    def folder(self) -> str:
        """The path that must be readable to find them."""
        ...

    def names(self) -> list[str]:
        """Their paths, as far as they are known now. May raise ``OSError``."""
        ...


class OneFile:
    """A literal path, whatever characters are in it, and whether it exists or not."""

    def __init__(self, path: str) -> None:
        self.folder = path
        self._names = [path]

    def names(self) -> list[str]:
        """Always this one."""
        return self._names


def choice_error(config: Mapping[str, str]) -> ConfigError | None:
    """The problem with the choice of files, if there is one."""
    file, pattern = _given(config)
    if file and pattern:
        return ConfigError(_BOTH, key=FILE_GLOB)
    if not file and not pattern:
        return ConfigError(_NEITHER, key=FILE)
    return _outside(config, file, pattern)


def chosen_files(config: Mapping[str, str]) -> Files:
    """The files that ``config`` names; ``ConfigError`` if it names none or is ambiguous."""
    error = choice_error(config)
    if error is not None:
        raise error
    file, pattern = _given(config)
    return OneFile(file) if file else FileGlob(pattern)


def reads_many(config: Mapping[str, str]) -> bool:
    """Whether ``config`` has a pattern."""
    return bool(_given(config)[1])


def names_any(config: Mapping[str, str]) -> bool:
    """Whether ``config`` says at all what to read."""
    return any(_given(config))


def _outside(config: Mapping[str, str], file: str, pattern: str) -> ConfigError | None:
    """For a pattern, the folder is checked; its files are checked when they are opened."""
    try:
        Jail.of(config).check(file or FileGlob(pattern).folder or ".")
    except UserError as error:
        return ConfigError(str(error), key=FILE if file else FILE_GLOB)
    return None


def _given(config: Mapping[str, str]) -> tuple[str, str]:
    keys = FILE_SOURCE_CONFIG
    return keys[FILE].read(config) or "", keys[FILE_GLOB].read(config) or ""
