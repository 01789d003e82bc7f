"""What looks like a secret in a text of others is hidden; what only resembles one is not."""

from __future__ import annotations

import pytest

from penstock.logs.secrets import scrub_unknown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=abc, x", "password=[hidden], x"),
        ('{"db.Password": "a b"}', '{"db.Password": [hidden]}'),
        ("api-key: k1 rest", "api-key: [hidden] rest"),
        ("jdbc:postgresql://me:pw@db/x", "jdbc:postgresql://[hidden]@db/x"),
        ("http://host/a@b", "http://host/a@b"),
        ("tokens were missing", "tokens were missing"),
    ],
)
def test_hidden(text: str, shown: str) -> None:
    assert scrub_unknown(text) == shown
