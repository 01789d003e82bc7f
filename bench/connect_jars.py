"""The jars of real Kafka Connect, fetched as the broker's are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.embedded import Java
from penstock.embedded.ivy import JarSet, Progress
from penstock.embedded.jars import ensure_folder

VERSION = "4.3.1"
MODULES = ("connect-runtime", "connect-file", "connect-json", "connect-transforms")
CONFIGURATION = "connect"

MIRROR_MODULES = ("connect-mirror", "connect-mirror-client")


def _ivy_xml(modules: Sequence[str], more: str = "") -> str:
    dependencies = "\n".join(
        f'    <dependency org="org.apache.kafka" name="{module}" rev="{VERSION}" '
        f'conf="{CONFIGURATION}->default"{more}/>'
        for module in modules
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


KAFKA_CONNECT = JarSet(
    "The jars of Kafka Connect", (CONFIGURATION,), _ivy_xml(MODULES), megabytes=35
)
MIRROR_MAKER = JarSet(
    "The jars of MirrorMaker 2",
    (CONFIGURATION,),
    _ivy_xml(MIRROR_MODULES, ' transitive="false"'),
    megabytes=1,
)


def ensure_connect_jars(java: Java, progress: Progress) -> Path:
    """Return the folder of Kafka Connect's jars, downloading them first where they are missing."""
    return ensure_folder(KAFKA_CONNECT, java, progress) / CONFIGURATION


def ensure_mirror_jars(java: Java, progress: Progress) -> Path:
    """Return the folder of MirrorMaker 2's own jars; it runs inside Kafka Connect."""
    return ensure_folder(MIRROR_MAKER, java, progress) / CONFIGURATION
