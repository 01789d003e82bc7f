"""The keys of the Elasticsearch sink: Confluent's names and values."""

from __future__ import annotations

from typing import Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, between, non_empty, one_of_ignoring_case

URL: Final = "connection.url"
USERNAME: Final = "connection.username"
PASSWORD: Final = "connection.password"  # noqa: S105 (the name of a key)
BATCH_SIZE: Final = "batch.size"
BULK_BYTES: Final = "bulk.size.bytes"
IN_FLIGHT: Final = "max.in.flight.requests"
MAX_RETRIES: Final = "max.retries"
BACKOFF: Final = "retry.backoff.ms"
COMPRESSION: Final = "connection.compression"
CONNECT_TIMEOUT: Final = "connection.timeout.ms"
READ_TIMEOUT: Final = "read.timeout.ms"
KEY_IGNORE: Final = "key.ignore"
TOPIC_KEY_IGNORE: Final = "topic.key.ignore"
SCHEMA_IGNORE: Final = "schema.ignore"
TOPIC_SCHEMA_IGNORE: Final = "topic.schema.ignore"
COMPACT_MAPS: Final = "compact.map.entries"
ON_NULL: Final = "behavior.on.null.values"
ON_MALFORMED: Final = "behavior.on.malformed.documents"
DROP_INVALID: Final = "drop.invalid.message"
WRITE_METHOD: Final = "write.method"
RESOURCES: Final = "topic.to.external.resource.mapping"
RESOURCE_USAGE: Final = "external.resource.usage"
INDEX_MAP: Final = "topic.index.map"
PROXY_HOST: Final = "proxy.host"
PROXY_PORT: Final = "proxy.port"
PROXY_USERNAME: Final = "proxy.username"
PROXY_PASSWORD: Final = "proxy.password"  # noqa: S105 (the name of a key)
TRUSTED: Final = "elastic.https.ssl.truststore.location"
TRUSTED_TYPE: Final = "elastic.https.ssl.truststore.type"

NULL_BEHAVIORS: Final = ("ignore", "delete", "fail")
MALFORMED_BEHAVIORS: Final = ("ignore", "warn", "fail")
WRITE_METHODS: Final = ("insert", "upsert")
USAGES: Final = ("disabled", "index", "alias_index")

_CONNECTION: Final = ConfigDef(
    ConfigKey(
        URL,
        Type.LIST,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="The addresses of the cluster, such as https://search.example:9200, separated by "
        "commas. If one does not answer, the next is used. Without a scheme, http is used; if any "
        "address has https, all do.",
    ),
    ConfigKey(USERNAME, default=None, doc="The user; unset: none."),
    ConfigKey(PASSWORD, Type.PASSWORD, default=None, doc="The user's password."),
    ConfigKey(
        TRUSTED,
        default=None,
        doc="A PEM file with the certificates of the authorities to trust. Unset: those of the "
        "system.",
    ),
    ConfigKey(
        TRUSTED_TYPE,
        default="PEM",
        validator=one_of_ignoring_case("PEM"),
        importance=Importance.LOW,
        doc="PEM; Java's key stores cannot be read.",
    ),
    ConfigKey(PROXY_HOST, default=None, doc="The host of an HTTP proxy to use; unset: none."),
    ConfigKey(PROXY_PORT, Type.INT, default=8080, doc="The port of the proxy."),
    ConfigKey(PROXY_USERNAME, default=None, doc="The user for the proxy."),
    ConfigKey(PROXY_PASSWORD, Type.PASSWORD, default=None, doc="That user's password."),
    ConfigKey(
        COMPRESSION,
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        doc="Whether requests are compressed with gzip.",
    ),
    ConfigKey(
        CONNECT_TIMEOUT,
        Type.INT,
        default=5_000,
        validator=at_least(1),
        importance=Importance.LOW,
        doc="Milliseconds to wait for a connection, before the next address is tried.",
    ),
    ConfigKey(
        READ_TIMEOUT,
        Type.INT,
        default=30_000,
        validator=at_least(1),
        importance=Importance.LOW,
        doc="Milliseconds to wait for an answer, before the request is repeated.",
    ),
)

