"""Differences that are meant, each with its reason. One that no longer shows fails the test.

Titles and places are patterns in which only the star has a meaning.
"""

from __future__ import annotations

from differential.comparing import Known

PLUGIN = "* /connector-plugins/*"
VALIDATE = "PUT /connector-plugins/*/config/validate*"
NULL_BODY = "no body is a mistake of the client, and 400 says so; Kafka Connect stumbles over null"
LEAK = "Kafka Connect 4.3 prints the whole configuration, secrets and all; later ones do not"
ONE_ERROR = "one error for one wrong value; Kafka Connect also says that null is no number"
NOT_NULL = "a null would make the connector fail at its start; Kafka Connect lets it through"
AS_WRITTEN = "names the key as the user wrote it"
CREATION = "the keys of new topics are checked before a source comes across one"
OWN_WORDS = "the same error in Python's words"
JETTY = "Kafka Connect's HTTP server refuses such a path with a page of HTML"
UNWRAPPED = "Kafka Connect forgets to unwrap its own exception: 400 is what it means"
WORKERS = "unset stands for the worker's converter, which is not repeated for each connector"
CONVERTER_TYPE = "an inner key that Kafka Connect's workers set, not users"
SCHEMA_CONTENT = "not here yet"
INSTALLED = "a plugin that users of Kafka Connect install besides"
SOURCE_LETTERS = "sources have dead letters, too"
SPARK_SQL = "a transform of our own: expressions in Spark SQL"

LISTS = "GET /connector-plugins*"
ONLY_HERE = {
    "* penstock.plugins.*": "a connector that Kafka Connect does not come with",
    "* io.confluent.*": INSTALLED,
    "transformation penstock.columnar.transforms.spark_sql.SparkSql": SPARK_SQL,
    "* penstock.sql.*": "what runs persistent queries of SQL",
    "* org.apache.kafka.connect.mirror.*": "not among the jars of the Kafka Connect compared with",
    "* org.apache.kafka.connect.tools.Verifiable*": "Kafka Connect has it, but does not list it",
}

