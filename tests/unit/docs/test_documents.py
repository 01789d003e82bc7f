"""Whatever the documents name exists: files, make targets, commands, tests, options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from penstock.cli.main import app
from penstock.runtime.worker_config import WORKER

ROOT = Path(__file__).parents[3]
DOCUMENTS = [
    ROOT / name
    for name in (
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "docs/metrics.md",
        "docs/settings.md",
        "docs/kafka-connect.md",
        "docs/consumers.md",
        "examples/README.md",
    )
]
EXAMPLES = sorted(
    file.name for file in (ROOT / "examples").glob("[0-9][0-9]-*") if file.suffix in (".py", ".sh")
)


@pytest.fixture(params=DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def document(request: pytest.FixtureRequest) -> Path:
    file: Path = request.param
    return file


def test_links_lead_to_files(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text())
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_make_targets_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    code = r"`([^`\n]+)`|^((?:make|bash|\.venv)\b.*)$"
    pairs = re.findall(code, document.read_text(), re.MULTILINE)
    named = {t for pair in pairs for t in re.findall(r"^make ([a-z]+)", "".join(pair))}
    assert named <= targets


def test_commands_exist(document: Path) -> None:
    text = document.read_text()
    named = re.findall(r"(?:`|bin/|^)penstock ((?:[a-z]+(?:-[a-z]+)* ?)+)", text, re.MULTILINE)
    assert [words for words in named if not is_command(words.split())] == []


def is_command(words: list[str]) -> bool:
    """Whether the words name a command; words behind a whole command are its arguments."""
    command = typer.main.get_command(app)
    for word in words:
        known = getattr(command, "commands", None)
        if known is None:
            return True
        if word not in known:
            return False
        command = known[word]
    return True


def test_paths_of_the_tree_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:tests|src|scripts|requirements|examples)/[\w./-]+|\.ci/run)", text)
    rooms = re.findall(r"`((?:sdk|columnar|rest|runtime|client|cli)/[\w./]*)`", text)
    places = [ROOT / name for name in named] + [ROOT / "src/penstock" / room for room in rooms]
    assert len(places) > 20
    assert [str(place) for place in places if not place.exists()] == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_say_how_they_are_run_and_are_listed(example: str) -> None:
    program = "bash" if example.endswith(".sh") else ".venv/bin/python"
    command = f"{program} examples/{example}"
    head = (ROOT / "examples" / example).read_text()[:600]
    assert command in head
    assert f"`{command}`" in (ROOT / "examples/README.md").read_text()
    assert f"(examples/{example})" in (ROOT / "README.md").read_text()


def test_the_settings_are_all_there() -> None:
    text = (ROOT / "docs/settings.md").read_text()
    keys = WORKER.names()
    up = typer.main.get_group(app).commands["up"]
    options = [name for p in up.params for name in p.opts if name not in ("-h", "--help")]
    variables = [p.envvar for p in up.params if p.envvar]
    assert len(options) > 5
    assert [name for name in (*keys, *options, *variables) if f"`{name}" not in text] == []


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 5
