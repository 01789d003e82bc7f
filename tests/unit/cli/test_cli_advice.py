"""Every error that a command can end in says what to do: in its text, or as its next step."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import KafkaError

import penstock
from penstock.cli.next_steps import next_step
from penstock.client import ConnectApiError
from penstock.client.errors import ConnectError, WorkerUnreachable
from penstock.consumers.errors import ConsumerError, Fenced, FlushFailed, TopicExists
from penstock.embedded.errors import (
    BrokerStartFailed,
    DataFolderInUse,
    EmbeddedError,
    PortInUse,
)
from penstock.kafka.errors import AccessDenied, BrokerUnavailable, KafkaFault
from penstock.kube.errors import KubeError
from penstock.sdk.errors import PenstockError

SOURCE = Path(penstock.__file__).parent
ROOMS = ("cli", "client", "consumers", "deploy", "embedded", "kube")
BASES = (PenstockError, KafkaFault, EmbeddedError)
ADVICE = re.compile(
    r"""`[a-z] | pip\ install  # a command
    | (?<!\w)--[a-z]          # an option
    | \b(?:is|are|must\ be)\ one\ of | is\ an\ Offset, | looks\ like | names\ have  # what is right
    | (?:^|[.:;,(…]\ |\b(?:and|or|then|to|first)\ )  # an imperative
      (?:add|ask|check|choose|commit|correct|create|do|end|fix|free|give|go|install|leave|log\ in
        |look|make|name|open|put|raise|remove|repair|reset|run|save|see|send|set|share|start|stop
        |take|try|unset|upgrade|use|wait|write)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
OF_A_PROGRAMMER = {"embedded/broker.py", "embedded/postgres.py", "consumers/rfc.py"}
"""Objects that were called in the wrong order: only code can do that."""

OF_THEIR_OWN = [
    AccessDenied("read topic t", KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)),
    DataFolderInUse(Path("d"), 5),
    PortInUse(9092),
    WorkerUnreachable("http://127.0.0.1:8083", "Connection refused"),
]
"""Errors whose class makes the text."""


class Raised(NamedTuple):
    where: str
    kind: type[Exception]
    text: str
    advice: str


def text_of(node: ast.AST, names: Mapping[str, object]) -> str:
    """A text as it stands in the source, with constants; other values that go into it are dots."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part, names) for part in parts)
        case ast.FormattedValue(value=value):
            return text_of(value, names)
        case ast.BinOp(left=first, right=second) | ast.IfExp(body=first, orelse=second):
            return f"{text_of(first, names)} {text_of(second, names)}"
        case ast.Name(id=name) if isinstance(found := names.get(name), str):
            return found
        case _:
            return "…"


def kinds() -> dict[str, type[Exception]]:
    """Errors for users, by the names of their classes; some modules import them when needed."""
    found, left = {}, list(BASES)
    while left:
        kind = left.pop()
        found[kind.__name__] = kind
        left += kind.__subclasses__()
    return found


def made_in(file: Path) -> Iterator[Raised]:
    """The errors for users that a module makes, where it makes the text, too."""
    place = file.relative_to(SOURCE)
    module = "penstock." + str(place.with_suffix("")).replace("/", ".").removesuffix(".__init__")
    names = vars(importlib.import_module(module))
    known = kinds()
    calls = [n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call)]
    advised = {
        id(call.func.value): text_of(call.args[0], names)
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "advising"
    }
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id in known:
            text = " ".join(text_of(each, names) for each in call.args)
            advice = advised.get(id(call), "")
            yield Raised(f"{place}:{call.lineno}", known[call.func.id], text, advice)


def every_error() -> list[Raised]:
    files = [file for room in ROOMS for file in sorted((SOURCE / room).rglob("*.py"))]
    skipped = {SOURCE / each for each in OF_A_PROGRAMMER}
    return [e for f in files if f not in skipped and "scaffold" not in f.parts for e in made_in(f)]


def is_told_here(each: Raised) -> bool:
    """Whether the text is made there, and neither comes from elsewhere nor from the class."""
    own = issubclass(each.kind, tuple(map(type, OF_THEIR_OWN)))
    return not own and len(re.findall(r"[a-z]{2,}", each.text)) > 2


def says_what_to_do(each: Raised) -> bool:
    return bool(each.advice or getattr(each.kind, "next_step", "") or ADVICE.search(each.text))


def test_every_error_of_a_command_says_what_to_do() -> None:
    found = [each for each in every_error() if is_told_here(each)]
    assert len(found) > 100, "they are looked for in the wrong place"
    assert [each for each in found if not says_what_to_do(each)] == []


@pytest.mark.parametrize("error", OF_THEIR_OWN, ids=lambda error: type(error).__name__)
def test_errors_whose_class_makes_the_text_say_what_to_do(error: Exception) -> None:
    assert ADVICE.search(str(error))


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("topic … does not exist", False),
        ("cannot create topic …: …", False),
        ("the worker took it away", False),
        ("topic … does not exist: create it", True),
        ("`penstock topic list` lists the topics", True),
        ("the topic is internal; --force deletes it", True),
    ],
)
def test_what_counts_as_advice(text: str, advice: bool) -> None:
    assert bool(ADVICE.search(text)) == advice


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BrokerUnavailable("no broker answered within 10 s"), "penstock doctor --bootstrap"),
        (FlushFailed("no answer; trying again"), "penstock doctor --bootstrap"),
        (Fenced.of("billing"), "penstock consumer list"),
        (TopicExists('topic "t" already exists.'), "--if-not-exists"),
        (BrokerStartFailed("Kafka did not answer in time"), "penstock doctor"),
        (KubeError(403, "Forbidden", "pods is forbidden"), "kubectl auth can-i"),
        (KubeError(503, "", "HTTP 503"), "kubectl get --raw /readyz"),
    ],
)
def test_errors_whose_class_knows_the_next_step(error: Exception, words: str) -> None:
    assert words in next_step(error)


@pytest.mark.parametrize("base", [ConnectError, ConsumerError, KafkaFault, PenstockError])
def test_a_base_gives_no_advice_to_all(base: type[Exception]) -> None:
    """It would be wrong for most."""
    assert next_step(base("it failed")) == ""
    assert next_step(ConnectApiError(400, "wrong")) == ""
