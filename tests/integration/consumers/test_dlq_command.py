"""`penstock dlq show` and `penstock dlq replay` against the broker."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from confluent_kafka import Message

from commands import Commands
from penstock.consumers.letters import replay
from penstock.kafka.errors import TransactionAborted
from penstock.kafka.transactions import Transactions
from topics import Topics

Headers = Sequence[tuple[str, bytes | None]]
STACK = b"org.acme.Bad: no\n\tat org.acme.Main"


def context(topic: str, *, offset: int = 0, error: str = "org.acme.Bad") -> list[tuple[str, bytes]]:
    """As Kafka Connect's sinks write them."""
    facts = {
        "topic": topic,
        "partition": "1",
        "offset": str(offset),
        "connector.name": "billing",
        "task.id": "0",
        "stage": "VALUE_CONVERTER",
        "class.name": "org.acme.Converter",
        "exception.class.name": error,
        "exception.message": "no number: password=hunter2 at jdbc://me:geheim@db/x",
    }
    written = [(f"__connect.errors.{name}", text.encode()) for name, text in facts.items()]
    return [*written, ("__connect.errors.exception.stacktrace", STACK)]


class Letters:
    """The test's own dead letter topic, and the topic that its letters come from."""

    def __init__(self, topics: Topics, name: str) -> None:
        self.home, self.dead = f"{name}-home", f"{name}-dead"
        self._topics = topics
        topics.create(self.home, 2)
        topics.create(self.dead)

    def write(self, *letters: tuple[bytes | None, Headers], partition: int = 0) -> None:
        """(value, headers) of each, in one transaction."""
        producer = self._topics.transaction(f"letters-of-{self.dead}")
        for value, headers in letters:
            producer.produce(
                self.dead,
                value,
                b"key",
                partition=partition,
                headers=list(headers),
                timestamp=1_700_000_000_000,
            )
        producer.commit_transaction(20)
        self._topics._settle(self.dead, [partition])

    def home_messages(self) -> list[Message]:
        return self._topics.messages(self.home)


@pytest.fixture
def letters(topics: Topics, name: str) -> Letters:
    return Letters(topics, name)


def test_letters_are_shown_with_their_origin_and_without_secrets(
    letters: Letters, penstock: Commands
) -> None:
    letters.write((b"x" * 5000, [*context(letters.home, offset=7), ("own", b"\x1b[31m")]))
    shown = penstock.done("dlq", "show", letters.dead).out
    assert f"{letters.home}-1 at offset 7" in shown
    assert "org.acme.Bad: no number: password=[hidden] at jdbc://[hidden]@db/x" in shown
    assert "billing, task 0" in shown
    assert "VALUE_CONVERTER, org.acme.Converter" in shown
    assert "(5,000 bytes in all)" in shown
    hidden = ("hunter2", "geheim", "\x1b", "org.acme.Main")
    assert [word for word in hidden if word in shown] == []
    assert "org.acme.Main" in penstock.done("dlq", "show", letters.dead, "--trace").out
    [told] = penstock.done("dlq", "show", letters.dead, "-o", "jsonl").objects()
    assert told["errors"]["offset"] == "7"
    assert told["value_bytes"] == 5000
    assert "hunter2" not in str(told)


def test_letters_are_chosen_by_place_error_connector_and_topic(
    letters: Letters, penstock: Commands
) -> None:
    letters.write(
        (b"a", context(letters.home)),
        (b"b", context(letters.home, error="RecordError")),
        (b"c", context("elsewhere")),
    )

    def values(*options: str) -> list[str]:
        found = penstock.done("dlq", "show", letters.dead, "-o", "jsonl", *options)
        return [each["value"] for each in found.objects()]

    assert values() == ["a", "b", "c"]
    assert values("--start", "1", "--end", "1") == ["b"]
    assert values("--error", "recorderror") == ["b"]
    assert values("--error", "Bad") == ["a", "c"]
    assert values("--from-topic", "elsewhere") == ["c"]
    assert values("--connector", "shipping") == []
    shown = penstock.done("dlq", "show", letters.dead, "-n", "2", "-o", "jsonl")
    assert len(shown.lines) == 2
    assert "more letters" in shown.err
    assert (
        "No such letters"
        in penstock.done(
            "dlq", "show", letters.dead, "--end", "0", "-p", "0", "--error", "Other"
        ).out
    )


