"""What the demo does and checks, step by step, over the REST API as any user would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.panel import Panel

from penstock.cli.demo_files import Contents, size_of, start_of_line, write_lines
from penstock.cli.demo_topic import TopicReader
from penstock.cli.output import compact, console, table
from penstock.cli.progress import counting
from penstock.client import ConnectClient, raise_if_failed, wait_for_state, wait_until
from penstock.sdk.errors import PenstockError

SOURCE, SINK, TOPIC = "demo-source", "demo-sink", "demo-lines"
PACKAGE = "org.apache.kafka.connect.file"
STRINGS = "org.apache.kafka.connect.storage.StringConverter"
CONVERTERS = {"key.converter": STRINGS, "value.converter": STRINGS}
STEP_SECONDS = 90.0
QUIET_SECONDS = 1.5


class DemoError(PenstockError):
    """Something that the demo promises did not hold."""


class Story:
    """Call order: `tell`, then `sum_up`."""

    def __init__(self, url: str, bootstrap_servers: str, folder: Path, lines: int) -> None:
        self._client = ConnectClient(url)
        self._reader = TopicReader(bootstrap_servers, TOPIC)
        self._input, self._output = folder / "input.txt", folder / "output.txt"
        self._lines = lines
        self._replayed = 0
        self._out = console()

    def tell(self) -> None:
        """Every step; DemoError or another error at the first that does not hold."""
        try:
            self._write_input()
            self._move_into_topic()
            self._move_into_file()
            self._show_offsets()
            self._rewind()
            self._replay()
        finally:
            self._reader.close()
            self._client.close()

    def sum_up(self, seconds: float) -> None:
        """The result in a few lines."""
        told = [
            f"[bold]{self._lines:,}[/] lines went through Kafka into a file, byte for byte.",
            "Exactly once: [bold green]no line lost, none twice[/], in topic and file.",
            f"One offset altered, exactly [bold]{self._replayed:,}[/] lines replayed.",
            f"All of it in [bold]{seconds:.0f} s[/], every record moved by Spark.",
            "",
            "Next:  [bold]penstock up[/]           a worker of your own, http://127.0.0.1:8083",
            "       [bold]penstock get plugins[/]  what it can connect",
        ]
        panel = Panel.fit("\n".join(told), title="Done", border_style="green")
        self._out.print(panel if self._out.is_terminal else "\n".join(["", *told]))

    def _write_input(self) -> None:
        self._step("A file to move")
        write_lines(self._input, self._lines)
        self._show("the input file", self._expected())

    def _move_into_topic(self) -> None:
        self._step("File → topic: a source, created over the REST API")
        config = {"topic": TOPIC, "file": str(self._input)}
        self._create(SOURCE, "FileStreamSourceConnector", config)
        self._count_records("records in the topic", self._lines)
        self._same("the topic", self._reader.contents(), self._expected())

    def _move_into_file(self) -> None:
        self._step("Topic → file: a sink")
        config = {"topics": TOPIC, "file": str(self._output)}
        self._create(SINK, "FileStreamSinkConnector", config)
        self._fill_output(self._expected())

    def _show_offsets(self) -> None:
        self._step("Offsets are data: GET /connectors/…/offsets")
        rows = [
            [name, compact(entry["partition"]), compact(entry["offset"])]
            for name in (SOURCE, SINK)
            for entry in self._client.offsets(name)
        ]
        self._out.print(table(["CONNECTOR", "PARTITION", "OFFSET"], rows))

    def _rewind(self) -> None:
        self._step("Back to nine tenths of the file: stop, then PATCH the offset")
        self._client.stop(SOURCE)
        wait_for_state(self._client, SOURCE, "STOPPED", STEP_SECONDS)
        self._say(f"PUT /connectors/{SOURCE}/stop: it is STOPPED")
        first = self._lines * 9 // 10
        self._replayed = self._lines - first
        position = start_of_line(self._input.read_bytes(), first)
        (entry,) = self._client.offsets(SOURCE)
        altered = {"partition": entry["partition"], "offset": {"position": position}}
        self._request("PATCH", f"/connectors/{SOURCE}/offsets", {"offsets": [altered]})
        self._say(self._client.alter_offsets(SOURCE, [altered]))
        if self._client.offsets(SOURCE) != [altered]:
            raise DemoError("The altered offset is not what GET offsets shows.")

    def _replay(self) -> None:
        self._step(f"Resume: exactly the last {self._replayed:,} lines come again")
        self._client.resume(SOURCE)
        self._count_records("records in the topic", self._lines + self._replayed)
        expected = self._expected(replayed=True)
        self._same("the topic", self._reader.contents(), expected)
        self._fill_output(expected)
        self._reader.read(QUIET_SECONDS)
        self._same("the topic, a moment later", self._reader.contents(), expected)
        self._same("the output file, a moment later", self._written(), expected)

    def _create(self, name: str, plugin: str, settings: dict[str, str]) -> None:
        config = {"connector.class": f"{PACKAGE}.{plugin}", **settings, **CONVERTERS}
        self._request("POST", "/connectors", {"name": name, "config": config})
        self._client.create(name, config)

    def _count_records(self, title: str, total: int) -> None:
        self._follow(title, total, self._reader.read, SOURCE)

    def _fill_output(self, expected: Contents) -> None:
        self._follow("bytes in the file", expected.size, lambda: size_of(self._output), SINK)
        self._same("the output file", self._written(), expected)

    def _follow(self, title: str, total: int, look: Callable[[], int], connector: str) -> None:
        """Wait until ``look`` has reached ``total``, unless the connector fails on the way."""
        with counting(title, total) as tell:

            def reached() -> bool:
                count = look()
                tell(count)
                if count < total:
                    raise_if_failed(self._client, connector)
                return count >= total

            wait_until(reached, f"{total:,} {title}", STEP_SECONDS)

    def _expected(self, *, replayed: bool = False) -> Contents:
        content = self._input.read_bytes()
        if not replayed:
            return Contents.of(content)
        return Contents.of(content, content[start_of_line(content, self._lines - self._replayed) :])

    def _written(self) -> Contents:
        return Contents.of(self._output.read_bytes())

    def _same(self, what: str, found: Contents, expected: Contents) -> None:
        if found != expected:
            raise DemoError(
                f"Not exactly once: {what} holds {found.lines:,} lines ({found.size:,} bytes, "
                f"sha256 {found.sha256[:12]}…), expected were {expected.lines:,} "
                f"({expected.size:,} bytes, sha256 {expected.sha256[:12]}…)."
            )
        self._show(what, found)

    def _show(self, what: str, contents: Contents) -> None:
        self._say(
            f"{what}: {contents.lines:,} lines, {contents.size:,} bytes, "
            f"sha256 {contents.sha256[:16]}…"
        )

    def _step(self, title: str) -> None:
        self._out.print(f"\n[bold cyan]▸ {escape(title)}[/]", soft_wrap=True)

    def _say(self, text: str) -> None:
        self._out.print(f"  {text}", markup=False, soft_wrap=True)

    def _request(self, method: str, path: str, body: dict[str, Any]) -> None:
        shown = json.dumps(body, indent=2).replace("\n", "\n  ")
        self._out.print(f"  {method} {path}\n  {shown}", markup=False, style="dim", soft_wrap=True)
