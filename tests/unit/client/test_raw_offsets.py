"""Offsets as text: cut out, and put together, byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client import ConnectApiError, RawOffset, read_offsets, write_offsets

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
MAPS = st.dictionaries(st.text(), SCALARS)


def test_texts_are_cut_out_as_they_are() -> None:
    entry = '{"offset": {"p":1.0} ,"partition":{ "f":"a\\u00e9" } }'
    text = f' {{ "offsets" : [ {entry}, {{"partition":{{}}}}]}}'
    assert read_offsets(text) == [
        RawOffset('{ "f":"a\\u00e9" }', '{"p":1.0}'),
        RawOffset("{}", None),
    ]


@given(st.lists(st.tuples(MAPS, st.none() | MAPS)), st.sampled_from([None, 1]))
def test_what_is_read_is_what_was_written(entries: list, indent: int | None) -> None:
    body = {"offsets": [{"partition": p, "offset": o} for p, o in entries]}
    read = read_offsets(json.dumps(body, indent=indent))
    assert [(json.loads(r.partition), json.loads(r.offset or "null")) for r in read] == entries
    assert json.loads(write_offsets(read)) == body


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"offsets": 1}', '{"offsets": [1]}', "{", "<html>"]
)
def test_something_else_is_an_error(text: str) -> None:
    with pytest.raises(ConnectApiError, match="other than offsets"):
        read_offsets(text)
