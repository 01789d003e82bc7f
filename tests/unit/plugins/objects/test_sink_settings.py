"""The object sink's configuration: names of objects, and errors that say what to write."""

from __future__ import annotations

import pytest

from penstock.plugins.objects.sink_config import SinkSettings
from penstock.plugins.objects.sink_connector import ObjectSinkConnector
from penstock.plugins.objects.sink_names import ObjectName
from penstock.sdk import ConfigError

NOON = 1_709_294_400_000  # 2024-03-01T12:00:00Z


@pytest.mark.parametrize(
    ("template", "zone", "name"),
    [
        ("{{topic}}-{{partition}}-{{start_offset}}", "Z", "t-3-42"),
        (
            "{{ topic }}/{{partition:padding=true}}/{{start_offset:padding=true}}.gz",
            "Z",
            "t/0000000003/00000000000000000042.gz",
        ),
        (
            "y={{timestamp:unit=yyyy}}/{{timestamp:unit=MM}}-{{timestamp:unit=dd}}"
            "T{{timestamp:unit=HH}}/{{topic}}-{{partition}}-{{start_offset}}",
            "Asia/Tokyo",
            "y=2024/03-01T21/t-3-42",
        ),
        ("{{timestamp}}-{{topic}}-{{partition}}-{{start_offset}}", "Z", f"{NOON}-t-3-42"),
    ],
)
def test_names(template: str, zone: str, name: str) -> None:
    assert ObjectName(template, zone).render("t", 3, 42, NOON) == name


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{topic}}-{{partition}}", "without {{start_offset}} objects would replace each other"),
        ("{{topic}}-{{partition}}-{{start_offset", "not closed"),
        ("{{topic}}-{{key}}-{{start_offset}}", "without {{partition}} objects would replace"),
        ("{{key}}-{{timestamp}}", "without {{topic}}, {{partition}}, {{start_offset}} objects"),
        ("{{topic}}-{{partition}}-{{start_offset}}-{{color}}", "no variable color"),
        ("{{topic:unit=yyyy}}-{{partition}}-{{start_offset}}", "unit=yyyy does not go with topic"),
        ("{{topic}}//{{partition}}-{{start_offset}}", "is empty"),
    ],
)
def test_templates_that_cannot_name_objects(template: str, why: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        ObjectName(template)
    assert why in str(wrong.value)
    assert wrong.value.key == "file.name.template"


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({}, "t-0-1.gz"),
        ({"output_compression": "none"}, "t-0-1"),
        ({"format.output.type": "avro", "file.compression.type": "zstd"}, "t-0-1.avro.zst"),
        ({"format.output.type": "PARQUET"}, "t-0-1"),
    ],
)
def test_names_without_a_template(config: dict[str, str], name: str) -> None:
    assert SinkSettings.of(config).name.render("t", 0, 1, NOON) == name


@pytest.mark.parametrize(
    ("config", "key", "text"),
    [
        ({}, "aws.s3.bucket.name", "none of them is set"),
        ({"gcs.bucket.name": "g"}, "aws.s3.bucket.name", "are set"),
        ({"file.name.template": "{{key}}", "file.max.records": "2"}, "file.max.records", "0 or 1"),
        ({"aws.access.key.id": "k"}, "aws.access.key.id", "set it together with"),
        ({"format.output.envelope": "false", "format.output.fields": "key,value"},
         "format.output.envelope", "exactly one field"),
        ({"file.max.age.ms": "0", "file.max.bytes": "0"}, "file.max.age.ms", "no object would"),
        ({"file.name.timestamp.timezone": "Nowhere/Here"}, "file.name.timestamp.timezone",
         "there is no time zone"),
    ],
)  # fmt: skip
def test_what_is_wrong_between_keys(config: dict[str, str], key: str, text: str) -> None:
    bucket = {} if not config else {"aws.s3.bucket.name": "b"}
    found = dict(ObjectSinkConnector().validate({**bucket, **config}))
    assert text in found[key]


def test_a_folder_that_the_worker_does_not_allow() -> None:
    config = {"local.folder": "/etc", "file.allowed.roots": "/srv"}
    [(key, text)] = ObjectSinkConnector().validate(config)
    assert key == "local.folder"
    assert "/etc is not in a folder" in text
