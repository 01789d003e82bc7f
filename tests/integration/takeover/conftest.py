"""One story for all tests of this folder: theirs, ours, theirs again, on the same topics.

It is played once, and what was seen at the end of each chapter is kept; the tests look at that.
"""

from __future__ import annotations

import pytest

from bench.connect_jars import ensure_connect_jars, ensure_mirror_jars
from penstock.embedded import EmbeddedBroker, Jars, Java
from takeover_story import Story, play
from topics import Topics


def _quietly(_: str) -> None:
    """Downloads are told to nobody."""


@pytest.fixture(scope="session")
def connect_class_path(java: Java, jars: Jars) -> str:
    """Kafka Connect and MirrorMaker 2; the broker's jars bring the logging."""
    folders = (ensure_connect_jars(java, _quietly), ensure_mirror_jars(java, _quietly), jars.broker)
    return ":".join(f"{folder}/*" for folder in folders)


@pytest.fixture(scope="session")
def story(
    tmp_path_factory: pytest.TempPathFactory,
    broker: EmbeddedBroker,
    topics: Topics,
    java: Java,
    connect_class_path: str,
) -> Story:
    """The whole story, played."""
    folder = tmp_path_factory.mktemp("takeover")
    return play(folder, broker.bootstrap_servers, topics, java, connect_class_path)
