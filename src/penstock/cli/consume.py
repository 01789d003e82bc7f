"""`penstock consume`: the records of a topic, on standard output."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.beginning import Beginning, beginning_of, refuse_behind
from penstock.cli.brokers import BootstrapServers, CommandConfig, reached
from penstock.cli.completion import consumer_names
from penstock.cli.consume_output import Columns, Ending, Pump, Rows
from penstock.cli.output import console, warn
from penstock.cli.record_columns import FORMS
from penstock.cli.record_printing import Form, printer
from penstock.cli.signals import StoppingSignals
from penstock.cli.silence import listening
from penstock.cli.streams import TopicName, examples, refuse_together, usage

if TYPE_CHECKING:
    from penstock.consumers import Consumer
    from penstock.kafka.clients import Connection

FLUSH_SECONDS = 2.0
FEW = 1000
"""Records that are printed sooner one by one."""
EXAMPLES = examples(
    "penstock consume orders -d  # all that is there, then end",
    "penstock consume orders -T 0  # what is written from now on",
    "penstock consume orders -c billing  # go on where billing stopped",
    "penstock consume orders -c billing -n 100 -o jsonl  # the next hundred",
    "penstock consume orders -T 5 -d -F '{{partition}}/{{offset}} {{key}}'",
    "penstock consume orders --since 1h -p 0 -d -o raw > last-hour",
)


class WhenGone(StrEnum):
    """What to do if the place to go on at is no longer in the topic."""

    FAIL = "fail"
    EARLIEST = "earliest"
    LATEST = "latest"


Name = Annotated[
    str | None,
    typer.Option(
        "-c",
        "--consumer",
        metavar="NAME",
        help="Go on where the consumer of this name stopped, and store its position.",
        autocompletion=consumer_names,
        show_default=False,
    ),
]
Partitions = Annotated[
    list[int] | None,
    typer.Option(
        "-p",
        "--partition",
        min=0,
        help="Read this partition; may be given again.",
        show_default="all",
    ),
]
Every = Annotated[bool, typer.Option("-A", "--all", "-all", help="Read all partitions.")]
FromBeginning = Annotated[
    bool, typer.Option("-B", "--beginning", help="Begin with the first record (the default).")
]
Head = Annotated[
    int | None,
    typer.Option(
        "-H",
        "--head",
        metavar="N",
        min=0,
        help="Begin N after the first record.",
        show_default=False,
    ),
]
Tail = Annotated[
    int | None,
    typer.Option(
        "-T",
        "--tail",
        metavar="N",
        min=0,
        help="Begin with the last N records; 0 waits for new ones.",
        show_default=False,
    ),
]
Start = Annotated[
    int | None,
    typer.Option("--start", metavar="N", min=0, help="Begin at this offset.", show_default=False),
]
End = Annotated[
    int | None,
    typer.Option("--end", metavar="N", min=0, help="Stop after this offset.", show_default=False),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Begin at a time: ISO 8601, or how long ago (10m, 2h, 1d).",
        show_default=False,
    ),
]
Number = Annotated[
    int | None,
    typer.Option(
        "-n", "--num", metavar="N", min=1, help="End after N records.", show_default=False
    ),
]
UntilEnd = Annotated[
    bool,
    typer.Option("-d", "--disable-continuous", help="End where the topic ends now."),
]
Keys = Annotated[
    bool, typer.Option("-k", "--key-value", help="Print the key, in brackets, before the value.")
]
Template = Annotated[
    str | None,
    typer.Option(
        "-F",
        "--format",
        metavar="TEMPLATE",
        help="Print each record like this: {{offset}}, {{key}}, {{value}}, {{partition}}, "
        "{{time}}, {{headers}} and {{topic}} are filled in.",
        show_default=False,
    ),
]
Output = Annotated[
    Form,
    typer.Option(
        "-o",
        "--output",
        help="dynamic: text, or a hex dump of what is not text. text: UTF-8. jsonl: one JSON "
        "object per line. raw: the bytes of the value and a line feed. table: JSON objects as "
        "rows.",
    ),
]
Manual = Annotated[
    bool,
    typer.Option(
        "--manual",
        help="With -c: store the position only once all that was asked for (-d, -n, --end) was "
        "written; after Ctrl-C, a closed pipe or an error everything is read again.",
    ),
]
Ttl = Annotated[
    str | None,
    typer.Option(
        "--ttl",
        metavar="DURATION",
        help="With -c: delete the consumer if it was not active for this long: 30s, 10m, 12h, 7d.",
        show_default=False,
    ),
]
Gone = Annotated[
    WhenGone,
    typer.Option(
        "--when-gone",
        help="What to do if the next record was deleted from the topic: fail, or go on with the "
        "earliest that is there, or with what is written next.",
    ),
]
TakeOver = Annotated[
    bool,
    typer.Option(
        "--take-over",
        help="With -c: take the name from the process that reads under it, which can then no "
        "longer commit.",
    ),
]
Reset = Annotated[
    bool,
    typer.Option(
        "--reset",
        help="With -c: begin where -B, -H, -T, --start or --since say, even under a known name.",
    ),
]


def consume(
    topic: TopicName,
    *,
    name: Name = None,
    partition: Partitions = None,
    every: Every = False,
    beginning: FromBeginning = False,
    head: Head = None,
    tail: Tail = None,
    start: Start = None,
    end: End = None,
    since: Since = None,
    number: Number = None,
    until_end: UntilEnd = False,
    keys: Keys = False,
    template: Template = None,
    output: Output = Form.DYNAMIC,
    manual: Manual = False,
    ttl: Ttl = None,
    when_gone: Gone = WhenGone.FAIL,
    take_over: TakeOver = False,
    reset: Reset = False,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Print the records of a topic, by default from its beginning, until Ctrl-C.

    -T 0 prints only what is written from now on. Without -p, all partitions are read.

    With -c the position is stored under a name: the next run with that name goes on there, and
    options that say where to begin only apply to a new name. A record counts as read once it was
    written to standard output.

    Ctrl-C, SIGTERM and a closed pipe store the position and count as success (exit code 0), unless
    the read has an end of its own (-d, -n, --end): then Ctrl-C ends it with 130.
    """
    refuse_together(("-p", bool(partition)), ("-A", every))
    begin = beginning_of(
        beginning=beginning, head=head, tail=tail, start=start, since=since, end=end
    )
    _refuse_forms(output, keys=keys, template=template)
    style = _style(output, number, keys=keys, template=template)
    named = {"--manual": manual, "--ttl": ttl is not None, "--take-over": take_over}
    _refuse_nameless(name, named | {"--reset": reset})
    if reset and not begin.option:
        raise typer.BadParameter("--reset needs to know where to: -B, -H, -T, --start or --since.")
    with usage():
        options = _options(name, begin, ttl, reset=reset)
    limited = until_end or end is not None or number is not None
    with StoppingSignals() as stopping:
        with stopping.at_once(), usage():
            connection = reached(bootstrap_servers, command_config)
            if end is not None and name is None:
                refuse_behind(end, begin, connection, topic, partition or ())
            consumer = _opened(
                topic,
                connection,
                **options,
                partitions=partition or None,
                until_end=until_end,
                last=end,
                when_gone=when_gone.value,
                take_over=take_over,
            )
        _announce(consumer, begin, end)
        with consumer:
            out = sys.stdout.buffer
            pump = Pump(consumer, style, out, name is not None, at_end=manual, limit=number)
            if name is None:
                pump.silence = listening(connection, limited=limited)
            ending = pump.run(stopping)
    if ending is Ending.STOPPED and limited:
        raise KeyboardInterrupt


