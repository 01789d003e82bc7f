"""Offsets are data: list them, alter one, reset them all, from Python.

    .venv/bin/python examples/02-alter-and-replay-offsets.py

A source reads a file of six orders. Its offset is set back to the fourth, and just the last three
come again; then it is reset, and all come again. The same for a sink, whose offsets are those of
its consumer group.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.client import ConnectApiError, ConnectClient, wait_for_state, wait_until
from running_worker import RunningWorker, running_worker
from topic_reading import read_topic, values

ORDERS = [f"order {number}" for number in range(1, 7)]
SOURCE, SINK, TOPIC = "orders-from-file", "orders-to-file", "orders"


def main() -> None:
    """The story, checked on the way."""
    with running_worker() as worker, ConnectClient(worker.url) as client:
        folder = worker.folder / "02"
        folder.mkdir()
        replay_a_source(worker, client, folder / "orders.txt")
        replay_a_sink(worker, client, folder / "copy.txt")


def replay_a_source(worker: RunningWorker, client: ConnectClient, file: Path) -> None:
    """Back to the fourth order, then back to the first."""
    file.write_text("".join(f"{order}\n" for order in ORDERS))
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": TOPIC}
    client.create(SOURCE, config)
    expect(worker, ORDERS)
    (end,) = show_offsets(client, SOURCE)

    try:
        client.reset_offsets(SOURCE)
    except ConnectApiError as refusal:
        print(f"  while it runs, the worker refuses: {refusal}")

    stop(client, SOURCE)
    fourth = {"partition": end["partition"], "offset": {"position": 3 * len("order 1\n")}}
    print(f"  PATCH: {client.alter_offsets(SOURCE, [fourth])}")
    assert show_offsets(client, SOURCE) == [fourth]
    client.resume(SOURCE)
    expect(worker, ORDERS + ORDERS[3:])

    stop(client, SOURCE)
    print(f"  DELETE: {client.reset_offsets(SOURCE)}")
    assert show_offsets(client, SOURCE) == []
    client.resume(SOURCE)
    expect(worker, ORDERS + ORDERS[3:] + ORDERS)
    # It is committed with the records, but the worker may see it a moment later.
    wait_until(lambda: client.offsets(SOURCE) == [end], "the offset at the end of the file")
    stop(client, SOURCE)


def replay_a_sink(worker: RunningWorker, client: ConnectClient, file: Path) -> None:
    """Copy the topic, then its last record once more."""
    config = {"connector.class": "FileStreamSink", "topics": TOPIC, "file": str(file)}
    client.create(SINK, config)
    wait_until(lambda: file.exists() and file.read_text().count("\n") == 15, "15 lines")
    stop(client, SINK)
    (end,) = show_offsets(client, SINK)
    # Not its offset less one: behind a record may be the mark that ends its transaction.
    last = read_topic(worker.bootstrap_servers, TOPIC, 15)[-1].offset()
    client.alter_offsets(SINK, [{**end, "offset": {"kafka_offset": last}}])
    show_offsets(client, SINK)
    client.resume(SINK)
    wait_until(lambda: file.read_text().count("\n") == 16, "one line more")
    assert file.read_text().splitlines()[-2:] == ["order 6", "order 6"]
    print(f"  {file.name} ends in: order 6, order 6")


def stop(client: ConnectClient, name: str) -> None:
    """Offsets can be altered once a connector is STOPPED."""
    client.stop(name)
    wait_for_state(client, name, "STOPPED")
    print(f"\n{name} is STOPPED")


def show_offsets(client: ConnectClient, name: str) -> list[dict[str, Any]]:
    """The offsets of a connector, printed too."""
    offsets = client.offsets(name)
    print(f"  {name} stands at {[entry['offset'] for entry in offsets]}")
    return offsets


def expect(worker: RunningWorker, orders: list[str]) -> None:
    """The topic holds these orders, no fewer and no more."""
    found = values(read_topic(worker.bootstrap_servers, TOPIC, len(orders)))
    print(f"  the topic: {' '.join(value.removeprefix('order ') for value in found)}")
    assert found == orders


if __name__ == "__main__":
    main()
