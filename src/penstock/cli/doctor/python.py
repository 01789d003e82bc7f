"""Python and the packages that Penstock needs; needs nothing but Python itself."""

from __future__ import annotations

import importlib
import platform
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from penstock.cli.doctor.findings import Finding, failed, ok, warning
from penstock.cli.doctor.requirements import Requirement, fits, parse

if TYPE_CHECKING:
    from penstock.cli.doctor.asked import Asked

PACKAGE = "penstock"


def check(_: Asked) -> list[Finding]:
    """As `python_findings`."""
    return python_findings()


def python_findings() -> list[Finding]:
    """Whether this Python fits and every package is there, fits and can be imported."""
    try:
        penstock = distribution(PACKAGE)
    except PackageNotFoundError:
        return [_not_installed()]
    wanted = penstock.metadata["Requires-Python"] or ""
    requirements = filter(None, map(parse, penstock.requires or []))
    return [python_version(platform.python_version(), wanted), *packages(list(requirements))]


def python_version(version: str, wanted: str) -> Finding:
    """Whether a version of Python fits."""
    if fits(version, wanted):
        return ok("Python", f"{version} ({sys.executable})")
    return failed(
        "Python",
        f"{version} ({sys.executable}) does not fit: {wanted} is needed",
        "Install a fitting Python and set Penstock up with it: "
        "make clean setup PYTHON=/path/to/python3.13",
    )


def packages(requirements: list[Requirement]) -> list[Finding]:
    """A line for each package that is not as it should be, or one for all of them."""
    broken = {str(required): why for required in requirements if (why := _trouble(required))}
    if not broken:
        versions = ", ".join(f"{r.name} {distribution(r.name).version}" for r in requirements)
        return [ok("packages", versions)]
    advice = (
        f"Install what is needed: {sys.executable} -m pip install "
        + " ".join(f"'{required}'" for required in broken)
        + "\nIn Penstock's source folder instead: make clean setup"
    )
    return [failed("packages", "; ".join(broken.values()), advice)]


def _trouble(required: Requirement) -> str:
    try:
        found = distribution(required.name)
    except PackageNotFoundError:
        return f"{required.name} is not installed ({required} is needed)"
    if not fits(found.version, required.versions):
        return f"{required.name} {found.version} does not fit: {required} is needed"
    return _import_trouble(found, required)


def _import_trouble(found: Distribution, required: Requirement) -> str:
    try:
        importlib.import_module(module_of(found))
    except Exception as error:  # noqa: BLE001 (a broken package may raise anything)
        why = str(error).strip().partition("\n")[0]
        return f"{required.name} {found.version} cannot be imported: {why or type(error).__name__}"
    return ""


def module_of(package: Distribution) -> str:
    """The module to import for a package."""
    own = package.name.replace("-", "_")
    modules = (package.read_text("top_level.txt") or own).split()
    return own if own in modules else modules[0]


def _not_installed() -> Finding:
    return warning(
        "packages",
        f"Penstock is not installed in {sys.executable}, so its requirements are unknown",
        "Set it up: make setup in its source folder, then use .venv/bin/penstock",
    )
