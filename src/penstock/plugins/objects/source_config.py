"""The keys of the object source: those of Aiven's, and what goes beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.plugins.objects.aiven_keys import UNUSED_BY_SOURCES
from penstock.plugins.objects.envelope_config import ENVELOPE, ENVELOPE_CONFIG
from penstock.plugins.objects.envelopes import restoring_class
from penstock.plugins.objects.source_plan import virtual_bucket
from penstock.plugins.objects.source_search import NumberOf, Rhythm
from penstock.plugins.objects.store_config import STORE_CONFIG
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, one_of_ignoring_case
from penstock.sdk.distribution.name_template import FILE_NAME_TEMPLATE, NameTemplate
from penstock.sdk.distribution.registry import distribution_class, distribution_names
from penstock.sdk.distribution.strategy import ObjectDistributionStrategy
from penstock.sdk.sources.source_config import COMMON_SOURCE_CONFIG
from penstock.sdk.transformers.byte_chunks import BytesTransformer
from penstock.sdk.transformers.csv_rows import CsvTransformer
from penstock.sdk.transformers.registry import transformer_class, transformer_names
from penstock.sdk.transformers.streams import COMPRESSIONS
from penstock.sdk.transformers.transformer import Transformer

TOPIC: Final = "topic"
INPUT_FORMAT: Final = "input.format"
COMPRESSION: Final = "file.compression.type"
DISTRIBUTION: Final = "distribution.type"
START_KEY: Final = "native.start.key"
CHANGED: Final = "changed.objects"
LIST_INTERVAL: Final = "list.interval.ms"
RESCAN_INTERVAL: Final = "rescan.interval.ms"
LOOK_BACK: Final = "rescan.look.back.ms"

REREAD: Final = "reread"
IGNORE: Final = "ignore"

OBJECT_SOURCE_CONFIG: Final = (
    STORE_CONFIG
    + COMMON_SOURCE_CONFIG
    + ConfigDef(
        ConfigKey(
            TOPIC,
            default=None,
            importance=Importance.HIGH,
            doc="The topic to write to. Without it, file.name.template must have {{topic}}.",
        ),
        ConfigKey(
            FILE_NAME_TEMPLATE,
            default=".*",
            importance=Importance.HIGH,
            doc="What the names of the objects to read look like: a regular expression with "
            "{{topic}}, {{partition}}, {{start_offset}}, {{timestamp}} and {{key}}, which must "
            "match the whole name, or what is behind its last / if it has none itself. Records of "
            "an object whose name has {{partition}} go to that partition, and {{key}} is their "
            "key, as the object sink writes it. Objects with other names are not read.",
        ),
        ConfigKey(
            INPUT_FORMAT,
            default="bytes",
            validator=one_of_ignoring_case(*transformer_names()),
            importance=Importance.HIGH,
            doc="What is in the objects, and what makes a record of it.",
            recommended=transformer_names(),
        ),
        ConfigKey(
            COMPRESSION,
            default="none",
            validator=one_of_ignoring_case(*COMPRESSIONS),
            doc="How the objects are compressed as a whole.",
            recommended=tuple(COMPRESSIONS),
        ),
        ConfigKey(
            DISTRIBUTION,
            default="object_hash",
            validator=one_of_ignoring_case(*distribution_names()),
            doc="Which task reads which object: by a hash of its name, by the partition in its "
            "name (file.name.template must have {{partition}}), or by the bytes there are to "
            "read. At most 64 tasks share the objects.",
            recommended=distribution_names(),
        ),
        ConfigKey(
            START_KEY,
            default=None,
            doc="Only objects with greater names are read.",
        ),
        ConfigKey(
            CHANGED,
            default=REREAD,
            validator=one_of_ignoring_case(REREAD, IGNORE),
            doc="What to do about an object that has changed since it was read, or half read. "
            "reread: read it again from its beginning. ignore: go on in it after as many records "
            "as were read, and leave a finished one alone. An object that appears after others "
            "with greater names were read may then not be read either, since a finished object is "
            "not remembered by itself.",
        ),
        ConfigKey(
            LIST_INTERVAL,
            Type.LONG,
            default=5000,
            validator=at_least(1),
            doc="How often the end of the bucket is listed while there is nothing to do.",
        ),
        ConfigKey(
            RESCAN_INTERVAL,
            Type.LONG,
            default=300_000,
            validator=at_least(0),
            doc="How long after a listing of the whole bucket the next one begins. It finds "
            "objects that have changed, or appeared after others with greater names were read. 0: "
            "only when the connector starts.",
        ),
        ConfigKey(
            LOOK_BACK,
            Type.LONG,
            default=600_000,
            validator=at_least(0),
            doc="How long an upload may take, and how far the clocks of the store and the worker "
            "may differ. What was finished and is younger is remembered singly; 131072 objects at "
            "the most, then new ones wait.",
        ),
    )
    + ENVELOPE_CONFIG
    + BytesTransformer.config_def
    + CsvTransformer.config_def
    + UNUSED_BY_SOURCES
)


def rhythm_of(values: Mapping[str, Any]) -> Rhythm:
    """How often to list."""
    whole = 0 if ignores_changes(values) else values[RESCAN_INTERVAL]
    return Rhythm(values[LIST_INTERVAL] / 1000, whole / 1000, values[LOOK_BACK] / 1000)


def ignores_changes(values: Mapping[str, Any]) -> bool:
    """Whether nothing below a mark is read."""
    return str(values[CHANGED]).lower() == IGNORE


def strategy_of(config: Mapping[str, str]) -> ObjectDistributionStrategy:
    """What deals the objects out."""
    values = OBJECT_SOURCE_CONFIG.parse(config)
    strategy = distribution_class(values[DISTRIBUTION])()
    strategy.configure({FILE_NAME_TEMPLATE: values[FILE_NAME_TEMPLATE], **config})
    return strategy


def transformer_of(config: Mapping[str, str]) -> Transformer:
    """What makes records of an object."""
    values = OBJECT_SOURCE_CONFIG.parse(config)
    made = transformer_class(values[INPUT_FORMAT])
    if values[ENVELOPE]:
        made = restoring_class(str(values[INPUT_FORMAT]).lower())
    transformer = made()
    transformer.configure(config)
    return transformer


def numbering(config: Mapping[str, str], strategy: ObjectDistributionStrategy) -> NumberOf:
    """The virtual bucket of an object, by its name; None if it is not to be read."""
    values = OBJECT_SOURCE_CONFIG.parse(config)
    template, start = NameTemplate(values[FILE_NAME_TEMPLATE]), values[START_KEY] or ""

    def number_of(name: str) -> int | None:
        if name <= start or template.match(name) is None:
            return None
        return virtual_bucket(strategy, name)

    return number_of
