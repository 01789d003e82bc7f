"""The code in CONTRIBUTING.md works: a connector, a converter, transforms, a config provider."""

from __future__ import annotations

import pickle
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from penstock.sdk import SCHEMALESS, OffsetReader, RecordError, Schema, record_batch, to_field

GUIDE = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The one block that defines what a test is about."""
    defined = (f"class {request.param}(", f"def {request.param}(")
    (code,) = (block for block in BLOCKS if any(each in block for each in defined))
    module = ModuleType("of_the_guide")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(code, "CONTRIBUTING.md", "exec"), module.__dict__)  # noqa: S102 (our own text)
    return module


@pytest.mark.parametrize("module", ["CounterConnector"], indirect=True)
def test_the_connector_goes_on_from_any_offset(module: Any) -> None:
    config = {"topic": "t", "count": "5"}
    connector = module.CounterConnector()
    connector.start(config)
    (task_config,) = connector.task_configs(4)
    first = polled(module, task_config, OffsetReader())
    assert [record.value for record in first] == [0, 1, 2, 3, 4]
    committed = OffsetReader([(first[2].source_partition, first[2].source_offset)])
    assert [record.value for record in polled(module, task_config, committed)] == [3, 4]
    assert connector.look(committed)
    assert not connector.look(OffsetReader([(first[4].source_partition, first[4].source_offset)]))


def polled(module: Any, config: dict[str, str], offsets: OffsetReader) -> list[Any]:
    task = module.CounterTask()
    task.start(config, offsets)
    return [record for records in iter(task.poll, None) for record in records]


@pytest.mark.parametrize("module", ["HexConverter"], indirect=True)
def test_the_converter_there_and_back(module: Any) -> None:
    made = module.HexConverter()
    made.configure({}, is_key=False)
    converter = pickle.loads(pickle.dumps(made))  # noqa: S301 (our own)
    values = pa.array([b"\x00\xff", None], pa.binary())
    texts = converter.encode(values, to_field(Schema.bytes(optional=True), "value"))
    assert texts.to_pylist() == [b"00ff", None]
    (run,) = converter.decode(texts)
    assert run.array == values
    with pytest.raises(RecordError) as refused:
        converter.decode(pa.array([b"00", b"no"], pa.binary()))
    assert refused.value.row == 1


@pytest.mark.parametrize("module", ["DropTombstones"], indirect=True)
def test_the_transform_drops_what_it_says(module: Any) -> None:
    transform = module.DropTombstones()
    transform.configure({})
    batch = record_batch("t", pa.array(["a", None, "c"]), offset=pa.array([7, 8, 9]))
    assert transform.apply(batch).column("offset").to_pylist() == [7, 9]


@pytest.mark.parametrize("module", ["VaultProvider"], indirect=True)
def test_the_config_provider_asks_its_service(module: Any) -> None:
    module.look_up = lambda *asked: " ".join(asked)
    provider = module.VaultProvider()
    provider.configure({"address": "https://vault"})
    assert provider.get("db", "password") == "https://vault db password"


@pytest.mark.parametrize("module", ["redacted"], indirect=True)
def test_the_functions_are_transforms(module: Any) -> None:
    keyed = module.only_keyed()
    keyed.configure({})
    batch = record_batch("t", pa.array(["a", "b"]), key=pa.array([None, "k"]))
    assert keyed.apply(batch).column("value").to_pylist() == ["b"]
    made = module.redacted()
    made.configure({"field": "name"})
    redacted = pickle.loads(pickle.dumps(made))  # noqa: S301 (our own)
    texts = pa.array(['{"name":"Ann"}', '{"n":1}', None])
    values = pa.ExtensionArray.from_storage(SCHEMALESS.type, texts)
    changed = redacted.apply(record_batch("t", values, value_field=SCHEMALESS))
    assert changed.column("value").storage.to_pylist() == ['{"name":"***"}', '{"n":1}', None]
    told = [{"key": "redacted", "value": b"true"}]
    assert changed.column("headers").to_pylist() == [told, None, None]
