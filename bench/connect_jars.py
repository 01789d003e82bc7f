"""The jars of real Kafka Connect, fetched as the broker's are."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from penstock.embedded import Java
from penstock.embedded.ivy import JarSet, Progress
from penstock.embedded.jars import ensure_folder

VERSION = "4.3.1"
MODULES = ("connect-runtime", "connect-file", "connect-json", "connect-transforms")
CONFIGURATION = "connect"

MIRROR_MODULES = ("connect-mirror", "connect-mirror-client")


Module = tuple[str, str, str]
"""Organisation, name and version."""


def _kafkas(*names: str) -> list[Module]:
    return [("org.apache.kafka", name, VERSION) for name in names]


def _ivy_xml(modules: Sequence[Module], alone: Sequence[Module] = ()) -> str:
    """``alone`` come without what they depend on."""
    dependencies = "\n".join(
        [
            *(_dependency(module) for module in modules),
            *(_dependency(module, ' transitive="false"') for module in alone),
        ]
    )
    return f"""\
<ivy-module version="2.0">
  <info organisation="penstock" module="bench"/>
  <configurations>
    <conf name="{CONFIGURATION}"/>
  </configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


def _dependency(module: Module, more: str = "") -> str:
    organisation, name, version = module
    return (
        f'    <dependency org="{organisation}" name="{name}" rev="{version}" '
        f'conf="{CONFIGURATION}->default"{more}/>'
    )


KAFKA_CONNECT = JarSet(
    "The jars of Kafka Connect", (CONFIGURATION,), _ivy_xml(_kafkas(*MODULES)), megabytes=35
)
MIRROR_MAKER = JarSet(
    "The jars of MirrorMaker 2",
    (CONFIGURATION,),
    _ivy_xml((), alone=_kafkas(*MIRROR_MODULES)),
    megabytes=1,
)


KAFKA_STREAMS = JarSet(
    "The jars of Kafka Streams",
    (CONFIGURATION,),
    _ivy_xml(
        (
            *_kafkas("kafka-streams"),
            ("com.fasterxml.jackson.core", "jackson-databind", "2.20.0"),
        )
    ),
    megabytes=90,
)
DEBEZIUM = JarSet(
    "The jars of Debezium",
    (CONFIGURATION,),
    _ivy_xml(
        (
            ("io.debezium", "debezium-connector-jdbc", "3.5.0.Final"),
            ("io.debezium", "debezium-connector-postgres", "3.5.0.Final"),
            ("org.postgresql", "postgresql", "42.7.14"),
        )
    ),
    megabytes=40,
)
S3A = JarSet(
    "The jars with which Spark reads S3",
    (CONFIGURATION,),
    _ivy_xml(
        (
            ("software.amazon.awssdk", "s3", "2.25.70"),
            ("software.amazon.awssdk", "s3-transfer-manager", "2.25.70"),
            ("software.amazon.awssdk", "sts", "2.25.70"),
        ),
        # Hadoop's own file asks for all of Amazon's client, 600 MB: those are the parts it uses.
        alone=[("org.apache.hadoop", "hadoop-aws", "3.4.1")],
    ),
    megabytes=15,
)
OF_SPARK = (
    *("slf4j-", "commons-", "httpc", "netty-buffer", "netty-codec", "netty-common"),
    *("netty-handler", "netty-resolver", "netty-transport"),
)
"""Jars that come with Amazon's client, and with Spark."""
OF_THE_WORKER = ("jackson-", "connect-", "kafka-clients-", "slf4j-")
"""Jars that come with Debezium, but have to be the worker's own."""


def ensure_connect_jars(java: Java, progress: Progress) -> Path:
    """Return the folder of Kafka Connect's jars, downloading them first where they are missing."""
    return ensure_folder(KAFKA_CONNECT, java, progress) / CONFIGURATION


def ensure_mirror_jars(java: Java, progress: Progress) -> Path:
    """Return the folder of MirrorMaker 2's own jars; it runs inside Kafka Connect."""
    return ensure_folder(MIRROR_MAKER, java, progress) / CONFIGURATION


def ensure_streams_jars(java: Java, progress: Progress) -> Path:
    """Return the folder of Kafka Streams' jars."""
    return ensure_folder(KAFKA_STREAMS, java, progress) / CONFIGURATION


def debezium_plugins(folder: Path, java: Java, progress: Progress) -> Path:
    """Make ``folder`` a plugin.path with Debezium's connectors."""
    made = folder / "debezium"
    made.mkdir(parents=True)
    jars = ensure_folder(DEBEZIUM, java, progress) / CONFIGURATION
    for jar in jars.glob("*.jar"):
        if not jar.name.startswith(OF_THE_WORKER):
            shutil.copy(jar, made)
    return folder


def postgres_driver(java: Java, progress: Progress) -> Path:
    """The jar with which Java reaches PostgreSQL."""
    (jar,) = (ensure_folder(DEBEZIUM, java, progress) / CONFIGURATION).glob("postgresql-*.jar")
    return jar


def s3_jars(java: Java, progress: Progress) -> list[Path]:
    """The jars with which Spark reads ``s3a://``."""
    jars = (ensure_folder(S3A, java, progress) / CONFIGURATION).glob("*.jar")
    return [jar for jar in jars if not jar.name.startswith(OF_SPARK)]
