"""Commands on a broker that lets nobody in without a password, and allows only what ACLs say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclPermissionType,
    ResourcePatternType,
)

from acl_table import KINDS, OPERATIONS
from commands import Commands, Outcome
from guarded_broker import GuardedBroker
from penstock.consumers.directory import Directory
from penstock.embedded import Jars, Java
from penstock.kafka.clients import Connection

pytestmark = pytest.mark.heavy

USER, PASSWORD = "ann", "open-sesame-4711"
T, NAME, REGISTRY, READER = "orders", "billing", "penstock-consumers", "penstock-reader"
Right = tuple[str, str, str]
NAMED_BY_READERS: Right = ("group", READER, "Describe")
"""What is read before the client has heard that it may not, is read: a test of its own waits."""
READ_REGISTRY: list[Right] = [("topic", REGISTRY, "Read"), NAMED_BY_READERS]
LEAST: dict[str, list[Right]] = {
    f"topic create {T}": [("topic", T, "Create"), ("topic", T, "Describe")],
    f"topic describe {T}": [("topic", T, "Describe"), *READ_REGISTRY],
    f"topic delete {T}": [("topic", T, "Delete"), *READ_REGISTRY],
    f"produce {T}": [("topic", T, "Write")],
    f"produce {T} --atomic": [
        ("topic", T, "Write"),
        ("transactional id", "penstock-produce-", "Write"),
    ],
    f"consume {T} -B -d": [("topic", T, "Read"), NAMED_BY_READERS],
    f"consume {T} -B -d -c {NAME}": [
        ("topic", T, "Read"),
        ("group", NAME, "Read"),
        ("topic", REGISTRY, "Write"),
        ("topic", REGISTRY, "DescribeConfigs"),
        *READ_REGISTRY,
    ],
    "consumer list": READ_REGISTRY,
    f"consumer reset {NAME} {T} -B": [
        ("topic", T, "Read"),
        ("group", NAME, "Read"),
        ("topic", REGISTRY, "Write"),
        ("topic", REGISTRY, "DescribeConfigs"),
    ],
    f"consumer update {NAME} --ttl 1h": [("topic", REGISTRY, "Write"), *READ_REGISTRY],
    f"consumer delete {NAME}": [
        ("topic", T, "Read"),
        ("group", NAME, "Delete"),
        ("topic", REGISTRY, "Write"),
        *READ_REGISTRY,
    ],
}
"""What a command needs, and nothing that it does not. Read, Write and Delete include Describe. The
registry is there already: whoever is the first to use a name also has to be allowed to Create it.
``consumer list`` shows the consumers of those topics that may be seen (Describe)."""


def acl(right: Right) -> AclBinding:
    kind, name, operation = right
    pattern = (
        ResourcePatternType.PREFIXED if kind == "transactional id" else ResourcePatternType.LITERAL
    )
    return AclBinding(
        KINDS[kind],
        name,
        pattern,
        f"User:{USER}",
        "*",
        OPERATIONS[operation],
        AclPermissionType.ALLOW,
    )


@pytest.fixture(scope="module")
def guarded(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[GuardedBroker]:
    made = GuardedBroker(tmp_path_factory.mktemp("guarded"), java, jars, {USER: PASSWORD})
    with made.broker:
        yield made


class Ann:
    """Runs commands with a password and with just the rights that she is given."""

    def __init__(self, guarded: GuardedBroker, commands: Commands, folder: Path) -> None:
        self._guarded = guarded
        self._commands = commands
        self._config = folder / "client.properties"
        self.log_in_with(PASSWORD)

    def log_in_with(self, password: str) -> None:
        settings = {**self._guarded.settings(USER), "sasl.password": password}
        self._config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    def may(self, rights: Iterable[Right]) -> None:
        self._guarded.revoke(USER)
        self._guarded.grant(map(acl, rights))

    def __call__(self, command: str) -> Outcome:
        words = [*command.split(), "--command-config", str(self._config)]
        outcome = self._commands(*words, stdin=b"one\ntwo\n")
        assert PASSWORD not in outcome.out + outcome.err
        assert len(outcome.err.splitlines()) <= 2, outcome.err
        return outcome


@pytest.fixture
def ann(
    guarded: GuardedBroker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Ann:
    return Ann(guarded, Commands(guarded.address, monkeypatch, capsysbinary), tmp_path)


@pytest.fixture
def orders(
    guarded: GuardedBroker,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Iterator[Commands]:
    """A topic, a consumer of it, and somebody who may do everything."""
    anybody = Commands(guarded.topics.bootstrap_servers, monkeypatch, capsysbinary)
    anybody.done("topic", "create", T)
    anybody.done("produce", T, stdin=b"zero\n")
    anybody.done("consumer", "reset", NAME, T, "-B")
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", guarded.address)
    yield anybody
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", guarded.topics.bootstrap_servers)
    anybody("topic", "delete", T)


@pytest.fixture
def put_back(guarded: GuardedBroker) -> Callable[[str], None]:
    """Has a command find what it is about: also after it has failed halfway."""
    directory = Directory(Connection(guarded.topics.bootstrap_servers))

    def put_back(command: str) -> None:
        if command.startswith("topic create"):
            known = guarded.topics.admin.list_topics(timeout=20).topics
            if T in known:
                guarded.topics.delete(T)
        elif command.startswith(("topic delete", "consumer reset")):
            directory.delete(NAME)

    return put_back


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize("command", LEAST)
def test_the_least_rights(ann: Ann, put_back: Callable[[str], None], command: str) -> None:
    for missing in (right for right in LEAST[command] if right != NAMED_BY_READERS):
        put_back(command)
        ann.may(right for right in LEAST[command] if right != missing)
        refused = ann(command)
        assert (refused.code, refused.out) == (1, ""), f"{missing} is not needed"
        kind, name, _ = missing
        assert re.search(rf"Error: Not allowed to .* {kind} {name}", refused.err), missing
    put_back(command)
    ann.may(LEAST[command])
    done = ann(command)
    assert done.code == 0, done.err


@pytest.mark.usefixtures("orders")
def test_what_is_done_with_a_topic_is_named(ann: Ann) -> None:
    """Whoever may see it is told what it may not do with it."""
    ann.may([("topic", T, "Describe"), *READ_REGISTRY])
    for command, words in (
        (f"consume {T} -B -d", f"read topic {T}"),
        (f"produce {T}", f"write to topic {T}"),
        (f"topic delete {T}", f"delete topic {T}"),
    ):
        refused = ann(command)
        assert (refused.code, refused.out) == (1, "")
        assert f"Error: Not allowed to {words} (TOPIC_AUTHORIZATION_FAILED" in refused.err


@pytest.mark.usefixtures("orders")
def test_readers_need_to_see_the_group_that_they_name(ann: Ann) -> None:
    ann.may([("topic", T, "Read")])
    refused = ann(f"consume {T} -n 99 -T 0")
    assert (refused.code, refused.out) == (1, "")
    assert f"Error: Not allowed to use group {READER} (GROUP_AUTHORIZATION" in refused.err


@pytest.mark.usefixtures("orders")
def test_a_list_has_what_may_be_seen(ann: Ann) -> None:
    ann.may(READ_REGISTRY)
    assert ann("consumer list -o jsonl").objects() == []
    assert "Nothing to sweep" in ann("consumer sweep").out, "what is hidden is not gone"
    ann.may([*READ_REGISTRY, ("topic", T, "Describe")])
    (only,) = ann("consumer list -o jsonl").objects()
    assert (only["consumer"], only["topic"], only["offset"]) == (NAME, T, 0)


@pytest.mark.usefixtures("orders")
def test_a_wrong_password(ann: Ann, guarded: GuardedBroker) -> None:
    wrong = "wrong-4711"
    ann.log_in_with(wrong)
    for command in ("consumer list", f"produce {T}", f"consume {T} -c {NAME}", "topic list"):
        refused = ann(command)
        assert (refused.code, refused.out) == (1, "")
        assert f"The brokers at {guarded.address} refuse to authenticate us" in refused.err
        assert "--command-config" in refused.err
        assert wrong not in refused.err
