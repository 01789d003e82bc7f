"""Whatever the documents name exists: files, make targets, commands, tests, options."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from penstock import consumers
from penstock.cli.root import program
from penstock.runtime.config.worker_config import WORKER

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src/penstock"
SETTINGS = ROOT / "docs/settings.md"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")])
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


@cache
def penstock_command() -> Any:
    """What `penstock` is, which takes a tenth of a second to put together."""
    return typer.main.get_command(program())


def is_command(words: list[str]) -> bool:
    """Whether the words name a command; words behind a whole command are its arguments."""
    command = penstock_command()
    for word in words:
        known = getattr(command, "commands", None)
        if known is None:
            return True
        if word not in known:
            return False
        command = known[word]
    return True


def test_options_of_shown_commands_exist(document: Path) -> None:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE)
    texts = [text.replace("\\\n", " ") for language, text in fenced if not language]
    shown = [line for text in texts for line in text.splitlines()]
    assert [line for line in shown if unknown_options(line)] == []


def unknown_options(line: str) -> list[str]:
    """Options in a line of a shell that the command in it does not have."""
    _, found, rest = re.split("# ", line)[0].partition("penstock ")
    words = re.split(r" [|<>]", rest)[0].split()
    command = penstock_command()
    while found and words and words[0] in getattr(command, "commands", ()):
        command = command.commands[words.pop(0)]
    known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    given = [word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]
    return [option for option in given if option not in known] if found else []


def test_the_python_of_the_guide_to_consumers() -> None:
    text = (ROOT / "docs/consumers.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 3
    for block in blocks:
        compile(block, "consumers.md", "exec")
    (built,) = (block for block in blocks if "Builder" in block)
    names: dict[str, Any] = {}
    exec(built.partition("with ")[0], names)  # noqa: S102 (our own text)
    options = names["config"].consumer(bootstrap_servers="unasked:9092").options
    assert (options.name, options.flush, options.partitions) == ("billing", 0.5, {0})


def test_the_errors_of_consumers_are_all_told() -> None:
    text = (ROOT / "docs/consumers.md").read_text()
    kinds = [name for name in consumers.__all__ if is_error(getattr(consumers, name))]
    assert len(kinds) > 6
    assert [name for name in kinds if f"`{name}`" not in text] == []


def is_error(thing: Any) -> bool:
    """Whether it is an error of its own, and not their base."""
    base = consumers.ConsumerError
    return isinstance(thing, type) and issubclass(thing, base) and thing is not base


def test_paths_of_the_tree_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:tests|src|scripts|requirements|examples)/[\w./-]+|\.ci/run)", text)
    rooms = re.findall(r"`((?:sdk|columnar|rest|runtime|client|cli)/[\w./]*)`", text)
    places = [ROOT / name for name in named] + [ROOT / "src/penstock" / room for room in rooms]
    assert len(places) > 20
    assert [str(place) for place in places if not place.exists()] == []


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "docs/decisions.md"])
def test_modules_and_symbols_of_the_architecture_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    modules = re.findall(r"`([a-z]\w*/[\w/]+\.py)`", text)
    missing = [m for m in modules if not any((b / m).exists() for b in (ROOT, SOURCE))]
    code = "\n".join(file.read_text() for file in SOURCE.rglob("*.py"))
    symbols = re.findall(r"`([A-Z][A-Za-z]+)\.(\w+)(?:\([^`]*\))?`", text)
    unknown = [
        f"{cls}.{member}"
        for cls, member in symbols
        if f"class {cls}" not in code or not re.search(rf"\b{member}\b", code)
    ]
    assert len(modules) > 4
    assert (missing, unknown) == ([], [])


def test_members_and_tests_of_the_architecture_exist() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    members: dict[str, set[str]] = {}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                inside = members.setdefault(node.name, set())
                inside.update(n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef))
                inside.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    symbols = re.findall(r"`([A-Z][A-Za-z]+)\.(\w+)(?:\([^`]*\))?`", text)
    unknown = [f"{cls}.{name}" for cls, name in symbols if name not in members.get(cls, ())]
    tests = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", text)
    missing = [name for name in named if f"def {name}(" not in tests]
    assert len(named) > 20
    assert (unknown, missing) == ([], [])


def test_every_room_and_sub_room_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    folders = [file.parent for file in SOURCE.glob("*/__init__.py")]
    assert len(folders) > 10
    assert [room.name for room in folders if f"`{room.name}`](#" not in text] == []
    inside = [file.parent.name for file in SOURCE.glob("*/*/__init__.py")]
    assert [name for name in inside if f"`{name}`" not in text] == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_say_how_they_are_run_and_are_listed(example: str) -> None:
    program = "bash" if example.endswith(".sh") else ".venv/bin/python"
    command = f"{program} examples/{example}"
    head = (ROOT / "examples" / example).read_text()[:600]
    assert command in head
    assert f"`{command}`" in (ROOT / "examples/README.md").read_text()
    assert f"(examples/{example})" in (ROOT / "README.md").read_text()


def test_the_settings_are_all_there() -> None:
    text = SETTINGS.read_text()
    keys = WORKER.names()
    up = typer.main.get_group(program()).commands["up"]
    options = [name for p in up.params for name in p.opts if name not in ("-h", "--help")]
    variables = [p.envvar for p in up.params if p.envvar]
    assert len(options) > 5
    assert [name for name in (*keys, *options, *variables) if f"`{name}" not in text] == []


def test_environment_variables_are_all_there_with_their_commands() -> None:
    rows = dict(re.findall(r"^\| (`PENSTOCK_.*?) \| (.*) \|$", SETTINGS.read_text(), re.MULTILINE))
    code = "\n".join(file.read_text() for file in SOURCE.rglob("*.py"))
    used = set(re.findall(r"\bPENSTOCK_[A-Z_]+\b", code)) - {"PENSTOCK_COMPLETE"}  # click's own
    assert used == set(re.findall(r"PENSTOCK_[A-Z_]+", " ".join(rows)))
    users = re.findall(r"`([a-z]+)`", rows["`PENSTOCK_BOOTSTRAP_SERVERS`"])
    groups = typer.main.get_group(program()).commands
    assert {name for name, each in groups.items() if takes_brokers(each)} == set(users)


def takes_brokers(command: Any) -> bool:
    """Whether it, or a command in it, takes them from the environment."""
    inside = getattr(command, "commands", {}).values()
    own = any(p.envvar == "PENSTOCK_BOOTSTRAP_SERVERS" for p in command.params)
    return own or any(map(takes_brokers, inside))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 5
