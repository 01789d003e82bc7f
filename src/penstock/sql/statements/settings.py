"""Statements about the session itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SetProperty:
    """``SET 'k' = 'v'``."""

    key: str
    value: str


@dataclass(frozen=True)
class UnsetProperty:
    """``UNSET 'k'``."""

    key: str


@dataclass(frozen=True)
class Define:
    """``DEFINE name = 'value'``."""

    name: str
    value: str


@dataclass(frozen=True)
class Undefine:
    """``UNDEFINE name``."""

    name: str


@dataclass(frozen=True)
class RunScript:
    """``RUN SCRIPT 'file'``."""

    file: str


SessionStatement = SetProperty | UnsetProperty | Define | Undefine | RunScript
