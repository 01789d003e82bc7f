"""The least that a program in Python can do: read a topic, and index its records in bulk.

    python -m bench.search_loop <bootstrap servers> <address of the server>

Says that it is ready; then answers every line ``<topic> <records> <index>`` with the seconds from
the making of the consumer until the last bulk request is answered and the position stored.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence

import httpx
from confluent_kafka import Consumer, Message

BATCH = 2000


def index(brokers: str, http: httpx.Client, topic: str, records: int, name: str) -> None:
    """As the documentation of the client has it, with the connector's ids and size of requests."""
    settings = {"bootstrap.servers": brokers, "group.id": name, "enable.auto.commit": False}
    client = Consumer({**settings, "auto.offset.reset": "earliest"})
    client.subscribe([topic])
    seen = 0
    while seen < records:
        messages = client.consume(BATCH, timeout=1.0)
        if messages:
            send(http, name, messages)
            client.commit(asynchronous=True)
        seen += len(messages)
    client.close()


def send(http: httpx.Client, name: str, messages: Sequence[Message]) -> None:
    """Index these with one request."""
    lines = []
    for message in messages:
        place = f"{message.topic()}+{message.partition()}+{message.offset()}"
        lines.append(json.dumps({"index": {"_index": name, "_id": place}}))
        lines.append(json.dumps({"line": (message.value() or b"").decode()}))
    body = "\n".join(lines) + "\n"
    answer = http.post("/_bulk", content=body, headers={"Content-Type": "application/x-ndjson"})
    if answer.status_code != httpx.codes.OK or answer.json()["errors"]:
        raise RuntimeError(f"the server refused a request: {answer.text[:500]}")


def main(brokers: str, url: str) -> None:
    """Answer line by line."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as http:
        for line in sys.stdin:
            topic, records, name = line.split()
            began = time.perf_counter()
            index(brokers, http, topic, int(records), name)
            sys.stdout.write(f"{time.perf_counter() - began}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
