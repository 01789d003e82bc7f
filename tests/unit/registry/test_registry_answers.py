"""What becomes of the registry's answers, and of a registry that gives none.

The registry here is played, since a real one does not fail when it is told to; that the
converters work with a real one is shown by the contract and integration tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest

from free_ports import free_port
from penstock.registry.avro_converter import AvroConverter
from penstock.registry.json_schema_converter import JsonSchemaConverter
from penstock.registry.wire import header
from penstock.sdk.errors import ConfigError, RecordError, RetriableError, UserError
from penstock.sdk.schema import Schema, to_field
from played_registry import Played

TEXT = to_field(Schema.string(), "value")
ORDER = to_field(Schema.struct({"id": Schema.int32()}, name="acme.Order"), "value")


Make = Callable[..., AvroConverter]


@pytest.fixture
def played() -> Played:
    return Played()


@pytest.fixture
def avro(played: Played) -> Iterator[Make]:
    """Makes converters that ask the played registry."""
    with played.serving() as url:

        def make(is_key: bool = False, **keys: str) -> AvroConverter:
            converter = AvroConverter()
            config = {key.replace("_", "."): value for key, value in keys.items()}
            converter.configure({"schema.registry.url": url, **config}, is_key=is_key)
            return converter

        yield make


def encoded(converter: AvroConverter, topic: str = "orders") -> bytes:
    array = pa.array([None, {"id": 1}], ORDER.type)
    found: bytes = converter.encode_for(topic, array, ORDER).to_pylist()[1]
    return found


@pytest.mark.parametrize(
    ("strategy", "is_key", "subject"),
    [
        ("io.confluent.kafka.serializers.subject.TopicNameStrategy", False, "orders-value"),
        ("TopicNameStrategy", True, "orders-key"),
        ("io.confluent.kafka.serializers.subject.RecordNameStrategy", False, "acme.Order"),
        ("TopicRecordNameStrategy", True, "orders-acme.Order"),
    ],
)
def test_subjects(avro: Make, played: Played, strategy: str, is_key: bool, subject: str) -> None:
    side = "key" if is_key else "value"
    converter = avro(is_key, **{f"{side}_subject_name_strategy": strategy})
    assert encoded(converter) == header(5) + b"\x02"
    [(method, path, body, _)] = played.asked
    assert (method, path.partition("?")[0]) == ("POST", f"/subjects/{subject}/versions")
    assert json.loads(body["schema"])["name"] == "Order"


def test_a_schema_is_registered_once_for_each_topic(avro: Make, played: Played) -> None:
    converter = avro()
    for topic in ("a", "a", "b", "a", "b"):
        encoded(converter, topic)
    assert len(played.asked) == 2


def test_a_schema_that_has_to_be_there_is_looked_up(avro: Make, played: Played) -> None:
    converter = avro(auto_register_schemas="false")
    played.answer = 200, {"subject": "orders-value", "version": 1, "id": 9, "schema": '"string"'}
    assert encoded(converter).startswith(header(9))
    assert played.asked[0][1].partition("?")[0] == "/subjects/orders-value"
    played.answer = 404, {"error_code": 40403, "message": "Schema not found"}
    with pytest.raises(RecordError, match=r"orders-value.*Schema not found") as caught:
        encoded(avro(auto_register_schemas="false"))
    assert caught.value.row == 1


def test_the_latest_schema_is_written(avro: Make, played: Played) -> None:
    fields = [{"name": "id", "type": "long"}, {"name": "more", "type": "string", "default": "x"}]
    text = json.dumps({"type": "record", "name": "O", "fields": fields})
    played.answer = 200, {"subject": "s", "version": 4, "id": 11, "schema": text}
    converter = avro(auto_register_schemas="false", use_latest_version="true")
    assert encoded(converter) == header(11) + b"\x02\x02x"
    assert played.asked[0][1].partition("?")[0] == "/subjects/orders-value/versions/latest"


def test_an_unknown_id_is_the_fault_of_its_record_and_asked_for_once(
    avro: Make, played: Played
) -> None:
    converter = avro()
    played.answer = 404, {"error_code": 40403, "message": "Schema 77 not found"}
    for _ in range(3):
        with pytest.raises(RecordError, match=r"id 77.*not found") as caught:
            converter.decode(pa.array([None, header(77) + b"x"]))
        assert caught.value.row == 1
    assert len(played.asked) == 1


def test_a_schema_of_another_kind_is_the_fault_of_its_record(avro: Make, played: Played) -> None:
    played.answer = 200, {"schema": "{}", "schemaType": "JSON"}
    with pytest.raises(RecordError, match="type JSON"):
        avro().decode(pa.array([header(1) + b"x"]))


@pytest.mark.parametrize("row", [b"", b"\0\0\0", b"plain text", b"\1\0\0\0\1x"])
def test_records_without_an_id_are_named_by_row(avro: Make, played: Played, row: bytes) -> None:
    played.answer = 200, {"schema": '"string"'}
    good = header(1) + b"\x02a"
    with pytest.raises(RecordError, match="not written with a schema registry") as caught:
        avro().decode(pa.array([good, None, row, good]))
    assert caught.value.row == 2


def test_rows_of_one_id_are_one_run(avro: Make, played: Played) -> None:
    played.answer = 200, {"schema": '"string"'}
    a, b = header(1) + b"\x02a", header(2) + b"\x02b"
    runs = avro().decode(pa.array([None, a, None, a, b, None]))
    assert [(run.start, run.array.to_pylist()) for run in runs] == [
        (0, [None, "a", None, "a"]),
        (4, ["b", None]),
    ]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_registry_is_asked_again(avro: Make, played: Played, status: int) -> None:
    played.answer = status, {"error_code": status, "message": "later"}
    with pytest.raises(RetriableError, match="later"):
        encoded(converter := avro())
    with pytest.raises(RetriableError, match="later"):
        converter.decode(pa.array([header(1) + b"x"]))
    played.answer = 200, {"id": 5}
    assert encoded(converter).startswith(header(5))


def test_a_registry_that_is_not_there_is_named() -> None:
    converter = JsonSchemaConverter()
    url = f"http://127.0.0.1:{free_port()}"
    converter.configure({"schema.registry.url": url}, is_key=False)
    with pytest.raises(RetriableError, match=f"{url} does not answer.*errors.retry.timeout"):
        converter.encode_for("a", pa.array(["x"]), TEXT)


@pytest.mark.parametrize(
    ("keys", "login"),
    [
        (
            {"basic_auth_credentials_source": "USER_INFO", "basic_auth_user_info": "me:geheim"},
            "Basic bWU6Z2VoZWlt",
        ),
        (
            {"bearer_auth_credentials_source": "STATIC_TOKEN", "bearer_auth_token": "geheim"},
            "Bearer geheim",
        ),
    ],
)
def test_logins_are_sent_and_never_shown(
    avro: Make, played: Played, keys: dict[str, str], login: str
) -> None:
    converter = avro(**keys)
    encoded(converter)
    assert played.asked[0][3] == login
    played.answer = 401, {"error_code": 40101, "message": "no"}
    with pytest.raises(UserError, match="refuses us") as caught:
        encoded(converter, "other")
    written = {key.replace("_", "."): value for key, value in keys.items()}
    masked = converter.config_def.masked(written)
    shown = f"{caught.value} {converter._registry._settings!r} {masked}"
    assert "geheim" not in shown


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({}, "schema.registry.url"),
        ({"schema.registry.url": ""}, "at least one URL"),
        ({"schema.registry.url": "localhost:8081"}, "http://"),
        ({"schema.registry.url": "http://me:geheim@a"}, "basic.auth.user.info"),
        ({"schema.registry.url": "http://a", "use.latest.version": "true"}, "auto.register"),
        ({"schema.registry.url": "http://a", "basic.auth.user.info": "me:geheim"}, "USER_INFO"),
        ({"schema.registry.url": "http://a", "value.subject.name.strategy": "Mine"}, "Known"),
        (
            {"schema.registry.url": "http://a", "bearer.auth.credentials.source": "STATIC_TOKEN"},
            "bearer.auth.token",
        ),
    ],
)
def test_wrong_settings_are_told_without_secrets(config: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        AvroConverter().configure(config, is_key=False)
    assert "geheim" not in str(caught.value)


def test_records_without_a_schema_are_refused(avro: Make) -> None:
    column = pa.field("value", pa.json_())
    with pytest.raises(RecordError, match="no schema"):
        avro().encode_for("a", pa.array([None, "1"], pa.json_()), column)
