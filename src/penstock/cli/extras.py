"""Which extra of Penstock brings a package that is missing."""

from __future__ import annotations

import re

_CONDITIONAL = re.compile(r"([A-Za-z0-9._-]+)[^;]*;.*\bextra == ['\"]([a-z0-9-]+)['\"]")


def extra_with(module: str) -> str | None:
    """The extra that needs the package of this name; None if none does, or if that is not known."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        stated = requires("penstock") or []
    except PackageNotFoundError:
        return None
    package = module.partition(".")[0].replace("_", "-")
    found = (match for text in stated if (match := _CONDITIONAL.match(text)))
    return next((match[2] for match in found if match[1].lower() == package), None)


def how_to_install(error: ModuleNotFoundError) -> str | None:
    """What to tell a user whose command needs an extra that is not installed."""
    extra = extra_with(error.name or "")
    if extra is None:
        return None
    return f'This needs {error.name}, which is not installed. Run: pip install "penstock[{extra}]"'
