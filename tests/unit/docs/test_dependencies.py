"""What the source imports is what pyproject.toml declares, and where."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from project_scripts import ROOT

SOURCE = ROOT / "src/penstock"
PACKAGES = {
    "kafka": "kafka-python",
    "yaml": "pyyaml",
    "confluent_kafka": "confluent-kafka",
    "prompt_toolkit": "prompt-toolkit",
    "adbc_driver_postgresql": "adbc-driver-postgresql",
    "adbc_driver_sqlite": "adbc-driver-sqlite",
}
"""Packages that are not named as their modules are."""
OF_A_WORKER = {"engine", "rest", "runtime", "plugins", "sql"}
"""Rooms that nobody needs who only has a client or consumers."""
ON_REQUEST = {"adbc-driver-sqlite"}
"""In no extra: whoever reads SQLite is told to install it."""
FOR_TESTS = "pytest"
"""Authors of connectors who use the contract kit have it."""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, Any] = tomllib.load(file)
    return found["project"]


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~ \[;]", text)[0] for text in requirements}


def imports(room: Path) -> Iterator[str]:
    """The packages that a file or folder imports, anywhere in it."""
    for file in [room] if room.is_file() else room.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module


def packages(room: Path) -> set[str]:
    modules = {name.partition(".")[0] for name in imports(room)}
    foreign = modules - sys.stdlib_module_names - {"penstock"}
    return {PACKAGES.get(module, module) for module in foreign}


def test_what_is_imported_is_declared_and_what_is_declared_is_imported(
    project: dict[str, Any],
) -> None:
    extras = project["optional-dependencies"]
    needed = [extras[extra] for extra in ("worker", "operator", "avro", "s3", "postgres", "sql")]
    declared = names(project["dependencies"]).union(*map(names, needed))
    assert packages(SOURCE) - {FOR_TESTS} - ON_REQUEST == declared
    assert FOR_TESTS not in packages(SOURCE / "sdk" / "sources"), "only the contract kit needs it"


def test_only_rooms_of_a_worker_import_what_only_a_worker_has(project: dict[str, Any]) -> None:
    of_a_worker = names(project["optional-dependencies"]["worker"])
    rooms = [room for room in SOURCE.iterdir() if room.is_dir() or room.suffix == ".py"]
    needing = {room.name for room in rooms if packages(room) & of_a_worker}
    # `frame()` of a consumer is given a Spark session by its caller, and so has Spark.
    assert needing <= OF_A_WORKER | {"consumers"}
    assert packages(SOURCE / "consumers") & of_a_worker == {"pyspark"}