_REQUESTS: Final = ConfigDef(
    ConfigKey(
        BATCH_SIZE,
        Type.INT,
        default=2_000,
        validator=between(1, 1_000_000),
        doc="The most records of one bulk request.",
    ),
    ConfigKey(
        BULK_BYTES,
        Type.INT,
        default=5 * 1024 * 1024,
        validator=at_least(-1),
        importance=Importance.LOW,
        doc="The most bytes of one bulk request, if it has more than one record; -1: no limit.",
    ),
    ConfigKey(
        IN_FLIGHT,
        Type.INT,
        default=5,
        validator=between(1, 1_000),
        doc="The most bulk requests of a task at a time. With 'write.method' upsert it is 1, so "
        "that changes to a document keep their order.",
    ),
    ConfigKey(
        BACKOFF,
        Type.LONG,
        default=100,
        validator=at_least(0),
        importance=Importance.LOW,
        doc="Milliseconds before a request is repeated for the first time. The pause doubles each "
        "time, up to 2 s.",
    ),
    ConfigKey(
        MAX_RETRIES,
        Type.INT,
        default=5,
        validator=at_least(0),
        importance=Importance.LOW,
        doc="Has no effect: a server that is overloaded or away is waited for, for as long as it "
        "takes.",
    ),
)

_DOCUMENTS: Final = ConfigDef(
    ConfigKey(
        KEY_IGNORE,
        Type.BOOLEAN,
        default=False,
        importance=Importance.HIGH,
        doc="False: a document's id is the record's key, which must be a text or a whole number, "
        "and its version the record's offset, so that an older record never replaces a newer one. "
        "True: the id is topic+partition+offset.",
    ),
    ConfigKey(
        TOPIC_KEY_IGNORE, Type.LIST, default=(), doc=f"Topics for which '{KEY_IGNORE}' is true."
    ),
    ConfigKey(
        SCHEMA_IGNORE,
        Type.BOOLEAN,
        default=False,
        doc="False: an index without a mapping gets one from the records' schema. True, and for "
        "records without a schema: the server derives it from the documents.",
    ),
    ConfigKey(
        TOPIC_SCHEMA_IGNORE,
        Type.LIST,
        default=(),
        doc=f"Topics for which '{SCHEMA_IGNORE}' is true.",
    ),
    ConfigKey(
        COMPACT_MAPS,
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Whether maps with texts as keys become objects. Other maps become lists of objects "
        "with 'key' and 'value'.",
    ),
    ConfigKey(
        ON_NULL,
        default="fail",
        validator=one_of_ignoring_case(*NULL_BEHAVIORS),
        doc="What a record without a value does: 'delete' deletes the document of its key, "
        "'ignore' skips the record, 'fail' treats it as a bad record.",
        recommended=NULL_BEHAVIORS,
    ),
    ConfigKey(
        ON_MALFORMED,
        default="fail",
        validator=one_of_ignoring_case(*MALFORMED_BEHAVIORS),
        doc="What happens if the server refuses a document, because of a mapping for example. "
        "'fail': it is a bad record, which stops the task or, with 'errors.tolerance' all, becomes "
        "a dead letter. 'warn' and 'ignore' skip it, 'warn' with a line in the log; with "
        "'errors.tolerance' all it becomes a dead letter too.",
        recommended=MALFORMED_BEHAVIORS,
    ),
    ConfigKey(
        DROP_INVALID,
        Type.BOOLEAN,
        default=False,
        doc="Whether to skip records that cannot be documents (no usable key, a value that is not "
        "an object), with a line in the log. Otherwise they are bad records.",
    ),
    ConfigKey(
        WRITE_METHOD,
        default="insert",
        validator=one_of_ignoring_case(*WRITE_METHODS),
        doc="'insert' replaces a document as a whole. 'upsert' replaces only the fields that the "
        "record has; such documents have no versions of ours.",
        recommended=WRITE_METHODS,
    ),
    ConfigKey(
        RESOURCES,
        Type.LIST,
        default=(),
        doc="The index or alias of each topic, as topic:index pairs separated by commas. They "
        f"must exist, and '{RESOURCE_USAGE}' must be set. Unset: an index with the topic's name in "
        "lower case, created if it is missing.",
    ),
    ConfigKey(
        RESOURCE_USAGE,
        default="disabled",
        validator=one_of_ignoring_case(*USAGES),
        importance=Importance.LOW,
        doc=f"What '{RESOURCES}' names: 'index' or 'alias_index'; 'disabled': it is not used.",
        recommended=USAGES,
    ),
    ConfigKey(
        INDEX_MAP,
        Type.LIST,
        default=(),
        importance=Importance.LOW,
        doc="As in older versions of Confluent's connector: topic:index pairs. These indexes are "
        "created if they are missing, and topics without a pair keep their own name.",
    ),
)

SINK_CONFIG: Final = _CONNECTION + _REQUESTS + _DOCUMENTS
