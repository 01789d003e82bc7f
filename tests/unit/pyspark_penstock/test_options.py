"""The options of format("penstock"): what is wrong is said, with what it may be."""

from __future__ import annotations

import json

import pytest
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import StructType

from pyspark_penstock import DefaultSource
from pyspark_penstock.options import (
    ConnectorOptions,
    OptionError,
    TopicOptions,
    reading_options,
    streaming_options,
    writing_options,
)
from pyspark_penstock.topics import admin_of

BROKERS = {"kafka.bootstrap.servers": "nowhere:9092"}
TOPIC = {"topic": "orders", **BROKERS}


def topic(**given: str) -> TopicOptions:
    found = reading_options(CaseInsensitiveDict({**TOPIC, **given}))
    assert isinstance(found, TopicOptions)
    return found


def connector(**given: str) -> ConnectorOptions:
    found = reading_options(CaseInsensitiveDict({"config": "{}", **given}))
    assert isinstance(found, ConnectorOptions)
    return found


def test_defaults_of_a_topic() -> None:
    found = topic()
    assert (found.topics, found.starting, found.ending) == (("orders",), "earliest", "latest")
    assert (found.headers, found.consumer, found.records_per_task) == (False, None, None)
    assert found.connection.bootstrap_servers == "nowhere:9092"


def test_upper_and_lower_case_are_one_as_spark_lower_cases_options() -> None:
    found = topic(startingoffsets='{"orders": {"0": 5}}', RECORDSPERTASK="7", Headers="TRUE")
    assert found.starting == {"orders": {0: 5}}
    assert (found.records_per_task, found.headers) == (7, True)


def test_settings_of_kafkas_clients() -> None:
    found = topic(**{"kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": "PLAIN"})
    assert found.connection.security["security.protocol"] == "SASL_PLAINTEXT"
    with pytest.raises(OptionError, match=r"kafka\.\*: .*no\.such\.setting"):
        admin_of(topic(**{"kafka.no.such.setting": "1"}).connection)


def test_a_connector() -> None:
    config = json.dumps({"connector.class": "FileStreamSource", "tasks.max": 2})
    offsets = json.dumps({"offsets": [{"partition": {"a": 1}, "offset": {"b": 2}}]})
    found = connector(config=config, offsets=offsets, limit="3", idleSeconds="0.5", values="bytes")
    assert found.config == {"connector.class": "FileStreamSource", "tasks.max": "2"}
    assert found.offsets == (({"a": 1}, {"b": 2}),)
    assert (found.limit, found.idle_seconds, found.as_bytes) == (3, 0.5, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, 'give "config"'),
        ({"config": "{}", "topic": "t"}, "not both"),
        ({"config": "{"}, '"config" is not valid JSON'),
        ({"config": "[]"}, '"config" is a JSON object'),
        ({"config": "{}", "limits": "1"}, 'no option "limits": did you mean limit'),
        ({"config": "{}", "limit": "0"}, '"limit" is a number of records'),
        ({"config": "{}", "limit": "many"}, "not 'many'"),
        ({"config": "{}", "idleSeconds": "-1"}, "0 or more"),
        ({"config": "{}", "values": "text"}, "columns or bytes"),
        ({"config": "{}", "offsets": "7"}, "GET /connectors/NAME/offsets"),
        ({"config": "{}", "offsets": '[{"partition": 1}]'}, "GET /connectors/NAME/offsets"),
        ({"topic": "t"}, r"kafka\.bootstrap\.servers"),
        ({**TOPIC, "topic": " , "}, "name of a topic"),
        ({**TOPIC, "startingOffsets": "first"}, "earliest, latest, or offsets"),
        ({**TOPIC, "startingOffsets": '{"other": {"0": 1}}'}, "earliest, latest, or offsets"),
        ({**TOPIC, "startingOffsets": '{"orders": {"0": -1}}'}, "earliest, latest, or offsets"),
        ({**TOPIC, "headers": "yes"}, "true or false"),
        ({**TOPIC, "consumer": "c", "startingOffsets": "latest"}, "begins where it stands"),
        ({**TOPIC, "topic": "a,b", "consumer": "c"}, "reads one topic"),
        ({**TOPIC, "takeOver": "true"}, "no option"),
    ],
)
def test_mistakes_of_a_batch(given: dict[str, str], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        reading_options(CaseInsensitiveDict(given))


def test_mistakes_of_a_stream() -> None:
    with pytest.raises(OptionError, match="as a batch only"):
        streaming_options(CaseInsensitiveDict({"config": "{}"}))
    with pytest.raises(OptionError, match='give "topic"'):
        streaming_options(CaseInsensitiveDict(BROKERS))
    with pytest.raises(OptionError, match='no option "endingoffsets"'):
        streaming_options(CaseInsensitiveDict({**TOPIC, "endingOffsets": "latest"}))


def test_mistakes_of_writing() -> None:
    with pytest.raises(OptionError, match="only be appended to"):
        writing_options(CaseInsensitiveDict(TOPIC), overwrite=True)
    with pytest.raises(OptionError, match='no option "headers"'):
        writing_options(CaseInsensitiveDict({**TOPIC, "headers": "true"}), overwrite=False)


def test_a_secret_in_json_that_is_not_valid_is_not_repeated() -> None:
    with pytest.raises(OptionError) as found:
        connector(config='{"password": "hunter2",}')
    assert "hunter2" not in str(found.value)


def test_a_stream_cannot_end_here_and_what_to_do_is_said() -> None:
    source = DefaultSource({**BROKERS, "topic": "orders"})
    with pytest.raises(OptionError, match=r"foreachBatch\(lambda batch"):
        source.streamWriter(StructType([]), False)


def test_options_are_found_however_they_are_spelled() -> None:
    assert topic(STARTINGOFFSETS="latest") == topic(startingoffsets="latest")
    assert topic(startingOffsets="latest") != topic()
