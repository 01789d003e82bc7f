"""`penstock produce`: lines of a file, or of standard input, into a topic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from penstock.cli.brokers import BootstrapServers, CommandConfig, reached
from penstock.cli.output import console
from penstock.cli.signals import StoppingSignals
from penstock.cli.streams import TopicName, examples, key_values, refuse_together

if TYPE_CHECKING:
    from penstock.consumers.producing import Outgoing, TopicWriter


EXAMPLES = examples(
    "printf 'one\\ntwo\\n' | penstock produce orders",
    "penstock produce orders -f orders.csv --key-separator ,",
    "penstock produce pictures --raw -f cat.jpg --key cat --header type=jpeg",
    "penstock produce orders -f orders.jsonl --atomic --compression zstd",
)


class Codec(StrEnum):
    """How records are compressed on their way and in the topic."""

    NONE = "none"
    GZIP = "gzip"
    SNAPPY = "snappy"
    LZ4 = "lz4"
    ZSTD = "zstd"


def produce(
    topic: TopicName,
    *,
    file: Annotated[
        Path | None,
        typer.Option(
            "-f",
            "--file",
            dir_okay=False,
            help="File to take records from.",
            show_default="standard input",
        ),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="All of the input is one record, byte by byte.")
    ] = False,
    key: Annotated[
        str | None, typer.Option("--key", help="Key of every record.", show_default=False)
    ] = None,
    key_separator: Annotated[
        str | None,
        typer.Option(
            "--key-separator",
            metavar="S",
            help="What separates key and value in each line.",
            show_default=False,
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header",
            metavar="KEY=VALUE",
            help="A header of every record; may be given again.",
            show_default=False,
        ),
    ] = None,
    compression: Annotated[
        Codec, typer.Option("--compression", help="How to compress records.")
    ] = Codec.NONE,
    partition: Annotated[
        int | None,
        typer.Option(
            "-p",
            "--partition",
            min=0,
            help="Partition to write to.",
            show_default="by the key, else any",
        ),
    ] = None,
    atomic: Annotated[
        bool,
        typer.Option(
            "--atomic",
            help="All records or none, in one transaction of five minutes at most: after an error "
            "or Ctrl-C, committed reads find nothing of it.",
        ),
    ] = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Write records to a topic: each line of the input is one, without its line feed.

    The topic must exist: `penstock topic create` creates one.
    """
    from penstock.consumers.producing import TopicWriter

    refuse_together(("--key", key is not None), ("--key-separator", key_separator is not None))
    refuse_together(("--raw", raw), ("--key-separator", key_separator is not None))
    if key_separator == "":
        raise typer.BadParameter("--key-separator cannot be empty.")
    headers = [(name, text.encode()) for name, text in key_values("--header", header)]
    with _opened(file) as source:
        writer = TopicWriter(
            reached(bootstrap_servers, command_config),
            topic,
            partition=partition,
            headers=headers,
            compression=compression.value,
            atomic=atomic,
            unit="record" if raw else "line",
        )
        records = _whole(source, key) if raw else lines(source, key, key_separator)
        _write(writer, records, topic, typed=source.isatty())


def _write(writer: TopicWriter, records: Iterator[Outgoing], topic: str, *, typed: bool) -> None:
    """Write all of them and say how many, whatever happens."""
    try:
        with StoppingSignals() as stopping:
            # SIGTERM ends it as Ctrl-C does: a transaction is aborted, not left to time out.
            with stopping.at_once(), _progress(shown=not typed) as tell:
                writer.write(records, tell)
            # Not at once: it would be unknown whether an interrupted commit counts.
            writer.commit(lambda: stopping.asked)
    finally:
        writer.abort()
        _say_how_many(writer.stored, topic)


def _say_how_many(stored: int | None, topic: str) -> None:
    """Nothing where it is not known: the error says so."""
    if stored is not None:
        noun = "record" if stored == 1 else "records"
        text = f'{stored:,} {noun} written to topic "{topic}"'
        console(stderr=True).print(text, markup=False)


def lines(source: BinaryIO, key: str | None, separator: str | None) -> Iterator[Outgoing]:
    """A record for each line; BadInput where the separator is missing."""
    from penstock.consumers.errors import BadInput
    from penstock.consumers.producing import Outgoing

    fixed = None if key is None else key.encode()
    sign = (separator or "").encode()
    for number, line in enumerate(source, start=1):
        value = line.removesuffix(b"\n")
        if not sign:
            yield Outgoing(value, fixed, number)
            continue
        own, found, rest = value.partition(sign)
        if not found:
            raise BadInput(
                f"line {number} has no {separator!r} between key and value: correct it, or leave "
                "out --key-separator."
            )
        yield Outgoing(rest, own, number)


def _whole(source: BinaryIO, key: str | None) -> Iterator[Outgoing]:
    from penstock.consumers.producing import Outgoing

    yield Outgoing(source.read(), None if key is None else key.encode(), 1)


@contextmanager
def _opened(file: Path | None) -> Iterator[BinaryIO]:
    if file is not None:
        with file.open("rb") as opened:
            yield opened
        return
    if sys.stdin.isatty():
        console(stderr=True).print("One record per line; Ctrl-D ends.", markup=False)
    yield sys.stdin.buffer


@contextmanager
def _progress(*, shown: bool) -> Iterator[Callable[[int], None]]:
    """A function to tell counts to; they are shown on a terminal only."""
    out = console(stderr=True)
    if not out.is_terminal or not shown:
        yield lambda _: None
        return
    with out.status("Writing records") as line:
        yield lambda count: line.update(f"Writing records: {count:,}")
