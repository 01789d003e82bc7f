"""Plugins that come with a package but need an extra of it that is not installed.

An entry point names the extra it needs in brackets, ``S3 = "acme.s3:S3Connector [s3]"``. Where the
import fails because a module that the extra would bring is missing, people get the command to type
instead of a traceback.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint


def missing_extra(point: EntryPoint, error: BaseException) -> str | None:
    """What to install, if ``error`` came from loading ``point`` without its extra; None if not.

    A module of the plugin's own package that is missing is a defect, which no extra would fix.
    """
    if not isinstance(error, ModuleNotFoundError) or not point.extras or not error.name:
        return None
    if _package(error.name) == _package(point.module):
        return None
    owner = point.dist.name if point.dist else _package(point.module)
    command = f'pip install "{owner}[{",".join(point.extras)}]"'
    return f"{point.name} needs {_package(error.name)}, which is not installed. Run: {command}"


def _package(module: str) -> str:
    return module.partition(".")[0]
