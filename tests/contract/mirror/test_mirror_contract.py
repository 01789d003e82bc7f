"""The contract kit, with a topic of Kafka as the source."""

from __future__ import annotations

import pytest

from mirrored import MirroredTopic
from penstock.sdk.testing import SourceContract, SourceUnderTest
from topics import Topics


class TestMirror(SourceContract):
    @pytest.fixture
    def source(self, topics: Topics, name: str) -> SourceUnderTest:
        return MirroredTopic(topics, name)


@pytest.mark.heavy
class TestUncommitted(SourceContract):
    @pytest.fixture
    def source(self, topics: Topics, name: str) -> SourceUnderTest:
        return MirroredTopic(topics, name, consumer_isolation_level="read_uncommitted")
