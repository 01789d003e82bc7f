"""Every hint leads somewhere: the commands that texts name exist, with the options they name."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import typer.main

from penstock.cli import commands
from penstock.cli.root import program
from penstock.runtime.errors import BadRequest, NotFound
from penstock.runtime.loggers import Loggers
from penstock.runtime.offset_requests import sink_changes, source_changes
from penstock.runtime.offsets_api import STOP_FIRST

Run = Callable[..., Any]

SOURCE = Path(commands.__file__).parents[1]
IN_TEXT = re.compile(r"`(penstock [^`]+)`")
ROOT: Any = typer.main.get_command(program())


def texts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "VALUE"
                for part in node.values
            )


def hints() -> Iterator[tuple[str, str]]:
    for file in sorted(SOURCE.rglob("*.py")):
        for text in texts(file):
            for found in IN_TEXT.findall(text):
                yield f"{file.relative_to(SOURCE)}", found
    for words in commands.MEANT.values():
        yield "MEANT", f"penstock {words}"


def wrong(line: str) -> str:
    """What is wrong with a command line; only its words are looked at, not its values."""
    command: Any = ROOT
    words = shlex.split(line.split(" | ", maxsplit=1)[0].replace("...", ""))[1:]
    while words and not words[0].startswith("-") and hasattr(command, "commands"):
        word = words.pop(0)
        if word not in command.commands:
            return f"no command {word}"
        command = command.commands[word]
    known = {option for each in command.params for option in each.opts} | {"-h", "--help"}
    unknown = [w for w in words if w.startswith("-") and w != "-" and w.split("=")[0] not in known]
    return f"no option {unknown}" if unknown else ""


def test_every_command_in_a_text_exists() -> None:
    found = list(hints())
    assert len(found) > 60, "they are looked for in the wrong place"
    mistakes = {f"{where}: {line}": wrong(line) for where, line in found}
    assert {line: why for line, why in mistakes.items() if why} == {}


def test_what_is_looked_for_can_be_wrong() -> None:
    assert wrong("penstock get conectors") == "no command conectors"
    assert wrong("penstock stop connector NAME --now") == "no option ['--now']"
    assert wrong("penstock stop connector NAME --wait 3") == ""


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("status", "`penstock describe connector NAME`"),
        ("list", "`penstock get connectors`"),
        ("pause js", "`penstock pause connector js`"),
        ("restart js --only-failed", "`penstock restart connector js --only-failed`"),
        ("pause connectors js", "`penstock pause connector js`"),
        ("get connector", "`penstock get connectors`"),
        ("resrart connector js", "`penstock restart connector js`"),
        ("consumer lst", "`penstock consumer list`"),
    ],
)
def test_a_wrong_word_is_answered_with_what_was_meant(run: Run, line: str, meant: str) -> None:
    result = run(*line.split())
    assert result.code == 2
    assert f"Did you mean {meant}?" in result.err


MISTAKES = {
    "status": "Did you mean `penstock describe connector NAME`?",
    "pause js": "Did you mean `penstock pause connector js`?",
    "start js": "Did you mean `penstock up`?",
    "create js": "Did you mean `penstock apply -f FILE`?",
    "offsets js": "Did you mean `penstock get offsets NAME`?",
    "get connectors nosuch": "Next:  `penstock get connectors` lists the connectors.",
    "describe connector nosuch": "Next:  `penstock get connectors` lists the connectors.",
    "restart task js/7": "Next:  `penstock get connectors` lists the connectors.",
    "restart task js": "write the connector and a number, as orders/0.",
    "describe plugin nosuch": "Next:  `penstock get plugins --all` lists the plugins.",
    "get logger nosuch": "Next:  `penstock get loggers` lists the loggers.",
    "patch logger root -l loud": "Next:  Give one of TRACE, DEBUG",
    "patch offsets js": "give --source-partition and --source-offset; or",
    "patch offsets js --source-partition {} --source-offset 5": "--source-offset",
    "patch offsets sink --kafka-topic t --kafka-partition 0 --kafka-offset x": (
        "Next:  Give a whole number, 0 or more."
    ),
    "patch offsets sink --kafka-topic t --kafka-partition 0 --kafka-offset=-1": (
        "Next:  Give a whole number, 0 or more."
    ),
    "patch offsets js --source-partition '{\"a\":[1]}' --source-offset {}": (
        "Next:  Write them as `penstock get offsets NAME -o json` prints them."
    ),
    "delete offsets runs -y": "Next:  Stop it first: `penstock stop connector NAME`.",
    "wait connector js --for paused --timeout 0.01": "--timeout of `penstock wait`",
    "apply -f /no/such/file": "Give the path of a file that you may read.",
    "config use nosuch": "Next:  `penstock config list` lists the contexts,",
    "topic update orders": "Say what to change: --consumer-ttl or --config.",
    "consume orders --start 5 --end 2": "--end 2 lies before --start 5",
    "get connectors --url nonsense": "one looks like http://127.0.0.1:8083",
    "get connectors --url http://127.0.0.1:1": "Start one with `penstock up`",
}
"""A command that is wrong, and the hint that leads out of it."""


@pytest.fixture
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> Mock:
    """It refuses in the words of a real one."""
    monkeypatch.setenv("PENSTOCK_URL", url)
    part = {"state": "RUNNING", "worker_id": "w"}
    missing = NotFound("No status found for connector nosuch")

    def alter(name: str, offsets: list[Any]) -> str:
        sink_changes(offsets) if name == "sink" else source_changes(offsets)
        return "done"

    herder.connectors.return_value = ["js"]
    herder.status.return_value = {"type": "source", "connector": part, "tasks": []}
    herder.info.side_effect = missing
    herder.restart_task.side_effect = NotFound("Unknown task: js-7")
    herder.plugin_config.side_effect = NotFound("Unknown plugin nosuch.")
    herder.logger.side_effect = NotFound("Logger nosuch not found.")
    herder.set_logger_level.side_effect = Loggers().change
    herder.alter_offsets.side_effect = alter
    herder.reset_offsets.side_effect = BadRequest("It runs").advising(STOP_FIRST)
    return herder


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_gets_the_hint_that_leads_out_of_it(run: Run, worker: Mock, line: str) -> None:
    result = run(*shlex.split(line))
    assert result.code in {1, 2}
    assert MISTAKES[line] in result.err
    hints_given = result.err.count("Next:") + result.err.count("Did you mean")
    assert hints_given <= 1


def test_a_word_that_means_nothing_is_answered_with_what_there_is(run: Run) -> None:
    assert "takes one of: connectors, offsets, plugins" in run("get", "xyz").err
    assert "Did you mean" not in run("xyz").err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("up", "--port", "many"), "this must be a whole number"),
        (("up", "--port", "-1"), "this must be greater than or equal to 0"),
        (("get", "connectors", "-o", "xml"), "'xml' is not one of 'table', 'json', 'jsonl'"),
    ],
)
def test_wrong_values_in_plain_words(run: Run, args: tuple[str, ...], words: str) -> None:
    result = run(*args)
    assert result.code == 2
    assert words in result.err
    assert "Input should" not in result.err
    assert "Value error" not in result.err


def every_command(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, each in getattr(command, "commands", {}).items():
        yield from every_command(each, (*path, name))


@pytest.mark.parametrize("path", list(every_command(ROOT)), ids=" ".join)
def test_one_letter_and_the_same_forms_for_output(path: tuple[str, ...]) -> None:
    command = ROOT
    for word in path:
        command = command.commands[word]
    for option in command.params:
        if "--output" in option.opts:
            assert "-o" in option.opts
            forms = {form.value for form in type(option.default)}
            assert {"table", "jsonl"} | ({"json"} if path != ("consume",) else set()) <= forms


def test_whatever_deletes_asks_unless_told_not_to() -> None:
    found = {}
    for path in every_command(ROOT):
        command = ROOT
        for word in path:
            command = command.commands[word]
        if "delete" in path and not hasattr(command, "commands"):
            found[path] = {"-y", "--yes"} <= {each for o in command.params for each in o.opts}
    assert len(found) > 4
    assert all(found.values()), found


@pytest.mark.parametrize("path", list(every_command(ROOT)), ids=" ".join)
def test_help_on_80_columns(
    run: Run, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run(*path, "--help").out
    assert max(map(len, text.splitlines())) <= 80
    assert "<bool>" not in text
    assert not re.search(r"\w\.\.\.$", text, re.MULTILINE), "a summary is cut"
    usage = text.partition("\n\n")[0]
    assert not re.search(r"\[\[|\.\.\.[]}]", usage), "brackets or dots stand twice"
    assert not re.search(r"[\[{][a-z]+[\]}]", usage), "what stands for a value is in capitals"
    assert "…" not in text
