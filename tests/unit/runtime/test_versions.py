"""What GET / says of the code."""

import re

import penstock
from penstock.runtime import versions


def test_the_version_is_that_of_kafka_connects_api() -> None:
    told = versions.described()
    assert tuple(map(int, told["version"].split("."))) >= (3, 5)
    assert told["penstock_version"] == penstock.__version__
    assert re.fullmatch(r"[0-9a-f]{16}", told["commit"])
