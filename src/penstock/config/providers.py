"""Config providers: look up the values that a connector's config only refers to.

Only the worker's config can define them. A lease carries the providers but none of their values:
the task resolves its references itself, at the last moment, on the host where it runs.

A path that is not allowed and a missing file or variable return None, and the reference stays as
written. A value that exists but cannot be read raises ConfigError, which never shows its content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from penstock.kafka.properties import parse_properties
from penstock.sdk.config_providers import ConfigProvider
from penstock.sdk.errors import ConfigError


class Provider(Protocol):
    """Looks one value up. Picklable."""

    def get(self, path: str, key: str) -> str | None:
        """The value, or None if it does not exist or may not be read."""
        ...

    def file(self, path: str, key: str) -> Path | None:
        """The file that holds the value, if there is one and it may be read."""
        ...


@dataclass(frozen=True)
class AllowedPaths:
    """Folders and files that may be read. Symbolic links are resolved on both sides."""

    roots: tuple[str, ...]

    def real(self, path: str | Path) -> Path | None:
        """Where ``path`` really is; None if that is not allowed."""
        if not Path(path).is_absolute():
            return None
        real = Path(os.path.realpath(path))
        inside = any(real.is_relative_to(os.path.realpath(root)) for root in self.roots)
        return real if inside else None


@dataclass(frozen=True)
class FileProvider:
    """``${file:/folder/secrets.properties:key}``: an entry of a properties file."""

    allowed: AllowedPaths

    def get(self, path: str, key: str) -> str | None:
        """The entry of this key."""
        file = self.file(path, key)
        return None if file is None else _entries(file, path).get(key)

    def file(self, path: str, key: str) -> Path | None:
        """The properties file."""
        return self.allowed.real(path)


@dataclass(frozen=True)
class DirectoryProvider:
    """``${dir:/folder:name}``: the whole content of a file, as Kubernetes mounts secrets."""

    allowed: AllowedPaths

    def get(self, path: str, key: str) -> str | None:
        """What the file of this name holds."""
        file = self.file(path, key)
        if file is None or not file.is_file():
            return None
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise ConfigError(f"Could not read file {key} in {path}") from None

    def file(self, path: str, key: str) -> Path | None:
        """The file; None if the name leads out of the folder."""
        plain = key and "/" not in key and key not in {".", ".."}
        return self.allowed.real(Path(path) / key) if plain else None


@dataclass(frozen=True)
class EnvVarProvider:
    """``${env:NAME}``: a variable of the environment in which the task runs."""

    pattern: str

    def get(self, path: str, key: str) -> str | None:
        """The variable, if its whole name matches the pattern."""
        if path:
            raise ConfigError(
                f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'"
            )
        return os.environ.get(key) if re.fullmatch(self.pattern, key) else None

    def file(self, path: str, key: str) -> Path | None:
        """None: the environment of a process does not change."""
        return None


@dataclass(frozen=True)
class PluggedProvider:
    """One that came by an entry point: errors in it are reported without a secret."""

    name: str
    inner: ConfigProvider

    def get(self, path: str, key: str) -> str | None:
        """What it finds."""
        try:
            return self.inner.get(path, key)
        except ConfigError:
            raise
        except Exception as error:  # noqa: BLE001 (its text may hold what is secret)
            raise ConfigError(
                f"Config provider {self.name} could not look up {key} in {path or 'no path'}: "
                f"{type(error).__name__}"
            ) from None

    def file(self, path: str, key: str) -> Path | None:
        """None: a service does not say when a value changes."""
        return None


def _entries(file: Path, shown: str) -> dict[str, str]:
    try:
        return parse_properties(file.read_text(encoding="utf-8"), shown)
    except (OSError, UnicodeDecodeError, ConfigError):
        # Whatever is wrong with the file, its text must not appear in the error.
        raise ConfigError(f"Could not read properties from file {shown}") from None


def modified(files: Iterable[Path]) -> dict[str, tuple[int, int, int] | None]:
    """A value that changes when the file does; None if the file does not exist."""
    return {str(file): _mark(file) for file in files}


def _mark(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
