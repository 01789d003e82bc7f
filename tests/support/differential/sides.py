"""One of the two that are spoken to."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from differential.steps import Ask, Lines, Step, Topic, Until
from topics import Topics
from waiting import eventually

SAME = "side"
WAIT_SECONDS = 90.0
UNSETTLED = ("rebalanc", "stale configuration", "conflicting operation")


@dataclass(frozen=True)
class Answer:
    """A response, with all that names the side taken out of it."""

    status: int
    headers: dict[str, str]
    body: Any

    def to_json(self) -> dict[str, Any]:
        """For comparing."""
        return {"status": self.status, "headers": self.headers, "body": self.body}


class Side:
    """A worker under the name that its connectors, topics and files have in theirs."""

    def __init__(self, name: str, url: str, folder: Path, topics: Topics) -> None:
        self.name = name
        self._url, self._folder, self._topics = url, folder, topics
        self._http = httpx.Client(
            base_url=url,
            trust_env=False,
            timeout=100,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    def close(self) -> None:
        """Hang up."""
        self._http.close()

    def play(self, step: Step) -> Answer | None:
        """Do what a step says; the answer to compare, or the one that was waited for in vain."""
        match step:
            case Ask():
                return self._ask(step)
            case Until():
                return self._wait(step)
            case Lines():
                with Path(self._filled(step.file)).open("a", encoding="utf-8") as file:
                    file.write(step.text)
            case Topic():
                self._topics.create(self._filled(step.name), step.partitions)
        return None

    def _ask(self, step: Ask) -> Answer:
        deadline = time.monotonic() + step.settle
        response = self._send(step)
        while _unsettled(response) and time.monotonic() < deadline:
            time.sleep(0.1)
            response = self._send(step)
        return self._read(response)

    def _send(self, step: Ask) -> httpx.Response:
        content, headers = step.raw, dict(step.headers)
        if step.body is not None:
            content = json.dumps(step.body).encode()
            headers = {"content-type": "application/json", **headers}
        filled = None if content is None else self._filled(content.decode("latin-1"))
        return self._http.request(
            step.method,
            self._filled(step.path),
            content=None if filled is None else filled.encode("latin-1"),
            headers=headers,
        )

    def _wait(self, step: Until) -> Answer | None:
        seen: list[Answer] = []

        def there() -> bool:
            seen[:] = [self._read(self._http.get(self._filled(step.path)))]
            return seen[0].status == step.status and _within(step.has, seen[0].body)

        try:
            eventually(there, within=WAIT_SECONDS, every=0.1)
        except AssertionError:
            return seen[0]
        return None

    def _read(self, response: httpx.Response) -> Answer:
        shown = {
            name: self._anonymous(response.headers[name])
            for name in ("content-type", "location")
            if name in response.headers
        }
        text = self._anonymous(response.text)
        return Answer(response.status_code, shown, _parsed(text))

    def _filled(self, text: str) -> str:
        return text.replace("{s}", self.name).replace("{dir}", str(self._folder))

    def _anonymous(self, text: str) -> str:
        for own, same in (
            (self._url, "http://worker"),
            (str(self._folder), "{dir}"),
            (self.name, SAME),
        ):
            text = text.replace(own, same)
        return text


def _unsettled(response: httpx.Response) -> bool:
    """Kafka Connect refuses while its group rebalances, and wants to be asked again."""
    if response.status_code not in (409, 500):
        return False
    return any(word in response.text for word in UNSETTLED)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _within(wanted: Any, found: Any) -> bool:
    """Whether everything wanted is there; lists must have as many entries."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and _within(value, found[key]) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(map(_within, wanted, found))
        )
    return wanted is None or bool(wanted == found)
