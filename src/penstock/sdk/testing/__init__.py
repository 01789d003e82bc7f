"""The contract kit: scenarios that a connector of any kind should pass, in a few lines of pytest.

    class TestCounter(SourceContract):
        @pytest.fixture
        def source(self, tmp_path):
            return CounterSource(tmp_path)    # a SourceUnderTest

Neither Kafka nor Spark runs: the kit plays the worker, and does what a worker may do to a task. It
restarts, kills, stops and alters; what the connector then delivers must still be right, by the
guarantee that it declares. Needs pytest.
"""

from penstock.sdk.testing.played_sink import PlayedSink, SinkUnderTest
from penstock.sdk.testing.played_source import PlayedSource, SourceUnderTest
from penstock.sdk.testing.sink_contract import SinkContract
from penstock.sdk.testing.source_contract import SourceContract

__all__ = [
    "PlayedSink",
    "PlayedSource",
    "SinkContract",
    "SinkUnderTest",
    "SourceContract",
    "SourceUnderTest",
]
