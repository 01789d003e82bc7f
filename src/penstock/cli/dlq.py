"""`penstock dlq`: dead letters, listed, shown and sent to where they came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.asking import Yes, ask
from penstock.cli.brokers import BootstrapServers, CommandConfig, reached
from penstock.cli.commands import group
from penstock.cli.completion import connector_names, topic_names
from penstock.cli.discovery import Url, connect
from penstock.cli.letter_printing import letter_facts, letter_lines
from penstock.cli.output import Format, Output, count_of, print_objects, print_table, say, warn
from penstock.cli.streams import examples

if TYPE_CHECKING:
    from penstock.consumers.letters.choice import Choice
    from penstock.consumers.letters.letter import Letter
    from penstock.consumers.letters.mailbox import Count, Mailbox
    from penstock.consumers.letters.replay import Planned, Replay

SETTING = "errors.deadletterqueue.topic.name"
SHOWN = 20

app = group("List, show and replay dead letters: records that a connector could not handle.")

DeadLetterTopic = Annotated[
    str,
    typer.Argument(
        metavar="TOPIC",
        help="Name of the dead letter topic (`penstock dlq ls` lists them).",
        autocompletion=topic_names,
    ),
]
Partitions = Annotated[
    list[int] | None,
    typer.Option(
        "-p",
        "--partition",
        min=0,
        help="Only letters in this partition of the dead letter topic; may be given again.",
        show_default="all",
    ),
]
Start = Annotated[
    int | None,
    typer.Option(
        "--start",
        metavar="N",
        min=0,
        help="Only letters from this offset on, in each partition.",
        show_default=False,
    ),
]
End = Annotated[
    int | None,
    typer.Option(
        "--end",
        metavar="N",
        min=0,
        help="Only letters up to this offset (inclusive), in each partition.",
        show_default=False,
    ),
]
Errors = Annotated[
    list[str] | None,
    typer.Option(
        "--error",
        metavar="CLASS",
        help="Only letters with this class of error, with or without its package; may be given "
        "again.",
        show_default=False,
    ),
]
Connectors = Annotated[
    list[str] | None,
    typer.Option(
        "--connector",
        metavar="NAME",
        help="Only letters of this connector; may be given again.",
        autocompletion=connector_names,
        show_default=False,
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--from-topic",
        metavar="TOPIC",
        help="Only letters that came from this topic; may be given again.",
        autocompletion=topic_names,
        show_default=False,
    ),
]


def _choice(
    *,
    partition: list[int] | None,
    start: int | None,
    end: int | None,
    error: list[str] | None,
    connector: list[str] | None,
    from_topic: list[str] | None,
) -> Choice:
    from penstock.consumers.letters.choice import Choice

    if start is not None and end is not None and end < start:
        raise typer.BadParameter(
            f"--end {end} lies before --start {start}: there are no letters in between."
        )
    return Choice(
        frozenset(partition or ()),
        start,
        end,
        frozenset(error or ()),
        frozenset(connector or ()),
        frozenset(from_topic or ()),
    )


def _mailbox(topic: str, bootstrap_servers: str | None, command_config: Path | None) -> Mailbox:
    from penstock.consumers.letters.mailbox import Mailbox

    return Mailbox(reached(bootstrap_servers, command_config), topic)


@app.command("ls")
def list_topics(
    *,
    output: Output = Format.TABLE,
    url: Url = None,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """List the dead letter topics of all connectors, and how many letters are in them.

    Letters are counted one by one; for a very large topic only an upper limit is shown.
    """
    with connect(url) as client:
        owners = _owners(client.expanded("info"))
    if not owners:
        if not print_objects(output, ()):
            say(f"No connector has a dead letter topic ({SETTING}).")
        return
    reach = reached(bootstrap_servers, command_config)
    from penstock.consumers.letters.mailbox import Mailbox

    found = [(topic, owners[topic], Mailbox(reach, topic).count()) for topic in sorted(owners)]
    if not print_objects(output, (_listed(*each) for each in found)):
        rows = [(topic, _shown(count), ", ".join(names)) for topic, names, count in found]
        print_table(["Topic", "Letters", "Connectors"], rows)


def _owners(connectors: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The connectors that write to each dead letter topic."""
    owners: dict[str, list[str]] = {}
    for name in sorted(connectors):
        topic = str(connectors[name]["info"]["config"].get(SETTING) or "").strip()
        if topic:
            owners.setdefault(topic, []).append(name)
    return owners


def _listed(topic: str, names: list[str], count: Count) -> dict[str, Any]:
    return {"topic": topic, "letters": count.number, "exact": count.exact, "connectors": names}


