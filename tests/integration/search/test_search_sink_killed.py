"""The Elasticsearch sink, killed between the server's writes and Kafka's commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.search_server import SearchServer
from free_ports import free_port
from keyed_records import produce_keyed
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from played_search import PASSWORD, USER, PlayedSearch
from sink_offsets import entry, in_group
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

RECORDS = 500


@pytest.mark.heavy
def test_nothing_is_lost_and_each_document_is_written_once(
    broker: EmbeddedBroker, topics: Topics, search: SearchServer, name: str, tmp_path: Path
) -> None:
    """The server has the documents, and its answer is held back: nothing can be committed."""
    topics.create(name)
    produce_keyed(topics, name, [(str(n), f'{{"n": {n}}}') for n in range(RECORDS)])
    worker = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    with PlayedSearch(search.url) as played:
        try:
            worker.start(240)
            played.answering.clear()
            worker.client.create(name, _config(played.url, name))
            eventually(lambda: len(search.documents(name)) > 0, within=240, what="documents")
            worker.kill_tree()
            written = len(search.documents(name))
            assert (
                sum(e["offset"]["kafka_offset"] for e in in_group(topics, f"connect-{name}")) == 0
            )
            played.answering.set()
            worker.start(240)
            end = [entry(name, 0, topics.end(name))]
            eventually(lambda: in_group(topics, f"connect-{name}") == end, within=240)
        finally:
            worker.close()
    assert written > 0
    assert search.documents(name) == {str(n): {"n": n} for n in range(RECORDS)}
    # A document that had been written twice would have counted once more here.
    stats = search.http.get(f"/{name}/_stats/indexing,docs").json()["_all"]["primaries"]
    assert stats["docs"]["deleted"] == 0


def _config(url: str, topic: str) -> dict[str, str]:
    return {
        "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
        "connection.url": url,
        "connection.username": USER,
        "connection.password": PASSWORD,
        "topics": topic,
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
