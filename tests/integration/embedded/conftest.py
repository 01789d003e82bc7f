"""A real Java and the real jars, from the user's cache."""

import pytest

from penstock.embedded import Jars, Java, ensure_jars, find_java


@pytest.fixture(scope="session")
def java() -> Java:
    return find_java()


@pytest.fixture(scope="session")
def jars(java: Java) -> Jars:
    return ensure_jars(java)
