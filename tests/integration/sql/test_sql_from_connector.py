"""A connector and a stream over its topic in one statement."""

from __future__ import annotations

import pytest

from penstock.client import ConnectClient
from penstock.sql.errors import SqlError
from penstock.sql.running import from_connector
from topics import Topics
from typing_sql import Typing

DATAGEN = "io.confluent.kafka.connect.datagen.DatagenConnector"


@pytest.mark.heavy
def test_one_statement_makes_both_and_says_so(
    typed: Typing, connectors: ConnectClient, topics: Topics, name: str
) -> None:
    topics.create(name)
    made = typed(
        f"CREATE STREAM made FROM SOURCE CONNECTOR {name} WITH ("
        f"'connector.class'='{DATAGEN}', 'kafka.topic'='{name}', 'quickstart'='pageviews', "
        "'iterations'='5', 'max.interval'='1', "
        "'value.converter'='org.apache.kafka.connect.json.JsonConverter', "
        "'value.converter.schemas.enable'='false', 'my.password'='hunter2-of-this-test');"
    )
    assert f"Created connector {name}" in made
    assert "\n--------------\nSTREAM CREATED\n--------------\n" in made
    assert f"MADE over topic {name}: " in made
    assert "PAGEID VARCHAR" in made
    assert connectors.config(name)["quickstart"] == "pageviews"
    (catalogued,) = topics.messages(f"{name}-catalog", committed=False)
    assert b"hunter2" not in (catalogued.value() or b"")
    assert b"quickstart" not in (catalogued.value() or b"")
    assert typed.rows("SELECT COUNT(*) FROM made WHERE pageid IS NOT NULL;") == [(5,)]
    typed(f"CREATE STREAM again (pageid VARCHAR) FROM SOURCE CONNECTOR {name};")
    assert typed.rows("SELECT COUNT(*) FROM again;") == [(5,)]
    with pytest.raises(SqlError, match="MADE already exists"):
        typed(f"CREATE STREAM made FROM SOURCE CONNECTOR {name}-2 WITH (connector.class=x);")
    typed(f"DROP CONNECTOR {name};")
    assert typed.rows("SELECT COUNT(*) FROM made;") == [(5,)], "the stream stays"


def test_what_was_made_is_told_when_the_rest_cannot_be(
    typed: Typing, connectors: ConnectClient, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(from_connector, "PATIENCE_SECONDS", 0.1)
    with pytest.raises(SqlError) as caught:
        typed(
            f"CREATE TABLE t FROM SOURCE CONNECTOR {name} WITH (connector.class="
            f"FileStreamSourceConnector, file='/no/such/file', topic={name});"
        )
    assert f"Connector {name} was created, but not the table: " in str(caught.value)
    assert f"CREATE TABLE T FROM SOURCE CONNECTOR {name};" in str(caught.value)
    assert name in connectors.connectors()
    with pytest.raises(SqlError, match="does not exist"):
        typed("CREATE STREAM t FROM SOURCE CONNECTOR nobody-at-all;")
