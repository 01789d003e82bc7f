"""Worker config files: Java's properties format."""

from pathlib import Path

import pytest

from penstock.cli.properties import read_properties
from penstock.cli.up import worker_properties
from penstock.kafka.properties import parse_properties
from penstock.sdk.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", {}),
        ("a=b", {"a": "b"}),
        ("a = b c \n", {"a": "b c "}),
        ("a: b", {"a": "b"}),
        ("a b", {"a": "b"}),
        ("a=", {"a": ""}),
        ("a=b=c:d", {"a": "b=c:d"}),
        ("# a=b\n! c=d\n  # e=f\n\n\t\ng=h", {"g": "h"}),
        ("a=b,\\\n    c,\\\n  d\ne=f", {"a": "b,c,d", "e": "f"}),
        ("a=b\\\n# not a comment", {"a": "b# not a comment"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=b\\", {"a": "b"}),
        ("a\\ b\\=c=d\\te\\n\\u00fc\\:", {"a b=c": "d\te\nü:"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b\r\nc=d\re=f", {"a": "b", "c": "d", "e": "f"}),
        ("a=b # no comment", {"a": "b # no comment"}),
    ],
)
def test_parsing(text: str, entries: dict[str, str]) -> None:
    assert parse_properties(text, "w.properties") == entries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=b\n\n=c", "w.properties, line 3: no key"),
        ("# x\na=b\\\nc\nbootstrap.servers", "w.properties, line 4: no value"),
        ("a=\\u00g1", "w.properties, line 1: .u needs four hexadecimal digits"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_properties(text, "w.properties")


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Cannot read the worker config .*No such file"):
        read_properties(tmp_path / "missing")
    (tmp_path / "binary").write_bytes(b"a=\xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_properties(tmp_path / "binary")


def test_options_go_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "w.properties"
    file.write_text("bootstrap.servers=a:1\ngroup.id=g\n")
    options = {"bootstrap.servers": None, "spark.master": "local[2]"}
    assert worker_properties(file, options) == {
        "bootstrap.servers": "a:1",
        "group.id": "g",
        "spark.master": "local[2]",
    }
    assert worker_properties(file, {"group.id": "h"})["group.id"] == "h"
    assert worker_properties(None, options) == {"spark.master": "local[2]"}
