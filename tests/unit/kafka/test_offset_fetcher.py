"""Committed offsets, asked for with librdkafka's own cluster of no brokers at all."""

from __future__ import annotations

import subprocess
import sys

NOT_COORDINATOR = """
import ctypes
from confluent_kafka import KafkaException, cimpl
from penstock.kafka.offset_fetcher import OffsetFetcher

library = ctypes.CDLL(cimpl.__file__)
cluster_of = library.rd_kafka_handle_mock_cluster
cluster_of.restype, cluster_of.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
push = library.rd_kafka_mock_push_request_errors_array
push.argtypes = [ctypes.c_void_p, ctypes.c_int16, ctypes.c_size_t, ctypes.c_void_p]

fetcher = OffsetFetcher({"test.mock.num.brokers": 1, "group.id": "g", "log_level": 0})
OFFSET_FETCH = 9
push(cluster_of(fetcher._client), OFFSET_FETCH, 1, (ctypes.c_int * 1)(16))
try:
    fetcher.ask("group", None).answer(30)
except KafkaException as error:
    print(error.args[0].name())
"""


def test_an_answer_of_somebody_who_is_not_the_coordinator() -> None:
    """An admin client of confluent_kafka ends the process here."""
    asked = subprocess.run(
        [sys.executable, "-c", NOT_COORDINATOR],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (asked.returncode, asked.stdout) == (0, "NOT_COORDINATOR\n"), asked.stderr
