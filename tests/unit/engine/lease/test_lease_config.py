"""A lease on its way holds references alone; the values come in at the last moment."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import pyarrow as pa
import pytest

from penstock.columnar.json_converter import JsonConverter
from penstock.columnar.plain_converters import StringConverter
from penstock.columnar.regex_router import RegexRouter
from penstock.config.providers import AllowedPaths, FileProvider
from penstock.config.references import Providers
from penstock.engine.frames.load_stages import polling
from penstock.engine.frames.loads import Load
from penstock.engine.frames.row_loop import run_rows
from penstock.engine.lease import lease_loop
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import (
    End,
    Limits,
    Membership,
    SourceLease,
)
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka.clients import Connection
from penstock.logs.secrets import hidden_from
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.sdk.batches import record_batch
from penstock.sdk.errors import ConfigError


@pytest.fixture
def lease(tmp_path: Path) -> SourceLease:
    """With references in its config, its overrides, a converter and a transform."""
    file = tmp_path / "s.properties"
    file.write_text("password=geheim\nto=verborgen\nschemas=false\nlogin=hinein\n")

    def refer(key: str) -> str:
        return f"${{file:{file}:{key}}}"

    return SourceLease(
        lease_id="lease",
        previous=None,
        connector="lease-config",
        task=0,
        config={"password": refer("password"), "plain": "p"},
        pipeline=Recipe(
            (StringConverter, {}),
            (JsonConverter, {"schemas.enable": refer("schemas")}),
            [(RegexRouter, {"regex": ".*", "replacement": refer("to")}, None)],
        ),
        connection=Connection("nowhere:1"),
        transactional_id="cluster-orders-0",
        membership=Membership(b"", "workers"),
        limits=Limits(),
        secrets=("written",),
        producer_settings={"client.id": "me", "linger.ms": 1},
        task_class=FileStreamSourceTask,
        offsets_topic="offsets",
        positions=(),
        providers=Providers({"file": FileProvider(AllowedPaths((str(tmp_path),)))}),
        overrides={
            "producer.override.sasl.password": refer("login"),
            "producer.override.linger.ms": "9",
            "admin.override.max.request.size": "2000",
        },
    )


def test_no_value_is_on_the_way(lease: SourceLease) -> None:
    sent = pickle.dumps(lease)
    assert not [value for value in (b"geheim", b"verborgen", b"hinein") if value in sent]


def test_everything_is_resolved_where_the_task_runs(lease: SourceLease) -> None:
    ready = resolved(lease)
    assert ready.config == {"password": "geheim", "plain": "p"}
    assert ready.producer_settings == {
        "client.id": "me",
        "linger.ms": "9",
        "sasl.password": "hinein",
    }
    assert ready.consumer_settings == {}
    assert ready.admin_settings == {"message.max.bytes": "2000"}
    assert isinstance(ready.pipeline, Pipeline)
    encoded = ready.pipeline.encode(record_batch("t", pa.array(["v"])))
    assert encoded.batch.column("topic").to_pylist() == ["verborgen"]
    assert encoded.value.to_pylist() == [b'"v"']


def test_what_was_found_is_hidden(lease: SourceLease) -> None:
    ready = resolved(lease)
    found = {"written", "geheim", "verborgen", "hinein"}
    assert found <= set(ready.secrets)
    assert found <= set(hidden_from("lease-config"))


def test_a_value_that_does_not_do(lease: SourceLease) -> None:
    wrong = replace(lease, overrides={"producer.override.interceptor.classes": "a.B"})
    with pytest.raises(ConfigError, match="names Java classes"):
        resolved(wrong)


@pytest.mark.usefixtures("fresh_levels")
def test_a_lease_whose_settings_are_wrong_fails_and_tells_no_value(
    lease: SourceLease,
) -> None:
    schemas = {"schemas.enable": lease.config["password"]}
    recipe = Recipe((StringConverter, {}), (JsonConverter, schemas))
    report = lease_loop.run(replace(lease, pipeline=recipe), SourceLoop, Heartbeat())
    assert report.end is End.FAILED
    assert report.trace == (
        "ConfigError: Invalid value [hidden] for configuration schemas.enable: Expected value to "
        "be either true or false"
    )


class Telling(StringConverter):
    """Ends with its settings in the text of an error that is not for users."""

    how: type[BaseException] = ValueError

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        if config:
            raise self.how(f"cannot connect with {dict(config)}")


class Exiting(Telling):
    how = SystemExit


def on_a_carrier(lease: SourceLease) -> tuple[End, str]:
    report = lease_loop.run(lease, SourceLoop, Heartbeat())
    return report.end, report.trace


def in_a_stage(lease: SourceLease) -> tuple[End, str]:
    report = run_rows(lease, lambda: True, Mock())
    return report.end, report.trace


@pytest.mark.usefixtures("fresh_levels")
@pytest.mark.parametrize("run", [on_a_carrier, in_a_stage])
@pytest.mark.parametrize("converter", [Telling, Exiting])
def test_a_converter_whose_configure_fails_tells_no_value(
    lease: SourceLease,
    run: Callable[[SourceLease], tuple[End, str]],
    converter: type[Telling],
) -> None:
    """Its error is no ConfigError, and may quote whatever it was given."""
    settings = {"login": lease.config["password"]}
    recipe = Recipe((StringConverter, {}), (converter, settings))
    end, trace = run(replace(lease, pipeline=recipe))
    assert end is End.FAILED
    assert f"{converter.how.__name__}: cannot connect with {{'login': '[hidden]'}}" in trace
    assert "geheim" not in trace


@pytest.mark.usefixtures("fresh_levels")
def test_one_before_a_step_of_sparks_tells_none_either(lease: SourceLease) -> None:
    recipe = Recipe((StringConverter, {}), (Telling, {"login": lease.config["password"]}))
    seen: Any = MagicMock()
    list(polling(replace(lease, pipeline=recipe), seen)([]))
    (load,) = (call.args[0] for call in seen.rows.call_args_list)
    assert isinstance(load, Load)
    assert "{'login': '[hidden]'}" in str(load.failure)
    assert "geheim" not in str(load.failure)
