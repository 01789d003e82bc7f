"""`penstock import-offsets`: what it asks of the worker and what it tells its user."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.runtime.errors import BadRequest

Run = Callable[..., Any]

FILE = str(Path(__file__).parents[2] / "data" / "connect-standalone.offsets")
LINES = [{"partition": {"filename": "lines.txt"}, "offset": {"position": 19}}]


@pytest.fixture(autouse=True)
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_URL", url)
    herder.connectors.return_value = ["größe", "lines", "mirror", "other"]
    herder.alter_offsets.return_value = "altered."


def test_every_connector_of_the_file_is_altered(run: Run, herder: Mock) -> None:
    result = run("import-offsets", FILE)
    assert result.code == 0
    asked = {call.args[0]: call.args[1] for call in herder.alter_offsets.call_args_list}
    assert set(asked) == {"größe", "lines", "mirror"}
    assert asked["lines"] == LINES
    # The order of the keys decides under which bytes they are stored.
    assert list(asked["mirror"][0]["partition"]) == ["cluster", "partition", "topic"]
    assert "lines: altered." in result.out


def test_only_the_chosen_ones(run: Run, herder: Mock) -> None:
    assert run("import-offsets", FILE, "--connector", "lines").code == 0
    herder.alter_offsets.assert_called_once_with("lines", LINES)


def test_a_dry_run_shows_and_acceptable(run: Run, herder: Mock) -> None:
    result = run("import-offsets", FILE, "--dry-run", "--connector", "lines")
    assert result.code == 0
    assert result.out.split() == [
        *("Connector", "Partition", "Offset"),
        *("lines", '{"filename":', '"lines.txt"}', '{"position":', "19}"),
    ]
    herder.alter_offsets.assert_not_called()


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_connectors_that_do_not_exist_are_listed(run: Run, herder: Mock, more: Any) -> None:
    herder.connectors.return_value = ["lines"]
    result = run("import-offsets", FILE, *more)
    assert result.code == 1
    assert "No connector here is called größe, mirror: create what is missing" in result.err
    assert [call.args[0] for call in herder.alter_offsets.call_args_list] == (
        [] if more else ["lines"]
    )


def test_what_one_refuses_does_not_keep_the_others(run: Run, herder: Mock) -> None:
    def alter(name: str, _: Any) -> str:
        if name == "lines":
            raise BadRequest("Connectors must be in the STOPPED state")
        return "altered."

    herder.alter_offsets.side_effect = alter
    result = run("import-offsets", FILE)
    assert result.code == 1
    assert "lines: Connectors must be in the STOPPED state" in result.err
    assert "The offsets of lines were not set" in result.err
    assert "mirror: altered." in result.out


def test_a_connector_that_is_not_in_the_file(run: Run) -> None:
    result = run("import-offsets", FILE, "--connector", "other")
    assert result.code == 1
    assert "holds no offsets of other, but of größe, lines, mirror." in result.err


def test_files_that_are_none(run: Run, home: Path) -> None:
    text = home / "text"
    text.write_text("no map")
    assert (
        "is not an offsets file of Kafka Connect's standalone mode"
        in run("import-offsets", str(text)).err
    )
    missing = run("import-offsets", str(home / "nowhere"))
    assert missing.code == 1
    assert f"Cannot read {home / 'nowhere'}: No such file" in missing.err


@pytest.mark.parametrize("key", [b"text", b'["a"]', b'["a",1]', b'[1,{"a":1}]', b"\xff", b"3"])
def test_entries_that_are_no_offsets_are_named(run: Run, home: Path, key: bytes) -> None:
    data = Path(FILE).read_bytes()
    original = b'["lines",{"filename":"lines.txt"}]'
    file = home / "odd"
    sized = len(original).to_bytes(4, "big") + original
    file.write_bytes(data.replace(sized, len(key).to_bytes(4, "big") + key))
    result = run("import-offsets", str(file))
    assert result.code == 1
    assert "holds an entry that is not an offset of a connector" in result.err


def test_more_than_a_request_can_carry_goes_in_parts(run: Run, herder: Mock, home: Path) -> None:
    entries = [{"partition": {"n": n}, "offset": {"at": n}} for n in range(12_000)]
    file = home / "many.json"
    file.write_text(json.dumps({"offsets": entries}))
    result = run("patch", "offsets", "lines", "-f", str(file))
    assert result.out == "altered.\n"
    parts = [call.args[1] for call in herder.alter_offsets.call_args_list]
    assert len(parts) == 3
    assert [entry for part in parts for entry in part] == entries