def _shown(count: Count) -> str:
    return f"{count.number:,}" if count.exact else f"at most {count.number:,}"


@app.command(
    "show",
    epilog=examples(
        "penstock dlq show orders-dead",
        "penstock dlq show orders-dead -n 1 --trace",
        "penstock dlq show orders-dead --error DataException --connector billing",
        "penstock dlq show orders-dead -p 0 --start 100 --end 199 -o jsonl",
    ),
)
def show(
    topic: DeadLetterTopic,
    *,
    partition: Partitions = None,
    start: Start = None,
    end: End = None,
    error: Errors = None,
    connector: Connectors = None,
    from_topic: Origins = None,
    number: Annotated[
        int, typer.Option("-n", "--num", metavar="N", min=1, help="Show at most N letters.")
    ] = SHOWN,
    trace: Annotated[
        bool, typer.Option("--trace", help="With the stack trace of the error.")
    ] = False,
    output: Output = Format.TABLE,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Show dead letters: where they came from, why they are here, and what is in them.

    Long texts are cut; `penstock consume TOPIC` prints the letters whole. What looks like a
    secret in an error is hidden.
    """
    choice = _choice(
        partition=partition,
        start=start,
        end=end,
        error=error,
        connector=connector,
        from_topic=from_topic,
    )
    letters, more = _first(_mailbox(topic, bootstrap_servers, command_config), choice, number)
    if not print_objects(output, (letter_facts(each, trace=trace) for each in letters)):
        for each in letters:
            say("\n".join(letter_lines(each, trace=trace)))
        if not letters:
            say(f"No such letters in {topic}")
    if more:
        warn(f"There are more letters: -n shows more than {number}, --start those after them.")


def _first(mailbox: Mailbox, choice: Choice, number: int) -> tuple[list[Letter], bool]:
    """As many letters, and whether there are more."""
    found: list[Letter] = []
    for letter in mailbox.letters(choice):
        if len(found) == number:
            return found, True
        found.append(letter)
    return found, False


@app.command(
    "replay",
    epilog=examples(
        "penstock dlq replay orders-dead --dry-run",
        "penstock dlq replay orders-dead --error RecordError",
        "penstock dlq replay orders-dead -p 0 --start 100 --end 199 --to repaired",
    ),
)
def replay(
    topic: DeadLetterTopic,
    *,
    partition: Partitions = None,
    start: Start = None,
    end: End = None,
    error: Errors = None,
    connector: Connectors = None,
    from_topic: Origins = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="TOPIC",
            help="Send all of them to this topic.",
            autocompletion=topic_names,
            show_default="the topics that they came from",
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say which letters would go where.")
    ] = False,
    yes: Yes = False,
    output: Output = Format.TABLE,
    bootstrap_servers: BootstrapServers = None,
    command_config: CommandConfig = None,
) -> None:
    """Send dead letters to the topics that they came from, and say which were sent.

    Key, value, timestamp and the record's own headers are as they were, those about the error are
    left out. A sink's letter goes to the partition that it came from, if there still is one.
    Letters are sent in transactions, in order, each once; those that arrive meanwhile are not
    sent. The letters stay in the dead letter topic: a second run sends them again.

    The letter of a source contains what the source had read, as JSON or as bytes, since it could
    not be converted: name a topic for it with --to.
    """
    from penstock.consumers.letters.replay import Replay

    choice = _choice(
        partition=partition,
        start=start,
        end=end,
        error=error,
        connector=connector,
        from_topic=from_topic,
    )
    whole = Replay(_mailbox(topic, bootstrap_servers, command_config), choice, to)
    plan = whole.plan()
    if dry_run or not plan:
        _tell(plan, output, "would be replayed" if dry_run else "replayed")
        return
    ask(f"Replay {count_of(len(plan), 'letter')} to {_targets(plan)}?", yes=yes)
    _run(whole, plan, output)


def _run(replay: Replay, plan: list[Planned], output: Format) -> None:
    """Print how much has been sent, whatever happens next."""
    sent: list[Planned] = []
    try:
        for each in replay.run(plan):
            sent += each
    finally:
        _tell(sent, output, "replayed")


def _tell(planned: list[Planned], output: Format, what: str) -> None:
    if print_objects(output, (each.facts() for each in planned)):
        return
    if planned:
        print_table(["Letter", "To"], [(f"{p.partition}/{p.offset}", _to(p)) for p in planned])
    say(f"{count_of(len(planned), 'letter')} {what}")


def _to(planned: Planned) -> str:
    place = planned.target_partition
    return planned.topic if place is None else f"{planned.topic}-{place}"


def _targets(plan: list[Planned]) -> str:
    return ", ".join(sorted({each.topic for each in plan}))
