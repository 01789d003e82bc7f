"""Long answers: byte for byte what short ones would be."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.responses import JSONResponse

from penstock.rest.http.json_text import Number
from penstock.rest.http.long_json import LongJson
from penstock.runtime.states import State


@pytest.mark.parametrize(
    "content",
    [
        {"a": {"status": {"state": State.FAILED, "trace": 'tab\t \x01 ü 🎈 </x> \\ "'}}},
        [1, -2, 1.5, True, None, "", [], {}],
        {"offset": 2**70, "number": Number("1.50")},
    ],
)
def test_the_same_bytes(content: Any) -> None:
    assert LongJson(content).body == JSONResponse(content).body