def test_letters_return_to_where_they_were_read_as_they_were(
    letters: Letters, penstock: Commands
) -> None:
    letters.write(
        (b"a", [("own", b"1"), *context(letters.home), ("own", None)]),
        (None, context(letters.home)),
    )
    dry = penstock.done("dlq", "replay", letters.dead, "--dry-run")
    assert "2 letters would be replayed" in dry.out
    assert letters.home_messages() == []
    told = penstock.done("dlq", "replay", letters.dead, "-o", "jsonl").objects()
    target = {"topic": letters.home, "partition": 1}
    assert told == [{"partition": 0, "offset": n, "to": target} for n in (0, 1)]
    first, second = letters.home_messages()
    assert (first.key(), first.value(), first.partition()) == (b"key", b"a", 1)
    assert first.headers() == [("own", b"1"), ("own", None)]
    assert first.timestamp()[1] == 1_700_000_000_000
    assert (second.value(), second.headers()) == (None, None)


def test_a_part_of_the_letters_goes_to_another_topic(
    letters: Letters, topics: Topics, penstock: Commands, name: str
) -> None:
    letters.write(*((b"%d" % n, context(letters.home)) for n in range(5)))
    topics.create(f"{name}-other")
    replayed = penstock.done(
        "dlq", "replay", letters.dead, "--to", f"{name}-other", "--start", "1", "--end", "3"
    )
    assert replayed.lines[1:4] == [f"0/{n}\t{name}-other" for n in (1, 2, 3)]
    assert topics.values(f"{name}-other") == ["1", "2", "3"]
    assert letters.home_messages() == []


def test_letters_of_sources_name_their_source(
    letters: Letters, topics: Topics, penstock: Commands
) -> None:
    source = [
        ("__connect.errors.source.partition", b'{"filename":"in.txt"}'),
        ("__connect.errors.source.offset", b'{"position":4}'),
    ]
    letters.write((b'"two"', [*source, ("__connect.errors.topic", letters.home.encode())]))
    shown = penstock.done("dlq", "show", letters.dead).out
    assert 'source {"filename":"in.txt"} at {"position":4}' in shown
    assert f"for topic {letters.home}" in shown
    penstock.done("dlq", "replay", letters.dead)
    assert topics.values(letters.home) == ['"two"']


@pytest.mark.parametrize(
    ("origin", "why"),
    [
        ("", "no header says which topic"),
        ("gone", "There is no topic gone"),
        ("__consumer_offsets", "is an internal topic"),
    ],
)
def test_nothing_is_sent_if_one_letter_has_no_place_to_go(
    letters: Letters, penstock: Commands, origin: str, why: str
) -> None:
    letters.write((b"a", context(letters.home)), (b"b", context(origin) if origin else []))
    outcome = penstock("dlq", "replay", letters.dead)
    assert outcome.code == 1
    assert why in outcome.err
    assert letters.home_messages() == []


def test_the_dead_letter_topic_is_no_target(letters: Letters, penstock: Commands) -> None:
    letters.write((b"a", context(letters.home)))
    outcome = penstock("dlq", "replay", letters.dead, "--to", letters.dead)
    assert outcome.code == 1
    assert "is the dead letter topic itself" in outcome.err


def test_a_topic_that_is_not_there_and_a_wrong_range_are_told(
    penstock: Commands, name: str, letters: Letters
) -> None:
    assert "there is no topic" in penstock("dlq", "show", f"{name}-nowhere").err
    wrong = penstock("dlq", "replay", letters.dead, "--start", "5", "--end", "4")
    assert wrong.code == 2
    assert "lies before" in wrong.err


def test_an_aborted_transaction_sends_its_letters_once(
    letters: Letters, topics: Topics, penstock: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several transactions, of which one is aborted after its records were sent."""
    letters.write(*((b"%d" % n, context(letters.home)) for n in range(7)))
    monkeypatch.setattr(replay, "TOGETHER", 3)
    commit, calls = Transactions.commit, []

    def failing(self: Transactions, *args: object) -> None:
        calls.append(args)
        if len(calls) == 2:
            self.abort()
            raise TransactionAborted("as brokers do")
        commit(self, *args)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(Transactions, "commit", failing)
    told = penstock.done("dlq", "replay", letters.dead, "-o", "jsonl").objects()
    assert len(calls) == 4
    assert [each["offset"] for each in told] == list(range(7))
    assert topics.values(letters.home) == [str(n) for n in range(7)]


def test_what_was_replayed_is_told_when_the_rest_cannot_be(
    letters: Letters, topics: Topics, penstock: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters.write(*((b"%d" % n, context(letters.home)) for n in range(4)))
    monkeypatch.setattr(replay, "TOGETHER", 2)
    commit, calls = Transactions.commit, []

    def failing(self: Transactions, *args: object) -> None:
        calls.append(args)
        if len(calls) == 2:
            self.abort()
            raise TransactionAborted("never", passing=False)
        commit(self, *args)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(Transactions, "commit", failing)
    outcome = penstock("dlq", "replay", letters.dead)
    assert outcome.code == 1
    assert "2 letters replayed" in outcome.out
    assert "Letters 0/2, 0/3 were not replayed" in outcome.err
    assert topics.values(letters.home) == ["0", "1"]
