"""The least that a program in Python can do: read objects, check their JSON, produce and commit.

    python -m bench.object_loop <bootstrap servers> <topic> <endpoint> <bucket> <key id> <secret>

As ``bench.bare_loop``, with objects of JSON lines in place of a file.
"""

from __future__ import annotations

import sys
import time

import obstore
import orjson
from obstore.store import S3Store

from bench.bare_loop import COMMIT_RECORDS, COMMIT_SECONDS
from penstock.kafka.clients import Connection, transactional_producer


def main(bootstrap_servers: str, topic: str, *place: str) -> None:
    """Wait to be told, then produce all objects."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if sys.stdin.readline():
        copy(bootstrap_servers, topic, _store(*place))


def copy(bootstrap_servers: str, topic: str, store: S3Store) -> None:
    """Produce every line of every object, in transactions."""
    to_kafka = transactional_producer(Connection(bootstrap_servers), f"objects-{topic}")
    to_kafka.init_transactions()
    to_kafka.begin_transaction()
    began, count = time.monotonic(), 0
    names = sorted(meta["path"] for page in obstore.list(store) for meta in page)
    for name in names:
        key = name.encode()
        for line in bytes(obstore.get(store, name).bytes()).splitlines():
            orjson.loads(line)
            try:
                to_kafka.produce(topic, line, key)
            except BufferError:
                to_kafka.flush()
                to_kafka.produce(topic, line, key)
            count += 1
        to_kafka.poll(0)
        if count >= COMMIT_RECORDS or time.monotonic() - began > COMMIT_SECONDS:
            to_kafka.commit_transaction()
            to_kafka.begin_transaction()
            began, count = time.monotonic(), 0
    to_kafka.commit_transaction()


def _store(endpoint: str, bucket: str, key_id: str, secret: str) -> S3Store:
    return S3Store(
        bucket,
        endpoint=endpoint,
        region="us-east-1",
        access_key_id=key_id,
        secret_access_key=secret,
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
