"""What commands list: as a table of one style, as a list of objects, or as one object per line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest
import typer.main

from penstock.cli import consumer, deploy, dlq, topic
from penstock.cli.doctor.findings import ok
from penstock.cli.root import program
from penstock.consumers.directory import Listed
from penstock.consumers.letters.letter import Letter
from penstock.consumers.letters.mailbox import Count, Mailbox
from penstock.consumers.registry.entries import RegistryKey
from penstock.consumers.topics_admin import Described
from penstock.deploy.cluster import DeployStatus

Run = Callable[..., Any]

ROOT: Any = typer.main.get_command(program())
TABLES = {
    "config list": "Current|Name|URL|Bootstrap servers",
    "consumer list": "Consumer|Topic|Partition|Offset|Lag|TTL|Last seen",
    "deploy status prod": "Name|Kind|Ready|Service",
    "describe plugin FileStreamSource": "Key|Type|Default|What it is",
    "dlq ls": "Topic|Letters|Connectors",
    "dlq replay dead --to t --dry-run": "Letter|To",
    "get connectors": "Name|Type|State|Tasks|Class",
    "get logger root": "Logger|Level|Changed",
    "get loggers": "Logger|Level|Changed",
    "get offsets a": "Partition|Offset",
    "get offsets a b": "Connector|Partition|Offset",
    "get plugins": "Type|Class|Version",
    "topic list": "Name|Partitions|Replicas|Status|Reason",
}
"""Commands, and the headings of their tables."""
OTHERS = [
    "describe connector a",
    "dlq show dead",
    "doctor",
    "patch logger root -l INFO",
    "topic describe t",
]
"""What is no table for a person, and the same objects for a program."""
OF_RECORDS = {("consume",), ("sql",)}
"""They print records and rows, in more forms."""
HEADING = re.compile(r"[A-Z][a-z]+( [a-z]+)*|URL|TTL")


def commands(command: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Those that list something."""
    if any("--output" in option.opts for option in command.params):
        yield path
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*path, name))


@pytest.fixture
def everything(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """A worker, brokers and a deployment with one or two of each kind."""
    monkeypatch.setenv("PENSTOCK_URL", url)
    part = {"state": "RUNNING", "worker_id": "w"}
    config = {"connector.class": "X", "errors.deadletterqueue.topic.name": "dead"}
    herder.connectors.return_value = ["a", "b"]
    herder.status.return_value = {"type": "sink", "connector": part, "tasks": [{"id": 0, **part}]}
    herder.info.return_value = {"name": "a", "type": "sink", "config": config, "tasks": []}
    herder.topics.return_value = {"a": {"topics": ["t"]}}
    herder.metrics.return_value = {"tasks": []}
    herder.offsets.return_value = {"offsets": [{"partition": {"p": "x  y"}, "offset": {"n": 1}}]}
    herder.plugins.return_value = [{"class": "X", "type": "sink", "version": "1"}]
    needed = {"required": False, "default_value": None, "documentation": "Where it is."}
    herder.plugin_config.return_value = [{"name": "file", "type": "STRING", **needed}]
    herder.loggers.return_value = {"root": {"level": "INFO", "last_modified": None}}
    herder.logger.return_value = {"level": "INFO", "last_modified": None}
    herder.set_logger_level.return_value = ["root", "penstock"]
    listed = Listed(RegistryKey("c", "t", 0), offset=1, lag=2, seen=3, expires=None)
    directory = Mock(listed=lambda: [listed], ttl_of_topic=lambda *_: None)
    found = Described("t", "id", 1, 1, "provisioned", "")
    admin = Mock(directory=directory, listed=lambda internal: [found])
    admin.describe.return_value, admin.consumers.return_value = found, [listed.key]
    monkeypatch.setattr(topic, "_admin", lambda *_: admin)
    monkeypatch.setattr(consumer, "_directory", lambda *_: directory)
    letter = Letter(0, 5, 1, b"k", b"v", (), {"topic": "t", "partition": "0"})
    mailbox = Mock(topic="dead", letters=lambda _: iter([letter]))
    monkeypatch.setattr(dlq, "_mailbox", lambda *_: mailbox)
    monkeypatch.setattr(dlq, "reached", Mock())
    monkeypatch.setattr(Mailbox, "count", lambda _: Count(1))
    monkeypatch.setattr("penstock.kafka.clients.admin", Mock())
    monkeypatch.setattr(
        "penstock.kafka.topics.partitions_of", lambda _, names: dict.fromkeys(names, 1)
    )
    status = DeployStatus("StatefulSet", 2, 1, None)
    deployment = Mock(__enter__=lambda self: self, __exit__=Mock(), status=lambda: status)
    monkeypatch.setattr(deploy, "_of", lambda *_: deployment)
    monkeypatch.setattr("penstock.cli.doctor.command.examine", lambda _: [ok("Java", "17")])
    run("config", "set", "here", "--url", url)


def test_every_command_that_lists_is_here() -> None:
    paths = {path for path in commands() if path not in OF_RECORDS}
    lines = [tuple(line.split()) for line in [*TABLES, *OTHERS]]
    assert {path for path in paths if not any(path == line[: len(path)] for line in lines)} == set()


@pytest.mark.parametrize("line", TABLES)
def test_a_piped_table_has_headings_of_one_style_and_is_not_padded(
    run: Run, everything: None, line: str
) -> None:
    result = run(*shlex.split(line))
    assert result.code == 0
    headings, *rows = result.out.splitlines()
    assert headings == TABLES[line].replace("|", "\t")
    assert all(HEADING.fullmatch(heading) for heading in headings.split("\t"))
    table = [row for row in rows if "\t" in row]
    assert table
    assert {row.count("\t") for row in table} == {headings.count("\t")}
    assert all(cell == cell.strip() for row in table for cell in row.split("\t"))


@pytest.mark.parametrize("line", [*TABLES, *OTHERS])
def test_json_is_a_list_of_objects_and_jsonl_the_same_objects_one_a_line(
    run: Run, everything: None, line: str
) -> None:
    words = shlex.split(line)
    as_list = json.loads(run(*words, "-o", "json").out)
    as_lines = [json.loads(each) for each in run(*words, "-o", "jsonl").out.splitlines()]
    assert isinstance(as_list, list)
    assert as_list
    assert all(isinstance(each, dict) for each in as_list)
    assert [set(each) for each in as_lines] == [set(each) for each in as_list]


def test_no_dead_letter_topics_are_an_empty_list(run: Run, herder: Mock, everything: None) -> None:
    herder.info.return_value = {"name": "a", "type": "sink", "config": {}, "tasks": []}
    assert run("dlq", "ls", "-o", "json").out == "[]\n"
    assert run("dlq", "ls", "-o", "jsonl").out == ""
