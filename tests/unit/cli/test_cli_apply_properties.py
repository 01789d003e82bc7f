"""`penstock apply` of a properties file, as Kafka Connect's standalone worker takes it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

Run = Callable[..., Any]

TEXT = """\
# as shipped
name=local-file-source
connector.class=FileStreamSource
tasks.max=1
file=test.txt
"""


@pytest.fixture(autouse=True)
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.connectors.return_value = []
    herder.put_config.return_value = (True, {"config": {}})


def test_properties(run: Run, herder: Mock, tmp_path: Path) -> None:
    file = tmp_path / "source.properties"
    file.write_text(TEXT)
    assert "local-file-source created" in run("apply", "-f", str(file)).out
    herder.put_config.assert_called_once_with(
        "local-file-source",
        {
            "name": "local-file-source",
            "connector.class": "FileStreamSource",
            "tasks.max": "1",
            "file": "test.txt",
        },
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [("tasks.max=1\n", 'no "name"'), ("name=n\n=x\n", "line 2"), (None, "No such file")],
)
def test_what_is_wrong_with_it(
    run: Run, herder: Mock, tmp_path: Path, text: str | None, told: str
) -> None:
    file = tmp_path / "source.properties"
    if text is not None:
        file.write_text(text)
    result = run("apply", "-f", str(file))
    assert result.code == 1
    assert told in result.err
    assert not herder.put_config.called
