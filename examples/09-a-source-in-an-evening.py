"""A source of objects, with the framework: what is written by hand, and how it is tested.

    .venv/bin/python examples/09-a-source-in-an-evening.py

1. `penstock new connector drop-folder` makes a project that runs, with its test.
2. The connector is 09-a-source-in-an-evening/drop_folder_source.py: gzipped files of JSON lines
   that appear in a folder. A Transformer reads them as Arrow batches, a strategy deals them out to
   tasks, and entries of the OffsetManager say what is done.
3. The contract kit restarts, kills and alters it without Kafka or Spark, in seconds.
4. A worker then runs it for real.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from penstock.client import ConnectClient, wait_for_state
from running_worker import RunningWorker, running_worker
from topic_reading import read_topic, values

HERE = Path(__file__).resolve().parent
PLUGIN = "09-a-source-in-an-evening"
NAME, TOPIC = "drop-folder", "drop-folder"


def main() -> None:
    """The story, checked on the way."""
    with running_worker(PLUGIN) as worker, ConnectClient(worker.url) as client:
        scaffold(worker.folder / "09-frame")
        keep_the_contract()

        folder = worker.folder / "09"
        folder.mkdir()
        drop(folder, "a", [1, 2, 3])
        drop(folder, "b", [4, 5])
        client.create(NAME, config(folder))
        expect(worker, [1, 2, 3, 4, 5])

        print("a third file: look() sees it, and only that one is opened")
        drop(folder, "c", [6])
        expect(worker, [1, 2, 3, 4, 5, 6])

        client.stop(NAME)
        wait_for_state(client, NAME, "STOPPED")
        (entry,) = (e for e in client.offsets(NAME) if e["partition"]["file"].startswith("b"))
        print(f"STOPPED; {entry['partition']} stands at {entry['offset']}")
        client.alter_offsets(NAME, [{**entry, "offset": {"recordCount": 1}}])
        client.resume(NAME)
        expect(worker, [1, 2, 3, 4, 5, 6, 5])


def scaffold(folder: Path) -> None:
    """What to begin with."""
    command = ["penstock", "new", "connector", "drop-folder", "--folder", str(folder)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    assert (folder / "tests" / "test_drop_folder_connector.py").exists()


def keep_the_contract() -> None:
    """Its test is a few lines; the scenarios come with Penstock."""
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(HERE / PLUGIN)]
    subprocess.run([sys.executable, "-m", "pytest", *options, str(HERE / PLUGIN)], check=True)


def config(folder: Path) -> dict[str, str]:
    """Two tasks share the files."""
    return {
        "connector.class": "DropFolderSource",
        "tasks.max": "2",
        "folder": str(folder),
        "topic": TOPIC,
        "file.compression.type": "gzip",
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
    }


def drop(folder: Path, name: str, numbers: Sequence[int]) -> None:
    """A file is complete when it appears."""
    arriving = folder / f"{name}.part"
    text = "".join(f'{{"n": {number}}}\n' for number in numbers)
    arriving.write_bytes(gzip.compress(text.encode()))
    arriving.rename(folder / f"{name}.jsonl.gz")


def expect(worker: RunningWorker, numbers: list[int]) -> None:
    """The topic holds these, in whichever order the two tasks came."""
    found = values(read_topic(worker.bootstrap_servers, TOPIC, len(numbers)))
    print(f"  the topic: {' '.join(found)}")
    assert sorted(json.loads(value)["n"] for value in found) == sorted(numbers)


if __name__ == "__main__":
    main()