KNOWN: tuple[Known, ...] = (
    Known("*", "headers.content-type +", "every error is JSON and says so"),
    Known("GET /", "body.penstock_version +", "a version of its own, beside that of the API"),
    Known("GET /?anything=goes", "body.penstock_version +", "the same"),
    Known("GET /", "body.spark_application_id +", "where to look for it in Spark"),
    Known("GET /?anything=goes", "body.spark_application_id +", "the same"),
    Known("GET /connectors//status (no name)", "*", JETTY),
    Known("* (a name with a slash)", "*", JETTY),
    # Bodies.
    Known("POST /connectors (no body, no media type)", "*", NULL_BODY),
    Known("POST /connectors (nothing)", "*", NULL_BODY),
    Known("* (null)", "*", NULL_BODY),
    Known("POST /connectors (a charset)", "body.message", NULL_BODY),
    Known("POST /connectors (no config)", "body.message", NULL_BODY),
    Known("POST /connectors (config null)", "body.message", NULL_BODY),
    Known(
        "POST /connectors (no comma in a list)",
        "body.message",
        "the whole body is read before any of it is looked at",
    ),
    # Configurations.
    Known("POST /connectors (a name twice)", "body.message", LEAK),
    Known("* (an empty config)", "body.message", LEAK),
    Known("* (no class)", "body.message", LEAK),
    Known("* (class null)", "body.message", LEAK),
    Known("POST /connectors (a blank class)", "body.message", "a blank class is none"),
    Known("* (tasks.max is a dog)", "*", ONE_ERROR),
    Known("POST /connectors (tasks.max 1.5)", "body.message", ONE_ERROR),
    Known("POST /connectors (tasks.max too big)", "body.message", ONE_ERROR),
    Known("* (two errors)", "body.message", ONE_ERROR),
    Known("POST /connectors (it exists, and invalid)", "body.message", ONE_ERROR),
    Known("* (a transform without its keys)", "body.message", ONE_ERROR),
    Known("* (a transform as converter)", "body.message", OWN_WORDS),
    Known("* (a sink with a bad regex)", "body.message", OWN_WORDS),
    # Lives.
    Known(
        "PATCH /connectors/{s}-life/config (no name)",
        "*",
        "the name of a connector is the one in the path, whatever the patch takes away",
    ),
    Known(
        "POST /connectors/{s}-life/tasks/0/restart (stopped)",
        "*",
        "a task that does not exist, says Penstock; Kafka Connect that it knows no leader",
    ),
    # Offsets.
    Known(
        "GET /connectors/{s}-drain/offsets*",
        "*.kafka_offset",
        "how far was read, the end of the transaction included; Kafka Connect's is the last record",
    ),
    Known("* (offset negative)", "*", "refused before anything is changed; Kafka Connect tries it"),
    # Plugins.
    *(Known(LISTS, f"body.order +{kind}", reason) for kind, reason in ONLY_HERE.items()),
    *(Known(LISTS, f"body.{kind} +", reason) for kind, reason in ONLY_HERE.items()),
    Known(PLUGIN, "*order +file.glob", "a key of our own: many files at once"),
    Known(PLUGIN, "*file.glob +", "a key of our own: many files at once"),
    Known(PLUGIN, "*order +errors.deadletterqueue.*", SOURCE_LETTERS),
    Known(PLUGIN, "*errors.deadletterqueue.* +", SOURCE_LETTERS),
    Known(PLUGIN, "*connector.plugin.version.*", "each has versions of its own"),
    Known(PLUGIN, "*.plugin.version.definition.default_value", "each has versions of its own"),
    Known(PLUGIN, "*.plugin.version.value.value", "each has versions of its own"),
    Known(PLUGIN, "*.plugin.version.value.recommended_values *", "each has versions of its own"),
    *(
        Known(PLUGIN, f"*.{part}.converter.value.recommended_values +io.confluent.*", INSTALLED)
        for part in ("key", "value")
    ),
    Known(PLUGIN, "*.type.value.recommended_values +penstock.*.SparkSql", SPARK_SQL),
    Known(PLUGIN, "*.converter.definition.default_value", WORKERS),
    Known(PLUGIN, "*.converter.value.value", WORKERS),
    Known(PLUGIN, "*order -*converter.type", CONVERTER_TYPE),
    Known(PLUGIN, "*converter.type -", CONVERTER_TYPE),
    Known("GET */org.apache.kafka.connect.converters.ByteArrayConverter/*", "body", CONVERTER_TYPE),
    Known(PLUGIN, "*order -*schema.content", SCHEMA_CONTENT),
    Known(PLUGIN, "*schema.content -", SCHEMA_CONTENT),
    # Validation.
    Known("* (an unknown plugin)", "*", UNWRAPPED),
    Known(f"{VALIDATE} (nothing)", "*", UNWRAPPED),
    Known(f"{VALIDATE} (no class)", "*", UNWRAPPED),
    Known("* (topic null)", "*", NOT_NULL),
    Known("* (file null)", "*", NOT_NULL),
    Known("* (topics null)", "*", "says once that it is null, Kafka Connect twice"),
    Known(f"{VALIDATE} (wrong values)", "*", ONE_ERROR),
    Known("* (a transform without keys)", "*", ONE_ERROR),
    Known("* (batch.size 0)", "*", "batches of nothing would never come to an end"),
    Known("* (keys of a*converter)", "*order *", "in the order in which they are declared"),
    Known("* (keys of a*converter)", "body.groups *", "in the order in which they are declared"),
    Known("* (keys of a converter)", "*.errors *", AS_WRITTEN),
    Known("* (an empty predicate key)", "*.errors *", AS_WRITTEN),
    Known("* (topic creation*)", "*", CREATION),
    Known("* (exactly once required)", "*", "always exactly once, so nothing is missing for it"),
    Known(
        "* (a plugin version)",
        "*",
        "the same refusal, naming versions of its own, beside all keys of the connector",
    ),
    Known("* (a bad regex)", "*", OWN_WORDS),
    Known(f"{VALIDATE} (no file)", "*", "a worker has no standard output to write to"),
    # Loggers.
    Known("GET /admin/loggers/", "body.*", "each has loggers of its own"),
    Known("GET /admin/loggers/root", "body.level", "each logs as it was set up to"),
    Known("* (an empty level)", "*", "no level of this name, as for any other wrong one"),
)