def _refuse_forms(form: Form, *, keys: bool, template: str | None) -> None:
    chosen = form is not Form.DYNAMIC
    refuse_together(("-F", template is not None), ("-o", chosen))
    refuse_together(("-F", template is not None), ("-k", keys))
    refuse_together(("-k", keys), (f"-o {form}", chosen and form is not Form.TEXT))


def _style(form: Form, number: int | None, *, keys: bool, template: str | None) -> Rows | Columns:
    """Columns for what may be much; they take a fifth of a second to begin with."""
    plain = form in FORMS and not keys and template is None
    few = sys.stdout.isatty() or (number is not None and number <= FEW)
    if plain and not few:
        return Columns(form)
    return Rows(printer(form, keys=keys, template=template))


def _refuse_nameless(name: str | None, given: dict[str, bool]) -> None:
    missing = [option for option, is_given in given.items() if is_given and name is None]
    if missing:
        raise typer.BadParameter(f"{missing[0]} is about a named consumer: give its name with -c.")


def _options(name: str | None, begin: Beginning, ttl: str | None, *, reset: bool) -> dict[str, Any]:
    """What a consumer is told about its name; the place is committed by us, not by itself."""
    from penstock.consumers.times import parse_duration

    options: dict[str, Any] = {"start": begin.offset, "reset": begin.offset if reset else None}
    if name is not None:
        options |= {"name": name, "strategy": "manual", "flush": FLUSH_SECONDS}
    if ttl is not None:
        options["ttl"] = parse_duration(ttl)
    return options


def _opened(topic: str, connection: Connection, **options: Any) -> Consumer:
    from penstock.consumers import Consumer

    return Consumer(
        topic,
        **options,
        bootstrap_servers=connection.bootstrap_servers,
        security=connection.security,
    ).open()


def _announce(consumer: Consumer, begin: Beginning, end: int | None) -> None:
    """Tell a person what is going on; that a name is new, also a script's log."""
    out = console(stderr=True)
    options = consumer.options
    if options.name and not consumer.resumed:
        warn(f"Consumer '{options.name}' is new on topic {options.topic}: it begins {begin.words}.")
    if not out.is_terminal:
        return
    if options.name and begin.option and consumer.resumed:
        out.print(
            f"{begin.option} is ignored: consumer '{options.name}' goes on where it stopped "
            "(--reset overrides that)",
            style="yellow",
            markup=False,
        )
    until = "" if end is None else f" until offset {end} (inclusive)"
    place = f"where '{options.name}' stopped" if consumer.resumed else begin.words
    out.print(f"Consuming records from '{options.topic}' starting {place}{until} ...", markup=False)
