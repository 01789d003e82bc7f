"""Many files, one connector: `file.glob`, shared out over several tasks.

    .venv/bin/python examples/06-many-files.py

Six gauges write a log each. One connector with three tasks reads them all, each from an offset of
its own; a seventh that appears later is found by itself; and the offset of just one file is set
back, so that only its lines come again.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from penstock.client import ConnectClient, wait_for_state
from running_worker import RunningWorker, running_worker
from topic_reading import read_topic, values

NAME, TOPIC, LINES = "gauges", "gauges", 100


def main() -> None:
    """The story, checked on the way."""
    with running_worker() as worker, ConnectClient(worker.url) as client:
        folder = worker.folder / "06"
        folder.mkdir()
        gauges = [write(folder, number) for number in range(1, 7)]
        client.create(NAME, config(folder))
        expect(worker, dict.fromkeys(gauges, LINES))
        status = wait_for_state(client, NAME, "RUNNING")
        print(f"  by {len(status['tasks'])} tasks")
        assert len(status["tasks"]) == 3

        print("one gauge more")
        gauges.append(write(folder, 7))
        expect(worker, dict.fromkeys(gauges, LINES))

        print("back to the start of gauge-3 alone")
        client.stop(NAME)
        wait_for_state(client, NAME, "STOPPED")
        show_offsets(client, folder)
        third = {"partition": {"filename": str(folder / "gauge-3.log")}, "offset": None}
        client.alter_offsets(NAME, [third])
        client.resume(NAME)
        expect(worker, {**dict.fromkeys(gauges, LINES), "gauge-3": 2 * LINES})


def write(folder: Path, number: int) -> str:
    """The log of one gauge; its name."""
    name = f"gauge-{number}"
    text = "".join(f"{name} reading {reading}\n" for reading in range(LINES))
    (folder / f"{name}.log").write_text(text)
    return name


def config(folder: Path) -> dict[str, str]:
    """All logs of the folder."""
    return {
        "connector.class": "FileStreamSource",
        "file.glob": f"{folder}/*.log",
        "topic": TOPIC,
        "tasks.max": "3",
    }


def expect(worker: RunningWorker, readings: dict[str, int]) -> None:
    """The topic holds that many lines of each gauge."""
    total = sum(readings.values())
    found = values(read_topic(worker.bootstrap_servers, TOPIC, total))
    counted = Counter(value.split()[0] for value in found)
    print(f"  the topic: {dict(sorted(counted.items()))}")
    assert counted == readings


def show_offsets(client: ConnectClient, folder: Path) -> None:
    """One offset for each file."""
    offsets = client.offsets(NAME)
    for entry in sorted(offsets, key=lambda entry: str(entry["partition"])):
        print(f"  {Path(entry['partition']['filename']).name}: {entry['offset']}")
    assert len(offsets) == len(list(folder.glob("*.log")))


if __name__ == "__main__":
    main()
