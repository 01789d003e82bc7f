"""Records as they are printed."""

from __future__ import annotations

import base64
import json
from typing import Any

import pyarrow as pa
import pytest
import typer
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE, Message
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.record_columns import FORMS, print_values
from penstock.cli.record_printing import Form, printer
from penstock.consumers.reading.record import Record
from penstock.sdk.batches import record_batch

TIME = 1_772_366_400_123


def record(value: bytes | None, key: bytes | None = None, **more: Any) -> Record:
    given: dict[str, Any] = {
        "topic": "t",
        "partition": 3,
        "offset": 7,
        "timestamp": (TIMESTAMP_CREATE_TIME, TIME),
    }
    return Record(Message(**(given | more), value=value, key=key))


def shown(form: Form, *records: Record, **options: Any) -> str:
    return printer(form, **options)(records).decode()


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_raw_is_the_bytes_and_a_line_feed(values: list[bytes]) -> None:
    printed = printer(Form.RAW)([record(value) for value in values])
    assert printed == b"".join(value + b"\n" for value in values)


@pytest.mark.parametrize("form", sorted(FORMS))
@given(
    st.lists(st.none() | st.binary(max_size=9) | st.text(max_size=9).map(str.encode), max_size=5)
)
def test_columns_are_printed_as_records_are(form: Form, values: list[bytes | None]) -> None:
    rows = [record(value) for value in values]
    column = pa.array([b"before", *values, b"after"], pa.binary()).slice(1, len(values))
    batches = [record_batch("t", part) for part in (column.slice(0, 2), column.slice(2))]
    assert print_values(form, batches) == printer(form)(rows)


def test_raw_shows_nothing_where_there_is_no_value() -> None:
    assert printer(Form.RAW)([record(None), record(b"a")]) == b"\na\n"


@pytest.mark.parametrize("form", [Form.TEXT, Form.DYNAMIC])
def test_text(form: Form) -> None:
    assert shown(form, record("grün".encode()), record(b"a\tb")) == "grün\na\tb\n"
    assert shown(form, record(b"a"), record(None)) == "a\nnull\n"


def test_text_replaces_what_is_none() -> None:
    assert shown(Form.TEXT, record(b"a\xff")) == "a�\n"


@pytest.mark.parametrize("value", [b"\x00", b"\xff", b"\x1b[2J", "\x9b2J".encode()])
def test_what_a_terminal_might_obey_is_dumped(value: bytes) -> None:
    printed = shown(Form.DYNAMIC, record(b"text"), record(value))
    assert printed.startswith("text\n00000000  " + value.hex(" "))
    assert printed.isascii()
    assert "\x1b" not in printed


def test_a_dump_of_several_lines() -> None:
    assert shown(Form.DYNAMIC, record(b"Hello, world!\x00\x01\x02\x03")).splitlines() == [
        "00000000  48 65 6c 6c 6f 2c 20 77 6f 72 6c 64 21 00 01 02  |Hello, world!...|",
        "00000010  03                                               |.|",
    ]


def test_keys() -> None:
    for form in (Form.TEXT, Form.DYNAMIC):
        printed = shown(form, record(b"v", b"k"), record(b"w"), record(None, b""), keys=True)
        assert printed == "[k] v\n[null] w\n[] null\n"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b'{"a": [1, null]}', {"a": [1, None]}),
        (b"12345678901234567890123", 12345678901234567890123),
        (b'"text"', "text"),
        (b'{\n "a":\r\n 1}', {"a": 1}),
        (b"text", "text"),
        (b"", ""),
        (b"NaN", "NaN"),
        (None, None),
    ],
)
def test_json_values(value: bytes | None, expected: object) -> None:
    printed = shown(Form.JSONL, record(value, b"k", headers=[("h", b"1"), ("h", None)]))
    assert printed.count("\n") == 1
    assert json.loads(printed) == {
        "topic": "t",
        "partition": 3,
        "offset": 7,
        "timestamp": TIME,
        "key": "k",
        "value": expected,
        "headers": [{"name": "h", "value": "1"}, {"name": "h", "value": None}],
    }


def test_json_of_bytes() -> None:
    found = json.loads(shown(Form.JSONL, record(b"\xff", b"\xfe", headers=[("h", b"\xfd")])))
    assert (base64.b64decode(found["value"]), found["encoding"]) == (b"\xff", "base64")
    assert (base64.b64decode(found["key"]), found["key_encoding"]) == (b"\xfe", "base64")
    (header,) = found["headers"]
    assert (base64.b64decode(header["value"]), header["encoding"]) == (b"\xfd", "base64")


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=4))
def test_json_is_always_a_line_for_each_record(values: list[bytes]) -> None:
    lines = shown(Form.JSONL, *map(record, values)).split("\n")
    assert lines.pop() == ""
    assert len(lines) == len(values)
    for line, value in zip(lines, values, strict=True):
        found = json.loads(line)
        if found.get("encoding") == "base64":
            assert base64.b64decode(found["value"]) == value


def test_a_template() -> None:
    every = "{{topic}} {{partition}} {{ offset }} {{key}}={{value}} {{time}} [{{headers}}]"
    one = record(b"v", b"k", headers=[("a", b"1"), ("b", b"2")])
    assert shown(Form.DYNAMIC, one, template=every) == (
        "t 3 7 k=v 2026-03-01T12:00:00.123Z [a=1,b=2]\n"
    )
    bare = record(None, timestamp=(TIMESTAMP_NOT_AVAILABLE, 0))
    assert shown(Form.DYNAMIC, bare, template="{{key}} {{value}} {{time}}") == "null null NA\n"
    assert shown(Form.DYNAMIC, one, one, template="{x} }}") == "{x} }}\n{x} }}\n"


@pytest.mark.parametrize("template", ["{{valu}}", "{{}}", "{{key}} {{Offset}}"])
def test_a_template_with_an_unknown_word(template: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"may have {{offset}}, {{key}}, {{value}}"):
        printer(Form.DYNAMIC, template=template)


def test_a_table() -> None:
    table = printer(Form.TABLE)
    first = table([record(b'{"id": 1, "name": "Ann"}'), record(b'{"id": 20, "tags": ["x"]}')])
    assert first.decode().splitlines() == [
        "id  name  tags",
        "1   Ann",
        '20        ["x"]',
    ]
    assert table([record(b'{"name": "Bo"}')]).decode() == "    Bo\n"
    assert table([record(b"no\tobject")]).decode().splitlines() == [
        "",
        "id  name  tags   value",
        '                 "no\\tobject"',
    ]
