"""No secret is in what is shown, kept or told."""

from __future__ import annotations

import pytest
from prompt_toolkit.history import InMemoryHistory

from penstock.sql.errors import SyntaxProblem
from penstock.sql.grammar.parser import masked_text, parse
from penstock.sql.shell.prompt import MaskedHistory, masked_script


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "CREATE SOURCE CONNECTOR c WITH (connector.class=x.Y, tasks.max=2, 'pwd'='hunter2')",
            "CREATE SOURCE CONNECTOR c WITH (connector.class=x.Y, tasks.max=2, 'pwd'='[string]')",
        ),
        (
            "create external sink s with (url=jdbc:x://u:hunter2@h, topics='a', pin=7)",
            "create external sink s with (url='[string]', topics='a', pin=7)",
        ),
        (
            "ALTER CONNECTOR c SET (db.password = 1234, x = '${file:/f:k}')",
            "ALTER CONNECTOR c SET (db.password = '[string]', x = '${file:/f:k}')",
        ),
        ("DEFINE pw = 'hunter2'", "DEFINE pw = '[string]'"),
        ("INSERT INTO s VALUES ('hunter2', 1)", "INSERT INTO s VALUES ('[value]', '[value]')"),
        ("SELECT 'x' FROM s", "SELECT 'x' FROM s"),
    ],
)
def test_values_are_masked(text: str, shown: str) -> None:
    assert masked_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "CREATE SOURCE CONNECTOR c WITH (password='hunter2' x)",
        "CREATE SOURCE CONNECTOR c WITH (password=hunter2 x)",
        "CRATE SOURCE CONNECTOR c WITH ('password' = 'hunter2')",
        'CREATE SOURCE CONNECTOR c WITH (password="hunter2',
        "CREATE SOURCE CONNECTOR c WITH (password = (hunter2))",
    ],
)
def test_what_is_no_statement_tells_no_value(text: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(text)
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in masked_script(text)


def test_the_history_has_no_secret_neither_in_memory_nor_on_disk() -> None:
    inner = InMemoryHistory()
    history = MaskedHistory(inner)
    history.append_string("CREATE SOURCE CONNECTOR c WITH ('a.b'='hunter2'); SHOW CONNECTORS;")
    kept = [*history.get_strings(), *inner.load_history_strings()]
    assert kept == [
        "CREATE SOURCE CONNECTOR c WITH ('a.b'='[string]'); SHOW CONNECTORS;",
    ] * len(kept)
    assert len(kept) == 2
