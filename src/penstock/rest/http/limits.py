"""How large, how deep and how slow a request's body may be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate

import anyio
from starlette.exceptions import HTTPException

from penstock.runtime.errors import BadRequest

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_DEPTH = 64
BODY_SECONDS = 30.0
# A string that does not end goes to the end of the text: the parser will say so.
A_STRING = rb'"(?:[^"\\]|\\.)*+(?:"|\Z)'
STRING = re.compile(A_STRING, re.DOTALL)
STRETCH = re.compile(rb'(?:[^"]{1,100}+|' + A_STRING + rb"){1,1000}+", re.DOTALL)
"""Some of a text, cut outside of strings: between two of them other threads may run."""
BRACKETS = b"[]{}"
NOT_BRACKETS = bytes(set(range(256)) - set(BRACKETS))
STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


@contextmanager
def in_time() -> Iterator[None]:
    """408 for a body that takes too long to arrive."""
    try:
        with anyio.fail_after(BODY_SECONDS):
            yield
    except TimeoutError:
        raise HTTPException(408) from None


def refuse_deep(body: bytes | bytearray) -> None:
    """BadRequest if objects and lists of a JSON text are nested too deeply to be read safely."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for stretch in STRETCH.finditer(body):
        brackets = STRING.sub(b"", stretch[0]).translate(None, NOT_BRACKETS)
        depths = list(accumulate(map(STEP.__getitem__, brackets), initial=depth))
        if max(depths) > MAX_DEPTH:
            raise BadRequest(f"Document nesting depth exceeds the maximum allowed, {MAX_DEPTH}")
        depth = depths[-1]
